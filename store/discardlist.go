package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/unwedge/unwedge/review"
)

// DiscardByID is one discard. Errors: review.ErrNotFound.
func (s *Store) DiscardByID(ctx context.Context, id string) (review.Discard, error) {
	list, _, err := s.readDiscards(ctx, `WHERE d.id = ?`, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: discard %s", review.ErrNotFound, id)
	}
	if err != nil {
		return review.Discard{}, err
	}
	return list[0], nil
}

// Discards lists the discards that were decided, newest first. Errors:
// review.ErrBadCursor.
func (s *Store) Discards(ctx context.Context, limit int, cursor string) (review.Discards, error) {
	page := review.Discards{Discards: []review.Discard{}}
	after, err := readCursor("discards", cursor, 1)
	if err != nil {
		return page, err
	}
	where, args := `WHERE d.decided_at <> 0`, []any{}
	if err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM discards d `+where).Scan(&page.Total); err != nil {
		return page, fmt.Errorf("count the discards: %w", err)
	}
	if after != nil {
		where, args = where+` AND d.number < ?`, append(args, after[0])
	}
	list, numbers, err := s.readDiscards(ctx, where+` ORDER BY d.number DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return page, fmt.Errorf("list the discards: %w", err)
	}
	if page.Discards = list; len(list) > limit {
		page.Discards = list[:limit]
		page.Next = makeCursor("discards", numbers[limit-1])
	}
	return page, nil
}

func (s *Store) readDiscards(ctx context.Context, where string, args ...any) ([]review.Discard, []int64, error) {
	list, numbers := []review.Discard{}, []int64{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var d review.Discard
		var n, created, decided, until, undone int64
		err := r.Scan(&n, &d.ID, &d.Reason, &d.By, &created, &decided, &until, &undone, &d.UndoneBy, &d.Total, &d.Messages, &d.Left)
		d.CreatedAt, d.UndoUntil, d.UndoneAt = instant(created), instant(until), instant(undone)
		if decided != 0 {
			d.CreatedAt = instant(decided)
		}
		d.State = discardState(d)
		list, numbers = append(list, d), append(numbers, n)
		return err
	}, `SELECT d.number, d.id, d.reason, d.asked_by, d.created_at, d.decided_at, d.undo_until, d.undone_at, d.undone_by, d.total,
		CASE WHEN d.decided_at = 0
			THEN (SELECT COUNT(*) FROM discard_items i JOIN letters l ON l.number = i.letter WHERE i.discard = d.number AND l.message_id <> '' AND l.status <> 'expired')
			ELSE (SELECT COUNT(*) FROM discard_items i JOIN removals r ON r.letter = i.letter WHERE i.discard = d.number AND r.why = 'discard') END,
		(SELECT COUNT(*) FROM discard_items i JOIN removals r ON r.letter = i.letter WHERE i.discard = d.number AND r.why = 'discard' AND r.done_at = 0)
		FROM discards d `+where, args...)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range numbers {
		if list[i].Counts, err = s.countDiscard(ctx, n); err != nil {
			return nil, nil, err
		}
		if list[i].State == review.DiscardOpen && list[i].Left == 0 && list[i].Messages > 0 {
			list[i].State = review.DiscardDone
		}
	}
	return list, numbers, nil
}

func discardState(d review.Discard) review.DiscardState {
	switch {
	case !d.UndoneAt.IsZero():
		return review.DiscardUndone
	case d.UndoUntil.IsZero():
		return review.DiscardDraft
	}
	return review.DiscardOpen
}

func (s *Store) countDiscard(ctx context.Context, discard int64) (map[review.DiscardItemState]int, error) {
	counts := map[review.DiscardItemState]int{}
	return counts, each(ctx, s.read, func(r *sql.Rows) error {
		var state review.DiscardItemState
		var n int
		err := r.Scan(&state, &n)
		counts[state] = n
		return err
	}, `SELECT state, COUNT(*) FROM discard_items WHERE discard = ? GROUP BY state`, discard)
}

// DiscardItems lists the letters of a discard in their order. Errors:
// review.ErrNotFound, review.ErrBadCursor.
func (s *Store) DiscardItems(ctx context.Context, id string, limit int, cursor string) (review.DiscardItems, error) {
	page := review.DiscardItems{Items: []review.DiscardItem{}}
	after, err := readCursor("discard", cursor, 1)
	if err != nil {
		return page, err
	}
	last := int64(0)
	if after != nil {
		last = after[0]
	}
	var n int64
	err = s.read.QueryRowContext(ctx, `SELECT number, total FROM discards WHERE id = ?`, id).Scan(&n, &page.Total)
	if err != nil {
		return page, noRows(err, "discard", id)
	}
	var numbers []int64
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var i review.DiscardItem
		var number int64
		err := r.Scan(&number, &i.ID, &i.LetterID, &i.State, &i.Error)
		page.Items, numbers = append(page.Items, i), append(numbers, number)
		return err
	}, `SELECT i.number, i.id, l.id, i.state, CASE WHEN i.error <> '' THEN i.error ELSE COALESCE(r.error, '') END
		FROM discard_items i JOIN letters l ON l.number = i.letter LEFT JOIN removals r ON r.letter = i.letter AND r.done_at = 0
		WHERE i.discard = ? AND i.number > ? ORDER BY i.number LIMIT ?`, n, last, limit+1)
	if err != nil {
		return page, fmt.Errorf("list the letters of discard %s: %w", id, err)
	}
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.Next = makeCursor("discard", numbers[limit-1])
	}
	return page, nil
}
