package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// queueNumber is the number of a queue, which is added where it is not known.
func queueNumber(ctx context.Context, tx *sql.Tx, source, name string) (int64, error) {
	var n int64
	err := tx.QueryRowContext(ctx, `SELECT number FROM queues WHERE source = ? AND name = ?`, source, name).Scan(&n)
	if !errors.Is(err, sql.ErrNoRows) {
		return n, err
	}
	if n, err = numbers(ctx, tx, "queues", 1); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO queues (number, source, name, kind, broker_id, partitions, messages, exact, retention_us, feeds_from,
		redrive_to, redriving, read_at, error, scan_error, scanned_at, older, note, listed)
		VALUES (?, ?, ?, ?, '', 0, ?, FALSE, 0, '[]', '', '', 0, '', '', 0, 0, '', TRUE)`, n, source, name, string(sources.DeadLetterQueue), sources.NotKnown)
	return n, err
}

// KeepInventory replaces what is known of a source's queues and findings.
// Queues that are not in it any more are listed no more; their letters stay.
func (s *Store) KeepInventory(ctx context.Context, inv review.Inventory) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE queues SET listed = FALSE WHERE source = ?`, inv.Source); err != nil {
			return err
		}
		for _, q := range inv.Queues {
			if err := keepQueue(ctx, tx, inv.Source, q); err != nil {
				return fmt.Errorf("queue %s: %w", q.Name, err)
			}
		}
		for name, at := range inv.Scanned {
			_, err := tx.ExecContext(ctx, `UPDATE queues SET scanned_at = ?, caught_up_at = ? WHERE source = ? AND name = ? AND scan_error = ''`, micros(at), micros(at), inv.Source, name)
			if err != nil {
				return err
			}
		}
		if inv.Findings == nil {
			return nil
		}
		return keepFindings(ctx, tx, inv)
	})
	if err != nil {
		return fmt.Errorf("store the queues of %s: %w", inv.Source, err)
	}
	return nil
}

// keepQueue writes a reading of a queue. One that could not be read keeps what
// was known of it, and says why.
func keepQueue(ctx context.Context, tx *sql.Tx, source string, q sources.Queue) error {
	n, err := queueNumber(ctx, tx, source, q.Name)
	if err != nil {
		return err
	}
	if q.Err != nil {
		_, err := tx.ExecContext(ctx, `UPDATE queues SET listed = TRUE, kind = ?, error = ? WHERE number = ?`, string(q.Kind), q.Err.Error(), n)
		return err
	}
	if err := madeAgain(ctx, tx, n, q.ID); err != nil {
		return err
	}
	feeds, err := json.Marshal(q.FeedsFrom)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE queues SET listed = TRUE, kind = ?, broker_id = ?, partitions = ?, messages = ?, exact = ?, retention_us = ?,
		feeds_from = ?, redrive_to = ?, redriving = ?, gives_up_us = ?, read_at = ?, error = '' WHERE number = ?`,
		string(q.Kind), q.ID, q.Partitions, q.Count, q.CountIsExact, q.Retention.Microseconds(), string(feeds), q.RedriveTo, q.Redriving, q.GivesUpAfter.Microseconds(), micros(q.ReadAt), n)
	return err
}

// keepFindings replaces the findings of a source. One that was known keeps the
// time since when it is.
func keepFindings(ctx context.Context, tx *sql.Tx, inv review.Inventory) error {
	since := map[string]int64{}
	err := each(ctx, tx, func(r *sql.Rows) error {
		var id string
		var at int64
		err := r.Scan(&id, &at)
		since[id] = at
		return err
	}, `SELECT id, since FROM findings WHERE source = ?`, inv.Source)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM findings WHERE source = ?`, inv.Source); err != nil {
		return err
	}
	var values []any
	for _, f := range inv.Findings {
		evidence, err := json.Marshal(f.Evidence)
		if err != nil {
			return fmt.Errorf("finding %s: %w", f.ID, err)
		}
		at, ok := since[f.ID]
		if !ok {
			at = micros(inv.ReadAt)
		}
		values = append(values, f.ID, inv.Source, f.Kind, f.Queue, f.Message, f.Advice, string(evidence), at)
	}
	_, err = insertRows(ctx, tx, `INSERT INTO findings (id, source, kind, queue, message, advice, evidence, since)`, 8, values, `ON CONFLICT (source, id) DO NOTHING`)
	return err
}

// Findings lists the risks that were seen at the last reading of each source.
func (s *Store) Findings(ctx context.Context) ([]review.Finding, error) {
	list := []review.Finding{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var f review.Finding
		var evidence string
		var since int64
		if err := r.Scan(&f.ID, &f.Source, &f.Kind, &f.Queue, &f.Message, &f.Advice, &evidence, &since); err != nil {
			return err
		}
		f.Since = instant(since)
		list = append(list, f)
		return json.Unmarshal([]byte(evidence), &list[len(list)-1].Evidence)
	}, `SELECT id, source, kind, queue, message, advice, evidence, since FROM findings ORDER BY source, queue, id`)
	if err != nil {
		return nil, fmt.Errorf("list findings: %w", err)
	}
	return list, nil
}

// Queues lists the queues that the brokers have, with what is known of their
// letters, by source and name.
func (s *Store) Queues(ctx context.Context) ([]review.Queue, error) {
	list, places, err := s.listedQueues(ctx)
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var n, letters int64
		var status review.Status
		err := r.Scan(&n, &status, &letters)
		if i, listed := places[n]; listed {
			list[i].Counts[status] = letters
		}
		return err
	}, `SELECT queue, status, SUM(letters) FROM tallies WHERE letters > 0 GROUP BY queue, status`)
	if err != nil {
		return nil, fmt.Errorf("count the letters of queues: %w", err)
	}
	return list, nil
}

// listedQueues lists the queues, and where in the list each number stands.
func (s *Store) listedQueues(ctx context.Context) ([]review.Queue, map[int64]int, error) {
	list, places := []review.Queue{}, map[int64]int{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		n, q, err := scanQueue(r)
		places[n] = len(list)
		list = append(list, q)
		return err
	}, `SELECT q.number, source, name, kind, broker_id, partitions, messages, exact, retention_us, feeds_from, redrive_to, redriving, read_at,
		error, scan_error, scanned_at, older, note,
		COALESCE((SELECT listed_at FROM letters l WHERE l.queue = q.number AND l.shelf = 'open' ORDER BY listed_at LIMIT 1), 0),
		COALESCE((SELECT listed_at FROM letters l WHERE l.queue = q.number AND l.shelf = 'expired' ORDER BY listed_at LIMIT 1), 0)
		FROM queues q WHERE listed ORDER BY source, name`)
	return list, places, err
}

func scanQueue(r *sql.Rows) (int64, review.Queue, error) {
	q := review.Queue{Counts: map[review.Status]int64{}}
	var n, retention, readAt, scannedAt, open, expired int64
	var feeds, problem, scan string
	err := r.Scan(&n, &q.Source, &q.Name, &q.Kind, &q.ID, &q.Partitions, &q.Count, &q.CountIsExact, &retention, &feeds, &q.RedriveTo, &q.Redriving, &readAt,
		&problem, &scan, &scannedAt, &q.Older, &q.Note, &open, &expired)
	if err != nil {
		return n, q, err
	}
	q.Retention = time.Duration(retention) * time.Microsecond
	q.ReadAt, q.ScannedAt, q.OldestAt = instant(readAt), instant(scannedAt), earlier(instant(open), instant(expired))
	for _, text := range []string{problem, scan} {
		if text != "" && q.Err == nil {
			q.Err = errors.New(text)
		}
	}
	return n, q, json.Unmarshal([]byte(feeds), &q.FeedsFrom)
}

// madeAgain expires the letters of a topic that was deleted and made again, once
// its new id is seen.
func madeAgain(ctx context.Context, tx *sql.Tx, queue int64, id string) error {
	var was string
	if err := tx.QueryRowContext(ctx, `SELECT broker_id FROM queues WHERE number = ?`, queue).Scan(&was); err != nil || was == "" || was == id || id == "" {
		return err
	}
	if err := expiredBefore(ctx, tx, otherTopic, queue, id); err != nil {
		return err
	}
	return move(ctx, tx, review.Expired, `queue = ? AND shelf IN ('open', 'snoozed') AND `+otherTopic, queue, id)
}
