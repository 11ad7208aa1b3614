package sqs

import (
	"fmt"
	"maps"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// quietReadings and quietFor are in how many looks at the whole queue, and over
	// how long, nobody else may hold a message of it before a letter that they do
	// not find is gone: one reading of the counts may be old.
	quietReadings = 3
	quietFor      = 4 * time.Second
	// forgetMissed is when a letter that nobody asks for any more is forgotten.
	forgetMissed = 10 * time.Minute
)

// miss is a letter that was looked for in vain.
type miss struct {
	since, last time.Time // the first look, and the last
	quiet       int       // looks in a row while nobody else held anything
	quietSince  time.Time // the first of those
}

// again is a miss after one more look.
func (m miss) again(now time.Time, quiet bool) miss {
	if m.since.IsZero() {
		m.since = now
	}
	m.last = now
	switch {
	case !quiet:
		m.quiet = 0
	case m.quiet == 0:
		m.quiet, m.quietSince = 1, now
	default:
		m.quiet++
	}
	return m
}

// proven tells whether nobody can be holding the letter.
func (m miss) proven() bool {
	return m.quiet >= quietReadings && m.last.Sub(m.quietSince) >= quietFor
}

// missedFor is how long a letter is looked for while somebody else holds
// messages of the queue. That may be a run of ours that was killed: its holds,
// and those of its looks at a long queue, end by themselves.
func (w *sweep) missedFor() time.Duration {
	return max(holdFor, time.Duration(hideSeconds(w.counts.all()))*time.Second) + holdFor/2
}

// notFound says which of the letters that a sweep did not find cannot be had,
// and why. That a letter is not there proves nothing while others hold messages:
// it is in the answer only once nobody does, or they have for too long. What is
// not in the answer is to be looked for again.
func (l *line) notFound(w *sweep, wanted map[string]entry, missing []string) map[string]error {
	refused, now := map[string]error{}, l.s.now()
	maps.DeleteFunc(l.missed, func(_ string, m miss) bool { return now.Sub(m.last) > forgetMissed })
	quiet := l.quiet(w)
	for _, id := range missing {
		group := wanted[id].Group
		closed := l.f.fifo && w.counts.visible > 0 && l.holding(group) > 0
		if closed && l.keepsAnyOf(wanted, group) {
			continue // those in front of it go first
		}
		m := l.missed[id].again(now, quiet && !closed)
		late := now.Sub(m.since) >= w.missedFor()
		switch {
		case closed && (late || l.holding(group) >= mostPerCall):
			refused[id] = fmt.Errorf("it lies behind ten others of its message group %s: redrive or discard those first", group)
		case m.proven():
			refused[id] = fmt.Errorf("%w: %s was not there in %d looks at all of %s; somebody else took it", sources.ErrGone, id, m.quiet, l.f.name)
		case late:
			refused[id] = fmt.Errorf("%w: %s was not there in %s of looking at all of %s; somebody else took it, or holds it", sources.ErrGone, id, now.Sub(m.since).Round(time.Second), l.f.name)
		default:
			l.missed[id] = m
			continue
		}
		delete(l.missed, id)
	}
	return refused
}

// quiet tells whether a sweep that has ended shows that nobody but us holds
// messages of the queue, and that it has seen what there was to see.
func (l *line) quiet(w *sweep) bool {
	return l.complete(w) && w.counts.delayed == 0
}

// holding is how many messages of a FIFO group we hold. While there is one SQS
// hands out no more of the group, and in one answer it hands out ten at most.
func (l *line) holding(group string) (n int) {
	now := l.s.now()
	for _, holds := range []map[string]hold{l.held, l.kept} {
		for _, h := range holds {
			if h.group == group && h.until.After(now) {
				n++
			}
		}
	}
	return n
}

// keepsAnyOf tells whether we hold a letter of the group that is asked for.
func (l *line) keepsAnyOf(wanted map[string]entry, group string) bool {
	for id, e := range wanted {
		if e.Group == group && l.keeps(id) {
			return true
		}
	}
	return false
}
