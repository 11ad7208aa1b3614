package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/review"
)

const (
	// returnDefault is how long a letter is taken to need to come back where
	// nothing tells: a consumer that fails at once and a poll of the collector.
	returnDefault = 10 * time.Second
	returnLeast   = 5 * time.Second
	returnMost    = time.Hour
	// earlierMost is how many earlier returns are looked at.
	earlierMost = 20
	// sampleMost is how many letters of a redrive say where they lie.
	sampleMost = 1000
)

// UsualReturn is how long letters of a redrive take to come back as a rule. It
// is fixed when the redrive starts. Errors: review.ErrNotFound.
func (s *Store) UsualReturn(ctx context.Context, redrive string) (time.Duration, error) {
	var us int64
	err := s.read.QueryRowContext(ctx, `SELECT return_us FROM redrives WHERE id = ?`, redrive).Scan(&us)
	return time.Duration(us) * time.Microsecond, noRows(err, "redrive", redrive)
}

// expect fixes how long the letters of a redrive take to come back.
func expect(ctx context.Context, tx *sql.Tx, redrive int64, r review.Redrive) error {
	usual, why, err := usualReturn(ctx, tx, redrive)
	if err != nil {
		return fmt.Errorf("find how long letters take to come back: %w", err)
	}
	usual = min(returnMost, max(returnLeast, usual))
	_, err = tx.ExecContext(ctx, `UPDATE redrives SET return_us = ?, return_why = ?, edited = ? WHERE number = ?`,
		usual.Microseconds(), why, !r.Edit.IsEmpty(), redrive)
	return err
}

// usualReturn goes by earlier returns into the same queues, else by the delays
// of the retry chain, else by what a redrive policy allows.
func usualReturn(ctx context.Context, tx *sql.Tx, redrive int64) (time.Duration, string, error) {
	queues, err := column[int64](ctx, tx, `SELECT DISTINCT queue FROM letters WHERE number IN
		(SELECT letter FROM items WHERE redrive = ? ORDER BY number LIMIT ?)`, redrive, sampleMost)
	if err != nil {
		return 0, "", err
	}
	for _, find := range []func(context.Context, *sql.Tx, []int64) (time.Duration, string, error){byEarlier, byChain, byPolicy} {
		if d, why, err := find(ctx, tx, queues); err != nil || d > 0 {
			return d, why, err
		}
	}
	return returnDefault, "nothing tells how long a letter takes to come back", nil
}

// byEarlier is three quarters of the way up the last returns, and half of it
// more.
func byEarlier(ctx context.Context, tx *sql.Tx, queues []int64) (time.Duration, string, error) {
	took, err := column[int64](ctx, tx, `SELECT back.found_at - s.sent_at FROM letters back JOIN letters sent ON sent.id = back.returned_from
		JOIN items i ON i.letter = sent.number AND i.came_back_as = back.id JOIN shipments s ON s.number = i.shipment
		WHERE back.returned_from <> '' AND s.sent_at BETWEEN 1 AND back.found_at AND `+numberList("back.queue", queues)+` ORDER BY back.number DESC LIMIT ?`, earlierMost)
	if err != nil || len(took) == 0 {
		return 0, "", err
	}
	slices.Sort(took)
	third := time.Duration(took[len(took)*3/4]) * time.Microsecond
	return third * 3 / 2, fmt.Sprintf("of the last %d that came back, three in four took %s at most", len(took), words(third)), nil
}

// byChain adds up the delays that the names of the retry queues before a
// dead-letter queue tell.
func byChain(ctx context.Context, tx *sql.Tx, queues []int64) (time.Duration, string, error) {
	var longest time.Duration
	why := ""
	err := each(ctx, tx, func(r *sql.Rows) error {
		var text string
		var feeds []string
		if err := r.Scan(&text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &feeds); err != nil {
			return err
		}
		var sum time.Duration
		var steps []string
		for _, name := range feeds {
			if d := delayOf(name); d > 0 {
				sum += d
				steps = append(steps, name)
			}
		}
		if sum > longest {
			longest, why = sum, fmt.Sprintf("%s take %s", strings.Join(steps, ", "), sum)
		}
		return nil
	}, `SELECT feeds_from FROM queues WHERE `+numberList("number", queues))
	return longest, why, err
}

// byPolicy is how long SQS tries before it gives up on a message.
func byPolicy(ctx context.Context, tx *sql.Tx, queues []int64) (time.Duration, string, error) {
	var us int64
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(gives_up_us), 0) FROM queues WHERE `+numberList("number", queues)).Scan(&us)
	return time.Duration(us) * time.Microsecond, "maxReceiveCount times the visibility timeout of its queue", err
}

// retryDelay is the delay in the name of a retry queue: "orders.retry-5s",
// "orders-retry-10m", "orders-retry-30000" (Spring counts milliseconds).
var retryDelay = regexp.MustCompile(`(?i)retry[-._]?(\d+)(ms|s|m|h)?$`)

// delayOf is the delay that the name of a retry queue tells; 0 when it tells
// none. A small number without a unit is the place in a chain, and no delay.
func delayOf(name string) time.Duration {
	m := retryDelay.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}[strings.ToLower(m[2])]
	switch {
	case err != nil:
		return 0
	case unit == 0 && n < 100:
		return 0
	case unit == 0:
		unit = time.Millisecond
	}
	return time.Duration(n) * unit
}
