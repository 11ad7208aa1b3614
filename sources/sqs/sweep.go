package sqs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
)

// waits are the seconds of the long polls after so many that brought nothing.
// A long poll asks all servers, and still may bring nothing while messages are
// there (aws-sdk-js issue 1135): one empty answer says little. None is longer than
// finishLimit, so that a stop can wait for its answer.
var waits = []int{1, 1, 2, 3, 3}

// sweep is a look at a whole queue, in steps. What it has seen stays hidden
// until its end: a message that is let go comes straight back.
type sweep struct {
	number  int64
	started time.Time
	hide    int             // seconds
	seen    map[string]bool // message ids
	empties int             // looks in a row that brought nothing new
	counts  counts          // as last asked
	done    bool            // nothing more is to be seen
	back    bool            // the last message was one that it had seen

	width    int             // how many looks a redrive makes at the same time
	reopened map[string]bool // FIFO groups that were let go to see deeper ones

	cursor string        // of the step that ran last
	result sources.Batch // what it brought
}

// look receives until it has so many messages that this sweep has not seen, or
// the queue seems to be done with.
func (l *line) look(ctx context.Context, w *sweep, limit int) (fresh []types.Message, err error) {
	for len(fresh) < limit && !w.done {
		got, err := l.receive(ctx, w.wait(), w.hide, nil)
		if err != nil {
			return fresh, err
		}
		before := len(fresh)
		for _, m := range got {
			if w.saw(deref(m.MessageId)) {
				fresh = append(fresh, m)
			}
		}
		if err := l.counted(ctx, w, len(fresh)-before); err != nil {
			return fresh, err
		}
	}
	return fresh, nil
}

// saw notes a message, and tells whether this sweep sees it for the first time.
// One that comes again was hidden too shortly for the pace at which the queue hands
// out its messages: without a longer look the sweep would go round among the first
// of them.
func (w *sweep) saw(id string) (first bool) {
	if w.seen[id] {
		if !w.back {
			w.hide = min(2*w.hide, int(hideMost/time.Second))
		}
		w.back = true
		return false
	}
	w.seen[id], w.back = true, false
	return true
}

// wait is for how many seconds the next look waits for messages.
func (w *sweep) wait() int { return waits[min(w.empties, len(waits)-1)] }

// counted notes how many messages a look brought that were new.
func (l *line) counted(ctx context.Context, w *sweep, fresh int) (err error) {
	if fresh > 0 && l.holds() < mostHeld {
		w.empties = 0
		return nil
	}
	w.empties++
	w.done, err = l.over(ctx, w)
	return err
}

// holds is how many messages are held to be released.
func (l *line) holds() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held)
}

// over tells whether a sweep that found nothing new has seen all. The counts
// alone do not decide: they may be a minute old.
func (l *line) over(ctx context.Context, w *sweep) (bool, error) {
	c, err := l.s.askCounts(ctx, l.url, l.name)
	if err != nil {
		return false, err
	}
	w.counts = c
	enough := len(waits)
	switch {
	case c.visible == 0:
		enough = 1
	case l.fifo: // the deeper ones of a group are counted and not handed out
		enough = 2
	case l.holds() >= mostHeld:
		enough = 1
	}
	return w.empties >= enough, nil
}

// complete tells whether a sweep that has ended saw every message that can be
// seen: nobody else holds any.
func (l *line) complete(w *sweep) bool {
	if w.counts.inFlight > l.live() {
		return false
	}
	return l.fifo || w.counts.visible == 0
}
