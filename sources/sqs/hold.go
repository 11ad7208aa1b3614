package sqs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"
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
	holdMost = 3 * time.Minute
	// releaseAfter is how long what a redrive looked at stays hidden, in case it
	// asks for more of the same queue.
	releaseAfter = 3 * time.Second
)

// taken is what came of taking hold of letters.
type taken struct {
	order []string         // those that are held, in the order of the queue
	gone  map[string]error // those that cannot be had any more, and why
	later error            // what the others wait for; nil when there are none
}

// take takes hold of letters: of those that are held already, then of those
// that looks at the queue bring.
func (l *line) take(ctx context.Context, wanted map[string]entry) (taken, error) {
	l.myTurn()
	defer l.turn.Unlock()
	w := l.newTake()
	l.claim(ctx, wanted)
	var err error
	for left := l.missing(wanted); len(left) > 0 && err == nil; left = l.missing(wanted) {
		if w.done && !l.reopen(ctx, w, left, wanted) {
			break
		}
		err = l.lookFor(ctx, w, wanted, len(left))
	}
	l.releaseSoon()
	if err != nil {
		return taken{order: l.have(wanted)}, readable("ReceiveMessage", l.name, err)
	}
	got := taken{order: l.have(wanted)}
	got.gone, got.later = l.notFound(w, wanted)
	l.lookAhead(len(wanted), len(got.order), w)
	return got, nil
}

// newTake is a sweep that looks for letters. What it looks at stays hidden until
// it is through.
func (l *line) newTake() *sweep {
	n := l.facts().counts
	return &sweep{
		seen: map[string]bool{}, reopened: map[string]bool{}, hide: hideSeconds(n.all()),
		width: min(int(n.visible)/(2*mostPerCall), callsAtOnce),
	}
}

// claim keeps letters that are held already.
func (l *line) claim(ctx context.Context, wanted map[string]entry) {
	l.mu.Lock()
	now := l.s.now()
	short := map[string]hold{}
	for id := range wanted {
		h, looked := l.held[id]
		if k, kept := l.kept[id]; kept {
			h = k
		} else if !looked {
			continue
		}
		if !h.until.After(now) {
			continue
		}
		delete(l.held, id)
		h.touched = now
		l.kept[id] = h
		if !h.lasts(now, 2*holdFor/5) {
			short[id] = h
		}
	}
	l.mu.Unlock()
	l.lengthen(ctx, short)
}

// missing are the letters that are wanted and not held, but for those of a FIFO
// group of which others are held that are wanted: they come when these are off.
func (l *line) missing(wanted map[string]entry) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	front := map[string]bool{}
	if l.fifo {
		for id := range wanted {
			if l.keeps(id) {
				front[l.kept[id].group] = true
			}
		}
	}
	for id, e := range wanted {
		if !l.keeps(id) && !front[e.Group] {
			ids = append(ids, id)
		}
	}
	return ids
}

// have are the letters that are wanted and held, in the order of the queue.
func (l *line) have(wanted map[string]entry) (order []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range wanted {
		if l.keeps(id) {
			delete(l.missed, id)
			order = append(order, id)
		}
	}
	slices.SortFunc(order, func(a, b string) int { return bySequence(l.kept, a, b) })
	return order
}

// lookFor looks at messages: at more of them at the same time while each look
// brings as many as it can, and patiently, one look after the other, when they
// become few. A FIFO queue is looked at in one line, as it is in one order.
func (l *line) lookFor(ctx context.Context, w *sweep, wanted map[string]entry, left int) error {
	width := min(w.width, (left+mostPerCall-1)/mostPerCall)
	if width <= 1 || l.fifo {
		got, err := l.receive(ctx, w.wait(), w.hide, wanted)
		if err != nil {
			return err
		}
		w.widen(1, len(got))
		return l.counted(ctx, w, l.see(w, got, wanted))
	}
	got, err := l.receiveWide(ctx, width, w.hide, wanted)
	w.widen(width, len(got))
	l.see(w, got, wanted)
	return err
}

// widen has more looks made at the same time while they bring at least half of
// what they can, else fewer.
func (w *sweep) widen(width, got int) {
	if 2*got >= width*mostPerCall {
		w.width = min(2*width, callsAtOnce)
	} else {
		w.width = max(1, width/2)
	}
}

// receiveWide makes several looks at the same time, which do not wait.
func (l *line) receiveWide(ctx context.Context, width, hide int, wanted map[string]entry) ([]types.Message, error) {
	var mu sync.Mutex
	var all []types.Message
	var looks errgroup.Group
	for range width {
		looks.Go(func() error {
			got, err := l.receive(ctx, 0, hide, wanted)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, got...)
			return err
		})
	}
	err := looks.Wait()
	return all, err
}

// see notes what was looked at, and gives how many messages were new. Looks at
// letters that nobody asked for are remembered until a sweep tells of them.
func (l *line) see(w *sweep, messages []types.Message, wanted map[string]entry) (fresh int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		id := deref(m.MessageId)
		if w.saw(id) {
			fresh++
		}
		if _, ours := wanted[id]; !ours {
			l.extra[id]++
		}
	}
	return fresh
}

// reopen lets go of the first messages of a FIFO group that a letter lies
// behind, when one answer brought fewer than ten of them because it had others
// too: the next answer brings ten. It tells whether there is something to look
// for again.
func (l *line) reopen(ctx context.Context, w *sweep, left []string, wanted map[string]entry) bool {
	if !l.fifo || w.counts.visible == 0 {
		return false
	}
	holds := l.shallow(w, left, wanted)
	if len(holds) == 0 {
		return false
	}
	l.setHidden(ctx, holds, 0)
	w.done, w.empties = false, 0
	return true
}

// keeps tells whether a letter is held long enough for a send. The lock is had.
func (l *line) keeps(id string) bool {
	h, ok := l.kept[id]
	return ok && h.lasts(l.s.now(), holdLeast)
}

// heldUntil is when the first hold of letters that are kept ends.
func (l *line) heldUntil(entries []entry) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.s.now().Add(holdFor)
	for _, e := range entries {
		if until := l.kept[e.Message].until; until.Before(first) {
			first = until
		}
	}
	return first
}

// releaseSoon lets go of what a redrive looked at, unless it comes back for
// more of it or a sweep goes on with it.
func (l *line) releaseSoon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop.Stop()
	}
	l.stop = time.AfterFunc(releaseAfter, func() {
		l.turn.Lock()
		defer l.turn.Unlock()
		if l.sweep == nil && l.s.ending.Err() == nil {
			l.release(l.s.ending)
		}
	})
}

// keepHolding makes holds longer, from the first redrive on until Close.
func (s *Source) keepHolding() {
	s.keeper.Do(func() {
		s.inBackground(func() {
			tick := time.NewTicker(holdFor / 5)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					for _, l := range s.allLines() {
						l.extend(s.ending)
					}
				case <-s.ending.Done():
					return
				}
			}
		})
	})
}

// lasts tells whether a hold goes on for so long.
func (h hold) lasts(now time.Time, d time.Duration) bool { return h.until.After(now.Add(d)) }

// extend makes holds longer that are about to end, and forgets those that no
// redrive asked for in a while.
func (l *line) extend(ctx context.Context) {
	l.mu.Lock()
	now := l.s.now()
	holds := map[string]hold{}
	for id, h := range l.kept {
		switch {
		case now.Sub(h.touched) > holdMost || !h.until.After(now):
			delete(l.kept, id)
		case !h.lasts(now, 3*holdFor/5): // the next time is in one fifth
			holds[id] = h
		}
	}
	l.mu.Unlock()
	l.lengthen(ctx, holds)
}

// lengthen has letters that are kept hidden for holdFor from now on. Those whose
// receipts do not work any more are not ours.
func (l *line) lengthen(ctx context.Context, holds map[string]hold) {
	if len(holds) == 0 {
		return
	}
	asked := l.s.now()
	failed := l.setHidden(ctx, holds, int(holdFor/time.Second))
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, old := range holds {
		h, still := l.kept[id]
		switch {
		case !still || h.receipt != old.receipt:
		case errors.Is(failed[id], errHandle): // its time was over, or somebody else has it
			delete(l.kept, id)
		case failed[id] == nil:
			h.until = asked.Add(holdFor)
			l.kept[id] = h
		}
	}
}
