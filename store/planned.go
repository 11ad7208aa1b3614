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

// planShown is how many letters a plan itself has.
const planShown = 1000

// Plan is a finished plan with its first 1,000 letters. Errors:
// review.ErrNotFound.
func (s *Store) Plan(ctx context.Context, id string) (review.Plan, error) {
	p := review.Plan{ID: id}
	var created, last int64
	var options, warnings, receivers, targets, notKnown, chosenBy string
	err := s.read.QueryRowContext(ctx, `SELECT p.created_at, p.total, p.refused, p.options, p.warnings, p.receivers, p.targets, p.not_known, p.chosen_by, p.last_letter,
		COALESCE(r.id, '') FROM plans p LEFT JOIN redrives r ON r.plan = p.id WHERE p.id = ? AND p.finished`, id).
		Scan(&created, &p.Total, &p.Refused, &options, &warnings, &receivers, &targets, &notKnown, &chosenBy, &last, &p.Redrive)
	if err != nil {
		return p, noRows(err, "plan", id)
	}
	p.CreatedAt = instant(created)
	for _, part := range []struct {
		text string
		into any
	}{{options, &p.Options}, {warnings, &p.Warnings}, {receivers, &p.Receivers}, {targets, &p.Targets}, {notKnown, &p.NotKnown}} {
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return p, fmt.Errorf("read plan %s: %w", id, err)
		}
	}
	if p.Newer, err = s.newer(ctx, chosenBy, last); err != nil {
		return p, fmt.Errorf("count what came after plan %s: %w", id, err)
	}
	p.Letters, err = s.Decided(ctx, id, 0, planShown)
	return p, err
}

// newer counts the letters that a filter selects and that came after another.
func (s *Store) newer(ctx context.Context, chosenBy string, last int64) (n int, err error) {
	if chosenBy == "" {
		return 0, nil
	}
	var f review.Filter
	if err := json.Unmarshal([]byte(chosenBy), &f); err != nil {
		return 0, err
	}
	c, err := s.choose(ctx, s.read, f)
	if err != nil {
		return 0, err
	}
	// The join goes by the numbers first: few letters are new, and many match.
	where, args := c.whereLetters()
	err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM letters AS late CROSS JOIN letters ON letters.number = late.number WHERE late.number > ? AND `+where,
		append([]any{last}, args...)...).Scan(&n)
	return n, err
}

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
	if page.Letters, err = s.Decided(ctx, id, int(from), limit); err != nil {
		return page, err
	}
	if next := from + int64(len(page.Letters)); next < page.Total {
		page.Next = makeCursor("plan", next)
	}
	return page, nil
}

// Decided gives what was decided about letters of a plan from a place in its
// order on.
func (s *Store) Decided(ctx context.Context, plan string, from, most int) ([]review.Planned, error) {
	list := []review.Planned{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		l, err := scanPlanned(r)
		list = append(list, l)
		return err
	}, `SELECT letter, target_queue, target_partition, target_topic_id, why, names, warnings, refused, because
		FROM plan_letters WHERE plan = ? AND place >= ? AND place < ? ORDER BY place`, plan, from, from+most)
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", plan, err)
	}
	return list, nil
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

// RefusedOf gives the first letters of a plan that cannot be sent.
func (s *Store) RefusedOf(ctx context.Context, plan string, most int) ([]review.Refusal, error) {
	var list []review.Refusal
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var one review.Refusal
		err := r.Scan(&one.LetterID, &one.Refused)
		list = append(list, one)
		return err
	}, `SELECT letter, refused FROM plan_letters WHERE plan = ? AND refused <> '' ORDER BY place LIMIT ?`, plan, most)
	if err != nil {
		return nil, fmt.Errorf("read what plan %s refuses: %w", plan, err)
	}
	return list, nil
}
