package sqs

import (
	"context"
	"errors"

	"github.com/unwedge/unwedge/sources"
)

// Remove takes letters off a dead-letter queue by their message ids: it takes
// hold of each, then deletes it with that receipt. Nothing is sent.
//
// In the answer a letter has nil when it is off, also when it was proven that
// somebody else took it, and an error when it is still there. One that is not in
// the answer was not found yet: others hold messages, it may be among them, and it
// is to be asked for again. The error is for the whole queue, and may stand beside
// an answer; of a queue that is not there all letters are off.
func (s *Source) Remove(ctx context.Context, queue string, messageIDs []string) (map[string]error, error) {
	f, deadLetters, err := s.queue(ctx, queue)
	answer := map[string]error{}
	var why error
	switch {
	case errors.Is(err, sources.ErrNoSuchQueue):
		why = nil
	case err != nil:
		return nil, err
	case !deadLetters:
		why = ErrNotDeadLetters
	case s.notScanned(f) != "":
		why = errors.New(s.notScanned(f))
	default:
		return s.line(f).takeAway(ctx, messageIDs)
	}
	for _, id := range messageIDs {
		answer[id] = why
	}
	return answer, nil
}

func (l *line) takeAway(ctx context.Context, ids []string) (map[string]error, error) {
	wanted := map[string]entry{}
	for _, id := range ids {
		wanted[id] = entry{Message: id}
	}
	got, err := l.take(ctx, wanted)
	answer := map[string]error{}
	for id, why := range got.gone {
		if answer[id] = why; errors.Is(why, sources.ErrGone) {
			answer[id] = nil
		}
	}
	left := l.remove(ctx, got.order)
	for _, id := range got.order {
		if why := left[id]; !errors.Is(why, errUnsure) && !errors.Is(why, errHandle) { // else it is looked for again
			answer[id] = why
		}
	}
	return answer, err
}

// Release lets go of the letters of shipments that were packed and will not be
// sent, so that others see them at once and not when their holds end. Shipments
// that were shipped must not be among them. What cannot be released turns
// visible by itself.
func (s *Source) Release(ctx context.Context, shipments []sources.Shipment) {
	byQueue := map[string][]string{}
	for _, shipment := range shipments {
		cargo, err := unpack(shipment)
		if err != nil || cargo.Run != s.run {
			continue
		}
		for _, e := range cargo.Entries {
			byQueue[cargo.Queue] = append(byQueue[cargo.Queue], e.Message)
		}
	}
	for _, l := range s.allLines() {
		if ids := byQueue[l.name]; len(ids) > 0 {
			l.letGo(ctx, ids)
		}
	}
}

// letGo releases the letters of a shipment that were refused for good: nobody asks
// for them any more, and of a message group they would hide those in front of them.
func (d *delivery) letGo(ctx context.Context, cargo load) {
	if cargo.Stored || !d.touched && d.whole != nil {
		return
	}
	var ids []string
	for _, e := range cargo.Entries {
		err := d.receipts[e.Item].Err
		if err != nil && !errors.Is(err, sources.ErrAmbiguous) && !errors.Is(err, sources.ErrNotSent) {
			ids = append(ids, e.Message)
		}
	}
	if len(ids) == 0 {
		return
	}
	if l, err := d.s.lineOf(ctx, cargo.Queue); err == nil {
		l.letGo(ctx, ids)
	}
}

// letGo releases letters that are kept for a redrive.
func (l *line) letGo(ctx context.Context, ids []string) {
	holds := map[string]hold{}
	l.mu.Lock()
	for _, id := range ids {
		if h, kept := l.kept[id]; kept {
			holds[id] = h
			delete(l.kept, id)
		}
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	l.setHidden(ctx, holds, 0)
}
