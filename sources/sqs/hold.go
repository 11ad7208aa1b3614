package sqs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// holdFor is how long a letter that is being redriven is hidden. It is made
	// longer while the redrive goes on; after a crash it ends, and whoever takes
	// over has to wait for that.
	holdFor = 90 * time.Second
	// holdLeast is what must be left of a hold for a send to begin.
	holdLeast = 20 * time.Second
	// holdMost is how long a hold is made longer for a redrive that asks for it
	// no more.
	holdMost = 15 * time.Minute
	// fewestTries is how often a letter is looked for, each time through the whole
	// queue, before it is gone.
	fewestTries = 2
	// missedFor is how long it is looked for while somebody else holds messages of
	// the queue: that may be a run of ours that was killed, whose holds end by
	// themselves.
	missedFor = holdFor + 30*time.Second
	// forgetMissed is when a letter that nobody asks for any more is forgotten.
	forgetMissed = time.Hour
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
		delete(l.held, id)
		if failed[id] != nil { // its time was over, or somebody else has it
			delete(l.kept, id)
			continue
		}
		h.until, h.touched = now.Add(holdFor), now
		l.kept[id] = h
	}
}

// notFound says which letters are gone for good: those that were not there in
// looks at the whole queue, one after the other, while nobody else held messages
// of it, or for longer than a hold of ours lasts. A letter deep in a FIFO group is
// there, and cannot be had before those in front of it.
func (l *line) notFound(w *sweep, wanted map[string]entry, missing []string) map[string]error {
	gone, now := map[string]error{}, l.s.now()
	maps.DeleteFunc(l.missed, func(_ string, m miss) bool { return now.Sub(m.since) > forgetMissed })
	held := w.counts.inFlight > int64(len(l.held)+len(l.kept))
	for _, id := range missing {
		if group := wanted[id].Group; l.f.fifo && w.counts.visible > 0 && l.full(group) {
			if !l.keepsAnyOf(wanted, group) {
				gone[id] = fmt.Errorf("it lies behind ten others of its message group %s: redrive or discard those first", group)
			}
			continue
		}
		m := l.missed[id]
		if m.tries++; m.tries == 1 {
			m.since = now
		}
		l.missed[id] = m
		if m.tries >= fewestTries && (!held || now.Sub(m.since) >= missedFor) {
			delete(l.missed, id)
			gone[id] = fmt.Errorf("%w: %s was not there in %d looks at all of %s; somebody else took it, or holds it", sources.ErrGone, id, m.tries, l.f.name)
		}
	}
	return gone
}

// miss is how long, and how often, a letter was looked for in vain.
type miss struct {
	tries int
	since time.Time
}

// full tells whether ten messages of a group are held: SQS hands out no more.
func (l *line) full(group string) bool {
	n := 0
	for _, holds := range []map[string]hold{l.held, l.kept} {
		for _, h := range holds {
			if h.group == group {
				n++
			}
		}
	}
	return n >= mostPerCall
}

func (l *line) keepsAnyOf(wanted map[string]entry, group string) bool {
	for id, e := range wanted {
		if e.Group == group && l.keeps(id) {
			return true
		}
	}
	return false
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
