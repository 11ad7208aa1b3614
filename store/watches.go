package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// Watches has the JSON of what is remembered of each group of a source.
func (s *Store) Watches(ctx context.Context, source string) (map[string][]byte, error) {
	watches := map[string][]byte{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var group string
		var watch []byte
		err := r.Scan(&group, &watch)
		watches[group] = watch
		return err
	}, `SELECT group_name, watch FROM watches WHERE source = ?`, source)
	if err != nil {
		return nil, fmt.Errorf("read the watches of %s: %w", source, err)
	}
	return watches, nil
}

// Turn writes down all that one reading of a source changed: the watches, the
// incidents, and the events that tell of them. It is all there or nothing is.
func (s *Store) Turn(ctx context.Context, t alerts.Turn) error {
	if len(t.Watches)+len(t.Forgotten)+len(t.Incidents)+len(t.Tolls) == 0 {
		return nil
	}
	return s.in(ctx, func(tx *sql.Tx) error {
		if err := saveWatches(ctx, tx, t); err != nil {
			return fmt.Errorf("save the watches of %s: %w", t.Source, err)
		}
		for _, c := range t.Incidents {
			if err := saveChange(ctx, tx, c, t.At); err != nil {
				return fmt.Errorf("save incident %s: %w", c.ID, err)
			}
		}
		for id, toll := range t.Tolls {
			if err := saveToll(ctx, tx, id, toll); err != nil {
				return fmt.Errorf("save what incident %s costs: %w", id, err)
			}
		}
		return nil
	})
}

func saveWatches(ctx context.Context, tx *sql.Tx, t alerts.Turn) error {
	put, err := tx.PrepareContext(ctx, `INSERT INTO watches (source, group_name, watch, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (source, group_name) DO UPDATE SET watch = excluded.watch, updated_at = excluded.updated_at`)
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }()
	for group, watch := range t.Watches {
		if _, err := put.ExecContext(ctx, t.Source, group, string(watch), micros(t.At)); err != nil {
			return err
		}
	}
	for _, group := range t.Forgotten {
		if _, err := tx.ExecContext(ctx, `DELETE FROM watches WHERE source = ? AND group_name = ?`, t.Source, group); err != nil {
			return err
		}
	}
	return nil
}

// saveChange saves an incident and writes the events that it leads to.
func saveChange(ctx context.Context, tx *sql.Tx, c alerts.Change, now time.Time) error {
	if err := saveIncident(ctx, tx, c); err != nil {
		return err
	}
	if err := saveToll(ctx, tx, c.ID, c.Toll); err != nil {
		return err
	}
	for _, notifier := range c.Tell {
		if err := writeTrigger(ctx, tx, c.ID, notifier, now); err != nil {
			return err
		}
	}
	for _, notifier := range c.Update {
		if err := writeUpdate(ctx, tx, c.ID, notifier, now); err != nil {
			return err
		}
	}
	if !c.ResolvedAt.IsZero() {
		if err := writeResolves(ctx, tx, c.ID, now); err != nil {
			return err
		}
	}
	return letGo(ctx, tx, "incident = ?", now, c.ID) // a silence may no longer match it, or it is over
}
