package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// auditEntry says who did what, to what, and what came of it. It is written in
// the transaction of its effect, one for each.
type auditEntry struct {
	who, action, subject, outcome string
}

// systemUser is who does what nobody asked for.
const systemUser = "unwedge"

func writeAudit(ctx context.Context, tx *sql.Tx, at time.Time, entries ...auditEntry) error {
	if len(entries) == 0 {
		return nil
	}
	first, err := numbers(ctx, tx, "audit", len(entries))
	if err != nil {
		return err
	}
	var values []any
	for i, e := range entries {
		if e.who == "" {
			e.who = systemUser
		}
		values = append(values, first+int64(i), micros(at), e.who, e.action, e.subject, e.outcome)
	}
	if _, err := insertRows(ctx, tx, `INSERT INTO audit (number, at, who, action, subject, outcome)`, 6, values, ""); err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}
