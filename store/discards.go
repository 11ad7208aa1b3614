package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/review"
)

// DraftDiscard freezes a selection into a discard that is still to be decided.
// Drafts that nobody decided are dropped. Errors: review.ErrNotFound,
// review.ErrInvalid when it selects nothing.
func (s *Store) DraftDiscard(ctx context.Context, d review.Discard, what review.Selection) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM discards WHERE decided_at = 0 AND created_at < ?`, micros(d.CreatedAt.Add(-review.DraftKept))); err != nil {
			return err
		}
		where, args, err := s.selected(ctx, tx, what)
		if err != nil {
			return err
		}
		n, err := numbers(ctx, tx, "discards", 1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO discards (number, id, reason, asked_by, created_at, decided_at, undo_until, undone_at, undone_by, total)
			VALUES (?, ?, '', ?, ?, 0, 0, 0, '', 0)`, n, d.ID, d.By, micros(d.CreatedAt))
		if err != nil {
			return err
		}
		return fillDraft(ctx, tx, n, d.ID, where, args)
	})
	if err != nil {
		return fmt.Errorf("list what is to be discarded: %w", err)
	}
	return nil
}

// fillDraft writes an item for each letter of a selection.
func fillDraft(ctx context.Context, tx *sql.Tx, discard int64, id, where string, args []any) error {
	var total int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM letters WHERE `+where, args...).Scan(&total); err != nil {
		return err
	}
	if total == 0 {
		return fmt.Errorf("%w: it selects no letter", review.ErrInvalid)
	}
	first, err := numbers(ctx, tx, "discard_items", total)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO discard_items (number, id, discard, letter, state, status_before, error)
		SELECT ? + place, ? || '-' || (place + 1), ?, number, 'planned', status, '' FROM
		(SELECT number, status, ROW_NUMBER() OVER (ORDER BY queue, line, place, number) - 1 AS place FROM letters WHERE `+where+`) AS chosen`,
		append([]any{first, id, discard}, args...)...)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE discards SET total = ? WHERE number = ?`, total, discard)
	return err
}

// theirLetters are the letters of a discard, as a condition on letters.
const theirLetters = `number IN (SELECT letter FROM discard_items WHERE discard = ?)`

// Discard decides a draft: the letters, what is to be deleted, and the audit, in
// one transaction. Errors: review.ErrNotFound, *review.ConflictError,
// *review.StateError.
func (s *Store) Discard(ctx context.Context, id, reason, by string, now, undoUntil time.Time) (review.Discard, error) {
	err := s.in(ctx, func(tx *sql.Tx) error {
		n, err := draftNumber(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := mayDiscard(ctx, tx, n); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE discard_items SET state = 'discarded', status_before = (SELECT status FROM letters WHERE letters.number = discard_items.letter)
			WHERE discard = ?`, n)
		if err != nil {
			return err
		}
		if err := move(ctx, tx, review.Discarded, theirLetters, n); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO removals (letter, why, due_at, begun_at, done_at, tries, error)
			SELECT l.number, 'discard', ?, 0, 0, 0, '' FROM discard_items i JOIN letters l ON l.number = i.letter
			WHERE i.discard = ? AND l.message_id <> '' AND i.status_before <> 'expired'
			ON CONFLICT (letter) DO UPDATE SET why = excluded.why, due_at = excluded.due_at, begun_at = 0, done_at = 0, tries = 0, error = ''`, micros(undoUntil), n)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE discards SET reason = ?, asked_by = ?, decided_at = ?, undo_until = ? WHERE number = ?`,
			reason, by, micros(now), micros(undoUntil), n)
		if err != nil {
			return err
		}
		return auditDiscard(ctx, tx, n, id, auditEntry{by, "discard", id, "discarded: " + reason}, now)
	})
	if err != nil {
		return review.Discard{}, fmt.Errorf("discard letters: %w", err)
	}
	return s.DiscardByID(ctx, id)
}

func draftNumber(ctx context.Context, tx *sql.Tx, id string) (int64, error) {
	var n, decided int64
	err := tx.QueryRowContext(ctx, `SELECT number, decided_at FROM discards WHERE id = ?`, id).Scan(&n, &decided)
	if err == nil && decided != 0 {
		return 0, &review.StateError{Subject: "discard " + id, State: "decided already", Allowed: "it can be undone"}
	}
	return n, noRows(err, "discard", id)
}

// mayDiscard is an error unless all letters of a draft can be had.
func mayDiscard(ctx context.Context, tx *sql.Tx, discard int64) error {
	taken, err := column[string](ctx, tx, `SELECT l.id FROM discard_items i JOIN letters l ON l.number = i.letter
		WHERE i.discard = ? AND l.status NOT IN ('open', 'snoozed', 'expired') ORDER BY i.number`, discard)
	if err == nil && len(taken) > 0 {
		err = &review.ConflictError{IDs: taken}
	}
	return err
}

// auditDiscard writes one entry for the decision and one for each letter.
func auditDiscard(ctx context.Context, tx *sql.Tx, discard int64, id string, decision auditEntry, at time.Time) error {
	if err := writeAudit(ctx, tx, at, decision); err != nil {
		return err
	}
	var total int
	if err := tx.QueryRowContext(ctx, `SELECT total FROM discards WHERE number = ?`, discard).Scan(&total); err != nil {
		return err
	}
	first, err := numbers(ctx, tx, "audit", total)
	if err != nil {
		return err
	}
	who := decision.who
	if who == "" {
		who = systemUser
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO audit (number, at, who, action, subject, outcome)
		SELECT ? + ROW_NUMBER() OVER (ORDER BY i.number), ?, ?, ?, l.id, ?
		FROM discard_items i JOIN letters l ON l.number = i.letter WHERE i.discard = ?`,
		first-1, micros(at), who, decision.action, decision.outcome+" ("+id+")", discard)
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

// UndoDiscard makes the letters what they were. What is to be deleted is called
// off, unless that has begun. Errors: review.ErrNotFound, *review.StateError.
func (s *Store) UndoDiscard(ctx context.Context, id, by string, now time.Time) (review.Discard, error) {
	err := s.in(ctx, func(tx *sql.Tx) error {
		n, err := undoNumber(ctx, tx, id, now)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM removals WHERE why = 'discard' AND letter IN (SELECT letter FROM discard_items WHERE discard = ? AND state = 'discarded')`, n)
		if err != nil {
			return err
		}
		before, err := column[string](ctx, tx, `SELECT DISTINCT status_before FROM discard_items WHERE discard = ?`, n)
		if err != nil {
			return err
		}
		for _, status := range before {
			err := move(ctx, tx, review.Status(status), `status = 'discarded' AND number IN
				(SELECT letter FROM discard_items WHERE discard = ? AND state = 'discarded' AND status_before = ?)`, n, status)
			if err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE discard_items SET state = 'undone', error = '' WHERE discard = ? AND state = 'discarded'`, n)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE discards SET undone_at = ?, undone_by = ? WHERE number = ?`, micros(now), by, n); err != nil {
			return err
		}
		return auditDiscard(ctx, tx, n, id, auditEntry{by, "undo", id, "undone"}, now)
	})
	if err != nil {
		return review.Discard{}, fmt.Errorf("undo a discard: %w", err)
	}
	return s.DiscardByID(ctx, id)
}

// undoNumber is the number of a discard that can be undone.
func undoNumber(ctx context.Context, tx *sql.Tx, id string, now time.Time) (int64, error) {
	var n, decided, until, undone, messages, begun int64
	err := tx.QueryRowContext(ctx, `SELECT number, decided_at, undo_until, undone_at,
		(SELECT COUNT(*) FROM removals r JOIN discard_items i ON i.letter = r.letter WHERE i.discard = d.number AND r.why = 'discard'),
		(SELECT COUNT(*) FROM removals r JOIN discard_items i ON i.letter = r.letter WHERE i.discard = d.number AND r.why = 'discard' AND r.begun_at <> 0)
		FROM discards d WHERE id = ?`, id).Scan(&n, &decided, &until, &undone, &messages, &begun)
	wrong := &review.StateError{Subject: "discard " + id}
	switch {
	case err != nil:
		return 0, noRows(err, "discard", id)
	case decided == 0:
		wrong.State, wrong.Allowed = "not decided yet", "there is nothing to undo"
	case undone != 0:
		wrong.State, wrong.Allowed = "undone already", "its letters are what they were"
	case begun > 0, messages > 0 && now.UnixMicro() >= until:
		wrong.State, wrong.Allowed = "past its undo", "its messages are being deleted from their queues; the store still has them"
	default:
		return n, nil
	}
	return 0, wrong
}
