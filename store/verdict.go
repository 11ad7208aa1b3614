package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/unwedge/unwedge/review"
)

// outcome is what is known of the letters of a redrive.
type outcome struct {
	counts map[review.ItemState]int
	why    string        // the first of the letters that failed did
	within time.Duration // how long a letter takes to come back
	final  bool          // that time is over for all of them
	blind  bool          // of some of them nobody can tell who reads their queue
}

// verdict says what became of a redrive, in words.
func (o outcome) verdict() string {
	n := o.counts
	sent := n[review.Sent] + n[review.Confirmed] + n[review.ItemConsumed] + n[review.ItemReturned]
	var parts []string
	add := func(count int, text string) {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, text))
		}
	}
	add(n[review.ItemConsumed], "passed"+o.andNotReturned())
	add(n[review.Confirmed], o.confirmed())
	add(n[review.Sent], "still to be taken off their queue")
	add(n[review.ItemReturned], "came back")
	add(n[review.ItemUnknown], "unknown: they may or may not have arrived")
	add(n[review.ItemFailed], "failed"+because(strings.TrimSuffix(o.why, ".")))
	add(n[review.ItemCancelled], "cancelled")
	if len(parts) == 0 {
		return fmt.Sprintf("%d redriven", sent)
	}
	return fmt.Sprintf("%d redriven: %s", sent, strings.Join(parts, ", "))
}

func (o outcome) andNotReturned() string {
	if !o.final {
		return ""
	}
	return " and not returned within " + words(o.within)
}

// confirmed is what is said of letters that nobody is known to have passed.
func (o outcome) confirmed() string {
	switch {
	case !o.blind:
		return "not read yet"
	case o.final:
		return "not returned within " + words(o.within) + " (nobody can tell who reads an SQS queue)"
	}
	return "not returned so far (nobody can tell who reads an SQS queue)"
}

// words is a length of time as people say it, rounded up to the next whole unit.
func words(d time.Duration) string {
	unit, name := time.Second, "second"
	switch {
	case d > 90*time.Minute:
		unit, name = time.Hour, "hour"
	case d > 90*time.Second:
		unit, name = time.Minute, "minute"
	}
	n := int64((d + unit - 1) / unit)
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}

// reword writes the verdict of a redrive that has ended anew.
func reword(ctx context.Context, tx *sql.Tx, redrive int64) error {
	var ended int64
	if err := tx.QueryRowContext(ctx, `SELECT ended_at FROM redrives WHERE number = ?`, redrive).Scan(&ended); err != nil || ended == 0 {
		return err
	}
	_, err := judgeRedrive(ctx, tx, redrive)
	return err
}

// judgeRedrive writes the verdict of a redrive, and gives what it rests on.
func judgeRedrive(ctx context.Context, tx *sql.Tx, redrive int64) (o outcome, err error) {
	if o.counts, err = countItems(ctx, tx, redrive); err != nil {
		return o, err
	}
	var within int64
	err = tx.QueryRowContext(ctx, `SELECT return_us, followed,
		COALESCE((SELECT error FROM items WHERE redrive = r.number AND state = 'failed' ORDER BY number LIMIT 1), ''),
		EXISTS (SELECT 1 FROM shipments s WHERE s.redrive = r.number AND s.target_partition IS NULL)
		FROM redrives r WHERE number = ?`, redrive).Scan(&within, &o.final, &o.why, &o.blind)
	if err != nil {
		return o, err
	}
	o.within = time.Duration(within) * time.Microsecond
	_, err = tx.ExecContext(ctx, `UPDATE redrives SET verdict = ? WHERE number = ?`, o.verdict(), redrive)
	return o, err
}
