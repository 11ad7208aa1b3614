package review

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

const (
	// lookMost is how many letters of a plan are looked for in other queues: what
	// is kept of them while looking stays below some 30 MiB.
	lookMost = 100_000
	// newerMost is how much of the plan's targets is looked through for newer
	// records of the letters' keys, and doneMost how much of the topics of finished
	// work: paying twice is the greater harm.
	newerRecords = 50_000
	doneRecords  = 1_000_000
)

var (
	newerMost = sources.Bounds{Records: newerRecords, Bytes: 64 << 20, Time: 5 * time.Second}
	doneMost  = sources.Bounds{Records: doneRecords, Bytes: 512 << 20, Time: 20 * time.Second}
)

// findings are what looks through other queues found, by letter.
type findings struct {
	done  map[string]string // where its work is written down as done
	newer map[string]string // a record of the same key that came later
}

// lookBack looks through the targets of a plan, and through the topics of
// finished work, for what happened since its letters failed. It goes through the
// letters once to see what to look for, and through each topic once.
func (d *Desk) lookBack(ctx context.Context, p *planner, plan Plan) error {
	p.seen = findings{done: map[string]string{}, newer: map[string]string{}}
	if !p.looks() {
		return nil
	}
	l := &lookout{p: p, by: map[lookFor]*search{}, beside: map[queueName]map[string][]Letter{}}
	if err := l.collect(ctx, d, plan); err != nil {
		return err
	}
	if left := plan.Total - lookMost; left > 0 {
		p.gaps.add("of the %s only the first %s were looked for in other queues", letters(plan.Total), payload.Count(lookMost))
	}
	l.look(ctx)
	return l.lookBeside(ctx, d, plan)
}

// looks tells whether any source can look through its queues.
func (p *planner) looks() bool {
	for _, o := range p.outlets {
		if o.Past != nil && (!p.onlyDone || len(o.Rules.Done) > 0) {
			return true
		}
	}
	return false
}

// readsBodies tells whether finished work is told by what stands in the values.
func (p *planner) readsBodies() bool {
	for _, o := range p.outlets {
		for _, f := range o.Rules.Done {
			if f.By.In == sources.InJSON {
				return true
			}
		}
	}
	return p.bodies()
}

// lookFor is one look through a queue: for what, and by which part of a record.
type lookFor struct {
	source, queue string
	by            sources.Field
	done          bool // for finished work, else for newer records of the same key
}

// search is what one look is after.
type search struct {
	lookFor
	stretch sources.Stretch
	wanted  map[string][]wanted // by the field's value
	found   map[string]string
}

// wanted is a letter that is looked for.
type wanted struct {
	id    string
	after time.Time // records before it do not count
	// at is where the original of the letter lies in the queue itself; what counts
	// in its partition is what lies behind. nil: it is not from there, or nobody
	// knows where it lay.
	at *sources.Origin
}

// lookout are the looks of a plan.
type lookout struct {
	p     *planner
	order []*search
	by    map[lookFor]*search
	// beside are letters by the queue that they lie in and their key: their keys
	// and places only.
	beside map[queueName]map[string][]Letter
}

// collect goes through the letters and notes what to look for.
func (l *lookout) collect(ctx context.Context, d *Desk, plan Plan) error {
	for from := 0; from < min(plan.Total, lookMost); {
		list, err := d.Letters.LettersOfPlan(ctx, plan.ID, from, min(planChunk, lookMost-from), l.p.readsBodies())
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("%w: letters of plan %s from place %d on", ErrNotFound, plan.ID, from)
		}
		for _, one := range list {
			if out := l.p.outlets[one.Source]; out.Past != nil && takeable(one.Status) {
				l.want(one, out)
			}
		}
		from += len(list)
	}
	return nil
}

// want notes what to look for of one letter.
func (l *lookout) want(one Letter, out Outlet) {
	to := l.p.wayOf(one, out).Queue
	for _, f := range out.Rules.Done {
		if !sources.Glob(f.For, one.Origin.Queue) && !sources.Glob(f.For, to) && !sources.Glob(f.For, one.Queue) {
			continue
		}
		for _, value := range fieldOf(f.By, one.RedriveKey(), one.Headers, one.Body) {
			l.search(lookFor{one.Source, f.Topic, f.By, true}).add(value, wanted{id: one.ID, after: doneSince(one)})
		}
	}
	if l.p.onlyDone || to == "" || !out.Rules.Allowed(to) {
		return
	}
	for _, value := range fieldOf(sources.Field{In: sources.InKey}, one.RedriveKey(), nil, nil) {
		w := wanted{id: one.ID, after: newerSince(one)}
		if o := one.Origin; o.Queue == to && o.Partition != nil && o.Offset != nil {
			w.at = &o
		}
		l.search(lookFor{one.Source, to, sources.Field{In: sources.InKey}, false}).add(value, w)
		lies := queueName{one.Source, one.Queue}
		if l.beside[lies] == nil {
			l.beside[lies] = map[string][]Letter{}
		}
		l.beside[lies][value] = append(l.beside[lies][value], Letter{ID: one.ID, FoundAt: one.FoundAt, DeadLetter: sources.DeadLetter{Place: one.Place, DeadAt: one.DeadAt}})
	}
}

func (l *lookout) search(what lookFor) *search {
	s := l.by[what]
	if s == nil {
		s = &search{lookFor: what, stretch: sources.Stretch{Queue: what.queue}, wanted: map[string][]wanted{}, found: l.p.seen.newer}
		if what.done {
			s.found = l.p.seen.done
		}
		l.by[what], l.order = s, append(l.order, s)
	}
	return s
}

// add notes a letter, and makes the look reach back to it.
func (s *search) add(value string, w wanted) {
	s.wanted[value] = append(s.wanted[value], w)
	if w.at == nil {
		if !w.after.IsZero() && (s.stretch.Since.IsZero() || w.after.Before(s.stretch.Since)) {
			s.stretch.Since = w.after
		}
		return
	}
	if s.stretch.From == nil {
		s.stretch.From = map[int32]int64{}
	}
	next := *w.at.Offset + 1
	if first, known := s.stretch.From[*w.at.Partition]; !known || next < first {
		s.stretch.From[*w.at.Partition] = next
	}
}

// doneSince is from when on finished work counts for a letter: its failure, or
// the time of its original record where that is earlier, because the work may
// have been done before the failure was.
func doneSince(l Letter) time.Time { return earliest(failedSince(l), OriginalTime(l.DeadLetter)) }

// newerSince is from when on a record is newer than a letter.
func newerSince(l Letter) time.Time {
	if !l.Origin.Timestamp.IsZero() {
		return l.Origin.Timestamp
	}
	return failedSince(l)
}

// failedSince is when a letter failed, as well as it is known: what its headers
// say, unless it was dead-lettered before.
func failedSince(l Letter) time.Time { return earliest(l.FailedAt, l.ListedAt()) }

// earliest is the earlier of two times, or the only one that is known. Records
// have milliseconds.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		a = b
	}
	return a.Truncate(time.Millisecond)
}

// fieldOf is the part of a record by which it is compared: no value where it has
// none, several where a header is repeated.
func fieldOf(f sources.Field, key []byte, headers []sources.Header, body []byte) []string {
	switch f.In {
	case sources.InKey:
		if key != nil {
			return []string{string(key)}
		}
	case sources.InHeader:
		var all []string
		for _, h := range headers {
			if h.Name == f.Name && h.Value != nil {
				all = append(all, string(h.Value))
			}
		}
		return all
	case sources.InJSON:
		if text, ok := payload.LookupText(body, f.Name); ok {
			return []string{text}
		}
	}
	return nil
}
