package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// The states of an event in the outbox. It leaves pending when its notifier
// accepted it, refused it for good, or was to be left in peace until it was over,
// and never otherwise.
const (
	eventPending  = "pending"
	eventAccepted = "accepted"
	eventGaveUp   = "gave_up"
	eventMuted    = "muted" // it was over before it could be told, in a silence
)

const insertEvent = `INSERT INTO outbox (incident, notifier, event, step, state, minimal, attempts, written_at, attempted_at, next_at, accepted_at, error) `

// nextStep is the next free place in the lane of o, before the end.
const nextStep = `(SELECT MAX(b.step) + 1 FROM outbox b WHERE b.incident = o.incident AND b.notifier = o.notifier AND b.step < 1000000000)`

// writeTrigger writes the page of an incident, once: the second time is no
// change.
func writeTrigger(ctx context.Context, tx *sql.Tx, incident, notifier string, now time.Time) error {
	_, err := tx.ExecContext(ctx, insertEvent+`VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, 0, '') ON CONFLICT DO NOTHING`,
		incident, notifier, alerts.Trigger, alerts.FirstStep, eventPending, false, micros(now), micros(now))
	return err
}

// writeUpdate writes a change of an incident to a notifier that took its page. An
// update that is not told yet tells of this change, too.
func writeUpdate(ctx context.Context, tx *sql.Tx, incident, notifier string, now time.Time) error {
	_, err := tx.ExecContext(ctx, insertEvent+`SELECT o.incident, o.notifier, ?, `+nextStep+`, ?, o.minimal, 0, ?, 0, ?, 0, '' FROM outbox o
		WHERE o.incident = ? AND o.notifier = ? AND o.step = ? AND o.state = ?
		AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.incident = o.incident AND b.notifier = o.notifier AND b.event = ? AND b.state = ?)`,
		alerts.Update, eventPending, micros(now), micros(now), incident, notifier, alerts.FirstStep, eventAccepted, alerts.Update, eventPending)
	return err
}

// writeAcknowledges writes that somebody looks after an incident to each notifier
// that has its beginning, but for the one where that was said ("" for none).
func writeAcknowledges(ctx context.Context, tx *sql.Tx, incident, said string, now time.Time) error {
	_, err := tx.ExecContext(ctx, insertEvent+`SELECT o.incident, o.notifier, ?, `+nextStep+`, ?, o.minimal, 0, ?, 0, ?, 0, '' FROM outbox o
		WHERE o.incident = ? AND o.step = ? AND o.notifier <> ?`,
		alerts.Acknowledge, eventPending, micros(now), micros(now), incident, alerts.FirstStep, said)
	return err
}

// writeResolves writes the end of an incident to each notifier that has its
// beginning, delivered or not.
func writeResolves(ctx context.Context, tx *sql.Tx, incident string, now time.Time) error {
	if err := dropNeedless(ctx, tx, incident); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, insertEvent+`SELECT incident, notifier, ?, ?, ?, minimal, 0, ?, 0, ?, 0, '' FROM outbox
		WHERE incident = ? AND step = ? AND state <> ? ON CONFLICT DO NOTHING`,
		alerts.Resolve, alerts.LastStep, eventPending, micros(now), micros(now), incident, alerts.FirstStep, eventMuted)
	return err
}

// dropNeedless drops what need not be told of an incident that is over: the lanes
// whose page was held back, and everywhere else what was to be said between page
// and end.
func dropNeedless(ctx context.Context, tx *sql.Tx, incident string) error {
	_, err := tx.ExecContext(ctx, `UPDATE outbox SET state = ?, error = ? WHERE incident = ? AND state = ? AND attempts = 0 AND (
		step > ? AND event IN (?, ?) OR notifier IN (SELECT b.notifier FROM outbox b
			WHERE b.incident = outbox.incident AND b.step = ? AND b.state = ? AND b.attempts = 0 AND b.held_until <> 0))`,
		eventMuted, "it was over before it was to be told", incident, eventPending, alerts.FirstStep, alerts.Trigger, alerts.Update,
		alerts.FirstStep, eventPending)
	return err
}

// first holds for the first pending event of a lane: a resolve never overtakes
// its trigger.
const first = `o.state = 'pending' AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.incident = o.incident AND b.notifier = o.notifier
	AND b.step < o.step AND b.state = 'pending')`

// Due is what may be attempted now, and when the next event may be.
func (s *Store) Due(ctx context.Context, notifier string, now time.Time, max int) ([]alerts.Pending, time.Time, error) {
	due, err := s.due(ctx, notifier, now, max)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the outbox of %s: %w", notifier, err)
	}
	var next sql.NullInt64
	err = s.read.QueryRowContext(ctx, `SELECT MIN(o.next_at) FROM outbox o WHERE o.notifier = ? AND o.next_at > ? AND `+first,
		notifier, micros(now)).Scan(&next)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the outbox of %s: %w", notifier, err)
	}
	return due, instant(next.Int64), nil
}

func (s *Store) due(ctx context.Context, notifier string, now time.Time, max int) ([]alerts.Pending, error) {
	var due []alerts.Pending
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var p alerts.Pending
		var since, tried int64
		err := r.Scan(&p.Incident, &p.Notifier, &p.Event, &p.Step, &p.Attempts, &p.Minimal, &p.Held, &since, &tried, &p.Key)
		p.Since, p.Tried = instant(since), instant(tried)
		due = append(due, p)
		return err
	}, `SELECT o.incident, o.notifier, o.event, o.step, o.attempts, o.minimal, o.held_until <> 0,
			CASE WHEN o.silent_until > o.written_at THEN o.silent_until ELSE o.written_at END, o.attempted_at,
			COALESCE((SELECT t.key_print FROM outbox t WHERE t.incident = o.incident AND t.notifier = o.notifier AND t.event = 'trigger' AND t.attempts > 0
				ORDER BY t.step DESC LIMIT 1), '')
		FROM outbox o
		WHERE o.notifier = ? AND o.next_at <= ? AND `+first+` ORDER BY o.next_at, o.incident LIMIT ?`, notifier, micros(now), max)
	return due, err
}

// Attempt writes down that an attempt begins, on disk before a byte is sent,
// and reads its incident as it is now. It is false when there is nothing to
// attempt any more.
func (s *Store) Attempt(ctx context.Context, p alerts.Pending, now time.Time) (in alerts.Incident, there bool, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE outbox SET attempts = attempts + 1, attempted_at = ?, key_print = ?
			WHERE incident = ? AND notifier = ? AND step = ? AND state = ?`,
			micros(now), p.Key, p.Incident, p.Notifier, p.Step, eventPending)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		list, err := queryIncidents(ctx, tx, "id = ?", p.Incident)
		if err == nil && len(list) == 1 {
			in, there = list[0], true
		}
		return err
	})
	if err != nil {
		return in, false, fmt.Errorf("attempt the %s of %s at %s: %w", p.Event, p.Incident, p.Notifier, err)
	}
	return in, there, nil
}

// Settle writes down what became of an attempt.
func (s *Store) Settle(ctx context.Context, p alerts.Pending, r alerts.Result) error {
	if r.Held || r.Muted {
		return s.settleMuted(ctx, p, r)
	}
	state, accepted := eventPending, int64(0)
	switch {
	case r.Accepted:
		state, accepted = eventAccepted, micros(r.At)
	case r.GaveUp:
		state = eventGaveUp
	}
	err := s.in(ctx, func(tx *sql.Tx) error {
		if r.Accepted && p.Event == alerts.Trigger && p.Step > alerts.FirstStep {
			if err := openAgain(ctx, tx, p.Incident, r.At); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE outbox SET state = ?, accepted_at = ?, next_at = ?, minimal = ?, error = ?
			WHERE incident = ? AND notifier = ? AND step = ? AND state = ?`,
			state, accepted, micros(r.NextAt), r.Minimal, r.Err, p.Incident, p.Notifier, p.Step, eventPending)
		return err
	})
	if err != nil {
		return fmt.Errorf("settle the %s of %s at %s: %w", p.Event, p.Incident, p.Notifier, err)
	}
	return nil
}

// Undelivered is what notifiers have not been told yet, by notifier, and what
// the last attempt at it ended with. What is held back, and what waits behind it,
// is meant to wait.
func (s *Store) Undelivered(ctx context.Context) ([]alerts.Backlog, error) {
	var list []alerts.Backlog
	now := time.Now()
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var b alerts.Backlog
		var oldest int64
		err := r.Scan(&b.Notifier, &b.Events, &oldest, &b.Err)
		b.Oldest = instant(oldest)
		list = append(list, b)
		return err
	}, `SELECT o.notifier, COUNT(*), MIN(CASE WHEN o.held_until > o.written_at THEN o.held_until ELSE o.written_at END), COALESCE((SELECT l.error FROM outbox l
			WHERE l.notifier = o.notifier AND l.state = 'pending' AND l.error <> '' ORDER BY l.attempted_at DESC LIMIT 1), '')
		FROM outbox o WHERE o.state = 'pending' AND o.held_until <= ?
			AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.incident = o.incident AND b.notifier = o.notifier AND b.step < o.step AND b.state = 'pending' AND b.held_until > ?)
		GROUP BY o.notifier ORDER BY o.notifier`, micros(now), micros(now))
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return list, nil
}
