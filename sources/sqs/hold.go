package sqs

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	longHold = time.Minute
	longLook = 30 * time.Second
)

var (
	// holdFor is how long a letter that is being redriven is hidden. It is made
	// longer while the program lives; after a crash it ends, and whoever takes
	// over has to wait for that. hideFor is how long a look hides a message at
	// least: what a crash in the middle of a sweep costs its other readers.
	holdFor, hideFor = hiding()
	// holdLeast is what must be left of a hold for a send to begin.
	holdLeast = holdFor / 3
)

const (
	// holdMost is how long a hold is made longer for a redrive that asks for it
	// no more.
	holdMost = 15 * time.Minute
	// releaseAfter is how long what a redrive looked at stays hidden, in case it
	// asks for more of the same queue.
	releaseAfter = 3 * time.Second
)

// take takes hold of letters: of those that are held already, then of those
// that looks at the queue bring. It gives the ids that it got, in the order of
// the queue, and an error for those that are gone for good.
func (l *line) take(ctx context.Context, wanted map[string]entry) (order []string, gone map[string]error, err error) {
	w := &sweep{seen: map[string]bool{}, hide: hideSeconds(l.f.counts.all())}
	left := func() (ids []string) {
		for id := range wanted {
			if !l.keeps(id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	l.keep(ctx, left())
	for !w.done && len(left()) > 0 && err == nil {
		_, err = l.lookFor(ctx, w, wanted)
		l.keep(ctx, left())
		l.extend(ctx, holdFor/2) // the keeper waits for the lock, which a long queue holds for minutes
	}
	l.releaseSoon()
	for id := range wanted {
		if l.keeps(id) {
			delete(l.missed, id)
			order = append(order, id)
		}
	}
	slices.SortFunc(order, func(a, b string) int { return bySequence(l.kept, a, b) })
	if err != nil {
		return order, nil, readable("ReceiveMessage", l.f.name, err)
	}
	return order, l.notFound(w, wanted, left()), nil
}

// lookFor looks at up to ten messages. Looks at letters that nobody asked for
// are remembered until a sweep tells of them.
func (l *line) lookFor(ctx context.Context, w *sweep, wanted map[string]entry) (found int, err error) {
	messages, err := l.look(ctx, w, 1)
	for _, m := range messages {
		id := deref(m.MessageId)
		if _, ours := wanted[id]; ours {
			found++
		} else {
			l.extra[id]++
		}
	}
	return found, err
}

// keeps tells whether a letter is held long enough for a send.
func (l *line) keeps(id string) bool {
	h, ok := l.kept[id]
	return ok && h.until.After(l.s.now().Add(holdLeast))
}

// heldUntil is when the first hold of letters that are kept ends.
func (l *line) heldUntil(entries []entry) time.Time {
	first := l.s.now().Add(holdFor)
	for _, e := range entries {
		if until := l.kept[e.Message].until; until.Before(first) {
			first = until
		}
	}
	return first
}

// keep makes the hold of letters long that are held for a short time.
func (l *line) keep(ctx context.Context, ids []string) {
	now := l.s.now()
	holds := map[string]hold{}
	for _, id := range ids {
		if h, ok := l.kept[id]; ok && h.until.After(now) {
			holds[id] = h
		} else if h, ok := l.held[id]; ok && h.until.After(now) {
			holds[id] = h
		}
	}
	failed := l.setHidden(ctx, holds, int(holdFor/time.Second))
	for id, h := range holds {
		switch {
		case errors.Is(failed[id], errHandle): // its time was over, or somebody else has it
			delete(l.held, id)
			delete(l.kept, id)
			continue
		case failed[id] != nil: // it is ours for as long as it was, and to be released
			continue
		}
		delete(l.held, id)
		h.until, h.touched = now.Add(holdFor), now
		l.kept[id] = h
	}
}

// releaseSoon lets go of what a redrive looked at, unless it comes back for
// more of it or a sweep goes on with it.
func (l *line) releaseSoon() {
	if l.stop != nil {
		l.stop.Stop()
	}
	l.stop = time.AfterFunc(releaseAfter, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.sweep == nil && l.s.ending.Err() == nil {
			l.release(l.s.ending)
		}
	})
}

// keepHolding makes holds longer, from the first redrive on until Close.
func (s *Source) keepHolding() {
	s.keeper.Do(func() {
		s.tasks.Go(func() {
			tick := time.NewTicker(holdFor / 5)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					s.extendHolds()
				case <-s.ending.Done():
					return
				}
			}
		})
	})
}

func (s *Source) extendHolds() {
	for _, l := range s.allLines() {
		l.mu.Lock()
		l.extend(s.ending, 3*holdFor/5)
		l.mu.Unlock()
	}
}

// extend makes holds longer that have less left, and forgets those that no
// redrive asked for in a while.
func (l *line) extend(ctx context.Context, left time.Duration) {
	now := l.s.now()
	holds := map[string]hold{}
	for id, h := range l.kept {
		switch {
		case now.Sub(h.touched) > holdMost || !h.until.After(now):
			delete(l.kept, id)
		case h.until.Before(now.Add(left)):
			holds[id] = h
		}
	}
	failed := l.setHidden(ctx, holds, int(holdFor/time.Second))
	for id, h := range holds {
		if failed[id] != nil {
			continue // it may still be ours until its time is over
		}
		h.until = now.Add(holdFor)
		l.kept[id] = h
	}
}
