package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// SetSilence keeps a silence.
func (s *Store) SetSilence(ctx context.Context, one alerts.Silence) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		number, err := numbers(ctx, tx, "silences", 1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO silences (number, id, source, group_name, topic, reason, set_by, set_at, from_at, until_at, ended_at, ended_by)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')`,
			number, one.ID, one.Source, one.Group, one.Topic, one.Reason, one.By, micros(one.SetAt), micros(one.From), micros(one.Until))
		if err != nil {
			return err
		}
		return writeAudit(ctx, tx, one.SetAt, auditEntry{one.By, "silence", one.ID, silenced(one)})
	})
}

// silenced says in the audit what a silence is about.
func silenced(one alerts.Silence) string {
	text := fmt.Sprintf("source %s, group %s, topic %s, until %s", one.Source, one.Group, one.Topic, one.Until.UTC().Format(time.RFC3339))
	if one.Reason != "" {
		text += ": " + one.Reason
	}
	return text
}

// EndSilence ends a silence that is not over, and lets the pages go that are
// held back: those that another silence matches are held again by their sender.
// Errors: alerts.ErrNoSilence.
func (s *Store) EndSilence(ctx context.Context, id, by string, now time.Time) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE silences SET ended_at = ?, ended_by = ? WHERE id = ? AND ended_at = 0 AND until_at > ?`,
			micros(now), by, id, micros(now))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return orElse(err, alerts.ErrNoSilence)
		}
		if err := letGo(ctx, tx, "1 = 1", now); err != nil {
			return err
		}
		return writeAudit(ctx, tx, now, auditEntry{by, "silence.end", id, "ended before its time"})
	})
	if err != nil {
		return fmt.Errorf("end the silence %s: %w", id, err)
	}
	return nil
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// letGo has what is held back looked at again, where a condition holds.
func letGo(ctx context.Context, tx *sql.Tx, where string, now time.Time, args ...any) error {
	_, err := tx.ExecContext(ctx, `UPDATE outbox SET next_at = ?, held_until = ?, silent_until = CASE WHEN silent_until > ? THEN ? ELSE silent_until END
		WHERE state = ? AND held_until > ? AND `+where, append([]any{micros(now), micros(now), micros(now), micros(now), eventPending, micros(now)}, args...)...)
	return err
}

// Silences lists silences, newest first: those that are not over, or all. A
// cursor of no list of ours is alerts.ErrCursor.
func (s *Store) Silences(ctx context.Context, all bool, now time.Time, limit int, cursor string) (list []alerts.Silence, next string, err error) {
	before, err := readCursor("silences", cursor, 1)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", alerts.ErrCursor, err)
	}
	where, args := `1 = 1`, []any{}
	if !all {
		where, args = `ended_at = 0 AND until_at > ?`, append(args, micros(now))
	}
	if before != nil {
		where, args = where+` AND number < ?`, append(args, before[0])
	}
	list, numbers, err := s.silences(ctx, s.read, where+` ORDER BY number DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("list the silences: %w", err)
	}
	if len(list) > limit {
		list, next = list[:limit], makeCursor("silences", numbers[limit-1])
	}
	return list, next, nil
}

func (s *Store) silences(ctx context.Context, q querier, where string, args ...any) ([]alerts.Silence, []int64, error) {
	var list []alerts.Silence
	var numbers []int64
	err := each(ctx, q, func(r *sql.Rows) error {
		var one alerts.Silence
		var number, set, from, until, ended int64
		err := r.Scan(&number, &one.ID, &one.Source, &one.Group, &one.Topic, &one.Reason, &one.By, &set, &from, &until, &ended)
		one.SetAt, one.From, one.Until = instant(set), instant(from), instant(until)
		if ended != 0 {
			one.Until = instant(ended)
		}
		list, numbers = append(list, one), append(numbers, number)
		return err
	}, `SELECT number, id, source, group_name, topic, reason, set_by, set_at, from_at, until_at, ended_at FROM silences WHERE `+where, args...)
	return list, numbers, err
}

// Muted tells until when the page of an incident is held back, by silences or by
// a skip of its group that is armed; the zero time when nothing does now.
func (s *Store) Muted(ctx context.Context, incident string, now time.Time) (time.Time, error) {
	list, err := queryIncidents(ctx, s.read, "id = ?", incident)
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	all, _, err := s.silences(ctx, s.read, `ended_at = 0 AND until_at > ?`, micros(now))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the silences: %w", err)
	}
	until := alerts.HeldUntil(list[0], all, now)
	armed, err := s.armedUntil(ctx, list[0].Source, list[0].Group)
	if armed.After(until) && armed.After(now) {
		until = armed
	}
	return until, err
}

// settleMuted writes down that an event was held back, or is not to be told any
// more: with a page that never left goes the rest of its lane.
func (s *Store) settleMuted(ctx context.Context, p alerts.Pending, r alerts.Result) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		if !r.Muted {
			return holdBack(ctx, tx, p, r)
		}
		_, err := tx.ExecContext(ctx, `UPDATE outbox SET state = ?, error = ? WHERE incident = ? AND notifier = ? AND state = ? AND (step = ? OR ?)`,
			eventMuted, r.Err, p.Incident, p.Notifier, eventPending, p.Step, p.Step == alerts.FirstStep && p.Attempts == 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("hold back the %s of %s at %s: %w", p.Event, p.Incident, p.Notifier, err)
	}
	return nil
}

func holdBack(ctx context.Context, tx *sql.Tx, p alerts.Pending, r alerts.Result) error {
	silent := time.Time{}
	if r.Silenced {
		silent = r.NextAt
	}
	_, err := tx.ExecContext(ctx, `UPDATE outbox SET next_at = ?, held_until = ?, silent_until = CASE WHEN ? > silent_until THEN ? ELSE silent_until END, error = ?
		WHERE incident = ? AND notifier = ? AND step = ? AND state = ?`,
		micros(r.NextAt), micros(r.NextAt), micros(silent), micros(silent), r.Err, p.Incident, p.Notifier, p.Step, eventPending)
	return err
}
