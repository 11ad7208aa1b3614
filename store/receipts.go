package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// RecordReceipts writes what became of shipments. Accepted letters that stay
// where they lay are confirmed at once: nothing is left to be done for them.
func (s *Store) RecordReceipts(ctx context.Context, redrive string, results []review.Result) error {
	err := s.book(ctx, redrive, func(b *booking) error { return b.receive(ctx, results) })
	if err != nil {
		return fmt.Errorf("write down what redrive %s has sent: %w", redrive, err)
	}
	return nil
}

// landed is an item that was accepted, and where it lies now.
type landed struct {
	number  int64
	line    int32
	offset  int64 // sources.NotKnown for a message
	message string
}

// sorted are the receipts of shipments by what they say. Items are named by
// their numbers.
type sorted struct {
	stay, leave []landed // accepted; those that leave are still to be taken off their queue
	back        []int64  // of which nothing went out
	unknown     map[string][]int64
	refused     map[string]error // by id
	settled     []int64          // shipments of which nothing is left to do
	toSettle    []int64
}

func (b *booking) receive(ctx context.Context, results []review.Result) error {
	r, err := b.sort(ctx, results)
	if err != nil {
		return err
	}
	if err := b.land(ctx, r.leave, review.Sent); err != nil {
		return err
	}
	if err := b.land(ctx, r.stay, review.Confirmed); err != nil {
		return err
	}
	if _, err := b.takeBack(ctx, r.back); err != nil {
		return err
	}
	if err := b.refuse(ctx, r.refused, review.Sending); err != nil {
		return err
	}
	for why, list := range r.unknown {
		if err := b.doubt(ctx, list, why); err != nil {
			return err
		}
	}
	return b.closeShipments(ctx, r.settled, r.toSettle)
}

func (b *booking) sort(ctx context.Context, results []review.Result) (sorted, error) {
	r := sorted{unknown: map[string][]int64{}, refused: map[string]error{}}
	stays, err := b.staying(ctx, results)
	if err != nil {
		return r, err
	}
	for _, result := range results {
		accepted := false
		for _, receipt := range result.Receipts {
			n, err := b.item(receipt.Item)
			if err != nil {
				return r, err
			}
			switch {
			case receipt.Err == nil && stays[result.Shipment]:
				r.stay = append(r.stay, landing(n, receipt))
			case receipt.Err == nil:
				r.leave, accepted = append(r.leave, landing(n, receipt)), true
			case errors.Is(receipt.Err, review.ErrNotSent):
				r.back = append(r.back, n)
			case errors.Is(receipt.Err, sources.ErrAmbiguous):
				r.unknown[receipt.Err.Error()] = append(r.unknown[receipt.Err.Error()], n)
			default:
				r.refused[receipt.Item] = receipt.Err
			}
		}
		if accepted {
			r.toSettle = append(r.toSettle, result.Shipment)
		} else {
			r.settled = append(r.settled, result.Shipment)
		}
	}
	return r, nil
}

// staying tells which shipments have letters that stay in their queue.
func (b *booking) staying(ctx context.Context, results []review.Result) (map[int64]bool, error) {
	list := make([]int64, len(results))
	for i, r := range results {
		list[i] = r.Shipment
	}
	numbers, err := column[int64](ctx, b.tx, `SELECT number FROM shipments WHERE stays AND `+b.of(list))
	stays := map[int64]bool{}
	for _, n := range numbers {
		stays[n] = true
	}
	return stays, err
}

func landing(number int64, r sources.Receipt) landed {
	if r.MessageID != "" {
		return landed{number, r.Partition, sources.NotKnown, r.MessageID}
	}
	return landed{number, r.Partition, r.Offset, ""}
}

// land writes where items lie now, and gives them a state: sent, or confirmed
// when nothing is left to be done for them.
func (b *booking) land(ctx context.Context, all []landed, state review.ItemState) error {
	slices.SortFunc(all, func(x, y landed) int { return cmp.Compare(x.number, y.number) })
	for _, row := range inRows(all) {
		if err := b.landRow(ctx, row, state); err != nil {
			return err
		}
	}
	if state == review.Confirmed && len(all) > 0 {
		return b.confirmed(ctx, landedNumbers(all))
	}
	return nil
}

// landRow writes where some items lie now: one statement for the whole of a row,
// which costs a third of a list of them.
func (b *booking) landRow(ctx context.Context, list []landed, state review.ItemState) error {
	of := ` AND items.state = 'sending' AND items.redrive = ` + fmt.Sprint(b.number)
	var result sql.Result
	var err error
	if first := list[0]; follows(list) {
		result, err = b.tx.ExecContext(ctx, `UPDATE items SET state = ?, error = '', receipt_partition = ?, receipt_offset = number + ?, receipt_message = ''
			WHERE number BETWEEN ? AND ?`+of, string(state), first.line, first.offset-first.number, first.number, list[len(list)-1].number)
	} else {
		values, args := landedRows(list)
		result, err = b.tx.ExecContext(ctx, `WITH landed (number, line, place, message) AS (VALUES `+values+`)
			UPDATE items SET state = ?, error = '', receipt_partition = landed.line, receipt_offset = landed.place, receipt_message = landed.message
			FROM landed WHERE items.number = landed.number`+of, append(args, string(state))...)
	}
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n != int64(len(list)) {
		err = fmt.Errorf("only %d of the %d letters that were sent are under way", n, len(list))
	}
	b.counts.turn(b.number, review.Sending, state, n)
	return err
}

// rowLeast is how many items make a row that is worth a statement of its own,
// listMost how many others go into one.
const (
	rowLeast = 20
	listMost = 1000
)

// inRows cuts items into rows of those that follow on one another, by their
// numbers and their offsets on one partition, and lists of the others.
func inRows(all []landed) [][]landed {
	var rows [][]landed
	var others []landed
	for i, n := 0, 0; i < len(all); i += n {
		for n = 1; i+n < len(all) && all[i+n].follows(all[i+n-1]); n++ {
		}
		if n >= rowLeast {
			rows = append(rows, all[i:i+n])
		} else {
			others = append(others, all[i:i+n]...)
		}
	}
	return slices.AppendSeq(rows, slices.Chunk(others, listMost))
}

func (l landed) follows(before landed) bool {
	return l.message == "" && before.message == "" && l.line == before.line && l.number == before.number+1 && l.offset == before.offset+1
}

// follows tells whether items are such a row.
func follows(list []landed) bool {
	for i := range list[1:] {
		if !list[i+1].follows(list[i]) {
			return false
		}
	}
	return len(list) >= rowLeast
}

// landedRows are rows of VALUES: numbers stand in the text, which costs less
// than a parameter for each.
func landedRows(list []landed) (string, []any) {
	var text strings.Builder
	var args []any
	for i, l := range list {
		if i > 0 {
			text.WriteByte(',')
		}
		message := "''"
		if l.message != "" {
			message, args = "?", append(args, l.message)
		}
		fmt.Fprintf(&text, "(%d,%d,%d,%s)", l.number, l.line, l.offset, message)
	}
	return text.String(), args
}

func landedNumbers(list []landed) []int64 {
	numbers := make([]int64, len(list))
	for i, l := range list {
		numbers[i] = l.number
	}
	return numbers
}

// takeBack plans items again of which nothing went out.
func (b *booking) takeBack(ctx context.Context, list []int64) ([]int64, error) {
	list, err := b.turn(ctx, list, review.Sending, review.Planning, "")
	if err != nil || len(list) == 0 {
		return nil, err
	}
	_, err = b.tx.ExecContext(ctx, `UPDATE items SET shipment = NULL WHERE `+b.of(list))
	return list, err
}

// confirm makes those of the items confirmed that were sent.
func (b *booking) confirm(ctx context.Context, list []int64) error {
	list, err := b.turn(ctx, list, review.Sent, review.Confirmed, "")
	if err != nil || len(list) == 0 {
		return err
	}
	return b.confirmed(ctx, list)
}

// confirmed does what goes with items that have just been confirmed: they are
// returned when they have come back already, their letters are redriven, and
// that is in the audit.
func (b *booking) confirmed(ctx context.Context, list []int64) error {
	letters := `number IN (SELECT letter FROM items WHERE ` + b.of(list)
	if err := move(ctx, b.tx, review.Redriven, letters+`)`); err != nil {
		return err
	}
	if err := b.confirmBack(ctx, list, letters); err != nil {
		return err
	}
	return b.auditItems(ctx, list, `'sent to ' || i.target_queue || CASE WHEN i.receipt_message <> '' THEN ' as message ' || i.receipt_message
		ELSE ' partition ' || i.receipt_partition || ' offset ' || i.receipt_offset END`)
}

// confirmBack makes those of the confirmed items returned that came back before
// they were confirmed.
func (b *booking) confirmBack(ctx context.Context, list []int64, letters string) error {
	result, err := b.tx.ExecContext(ctx, `UPDATE items SET state = 'returned' WHERE came_back_as <> '' AND `+b.of(list))
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 {
		return err
	}
	b.counts.turn(b.number, review.Confirmed, review.ItemReturned, n)
	_, err = b.tx.ExecContext(ctx, `UPDATE letters SET outcome = 'returned' WHERE `+letters+` AND came_back_as <> '')`)
	return err
}

// closeShipments gives shipments their state. What is settled needs its bytes
// no more: the letters have them.
func (b *booking) closeShipments(ctx context.Context, settled, sent []int64) error {
	if len(settled) > 0 {
		if _, err := b.tx.ExecContext(ctx, `UPDATE shipments SET state = 'settled', data = NULL, sent_at = CASE WHEN sent_at = 0 THEN ? ELSE sent_at END WHERE `+b.of(settled), micros(b.now)); err != nil {
			return err
		}
	}
	if len(sent) == 0 {
		return nil
	}
	_, err := b.tx.ExecContext(ctx, `UPDATE shipments SET state = 'sent', sent_at = ? WHERE `+b.of(sent), micros(b.now))
	return err
}

// RecordSettled writes which sent items are settled at their source. Those that
// have come back already are returned at once.
func (s *Store) RecordSettled(ctx context.Context, redrive string, results []review.Result) error {
	err := s.book(ctx, redrive, func(b *booking) error { return b.settle(ctx, results) })
	if err != nil {
		return fmt.Errorf("write down what redrive %s has settled: %w", redrive, err)
	}
	return nil
}

func (b *booking) settle(ctx context.Context, results []review.Result) error {
	var done []int64
	for _, result := range results {
		for _, r := range result.Receipts {
			n, err := b.item(r.Item)
			if err != nil {
				return err
			}
			if r.Err == nil || errors.Is(r.Err, sources.ErrGone) {
				done = append(done, n)
				continue
			}
			_, err = b.tx.ExecContext(ctx, `UPDATE items SET error = ? WHERE number = ? AND redrive = ? AND state = 'sent'`,
				"sent, and still in its dead-letter queue: "+r.Err.Error(), n, b.number)
			if err != nil {
				return err
			}
		}
	}
	if err := b.confirm(ctx, done); err != nil {
		return err
	}
	var settled []int64
	for _, result := range results {
		left, err := b.unsettled(ctx, result.Shipment)
		if err != nil {
			return err
		}
		if !left {
			settled = append(settled, result.Shipment)
		}
	}
	return b.closeShipments(ctx, settled, nil)
}

// unsettled tells whether a shipment has letters that were sent and are still
// to be taken off their queue.
func (b *booking) unsettled(ctx context.Context, shipment int64) (bool, error) {
	var data bytesOrNull
	err := b.tx.QueryRowContext(ctx, `SELECT items FROM shipments WHERE number = ?`, shipment).Scan(&data)
	if err != nil {
		return false, noRows(err, "shipment", fmt.Sprint(shipment))
	}
	ids, err := decodeNames(data)
	if err != nil {
		return false, fmt.Errorf("shipment %d: its items: %w", shipment, err)
	}
	list, err := b.items(ids)
	if err != nil {
		return false, err
	}
	left, err := b.in(ctx, list, review.Sent)
	return len(left) > 0, err
}
