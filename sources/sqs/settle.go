package sqs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
)

// stillHeld makes sure that the letters of a shipment are held, and gives, by
// message id, why those are not that must not go out now: sources.ErrGone, or
// sources.ErrNotSent for one that somebody else holds.
//
// What may have been sent already is not among them: a shipment of an earlier run,
// or of this one that nobody answered, goes to a FIFO queue again as it is, which
// drops second copies. Its letters may be off by now.
func (s *Source) stillHeld(ctx context.Context, cargo load) (map[string]error, error) {
	if cargo.Stored {
		return nil, nil
	}
	earlier := cargo.Run != s.run
	l, err := s.lineOf(ctx, cargo.Queue)
	if err != nil {
		if earlier && cargo.FIFO {
			return nil, nil
		}
		return nil, err
	}
	missing := l.adopt(ctx, cargo, earlier)
	maps.DeleteFunc(missing, func(_ string, e entry) bool { return cargo.FIFO && (earlier || s.inDoubt(e.Item)) })
	if len(missing) == 0 {
		return nil, nil
	}
	got, err := l.take(ctx, missing)
	if err != nil {
		return nil, err
	}
	away := got.gone
	for id := range missing {
		if away[id] == nil && !slices.Contains(got.order, id) {
			away[id] = fmt.Errorf("%w: the hold of the letter in %s ended before it was sent, and it could not be received again yet", sources.ErrNotSent, cargo.Queue)
		}
	}
	return away, nil
}

// lineOf is the line of a dead-letter queue.
func (s *Source) lineOf(ctx context.Context, queue string) (*line, error) {
	s.mu.Lock()
	l := s.lines[queue]
	s.mu.Unlock()
	if l != nil {
		return l, nil
	}
	f, _, err := s.queue(ctx, queue)
	if err != nil {
		return nil, err
	}
	return s.line(f), nil
}

// adopt gives the letters of a shipment that are not held. Holds of an earlier
// run count while their time is not over, and those that are about to end are made
// longer.
func (l *line) adopt(ctx context.Context, cargo load, earlier bool) map[string]entry {
	now := l.s.now()
	missing, short := map[string]entry{}, map[string]hold{}
	l.mu.Lock()
	for _, e := range cargo.Entries {
		h, kept := l.kept[e.Message]
		if !kept && earlier && cargo.Held.After(now.Add(holdLeast)) {
			h, kept = hold{receipt: e.Receipt, until: cargo.Held, group: e.Group, sequence: e.Sequence}, true
		}
		if !kept || !h.until.After(now) {
			missing[e.Message] = e
			continue
		}
		h.touched = now
		l.kept[e.Message] = h
		if !l.keeps(e.Message) {
			missing[e.Message], short[e.Message] = e, h
		}
	}
	l.mu.Unlock()
	l.lengthen(ctx, short)
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(missing, func(id string, _ entry) bool { return l.keeps(id) })
	return missing
}

// Settle deletes what was sent from the dead-letter queue. A receipt with an
// error was sent and is still there; it must not be sent again. Of stored copies
// there is nothing to delete.
func (s *Source) Settle(ctx context.Context, shipment sources.Shipment, sent []sources.Receipt) ([]sources.Receipt, error) {
	cargo, err := unpack(shipment)
	if err != nil {
		return nil, err
	}
	if cargo.Stored {
		return slices.Clone(sent), nil
	}
	byItem := map[string]entry{}
	for _, e := range cargo.Entries {
		byItem[e.Item] = e
	}
	cargo.Entries = nil
	for _, r := range sent {
		if e, ok := byItem[r.Item]; ok && r.Err == nil {
			cargo.Entries = append(cargo.Entries, e)
		}
	}
	left, err := s.takeOff(ctx, cargo)
	if err != nil {
		return nil, err
	}
	settled := slices.Clone(sent)
	for i, r := range settled {
		if why := left[byItem[r.Item].Message]; r.Err == nil && why != nil {
			settled[i].Err = fmt.Errorf("sent, and still in the dead-letter queue %s: do not redrive it again: %w", cargo.Queue, why)
		}
	}
	return settled, nil
}

// takeOff deletes the letters of a shipment, and gives the errors of those that
// are still there.
func (s *Source) takeOff(ctx context.Context, cargo load) (map[string]error, error) {
	l, err := s.lineOf(ctx, cargo.Queue)
	if errors.Is(err, sources.ErrNoSuchQueue) {
		return nil, nil // it took its letters along
	}
	if err != nil {
		return nil, err
	}
	missing := l.adopt(ctx, cargo, cargo.Run != s.run)
	var ids []string
	for _, e := range cargo.Entries {
		if _, not := missing[e.Message]; !not {
			ids = append(ids, e.Message)
		}
	}
	left := l.remove(ctx, ids)
	for _, e := range cargo.Entries {
		if why := left[e.Message]; errors.Is(why, errHandle) || errors.Is(why, errUnsure) {
			missing[e.Message] = e
		}
	}
	if len(missing) > 0 {
		l.removeAgain(ctx, missing, left)
	}
	return left, nil
}

// removeAgain receives letters again of which the receipts do not work any more,
// or whose delete came too late to be believed, and deletes them. One is off when
// the queue shows that it is not there; until then it may be.
func (l *line) removeAgain(ctx context.Context, missing map[string]entry, left map[string]error) {
	got, err := l.take(ctx, missing)
	for id := range missing {
		switch why := got.gone[id]; {
		case slices.Contains(got.order, id), errors.Is(why, sources.ErrGone):
			delete(left, id)
		case why != nil:
			left[id] = why
		default:
			left[id] = errors.Join(errors.New("it could not be received again yet"), got.later, err)
		}
	}
	maps.Copy(left, l.remove(ctx, got.order))
}

var (
	// errHandle is a receipt handle that SQS does not take any more.
	errHandle = errors.New("the receipt handle is over")
	// errUnsure is a delete that SQS answered with yes when the hold was over: with
	// such a handle it may say so and delete nothing (SQS API, DeleteMessage).
	errUnsure = errors.New("the hold was over when SQS said that it deleted it")
)

// remove deletes letters that are held, by their receipts, and gives the errors
// of those that were not deleted.
func (l *line) remove(ctx context.Context, ids []string) map[string]error {
	left := map[string]error{}
	for part := range slices.Chunk(ids, mostPerCall) {
		for try := 0; len(part) > 0; try++ {
			if try > 0 && !sleep(ctx, 100*time.Millisecond<<try) {
				break
			}
			part = l.removeOnce(ctx, part, try == triesPerEntry-1, left)
		}
	}
	return left
}

// removeOnce sends one request, and gives those worth another try.
func (l *line) removeOnce(ctx context.Context, ids []string, last bool, left map[string]error) (again []string) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &l.url}
	for i, receipt := range l.receipts(ids) {
		name := strconv.Itoa(i)
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: &name, ReceiptHandle: &receipt})
	}
	out, err := l.s.client.DeleteMessageBatch(ctx, in)
	if len(ids) > 1 && err != nil && isHandle(code(err), message(err)) { // of which of them?
		for _, id := range ids {
			again = append(again, l.removeOnce(ctx, []string{id}, last, left)...)
		}
		return again
	}
	if err != nil {
		for _, id := range ids {
			left[id] = ofHandles("DeleteMessage", l.name, err)
		}
		l.deleted(ids, map[string]bool{}, left)
		return nil
	}
	done := map[string]bool{}
	for _, ok := range out.Successful {
		if i, err := strconv.Atoi(deref(ok.Id)); err == nil && i < len(ids) {
			done[ids[i]] = true
			delete(left, ids[i])
		}
	}
	for _, bad := range out.Failed {
		i, err := strconv.Atoi(deref(bad.Id))
		if err != nil || i >= len(ids) || done[ids[i]] {
			continue
		}
		done[ids[i]] = false
		left[ids[i]] = fmt.Errorf("%s: %s", deref(bad.Code), deref(bad.Message))
		if bad.SenderFault || isHandle(deref(bad.Code), deref(bad.Message)) { // of a delete that is only the handle
			left[ids[i]] = fmt.Errorf("%w: %w", errHandle, left[ids[i]])
		} else if !last {
			again = append(again, ids[i])
		}
	}
	l.deleted(ids, done, left)
	return again
}

// receipts are those of letters that are kept.
func (l *line) receipts(ids []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = l.kept[id].receipt
	}
	return all
}

// deleted takes the answer to a delete: true of each that SQS says is off. Only
// what was held until after the answer is believed.
func (l *line) deleted(ids []string, done map[string]bool, left map[string]error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.s.now()
	for _, id := range ids {
		off, told := done[id]
		switch {
		case !told && left[id] == nil:
			left[id] = errors.New("SQS did not say whether it was deleted")
		case off && !l.kept[id].until.After(now):
			left[id] = errUnsure
			delete(l.kept, id)
		case off:
			delete(l.kept, id)
		case errors.Is(left[id], errHandle):
			delete(l.kept, id)
		}
	}
}
