package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// arrival is when a letter came into its queue: after the queue was last read
// to its end, and before the letter was found. Within that it is when it died,
// as far as that is known. A letter that was there at the first look came when it
// died, or nobody knows when: then it is 0.
func arrival(l review.Letter, caughtUp int64) int64 {
	died, found := micros(l.DeadAt), micros(l.FoundAt)
	if caughtUp == 0 || caughtUp > found {
		return min(died, found)
	}
	if died == 0 {
		return found
	}
	return min(max(died, caughtUp), found)
}

// LettersArrived is what came into a dead-letter queue by now: how many within a
// time, when last more than so many had come within it, and which causes that
// nobody had seen before.
func (s *Store) LettersArrived(ctx context.Context, queue alerts.DeadLetterQueue, rule alerts.BurstRule, now time.Time) (alerts.Arrivals, error) {
	var a alerts.Arrivals
	var number int64
	err := s.read.QueryRowContext(ctx, `SELECT number FROM queues WHERE source = ? AND name = ?`, queue.Source, queue.Name).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return a, nil
	}
	if err == nil {
		a, err = s.arrived(ctx, number, rule, now)
	}
	if err != nil {
		return a, fmt.Errorf("count what arrived in %s of %s: %w", queue.Name, queue.Source, err)
	}
	return a, nil
}

func (s *Store) arrived(ctx context.Context, queue int64, rule alerts.BurstRule, now time.Time) (a alerts.Arrivals, err error) {
	since, within := micros(now.Add(-rule.Within)), rule.Within.Microseconds()
	if err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM letters WHERE queue = ? AND arrived_at > ?`, queue, since).Scan(&a.Count); err != nil {
		return a, err
	}
	if rule.MoreThan > 0 {
		var last int64
		err := s.read.QueryRowContext(ctx, `SELECT COALESCE(MAX(at), 0) FROM (
			SELECT arrived_at AS at, LAG(arrived_at, ?) OVER (ORDER BY arrived_at) AS earlier FROM letters WHERE queue = ? AND arrived_at > ?) AS arrivals
			WHERE at - earlier < ?`, rule.MoreThan, queue, micros(now.Add(-2*rule.Within)), within).Scan(&last)
		if err != nil {
			return a, err
		}
		a.OverAt = instant(last)
	}
	if rule.NewCause && a.Count > 0 {
		a.Causes, err = s.newCauses(ctx, queue, since)
	}
	return a, err
}

// newCauses are the causes that letters in a queue have since a moment, and that
// no letter had before.
func (s *Store) newCauses(ctx context.Context, queue, since int64) (causes []alerts.NewCause, err error) {
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var c alerts.NewCause
		var first int64
		err := r.Scan(&c.ID, &c.Title, &first)
		c.At = instant(first)
		causes = append(causes, c)
		return err
	}, `SELECT c.id, c.title, MIN(l.arrived_at) FROM causes c JOIN letters l ON l.cause = c.number
		WHERE c.added_at > ? AND l.queue = ? AND l.arrived_at > ?
		AND NOT EXISTS (SELECT 1 FROM letters o WHERE o.cause = c.number AND o.arrived_at <= ?)
		GROUP BY c.number, c.id, c.title ORDER BY c.number`, since, queue, since, since)
	return causes, err
}

// DeadLetterQueues are those that are listed.
func (s *Store) DeadLetterQueues(ctx context.Context) (list []alerts.DeadLetterQueue, err error) {
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var q alerts.DeadLetterQueue
		err := r.Scan(&q.Source, &q.Name)
		list = append(list, q)
		return err
	}, `SELECT source, name FROM queues WHERE kind = ? ORDER BY source, name`, string(sources.DeadLetterQueue))
	if err != nil {
		return nil, fmt.Errorf("list the dead-letter queues: %w", err)
	}
	return list, nil
}

// Bursts are the open bursts of dead-letter queues.
func (s *Store) Bursts(ctx context.Context) ([]alerts.Incident, error) {
	list, err := queryIncidents(ctx, s.read, `resolved_at = 0 AND verdict = ? ORDER BY number`, string(alerts.DeadLetterBurst))
	if err != nil {
		return nil, fmt.Errorf("read the open bursts: %w", err)
	}
	return list, nil
}
