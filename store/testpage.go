package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Tested writes into the audit who sent a test page, and what came of it.
func (s *Store) Tested(ctx context.Context, notifier, by, outcome string, now time.Time) error {
	err := s.in(ctx, func(tx *sql.Tx) error {
		return writeAudit(ctx, tx, now, auditEntry{by, "notifier.test", notifier, outcome})
	})
	if err != nil {
		return fmt.Errorf("write down the test of notifier %s: %w", notifier, err)
	}
	return nil
}
