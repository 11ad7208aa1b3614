package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
)

// stillHeld makes sure that the letters of a shipment are held, and gives, by
// message id, why those are not that cannot be had any more. A shipment of an
// earlier run may have been sent and taken off already: what is not there then
// is no reason not to send it again to a FIFO queue, which drops second copies.
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
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := l.adopt(cargo, earlier)
	if len(missing) > 0 {
		_, gone, err := l.take(ctx, missing)
		repeatable := earlier && cargo.FIFO
		if err != nil && !repeatable {
			return nil, err
		}
		lost := map[string]error{}
		for id := range missing {
			switch {
			case l.keeps(id), repeatable:
			case gone[id] != nil:
				lost[id] = gone[id]
			default: // nothing of the shipment goes out: it is packed anew, or known to be gone, later
				return nil, fmt.Errorf("the hold of a letter in %s ended before it was sent, and it could not be received again yet", cargo.Queue)
			}
		}
		return lost, nil
	}
	l.extend(ctx, holdFor/2)
	return nil, nil
}

// lineOf is the line of a dead-letter queue.
func (s *Source) lineOf(ctx context.Context, queue string) (*line, error) {
	f, _, err := s.queue(ctx, queue)
	if err != nil {
		return nil, err
	}
	l := s.line(f)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
	return l, nil
}

// adopt gives the letters of a shipment that are not held. Holds of an earlier
// run count while their time is not over.
func (l *line) adopt(cargo load, earlier bool) map[string]entry {
	now := l.s.now()
	missing := map[string]entry{}
	for _, e := range cargo.Entries {
		if earlier && l.kept[e.Message].receipt == "" && cargo.Held.After(now.Add(holdLeast)) {
			l.kept[e.Message] = hold{receipt: e.Receipt, until: cargo.Held, group: e.Group}
		}
		if !l.keeps(e.Message) {
			missing[e.Message] = e
			continue
		}
		h := l.kept[e.Message]
		h.touched = now
		l.kept[e.Message] = h
	}
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
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := l.adopt(cargo, cargo.Run != s.run)
	var ids []string
	for _, e := range cargo.Entries {
		if _, not := missing[e.Message]; !not {
			ids = append(ids, e.Message)
		}
	}
	left := l.remove(ctx, ids)
	for _, e := range cargo.Entries { // a handle whose time was over: a fresh one is needed
		if left[e.Message] != nil && errors.Is(left[e.Message], errHandle) {
			delete(l.kept, e.Message)
			missing[e.Message] = e
		}
	}
	return l.removeAgain(ctx, missing, left), nil
}

// removeAgain receives letters again whose receipts do not work any more, and
// deletes them.
func (l *line) removeAgain(ctx context.Context, missing map[string]entry, left map[string]error) map[string]error {
	if len(missing) == 0 {
		return left
	}
	found, gone, err := l.take(ctx, missing)
	for id := range missing {
		switch {
		case slices.Contains(found, id):
		case gone[id] != nil && errors.Is(gone[id], sources.ErrGone):
			delete(left, id) // it is off already
		case gone[id] != nil:
			left[id] = gone[id]
		default:
			left[id] = errors.Join(errors.New("it could not be received again yet"), err)
		}
	}
	for _, id := range found {
		delete(left, id)
	}
	for id, why := range l.remove(ctx, found) {
		left[id] = why
	}
	return left
}

// errHandle is a receipt handle that SQS does not take any more.
var errHandle = errors.New("the receipt handle is over")

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
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &l.f.url}
	for i, id := range ids {
		name, receipt := strconv.Itoa(i), l.kept[id].receipt
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: &name, ReceiptHandle: &receipt})
	}
	out, err := l.s.client.DeleteMessageBatch(ctx, in)
	if err != nil {
		for _, id := range ids {
			left[id] = readable("DeleteMessage", l.f.name, err)
		}
		return nil
	}
	failed := map[string]bool{}
	for _, bad := range out.Failed {
		i, err := strconv.Atoi(deref(bad.Id))
		if err != nil || i >= len(ids) {
			continue
		}
		failed[ids[i]] = true
		left[ids[i]] = fmt.Errorf("%s: %s", deref(bad.Code), deref(bad.Message))
		if bad.SenderFault { // of a delete that is only the handle
			left[ids[i]] = fmt.Errorf("%w: %w", errHandle, left[ids[i]])
		} else if !last {
			again = append(again, ids[i])
		}
	}
	for _, id := range ids {
		if !failed[id] {
			delete(left, id)
			delete(l.kept, id)
		}
	}
	return again
}
