package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
	audit  []auditEntry
}

// book runs f in a transaction on a redrive, which gets on if f succeeds.
func (s *Store) book(ctx context.Context, redrive string, f func(*booking) error) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		b := &booking{tx: tx, id: redrive, now: time.Now()}
		err := tx.QueryRowContext(ctx, `SELECT number, asked_by FROM redrives WHERE id = ?`, redrive).Scan(&b.number, &b.by)
		if err != nil {
			return noRows(err, "redrive", redrive)
		}
		if err := f(b); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE redrives SET trouble = '' WHERE number = ? AND trouble <> ''`, b.number); err != nil {
			return err
		}
		return writeAudit(ctx, tx, b.now, b.audit...)
	})
}

// BeginShipments writes shipments with their bytes before they are sent, and
// fails the items that can never be.
func (s *Store) BeginShipments(ctx context.Context, redrive, source string, shipments []sources.Shipment, refused map[string]error) ([]int64, error) {
	var first int64
	err := s.book(ctx, redrive, func(b *booking) error {
		if err := b.fail(ctx, refused); err != nil {
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
	_, err := b.tx.ExecContext(ctx, `INSERT INTO shipments (number, redrive, source, state, target_queue, target_partition, target_topic_id, items, data, repeat_until)
		VALUES (?, ?, ?, 'sending', ?, ?, ?, ?, ?, ?)`, number, b.number, source, sh.Target.Queue, optional(sh.Target.Partition), sh.Target.TopicID,
		encodeNames(sh.Items), append([]byte{}, sh.Data...), micros(sh.RepeatUntil))
	if err != nil {
		return err
	}
	moved := int64(0)
	for chunk := range slices.Chunk(sh.Items, 500) {
		in, args := inList("id", chunk)
		result, err := b.tx.ExecContext(ctx, `UPDATE items SET state = 'sending', shipment = ?, error = '' WHERE redrive = ? AND state = 'planned' AND `+in,
			append([]any{number, b.number}, args...)...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		moved += n
	}
	if moved != int64(len(sh.Items)) {
		return fmt.Errorf("only %d of the %d letters of a shipment are still planned", moved, len(sh.Items))
	}
	return nil
}

// RecordReceipts writes what became of shipments.
func (s *Store) RecordReceipts(ctx context.Context, redrive string, results []review.Result) error {
	err := s.book(ctx, redrive, func(b *booking) error {
		for _, result := range results {
			if err := b.receive(ctx, result); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write down what redrive %s has sent: %w", redrive, err)
	}
	return nil
}

func (b *booking) receive(ctx context.Context, result review.Result) error {
	refused, unknown := map[string]error{}, map[string]error{}
	for _, r := range result.Receipts {
		var err error
		switch {
		case r.Err == nil:
			_, err = b.tx.ExecContext(ctx, `UPDATE items SET state = 'sent', receipt_partition = ?, receipt_offset = ?, receipt_message = ? WHERE id = ? AND state = 'sending'`,
				r.Partition, offsetOf(r), r.MessageID, r.Item)
		case errors.Is(r.Err, review.ErrNotSent):
			_, err = b.tx.ExecContext(ctx, `UPDATE items SET state = 'planned', shipment = NULL WHERE id = ? AND state = 'sending'`, r.Item)
		case errors.Is(r.Err, sources.ErrAmbiguous):
			unknown[r.Item] = r.Err
		default:
			refused[r.Item] = r.Err
		}
		if err != nil {
			return err
		}
	}
	if err := b.fail(ctx, refused); err != nil {
		return err
	}
	if err := b.doubt(ctx, unknown); err != nil {
		return err
	}
	return b.closeShipment(ctx, result.Shipment)
}

// offsetOf is where a record lies; -1 for a message.
func offsetOf(r sources.Receipt) int64 {
	if r.MessageID != "" {
		return sources.NotKnown
	}
	return r.Offset
}

// closeShipment gives a shipment the state that follows from its items. What is
// settled needs its bytes no more: the letters have them.
func (b *booking) closeShipment(ctx context.Context, number int64) error {
	_, err := b.tx.ExecContext(ctx, `UPDATE shipments SET
		state = CASE WHEN EXISTS (SELECT 1 FROM items WHERE shipment = ? AND state = 'sent') THEN 'sent' ELSE 'settled' END WHERE number = ?`, number, number)
	if err != nil {
		return err
	}
	_, err = b.tx.ExecContext(ctx, `UPDATE shipments SET data = NULL WHERE number = ? AND state = 'settled'`, number)
	return err
}

// RecordSettled writes which sent items are settled at their source. Those that
// have come back already are returned at once.
func (s *Store) RecordSettled(ctx context.Context, redrive string, results []review.Result) error {
	err := s.book(ctx, redrive, func(b *booking) error {
		for _, result := range results {
			if err := b.settle(ctx, result); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write down what redrive %s has settled: %w", redrive, err)
	}
	return nil
}

func (b *booking) settle(ctx context.Context, result review.Result) error {
	var done []string
	for _, r := range result.Receipts {
		if r.Err == nil || errors.Is(r.Err, sources.ErrGone) {
			done = append(done, r.Item)
			continue
		}
		_, err := b.tx.ExecContext(ctx, `UPDATE items SET error = ? WHERE id = ? AND state = 'sent'`, "sent, and still in its dead-letter queue: "+r.Err.Error(), r.Item)
		if err != nil {
			return err
		}
	}
	if err := b.confirm(ctx, done); err != nil {
		return err
	}
	return b.closeShipment(ctx, result.Shipment)
}

// confirm makes sent items confirmed, and their letters redriven.
func (b *booking) confirm(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(ids, 500) {
		in, args := inList("i.id", chunk)
		items, numbers, err := readItems(ctx, b.tx, `i.state = 'sent' AND `+in+` ORDER BY i.number`, args...)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			continue
		}
		for _, i := range items {
			b.audit = append(b.audit, auditEntry{b.by, "redrive", i.LetterID, "sent to " + target(i.Target, i.Receipt)})
		}
		these := numberList("number", numbers)
		if err := move(ctx, b.tx, review.Redriven, `number IN (SELECT letter FROM items WHERE `+these+`)`); err != nil {
			return err
		}
		_, err = b.tx.ExecContext(ctx, `UPDATE letters SET outcome = 'returned' WHERE number IN (SELECT letter FROM items WHERE `+these+` AND came_back_as <> '')`)
		if err != nil {
			return err
		}
		_, err = b.tx.ExecContext(ctx, `UPDATE items SET state = CASE WHEN came_back_as <> '' THEN 'returned' ELSE 'confirmed' END, error = '' WHERE `+these)
		if err != nil {
			return err
		}
	}
	return nil
}

// fail fails items of which nothing was sent: their letters are what they were.
func (b *booking) fail(ctx context.Context, refused map[string]error) error {
	for id, why := range refused {
		number, letter, before, err := b.item(ctx, id)
		if err != nil {
			return err
		}
		if _, err := b.tx.ExecContext(ctx, `UPDATE items SET state = 'failed', error = ? WHERE id = ?`, why.Error(), id); err != nil {
			return err
		}
		if err := move(ctx, b.tx, review.Status(before), `number = ?`, number); err != nil {
			return err
		}
		b.audit = append(b.audit, auditEntry{b.by, "redrive", letter, "failed: " + why.Error()})
	}
	return nil
}

// doubt says of items that nobody can tell whether they arrived.
func (b *booking) doubt(ctx context.Context, unknown map[string]error) error {
	for id, why := range unknown {
		number, letter, _, err := b.item(ctx, id)
		if err != nil {
			return err
		}
		if _, err := b.tx.ExecContext(ctx, `UPDATE items SET state = 'unknown', error = ? WHERE id = ?`, why.Error(), id); err != nil {
			return err
		}
		if err := move(ctx, b.tx, review.Uncertain, `number = ?`, number); err != nil {
			return err
		}
		b.audit = append(b.audit, auditEntry{b.by, "redrive", letter, "unknown: " + why.Error()})
	}
	return nil
}

// item is the letter of an item that is not decided yet, and what it was.
func (b *booking) item(ctx context.Context, id string) (number int64, letter, before string, err error) {
	err = b.tx.QueryRowContext(ctx, `SELECT l.number, l.id, i.status_before FROM items i JOIN letters l ON l.number = i.letter
		WHERE i.id = ? AND i.redrive = ? AND i.state IN ('planned', 'sending')`, id, b.number).Scan(&number, &letter, &before)
	return number, letter, before, noRows(err, "item", id)
}

// SetTrouble writes why a redrive does not get on.
func (s *Store) SetTrouble(ctx context.Context, redrive, text string) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE redrives SET trouble = ? WHERE id = ?`, text, redrive)
		return err
	})
}

// FinishRedrive ends a redrive of which nothing is planned or out any more. It
// has failed when not one of its letters could be sent.
func (s *Store) FinishRedrive(ctx context.Context, redrive string) (bool, error) {
	ended := false
	err := s.book(ctx, redrive, func(b *booking) error {
		counts, err := judgeRedrive(ctx, b.tx, b.number)
		if err != nil || counts[review.Planning]+counts[review.Sending]+counts[review.Sent] > 0 {
			return err
		}
		state, total := review.JobDone, 0
		for _, n := range counts {
			total += n
		}
		if counts[review.ItemFailed] == total {
			state = review.JobFailed
		}
		result, err := b.tx.ExecContext(ctx, `UPDATE redrives SET state = ?, ended_at = ? WHERE number = ? AND ended_at = 0`, string(state), micros(b.now), b.number)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if ended = true; n > 0 {
			b.audit = append(b.audit, auditEntry{b.by, "redrive", b.id, string(state) + ": " + verdict(counts, "")})
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("end redrive %s: %w", redrive, err)
	}
	return ended, nil
}
