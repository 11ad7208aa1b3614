package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// booking is a transaction on one redrive.
type booking struct {
	tx     *sql.Tx
	number int64
	id     string
	by     string
	now    time.Time
	first  int64 // number of its first item
	counts itemCounts
	audit  []auditEntry
}

// book runs f in a transaction on a redrive, which gets on if f succeeds.
func (s *Store) book(ctx context.Context, redrive string, f func(*booking) error) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		b := &booking{tx: tx, id: redrive, now: time.Now(), counts: itemCounts{}}
		err := tx.QueryRowContext(ctx, `SELECT r.number, r.asked_by, COALESCE(i.number, 0) FROM redrives r LEFT JOIN items i ON i.id = r.id || '-1' WHERE r.id = ?`, redrive).
			Scan(&b.number, &b.by, &b.first)
		if err != nil {
			return noRows(err, "redrive", redrive)
		}
		if err := f(b); err != nil {
			return err
		}
		if err := b.counts.save(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE redrives SET trouble = '' WHERE number = ? AND trouble <> ''`, b.number); err != nil {
			return err
		}
		return writeAudit(ctx, tx, b.now, b.audit...)
	})
}

// item is the number of an item: those of a redrive follow on one another, and
// the id of each ends with its place among them.
func (b *booking) item(id string) (int64, error) {
	place, err := strconv.ParseInt(strings.TrimPrefix(id, b.id+"-"), 10, 64)
	if err != nil || place < 1 {
		return 0, fmt.Errorf("%w: item %s of redrive %s", review.ErrNotFound, id, b.id)
	}
	return b.first + place - 1, nil
}

func (b *booking) items(ids []string) ([]int64, error) {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		var err error
		if numbers[i], err = b.item(id); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// of is a condition for some items of this redrive.
func (b *booking) of(numbers []int64) string {
	return fmt.Sprintf("redrive = %d AND %s", b.number, numberSpan("number", numbers))
}

// BeginShipments writes shipments with their bytes before they are sent, and
// fails the items that can never be.
func (s *Store) BeginShipments(ctx context.Context, redrive, source string, shipments []sources.Shipment, refused map[string]error) ([]int64, error) {
	var first int64
	err := s.book(ctx, redrive, func(b *booking) error {
		if err := b.mayBegin(ctx); err != nil {
			return err
		}
		if err := b.refuse(ctx, refused, review.Planning); err != nil {
			return err
		}
		var err error
		if first, err = numbers(ctx, b.tx, "shipments", len(shipments)); err != nil {
			return err
		}
		for i, sh := range shipments {
			if err := b.begin(ctx, first+int64(i), source, sh); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write down what redrive %s is about to send: %w", redrive, err)
	}
	list := make([]int64, len(shipments))
	for i := range list {
		list[i] = first + int64(i)
	}
	return list, nil
}

func (b *booking) begin(ctx context.Context, number int64, source string, sh sources.Shipment) error {
	_, err := b.tx.ExecContext(ctx, `INSERT INTO shipments (number, redrive, source, state, target_queue, target_partition, target_topic_id, items, data, repeat_until, stays, traceable)
		VALUES (?, ?, ?, 'sending', ?, ?, ?, ?, ?, ?, ?, ?)`, number, b.number, source, sh.Target.Queue, optional(sh.Target.Partition), sh.Target.TopicID,
		encodeNames(sh.Items), append([]byte{}, sh.Data...), micros(sh.RepeatUntil), sh.Stays, sh.Traceable)
	if err != nil {
		return err
	}
	list, err := b.items(sh.Items)
	if err != nil {
		return err
	}
	result, err := b.tx.ExecContext(ctx, `UPDATE items SET state = 'sending', shipment = ?, error = '' WHERE state = 'planned' AND `+b.of(list), number)
	if err != nil {
		return err
	}
	moved, err := result.RowsAffected()
	if err == nil && moved != int64(len(sh.Items)) {
		err = fmt.Errorf("only %d of the %d letters of a shipment are still planned", moved, len(sh.Items))
	}
	b.counts.turn(b.number, review.Planning, review.Sending, moved)
	return err
}

// refuse fails items, by their ids, of which nothing was sent, and that are in a
// state: their letters are what they were.
func (b *booking) refuse(ctx context.Context, refused map[string]error, from review.ItemState) error {
	byReason := map[string][]int64{}
	for id, why := range refused {
		n, err := b.item(id)
		if err != nil {
			return err
		}
		byReason[why.Error()] = append(byReason[why.Error()], n)
	}
	for why, list := range byReason {
		if err := b.fail(ctx, list, from, why); err != nil {
			return err
		}
	}
	return nil
}

func (b *booking) fail(ctx context.Context, list []int64, from review.ItemState, why string) error {
	list, err := b.turn(ctx, list, from, review.ItemFailed, why)
	if err != nil || len(list) == 0 {
		return err
	}
	before, err := column[string](ctx, b.tx, `SELECT DISTINCT status_before FROM items WHERE `+b.of(list))
	if err != nil {
		return err
	}
	for _, status := range before {
		err := move(ctx, b.tx, review.Status(status), `number IN (SELECT letter FROM items WHERE status_before = ? AND `+b.of(list)+`)`, status)
		if err != nil {
			return err
		}
	}
	return b.auditItems(ctx, list, `?`, "failed: "+why)
}

// doubt says of items that were out that nobody can tell whether they arrived.
func (b *booking) doubt(ctx context.Context, list []int64, why string) error {
	list, err := b.turn(ctx, list, review.Sending, review.ItemUnknown, why)
	if err != nil || len(list) == 0 {
		return err
	}
	if list, err = b.proven(ctx, list); err != nil || len(list) == 0 {
		return err
	}
	if err := move(ctx, b.tx, review.Uncertain, `number IN (SELECT letter FROM items WHERE `+b.of(list)+`)`); err != nil {
		return err
	}
	return b.auditItems(ctx, list, `?`, "unknown: "+why)
}

// proven settles those of the unknown items whose letters have come back already:
// they had arrived. It gives the others.
func (b *booking) proven(ctx context.Context, list []int64) ([]int64, error) {
	back, err := column[int64](ctx, b.tx, `SELECT number FROM items WHERE came_back_as <> '' AND `+b.of(list)+` ORDER BY number`)
	if err != nil || len(back) == 0 {
		return list, err
	}
	if back, err = b.turn(ctx, back, review.ItemUnknown, review.ItemReturned, ""); err != nil {
		return nil, err
	}
	letters := `number IN (SELECT letter FROM items WHERE ` + b.of(back) + `)`
	if err := move(ctx, b.tx, review.Redriven, letters); err != nil {
		return nil, err
	}
	if _, err := b.tx.ExecContext(ctx, `UPDATE letters SET outcome = 'returned' WHERE `+letters); err != nil {
		return nil, err
	}
	if err := removeNow(ctx, b.tx, b.now, letters); err != nil {
		return nil, err
	}
	if err := b.auditItems(ctx, back, `'it had arrived: it came back as ' || i.came_back_as`); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n int64) bool { return slices.Contains(back, n) }), nil
}

// turn gives those items that are in one state another, with an error, and
// tells which they are.
func (b *booking) turn(ctx context.Context, list []int64, from, to review.ItemState, why string) ([]int64, error) {
	list, err := b.in(ctx, list, from)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	_, err = b.tx.ExecContext(ctx, `UPDATE items SET state = ?, error = ?`+holds(to)+` WHERE `+b.of(list), string(to), why)
	b.counts.turn(b.number, from, to, int64(len(list)))
	return list, err
}

// in are those of the items that are in a state.
func (b *booking) in(ctx context.Context, list []int64, state review.ItemState) ([]int64, error) {
	return column[int64](ctx, b.tx, `SELECT number FROM items WHERE state = ? AND `+b.of(list)+` ORDER BY number`, string(state))
}

// auditItems writes one entry for each item, about its letter. outcome is an
// expression over the item.
func (b *booking) auditItems(ctx context.Context, list []int64, outcome string, args ...any) error {
	first, err := numbers(ctx, b.tx, "audit", len(list))
	if err != nil {
		return err
	}
	who := b.by
	if who == "" {
		who = systemUser
	}
	_, err = b.tx.ExecContext(ctx, `INSERT INTO audit (number, at, who, action, subject, outcome)
		SELECT ? + ROW_NUMBER() OVER (ORDER BY i.number), ?, ?, 'redrive', l.id, `+outcome+`
		FROM items i JOIN letters l ON l.number = i.letter WHERE `+numberSpan("i.number", list),
		append([]any{first - 1, micros(b.now), who}, args...)...)
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

// FinishRedrive ends a redrive of which nothing is planned or out any more, and
// tells whether it is over.
func (s *Store) FinishRedrive(ctx context.Context, redrive string) (bool, error) {
	ended := false
	err := s.book(ctx, redrive, func(b *booking) error {
		came, err := judgeRedrive(ctx, b.tx, b.number)
		counts := came.counts
		if err != nil || counts[review.Planning]+counts[review.Sending]+counts[review.Sent] > 0 {
			return err
		}
		ended = true
		now, err := standing(ctx, b.tx, redrive)
		if err != nil || over(now.State) {
			return err
		}
		state, why := endState(now, came)
		if err := b.end(ctx, state, why); err != nil {
			return err
		}
		b.audit = append(b.audit, auditEntry{b.by, "redrive", b.id, string(state) + ": " + came.verdict()})
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("end redrive %s: %w", redrive, err)
	}
	return ended, nil
}
