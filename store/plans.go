package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/unwedge/unwedge/review"
)

// Freeze fixes a selection into the letters of a new plan, in the order in
// which they are sent: by queue, in runs of one partition each, by offset, SQS
// letters by arrival.
// Plans that are too old to be started are dropped. Errors: review.ErrNotFound.
func (s *Store) Freeze(ctx context.Context, plan review.Plan, what review.Selection) (int, error) {
	var total int64
	options, err := encodeOptions(plan.Options)
	if err != nil {
		return 0, err
	}
	chosenBy, err := encodeChoice(what)
	if err != nil {
		return 0, err
	}
	if err := s.dropPlansBefore(ctx, plan.CreatedAt.Add(-review.PlanKept)); err != nil {
		return 0, err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO plans (id, created_at, finished, total, target, options, warnings, receivers, chosen_by, last_letter)
			VALUES (?, ?, FALSE, 0, '', ?, '[]', '[]', ?, (SELECT value FROM counters WHERE name = 'letters'))`, plan.ID, micros(plan.CreatedAt), options, chosenBy)
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

// runOfLine is how many letters of one partition follow on one another in a
// redrive before those of the next: about a batch, so that several partitions are
// sent to at the same time.
const runOfLine = 800

// freeze fixes the letters of a plan and their order: those of a partition stay
// in theirs.
func freeze(ctx context.Context, tx *sql.Tx, plan, where string, args []any) (int64, error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO plan_order (plan, place, letter)
		SELECT ?, ROW_NUMBER() OVER (ORDER BY queue, run, line, place, number) - 1, number FROM (SELECT queue, line, place, number,
			(ROW_NUMBER() OVER (PARTITION BY queue, line ORDER BY place, number) - 1) / ? AS run FROM letters WHERE `+where+`) AS chosen`,
		append([]any{plan, runOfLine}, args...)...)
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
	switch {
	case len(what.IDs) > 0:
		numbers, err := letterNumbers(ctx, tx, what.IDs)
		return numberList("number", numbers), nil, err
	case what.Of != "":
		return restOf(ctx, tx, what)
	}
	c, err := s.choose(ctx, tx, filterOf(what))
	if err == nil && what.Cause != "" && len(c.causes) == 0 {
		err = fmt.Errorf("%w: cause %s", review.ErrNotFound, what.Cause)
	}
	where, args := c.whereLetters()
	return where, args, err
}

// filterOf is the filter of a selection that has one.
func filterOf(what review.Selection) review.Filter {
	if what.Filter != nil {
		return *what.Filter
	}
	return review.Filter{Causes: []string{what.Cause}}
}

// restOf are the letters of another plan, but for those that are to be left
// out. Errors: review.ErrNotFound.
func restOf(ctx context.Context, tx *sql.Tx, what review.Selection) (string, []any, error) {
	var id string
	if err := tx.QueryRowContext(ctx, `SELECT id FROM plans WHERE id = ? AND finished`, what.Of).Scan(&id); err != nil {
		return "", nil, noRows(err, "plan", what.Of)
	}
	where, args := `id IN (SELECT p.letter FROM plan_letters p WHERE p.plan = ?`, []any{what.Of}
	switch what.Without {
	case "":
	case review.LeaveRefused:
		where += ` AND p.refused = ''`
	default:
		where += ` AND ' ' || p.warnings || ' ' NOT LIKE ?`
		args = append(args, "% "+strings.NewReplacer("%", "", " ", "").Replace(what.Without)+" %")
	}
	return where + `)`, args, nil
}

// encodeChoice is the filter of a selection as it is stored: by it later
// letters are counted. "" for letters that were named one by one.
func encodeChoice(what review.Selection) (string, error) {
	if len(what.IDs) > 0 || what.Of != "" {
		return "", nil
	}
	text, err := json.Marshal(filterOf(what))
	if err != nil {
		return "", fmt.Errorf("write what a plan is of: %w", err)
	}
	return string(text), nil
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

// Decide writes down what was decided about the letters of a plan from a place
// in its order on.
func (s *Store) Decide(ctx context.Context, plan string, from int, letters []review.Planned) error {
	const columns = 11
	values := make([]any, 0, columns*len(letters))
	for i, l := range letters {
		var queue, partition any
		topic := ""
		if l.Target != nil {
			queue, partition, topic = l.Target.Queue, optional(l.Target.Partition), l.Target.TopicID
		}
		values = append(values, plan, from+i, l.LetterID, queue, partition, topic, l.Why,
			encodeList(encodeNames(l.Kept), encodeNames(l.Dropped), encodeNames(l.Added)), strings.Join(l.Warnings, " "), l.Refused, l.Because)
	}
	err := s.in(ctx, func(tx *sql.Tx) error {
		_, err := insertRows(ctx, tx, `INSERT INTO plan_letters (plan, place, letter, target_queue, target_partition, target_topic_id, why, names, warnings, refused, because)`,
			columns, values, "")
		return err
	})
	if err != nil {
		return fmt.Errorf("write plan %s: %w", plan, err)
	}
	return nil
}

// FinishPlan writes the rest of a plan, which can be started from then on.
func (s *Store) FinishPlan(ctx context.Context, plan review.Plan) error {
	texts, err := encodeAll(plan.Warnings, plan.Receivers, plan.Targets, plan.NotKnown)
	if err != nil {
		return fmt.Errorf("write plan %s: %w", plan.ID, err)
	}
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE plans SET finished = TRUE, refused = ?, warnings = ?, receivers = ?, targets = ?, not_known = ? WHERE id = ?`,
			plan.Refused, texts[0], texts[1], texts[2], texts[3], plan.ID)
		return err
	})
}

// encodeAll are parts of a plan as JSON.
func encodeAll(parts ...any) ([]string, error) {
	out := make([]string, len(parts))
	for i, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// droppedAtOnce is how many letters of a plan one transaction forgets: about
// 20 ms, so that nobody who writes waits for a plan of a million.
const droppedAtOnce = 5000

// DropPlan forgets a plan, piece by piece. From the first of them on it cannot be
// started; what a crash leaves of it is dropped with the plans that are too old.
func (s *Store) DropPlan(ctx context.Context, id string) error {
	var total int
	err := s.read.QueryRowContext(ctx, `SELECT total FROM plans WHERE id = ?`, id).Scan(&total)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	for from := 0; err == nil && from < total; from += droppedAtOnce {
		err = s.in(ctx, func(tx *sql.Tx) error { return dropPart(ctx, tx, id, from) })
	}
	if err == nil {
		_, err = s.write.ExecContext(ctx, `DELETE FROM plans WHERE id = ?`, id)
	}
	if err != nil {
		return fmt.Errorf("drop plan %s: %w", id, err)
	}
	return nil
}

func dropPart(ctx context.Context, tx *sql.Tx, plan string, from int) error {
	if _, err := tx.ExecContext(ctx, `UPDATE plans SET finished = FALSE WHERE id = ? AND finished`, plan); err != nil {
		return err
	}
	for _, table := range []string{"plan_letters", "plan_order"} {
		_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE plan = ? AND place >= ? AND place < ?`, plan, from, from+droppedAtOnce)
		if err != nil {
			return err
		}
	}
	return nil
}

// dropPlansBefore forgets the plans that were made before a time.
func (s *Store) dropPlansBefore(ctx context.Context, before time.Time) error {
	old, err := column[string](ctx, s.read, `SELECT id FROM plans WHERE created_at < ?`, micros(before))
	if err != nil {
		return fmt.Errorf("find the plans that are too old: %w", err)
	}
	for _, id := range old {
		if err := s.DropPlan(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// encodeOptions are options as they are stored.
func encodeOptions(o review.Options) (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("write the options of a redrive: %w", err)
	}
	return string(text), nil
}
