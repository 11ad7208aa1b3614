package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/unwedge/unwedge/review"
)

const (
	// removalPause is how long a letter that could not be taken off is left alone,
	// removalPauseMost after many tries.
	removalPause     = 2 * time.Second
	removalPauseMost = time.Minute
)

// removeNow has letters taken off their SQS queue from now on. which is a
// condition on letters.
func removeNow(ctx context.Context, tx *sql.Tx, at time.Time, which string, args ...any) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO removals (letter, why, due_at, begun_at, done_at, tries, error)
		SELECT number, 'settled', ?, 0, 0, 0, '' FROM letters WHERE message_id <> '' AND `+which+`
		ON CONFLICT (letter) DO UPDATE SET why = excluded.why, due_at = excluded.due_at, begun_at = 0, done_at = 0, tries = 0, error = ''`,
		append([]any{micros(at)}, args...)...)
	if err != nil {
		return fmt.Errorf("have letters taken off their queue: %w", err)
	}
	return nil
}

// BeginRemovals gives letters that are due, of one queue. From then on they
// cannot be called off.
func (s *Store) BeginRemovals(ctx context.Context, now time.Time, most int) ([]review.Removal, error) {
	var due int
	err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM removals WHERE done_at = 0 AND due_at <= ? LIMIT 1) AS some`, micros(now)).Scan(&due)
	if err != nil || due == 0 {
		return nil, err
	}
	var all []review.Removal
	err = s.in(ctx, func(tx *sql.Tx) error {
		err := each(ctx, tx, func(r *sql.Rows) error {
			var one review.Removal
			err := r.Scan(&one.Letter, &one.Source, &one.Queue, &one.MessageID)
			if len(all) == 0 || one.Source == all[0].Source && one.Queue == all[0].Queue {
				all = append(all, one)
			}
			return err
		}, `SELECT l.number, q.source, q.name, l.message_id FROM removals r JOIN letters l ON l.number = r.letter JOIN queues q ON q.number = l.queue
			WHERE r.done_at = 0 AND r.due_at <= ? ORDER BY r.due_at, l.queue, l.number LIMIT ?`, micros(now), most)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE removals SET begun_at = ? WHERE begun_at = 0 AND `+numberList("letter", lettersOf(all)), micros(now))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find letters to take off their queue: %w", err)
	}
	return all, nil
}

func lettersOf(list []review.Removal) []int64 {
	numbers := make([]int64, len(list))
	for i, r := range list {
		numbers[i] = r.Letter
	}
	return numbers
}

// EndRemovals writes which letters are off, with the audit, and why the others
// are not: those are due again later.
func (s *Store) EndRemovals(ctx context.Context, now time.Time, off []review.Removal, left map[int64]error) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		these := numberList("letter", lettersOf(off))
		if _, err := tx.ExecContext(ctx, `UPDATE removals SET done_at = ?, error = '' WHERE `+these, micros(now)); err != nil {
			return err
		}
		if err := auditRemovals(ctx, tx, off, now); err != nil {
			return err
		}
		for _, letter := range slices.Sorted(maps.Keys(left)) {
			var tries int
			err := tx.QueryRowContext(ctx, `UPDATE removals SET tries = tries + 1, error = ? WHERE letter = ? RETURNING tries`, left[letter].Error(), letter).Scan(&tries)
			if err != nil {
				return err
			}
			pause := min(removalPauseMost, removalPause<<min(tries-1, 5))
			if _, err := tx.ExecContext(ctx, `UPDATE removals SET due_at = ? WHERE letter = ?`, micros(now.Add(pause)), letter); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write down which letters are off their queue: %w", err)
	}
	return nil
}

// auditRemovals writes one entry for each letter that was deleted.
func auditRemovals(ctx context.Context, tx *sql.Tx, off []review.Removal, now time.Time) error {
	ids, err := column[string](ctx, tx, `SELECT id FROM letters WHERE `+numberList("number", lettersOf(off))+` ORDER BY number`)
	if err != nil {
		return err
	}
	entries := make([]auditEntry, 0, len(ids))
	for _, id := range ids {
		entries = append(entries, auditEntry{"", "delete", id, "taken off its queue"})
	}
	return writeAudit(ctx, tx, now, entries...)
}
