package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// KeepChunks keeps readings of the lag loop.
func (s *Store) KeepChunks(ctx context.Context, chunks []alerts.Chunk) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		var values []any
		for _, c := range chunks {
			values = append(values, c.Source, c.Group, micros(c.Begins), micros(c.Ends), string(c.Protocol), c.Packed)
		}
		_, err := insertRows(ctx, tx, `INSERT INTO history (source, group_name, begins_at, ends_at, protocol, packed)`, 6, values, " ON CONFLICT DO NOTHING")
		return err
	})
	if err != nil {
		return fmt.Errorf("keep readings: %w", err)
	}
	return nil
}

// Chunks gives the chunks of a group that have something from and to an instant,
// oldest first; a zero instant bounds nothing.
func (s *Store) Chunks(ctx context.Context, source, group string, from, to time.Time, give func(alerts.Chunk) error) error {
	last := int64(1) << 62
	if !to.IsZero() {
		last = micros(to)
	}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		c := alerts.Chunk{Source: source, Group: group}
		var begins, ends int64
		if err := r.Scan(&begins, &ends, &c.Protocol, &c.Packed); err != nil {
			return err
		}
		c.Begins, c.Ends = instant(begins), instant(ends)
		return give(c)
	}, `SELECT begins_at, ends_at, protocol, packed FROM history WHERE source = ? AND group_name = ? AND ends_at >= ? AND begins_at <= ? ORDER BY begins_at`,
		source, group, micros(from), last)
	if err != nil {
		return fmt.Errorf("read the history of %s: %w", group, err)
	}
	return nil
}

// ForgetChunks deletes chunks that ended before an instant, at most so many.
func (s *Store) ForgetChunks(ctx context.Context, before time.Time, most int) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM history WHERE (source, group_name, begins_at) IN
			(SELECT source, group_name, begins_at FROM history WHERE ends_at < ? ORDER BY ends_at LIMIT ?)`, micros(before), most)
		return err
	})
	if err != nil {
		return fmt.Errorf("forget old readings: %w", err)
	}
	return nil
}
