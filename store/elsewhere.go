package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// Hear takes over what somebody did about an incident in a pager, with an audit
// row. It is false where that changes nothing.
func (s *Store) Hear(ctx context.Context, e alerts.Elsewhere, now time.Time) (changed bool, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		list, err := queryIncidents(ctx, tx, "id = ?", e.Incident)
		if err == nil {
			err = addDeliveries(ctx, tx, list)
		}
		if err != nil || len(list) == 0 || !list[0].ResolvedAt.IsZero() {
			return err
		}
		outcome, err := hear(ctx, tx, list[0], e, now)
		if changed = outcome != ""; err != nil || !changed {
			return err
		}
		return writeAudit(ctx, tx, now, auditEntry{e.By, "incident." + string(e.What), e.Incident, outcome})
	})
	if err != nil {
		return false, fmt.Errorf("take over that incident %s was %s in %s: %w", e.Incident, e.What, e.Notifier, err)
	}
	return changed, nil
}

// hear does what was said about an open incident. Its outcome is "" where that was
// so already.
func hear(ctx context.Context, tx *sql.Tx, in alerts.Incident, e alerts.Elsewhere, now time.Time) (outcome string, err error) {
	switch taken := !in.AcknowledgedAt.IsZero(); {
	case e.What == alerts.TurnedAcknowledged && !taken:
		return "acknowledged", acknowledge(ctx, tx, in.ID, e.By, e.Notifier, now)
	case e.What == alerts.TurnedUnacknowledged && taken:
		return "nobody looks after it any more", letBe(ctx, tx, in.ID)
	case e.What == alerts.TurnedClosed:
		return closeByHand(ctx, tx, in, e, now)
	case e.What == alerts.TurnedReopened && !in.ClosedAt.IsZero():
		return "opened again", openAgain(ctx, tx, in.ID, now)
	}
	return "", nil
}

// closeByHand notes that an incident was closed while it stands, and writes the
// page that follows, should it stand for too long: its sender holds it back until
// then. What was closed is closed once, however often that is told.
func closeByHand(ctx context.Context, tx *sql.Tx, in alerts.Incident, e alerts.Elsewhere, now time.Time) (string, error) {
	var before string
	if err := tx.QueryRowContext(ctx, `SELECT closed_ref FROM incidents WHERE id = ?`, in.ID).Scan(&before); err != nil {
		return "", err
	}
	told := slices.ContainsFunc(in.Deliveries, func(d alerts.Delivery) bool { return d.Notifier == e.Notifier })
	if before == e.Ref && e.Ref != "" || !in.ClosedAt.IsZero() || !told {
		return "", nil
	}
	if in.AcknowledgedAt.IsZero() {
		if err := acknowledge(ctx, tx, in.ID, e.By, e.Notifier, now); err != nil {
			return "", err
		}
	}
	_, err1 := tx.ExecContext(ctx, `UPDATE incidents SET closed_at = ?, closed_ref = ? WHERE id = ?`, micros(now), e.Ref, in.ID)
	_, err2 := tx.ExecContext(ctx, insertEvent+`SELECT o.incident, o.notifier, ?, `+nextStep+`, ?, o.minimal, 0, ?, 0, ?, 0, '' FROM outbox o
		WHERE o.incident = ? AND o.notifier = ? AND o.step = ?
		AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.incident = o.incident AND b.notifier = o.notifier AND b.event = ? AND b.state = ?)`,
		alerts.Trigger, eventPending, micros(now), micros(now), in.ID, e.Notifier, alerts.FirstStep, alerts.Trigger, eventPending)
	return "closed by hand, and it still stands", errors.Join(err1, err2)
}

// openAgain notes that an incident is open in the pager, and that nobody looks
// after it. It keeps what was closed, so that this is not heard a second time.
func openAgain(ctx context.Context, tx *sql.Tx, id string, now time.Time) error {
	if _, err := tx.ExecContext(ctx, `UPDATE incidents SET closed_at = 0 WHERE id = ?`, id); err != nil {
		return err
	}
	if err := letGo(ctx, tx, "incident = ?", now, id); err != nil {
		return err
	}
	return letBe(ctx, tx, id)
}

// letBe notes that nobody looks after an incident any more.
func letBe(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE incidents SET acknowledged_at = 0, acknowledged_by = '' WHERE id = ?`, id)
	return err
}
