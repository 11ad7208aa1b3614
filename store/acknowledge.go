package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// Acknowledge writes down who takes an open incident, and the event for each
// notifier that has its beginning. Errors: alerts.ErrNotFound, *alerts.StateError.
func (s *Store) Acknowledge(ctx context.Context, id, by string, now time.Time) (alerts.Incident, error) {
	err := s.in(ctx, func(tx *sql.Tx) error {
		list, err := queryIncidents(ctx, tx, "id = ?", id)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("incident %q: %w", id, alerts.ErrNotFound)
		}
		if why := list[0].NotToAcknowledge(); why != "" {
			return &alerts.StateError{Incident: id, Why: why}
		}
		if err := acknowledge(ctx, tx, id, by, "", now); err != nil {
			return err
		}
		return writeAudit(ctx, tx, now, auditEntry{by, "incident.acknowledge", id, "acknowledged"})
	})
	if err != nil {
		return alerts.Incident{}, err
	}
	return s.Incident(ctx, id)
}

// acknowledge notes who looks after an incident, and tells all but the notifier
// where that was said ("": here).
func acknowledge(ctx context.Context, tx *sql.Tx, id, by, said string, now time.Time) error {
	if _, err := tx.ExecContext(ctx, `UPDATE incidents SET acknowledged_at = ?, acknowledged_by = ? WHERE id = ?`, micros(now), by, id); err != nil {
		return err
	}
	return writeAcknowledges(ctx, tx, id, said, now)
}
