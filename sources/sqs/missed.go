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

// notFound says which of the letters that a take did not find are gone, and
// what the others wait for. That a letter is not there proves nothing while others
// hold messages: it may be among them for up to twelve hours, and comes back then.
func (l *line) notFound(w *sweep, wanted map[string]entry) (gone map[string]error, later error) {
	quiet := l.quiet(w)
	l.mu.Lock()
	defer l.mu.Unlock()
	gone = map[string]error{}
	now, since, hidden := l.s.now(), l.s.now(), 0
	maps.DeleteFunc(l.missed, func(_ string, m miss) bool { return now.Sub(m.last) > forgetMissed })
	for id, e := range wanted {
		// Of a FIFO group of which we hold messages SQS hands out no more. Who only
		// has an id does not know its group.
		deeper := l.fifo && w.counts.visible > 0 && (e.Group == "" || l.holding(e.Group) > 0)
		switch {
		case l.keeps(id), deeper && l.keepsAnyOf(wanted, e.Group): // those in front of it go first
			continue
		case deeper && l.holding(e.Group) >= mostPerCall:
			gone[id] = fmt.Errorf("it lies behind ten others of its message group %s: redrive or discard those first", e.Group)
			continue
		}
		m := l.missed[id].again(now, quiet && !deeper)
		if m.proven() {
			gone[id] = fmt.Errorf("%w: %s was not there in %d looks at all of %s, of which nobody held a message; somebody else took it", sources.ErrGone, id, m.quiet, l.name)
			delete(l.missed, id)
			continue
		}
		l.missed[id] = m
		hidden++
		if m.since.Before(since) {
			since = m.since
		}
	}
	if hidden > 0 {
		others := max(0, w.counts.inFlight-l.alive(now))
		later = fmt.Errorf("%d letters were not found in %s since %s UTC: somebody else, or a run of ours that was killed, holds %d messages of about %d",
			hidden, l.name, since.UTC().Format(time.TimeOnly), others, w.counts.all())
	}
	return gone, later
}

// quiet tells whether a sweep that has ended shows that nobody but us holds
// messages of the queue, and that it has seen what there was to see.
func (l *line) quiet(w *sweep) bool {
	return w.done && l.complete(w) && w.counts.delayed == 0
}

// holding is how many messages of a FIFO group we hold. While there is one SQS
// hands out no more of the group, and in one answer it hands out ten at most. The
// lock is had.
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

// keepsAnyOf tells whether we hold a letter of the group that is asked for. The
// lock is had.
func (l *line) keepsAnyOf(wanted map[string]entry, group string) bool {
	for id, e := range wanted {
		if e.Group == group && l.keeps(id) {
			return true
		}
	}
	return false
}

// shallow gives, and forgets, what we hold of the FIFO groups that letters lie
// behind, of those with fewer than ten: once in a take.
func (l *line) shallow(w *sweep, left []string, wanted map[string]entry) map[string]hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	groups := map[string]bool{}
	for _, id := range left {
		group := wanted[id].Group
		if n := l.holding(group); n > 0 && n < mostPerCall && !w.reopened[group] {
			groups[group], w.reopened[group] = true, true
		}
	}
	holds := map[string]hold{}
	for id, h := range l.held {
		if groups[h.group] {
			holds[id] = h
			delete(l.held, id)
			delete(w.seen, id)
		}
	}
	return holds
}
