package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// Arm keeps a new skip. Another armed one of its line is a *skips.StateError.
func (s *Store) Arm(ctx context.Context, one skips.Skip, done skips.Deed) error {
	text, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("write down skip %s: %w", one.ID, err)
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		var other string
		err := tx.QueryRowContext(ctx, `SELECT id FROM skips WHERE source = ? AND group_name = ? AND topic = ? AND line = ? AND state = ?`,
			one.Line.Source, one.Line.Group, one.Line.Topic, one.Line.Number, skips.Armed).Scan(&other)
		switch {
		case err == nil:
			return &skips.StateError{Why: "skip " + other + " of the same partition is armed"}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		number, err := numbers(ctx, tx, "skips", 1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO skips (number, id, source, group_name, topic, line, state, outcome, from_at, to_at, armed_at, expires_at, ended_at, to_start, skip)
			VALUES (`+marks(15)+`)`, number, one.ID, one.Line.Source, one.Line.Group, one.Line.Topic, one.Line.Number, one.State, one.Outcome,
			one.From, one.To, micros(one.ArmedAt), micros(one.ExpiresAt), int64(0), false, string(text))
		if err != nil {
			return err
		}
		return writeAudit(ctx, tx, one.ArmedAt, deed(one.ID, done))
	})
	return skipError("arm", one.ID, err)
}

func deed(id string, d skips.Deed) auditEntry { return auditEntry{d.By, d.Action, id, d.Outcome} }

// skipError says what was attempted, but for what its text says already.
func skipError(what, id string, err error) error {
	var state *skips.StateError
	if err == nil || errors.As(err, &state) {
		return err
	}
	return fmt.Errorf("%s skip %s: %w", what, id, err)
}

// Save keeps a skip as it is now, with what was done, if its state was the one
// before; else it is a *skips.StateError. When it is not armed any more, pages
// of its group that were held back for it go out.
func (s *Store) Save(ctx context.Context, one skips.Skip, before skips.State, at time.Time, done ...skips.Deed) error {
	text, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("write down skip %s: %w", one.ID, err)
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		changed, err := tx.ExecContext(ctx, `UPDATE skips SET state = ?, outcome = ?, ended_at = ?, to_start = ?, skip = ? WHERE id = ? AND state = ?`,
			one.State, one.Outcome, micros(one.EndedAt), one.ToStart(), string(text), one.ID, before)
		if err != nil {
			return err
		}
		if n, err := changed.RowsAffected(); err != nil || n == 0 {
			return orElse(err, &skips.StateError{Why: "skip " + one.ID + " is not " + string(before) + " any more"})
		}
		if before == skips.Armed && one.State != skips.Armed {
			const its = `incident IN (SELECT id FROM incidents WHERE source = ? AND group_name = ?)`
			if err := letGo(ctx, tx, its, at, one.Line.Source, one.Line.Group); err != nil {
				return err
			}
		}
		var entries []auditEntry
		for _, d := range done {
			entries = append(entries, deed(one.ID, d))
		}
		return writeAudit(ctx, tx, at, entries...)
	})
	return skipError("save", one.ID, err)
}

// Skip is one skip, or skips.ErrNotFound.
func (s *Store) Skip(ctx context.Context, id string) (skips.Skip, error) {
	list, _, err := s.skips(ctx, `id = ?`, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("skip %s: %w", id, skips.ErrNotFound)
	}
	if err != nil {
		return skips.Skip{}, err
	}
	return list[0], nil
}

// Unfinished are the skips that are armed, those that are done and whose outcome
// is not known yet, and those whose workers are to come back, oldest first.
func (s *Store) Unfinished(ctx context.Context) ([]skips.Skip, error) {
	list, _, err := s.skips(ctx, `state = 'armed' OR state = 'done' AND outcome = '' OR to_start ORDER BY number`)
	return list, err
}

// Skips lists skips, newest first: those in some states, or all. A cursor of no
// list of ours is skips.ErrCursor.
func (s *Store) Skips(ctx context.Context, states []skips.State, limit int, cursor string) (list []skips.Skip, next string, err error) {
	before, err := readCursor("skips", cursor, 1)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", skips.ErrCursor, err)
	}
	where, args := []string{"1 = 1"}, []any{}
	if len(states) > 0 {
		one, values := inList("state", states)
		where, args = append(where, one), append(args, values...)
	}
	if before != nil {
		where, args = append(where, "number < ?"), append(args, before[0])
	}
	list, numbers, err := s.skips(ctx, strings.Join(where, " AND ")+` ORDER BY number DESC LIMIT ?`, append(args, limit+1)...)
	if err == nil && len(list) > limit {
		list, next = list[:limit], makeCursor("skips", numbers[limit-1])
	}
	return list, next, err
}

// SkipsOf are the skips of the lines of a group since an instant, oldest first.
func (s *Store) SkipsOf(ctx context.Context, source, group string, since time.Time) ([]skips.Skip, error) {
	list, _, err := s.skips(ctx, `source = ? AND group_name = ? AND (ended_at = 0 OR ended_at >= ?) ORDER BY number`, source, group, micros(since))
	return list, err
}

func (s *Store) skips(ctx context.Context, where string, args ...any) ([]skips.Skip, []int64, error) {
	list, numbers := []skips.Skip{}, []int64{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var one skips.Skip
		var number int64
		var text []byte
		err := r.Scan(&number, &text)
		if err == nil {
			err = json.Unmarshal(text, &one)
		}
		list, numbers = append(list, one), append(numbers, number)
		return err
	}, `SELECT number, skip FROM skips WHERE `+where, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("read skips: %w", err)
	}
	return list, numbers, nil
}

// AdvancedAlone is when the position of a line last rose between two readings
// that both saw no members, other than by a skip of ours or its undo. An earlier
// advance than the one that is remembered is of no account: a skip was not
// allowed within a day after it.
func (s *Store) AdvancedAlone(ctx context.Context, p sources.Partition) (time.Time, error) {
	var watch []byte
	err := s.read.QueryRowContext(ctx, `SELECT watch FROM watches WHERE source = ? AND group_name = ?`, p.Source, p.Group).Scan(&watch)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the watch of %s: %w", p.Group, err)
	}
	at, to, err := alerts.AdvancedAlone(watch, p)
	if err != nil || at.IsZero() {
		return at, err
	}
	var ours int
	err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM skips WHERE source = ? AND group_name = ? AND topic = ? AND line = ? AND
		(state IN ('done', 'undone') AND to_at = ? OR state = 'undone' AND from_at = ?)`, p.Source, p.Group, p.Topic, p.Number, to, to).Scan(&ours)
	if err != nil || ours > 0 {
		return time.Time{}, err
	}
	return at, nil
}

// armedUntil is until when a skip of some line of a group is armed; the zero
// time when none is.
func (s *Store) armedUntil(ctx context.Context, source, group string) (time.Time, error) {
	var until sql.NullInt64
	err := s.read.QueryRowContext(ctx, `SELECT MAX(expires_at) FROM skips WHERE source = ? AND group_name = ? AND state = 'armed'`, source, group).Scan(&until)
	return instant(until.Int64), err
}
