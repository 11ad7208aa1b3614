package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// Freeze fixes a selection into the letters of a new plan, in the order in
// which they are sent: by queue, partition and offset, SQS letters by arrival.
// Plans that are too old to be started are dropped. Errors: review.ErrNotFound.
func (s *Store) Freeze(ctx context.Context, plan review.Plan, what review.Selection) (int, error) {
	var total int64
	options, err := encodeOptions(plan.Options)
	if err != nil {
		return 0, err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM plans WHERE created_at < ?`, micros(plan.CreatedAt.Add(-review.PlanKept))); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO plans (id, created_at, finished, total, target, options, warnings, receivers) VALUES (?, ?, FALSE, 0, '', ?, '[]', '[]')`,
			plan.ID, micros(plan.CreatedAt), options)
		if err != nil {
			return err
		}
		where, args, err := s.selected(ctx, tx, what)
		if err != nil {
			return err
		}
		total, err = freeze(ctx, tx, plan.ID, where, args)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("plan a redrive: %w", err)
	}
	return int(total), nil
}

func freeze(ctx context.Context, tx *sql.Tx, plan, where string, args []any) (int64, error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO plan_letters (plan, place, letter, target_topic_id, why, names, warnings, refused)
		SELECT ?, ROW_NUMBER() OVER (ORDER BY queue, line, place, number) - 1, id, '', '', ?, '', '' FROM letters WHERE `+where,
		append([]any{plan, []byte{}}, args...)...)
	if err != nil {
		return 0, err
	}
	total, err := result.RowsAffected()
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE plans SET total = ? WHERE id = ?`, total, plan)
	return total, err
}

// selected is a selection as a condition on letters.
func (s *Store) selected(ctx context.Context, tx *sql.Tx, what review.Selection) (string, []any, error) {
	if len(what.IDs) > 0 {
		numbers, err := letterNumbers(ctx, tx, what.IDs)
		return numberList("number", numbers), nil, err
	}
	filter := review.Filter{Causes: []string{what.Cause}}
	if what.Filter != nil {
		filter = *what.Filter
	}
	c, err := s.choose(ctx, tx, filter)
	if err == nil && what.Cause != "" && len(c.causes) == 0 {
		err = fmt.Errorf("%w: cause %s", review.ErrNotFound, what.Cause)
	}
	where, args := c.whereLetters()
	return where, args, err
}

// letterNumbers finds letters by their ids. Errors: review.ErrNotFound.
func letterNumbers(ctx context.Context, q querier, ids []string) ([]int64, error) {
	seen := map[string]bool{}
	var list []int64
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		var n int64
		err := q.QueryRowContext(ctx, `SELECT number FROM letters WHERE id = ?`, id).Scan(&n)
		if err != nil {
			return nil, noRows(err, "dead letter", id)
		}
		list = append(list, n)
	}
	return list, nil
}

// PlanIDs gives ids of a plan's letters, from a place in its order on.
func (s *Store) PlanIDs(ctx context.Context, plan string, from, most int) ([]string, error) {
	return column[string](ctx, s.read, `SELECT letter FROM plan_letters WHERE plan = ? AND place >= ? ORDER BY place LIMIT ?`, plan, from, most)
}

// Decide writes down what was decided about letters of a plan.
func (s *Store) Decide(ctx context.Context, plan string, letters []review.Planned) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		places, err := placesOf(ctx, tx, plan, letters)
		if err != nil {
			return err
		}
		for _, l := range letters {
			if err := decide(ctx, tx, plan, places[l.LetterID], l); err != nil {
				return fmt.Errorf("letter %s: %w", l.LetterID, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write plan %s: %w", plan, err)
	}
	return nil
}

// placesOf are the places of letters that follow on one another in a plan.
func placesOf(ctx context.Context, tx *sql.Tx, plan string, letters []review.Planned) (map[string]int64, error) {
	ids := make([]string, len(letters))
	for i, l := range letters {
		ids[i] = l.LetterID
	}
	in, args := inList("letter", ids)
	places := map[string]int64{}
	return places, each(ctx, tx, func(r *sql.Rows) error {
		var id string
		var place int64
		err := r.Scan(&id, &place)
		places[id] = place
		return err
	}, `SELECT letter, place FROM plan_letters WHERE plan = ? AND `+in, append([]any{plan}, args...)...)
}

func decide(ctx context.Context, tx *sql.Tx, plan string, place int64, l review.Planned) error {
	names := encodeList(encodeNames(l.Kept), encodeNames(l.Dropped), encodeNames(l.Added))
	var queue, partition any
	topic := ""
	if l.Target != nil {
		queue, partition, topic = l.Target.Queue, optional(l.Target.Partition), l.Target.TopicID
	}
	_, err := tx.ExecContext(ctx, `UPDATE plan_letters SET target_queue = ?, target_partition = ?, target_topic_id = ?, why = ?, names = ?, warnings = ?, refused = ?, because = ?
		WHERE plan = ? AND place = ?`, queue, partition, topic, l.Why, names, strings.Join(l.Warnings, " "), l.Refused, l.Because, plan, place)
	return err
}

// FinishPlan writes the rest of a plan, which can be started from then on.
func (s *Store) FinishPlan(ctx context.Context, plan review.Plan) error {
	warnings, err := json.Marshal(plan.Warnings)
	if err != nil {
		return err
	}
	receivers, err := json.Marshal(plan.Receivers)
	if err != nil {
		return err
	}
	notKnown, err := json.Marshal(plan.NotKnown)
	if err != nil {
		return err
	}
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE plans SET finished = TRUE, warnings = ?, receivers = ?, not_known = ? WHERE id = ?`,
			string(warnings), string(receivers), string(notKnown), plan.ID)
		return err
	})
}

// DropPlan forgets a plan.
func (s *Store) DropPlan(ctx context.Context, id string) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM plans WHERE id = ?`, id)
		return err
	})
}

// Plan is a finished plan with its first 1,000 letters. Errors:
// review.ErrNotFound.
func (s *Store) Plan(ctx context.Context, id string) (review.Plan, error) {
	p := review.Plan{ID: id}
	var created int64
	var options, warnings, receivers, notKnown string
	err := s.read.QueryRowContext(ctx, `SELECT p.created_at, p.total, p.options, p.warnings, p.receivers, p.not_known, COALESCE(r.id, '')
		FROM plans p LEFT JOIN redrives r ON r.plan = p.id WHERE p.id = ? AND p.finished`, id).
		Scan(&created, &p.Total, &options, &warnings, &receivers, &notKnown, &p.Redrive)
	if err != nil {
		return p, noRows(err, "plan", id)
	}
	p.CreatedAt = instant(created)
	for _, part := range []struct {
		text string
		into any
	}{{options, &p.Options}, {warnings, &p.Warnings}, {receivers, &p.Receivers}, {notKnown, &p.NotKnown}} {
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return p, fmt.Errorf("read plan %s: %w", id, err)
		}
	}
	page, err := s.PlanLetters(ctx, id, planShown, "")
	p.Letters = page.Letters
	return p, err
}

// planShown is how many letters a plan itself has.
const planShown = 1000

// PlanLetters lists the letters of a plan in their order. Errors:
// review.ErrBadCursor, review.ErrNotFound.
func (s *Store) PlanLetters(ctx context.Context, id string, limit int, cursor string) (review.PlannedLetters, error) {
	page := review.PlannedLetters{Letters: []review.Planned{}}
	after, err := readCursor("plan", cursor, 1)
	if err != nil {
		return page, err
	}
	from := int64(0)
	if after != nil {
		from = after[0]
	}
	err = s.read.QueryRowContext(ctx, `SELECT total FROM plans WHERE id = ? AND finished`, id).Scan(&page.Total)
	if err != nil {
		return page, noRows(err, "plan", id)
	}
	err = each(ctx, s.read, func(r *sql.Rows) error {
		l, err := scanPlanned(r)
		page.Letters = append(page.Letters, l)
		return err
	}, `SELECT letter, target_queue, target_partition, target_topic_id, why, names, warnings, refused, because
		FROM plan_letters WHERE plan = ? AND place >= ? ORDER BY place LIMIT ?`, id, from, limit)
	if err != nil {
		return page, fmt.Errorf("read plan %s: %w", id, err)
	}
	if next := from + int64(len(page.Letters)); next < page.Total {
		page.Next = makeCursor("plan", next)
	}
	return page, nil
}

func scanPlanned(r *sql.Rows) (review.Planned, error) {
	var l review.Planned
	var queue *string
	var partition *int32
	var topic, warnings string
	var names bytesOrNull
	if err := r.Scan(&l.LetterID, &queue, &partition, &topic, &l.Why, &names, &warnings, &l.Refused, &l.Because); err != nil {
		return l, err
	}
	if queue != nil {
		l.Target = &sources.Target{Queue: *queue, Partition: partition, TopicID: topic}
	}
	l.Warnings = strings.Fields(warnings)
	kinds, err := decodeList(names)
	if err != nil || len(kinds) != 3 {
		return l, fmt.Errorf("letter %s: its header names: %w", l.LetterID, errCut)
	}
	for i, into := range []*[]string{&l.Kept, &l.Dropped, &l.Added} {
		if *into, err = decodeNames(kinds[i]); err != nil {
			return l, fmt.Errorf("letter %s: its header names: %w", l.LetterID, err)
		}
	}
	return l, nil
}

// encodeOptions are options as they are stored.
func encodeOptions(o review.Options) (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("write the options of a redrive: %w", err)
	}
	return string(text), nil
}
