package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/unwedge/unwedge/review"
)

// itemCounts are how many items of redrives are in each state, or how many more.
// They are kept in the transactions that change states, so that no page and no
// pause counts a million rows.
type itemCounts map[itemKind]int64

// itemKind is a state of items of one redrive, by its number.
type itemKind struct {
	redrive int64
	state   review.ItemState
}

// turn counts items that change their state.
func (c itemCounts) turn(redrive int64, from, to review.ItemState, n int64) {
	c[itemKind{redrive, from}] -= n
	c[itemKind{redrive, to}] += n
}

// save adds the counts to those in the store.
func (c itemCounts) save(ctx context.Context, tx *sql.Tx) error {
	var values []any
	for k, n := range c {
		if n != 0 {
			values = append(values, k.redrive, string(k.state), n)
		}
	}
	_, err := insertRows(ctx, tx, `INSERT INTO item_counts (redrive, state, items)`, 3, values,
		`ON CONFLICT (redrive, state) DO UPDATE SET items = item_counts.items + excluded.items`)
	if err != nil {
		return fmt.Errorf("count the letters of redrives: %w", err)
	}
	return nil
}

// moveItems gives items another state, counts them anew, and tells how many
// moved. which is a condition on the table items. Every change of a state goes
// through it, but for those of the journal, which knows what it moves. An item
// that comes to fail or to be cancelled lets go of its letter, which can be
// redriven again.
func moveItems(ctx context.Context, tx *sql.Tx, to review.ItemState, which string, args ...any) (int64, error) {
	moved := itemCounts{}
	err := each(ctx, tx, func(r *sql.Rows) error {
		var k itemKind
		var n int64
		err := r.Scan(&k.redrive, &k.state, &n)
		moved.turn(k.redrive, k.state, to, n)
		return err
	}, `SELECT redrive, state, COUNT(*) FROM items WHERE `+which+` GROUP BY redrive, state`, args...)
	if err != nil {
		return 0, fmt.Errorf("count letters that become %s: %w", to, err)
	}
	if len(moved) == 0 {
		return 0, nil
	}
	result, err := tx.ExecContext(ctx, `UPDATE items SET state = ?`+holds(to)+` WHERE `+which, append([]any{string(to)}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("make letters of a redrive %s: %w", to, err)
	}
	if err := moved.save(ctx, tx); err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// holds is what a state does to the hold that an item has on its letter.
func holds(state review.ItemState) string {
	if state == review.ItemFailed || state == review.ItemCancelled {
		return `, holds = NULL`
	}
	return ""
}

// countItems gives how many letters of a redrive are in each state; a state
// that none is in is not among them.
func countItems(ctx context.Context, q querier, redrive int64) (map[review.ItemState]int, error) {
	counts := map[review.ItemState]int{}
	return counts, each(ctx, q, func(r *sql.Rows) error {
		var state review.ItemState
		var n int
		err := r.Scan(&state, &n)
		counts[state] = n
		return err
	}, `SELECT state, items FROM item_counts WHERE redrive = ? AND items <> 0`, redrive)
}
