package sqs

import (
	"context"
	"errors"
	"slices"

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
	why := err
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
		return s.line(f).takeAway(ctx, f, messageIDs)
	}
	for _, id := range messageIDs {
		answer[id] = why
	}
	return answer, nil
}

func (l *line) takeAway(ctx context.Context, f facts, ids []string) (map[string]error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
	wanted := map[string]entry{}
	for _, id := range ids {
		wanted[id] = entry{Message: id}
	}
	found, gone, err := l.take(ctx, wanted)
	answer := map[string]error{}
	for id, why := range gone {
		if answer[id] = why; errors.Is(why, sources.ErrGone) {
			answer[id] = nil
		}
	}
	left := l.remove(ctx, found)
	for _, id := range found {
		answer[id] = left[id]
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

// letGo releases letters that are kept for a redrive.
func (l *line) letGo(ctx context.Context, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids = slices.DeleteFunc(ids, func(id string) bool { _, kept := l.kept[id]; return !kept })
	holds := map[string]hold{}
	for _, id := range ids {
		holds[id] = l.kept[id]
		delete(l.kept, id)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	l.setHidden(ctx, holds, 0)
}
