package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/unwedge/unwedge/review"
)

// Audit lists what was done, newest first. Errors: review.ErrBadCursor.
func (s *Store) Audit(ctx context.Context, f review.AuditFilter, limit int, cursor string) (review.Audit, error) {
	page := review.Audit{Entries: []review.AuditEntry{}}
	after, err := readCursor("audit", cursor, 1)
	if err != nil {
		return page, err
	}
	where, args := "1 = 1", []any{}
	only := func(condition string, value any) { where, args = where+" AND "+condition, append(args, value) }
	for column, value := range map[string]string{"who": f.By, "action": f.Action, "subject": f.On} {
		if value != "" {
			only(column+" = ?", value)
		}
	}
	if after != nil {
		only("number < ?", after[0])
	}
	var numbers []int64
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var e review.AuditEntry
		var number, at int64
		err := r.Scan(&number, &at, &e.By, &e.Action, &e.On, &e.Outcome)
		e.ID, e.At = fmt.Sprint("au_", number), instant(at)
		page.Entries, numbers = append(page.Entries, e), append(numbers, number)
		return err
	}, `SELECT number, at, who, action, subject, outcome FROM audit WHERE `+where+` ORDER BY number DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return page, fmt.Errorf("list the audit: %w", err)
	}
	if len(page.Entries) > limit {
		page.Entries, page.Next = page.Entries[:limit], makeCursor("audit", numbers[limit-1])
	}
	return page, nil
}
