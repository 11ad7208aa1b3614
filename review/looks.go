package review

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// look goes through the queues, those of finished work first, until what a plan
// may take is used up.
func (l *lookout) look(ctx context.Context) {
	for _, done := range []bool{true, false} {
		left := newerMost
		if done {
			left = doneMost
		}
		for _, s := range l.order {
			if s.done != done {
				continue
			}
			if left.Records <= 0 || left.Bytes <= 0 || left.Time <= 0 {
				l.p.gaps.add("%s was not looked at %s: what a plan may read of other topics was used up before", s.queue, s.purpose())
				continue
			}
			began := time.Now()
			got := l.p.outlets[s.source].Past.LookThrough(ctx, s.stretch, left, s.see)
			left.Records, left.Bytes, left.Time = left.Records-got.Records, left.Bytes-got.Bytes, left.Time-time.Since(began)
			l.p.gaps.tell(s, got)
		}
	}
}

func (s *search) purpose() string {
	if s.done {
		return "for finished work"
	}
	return "for newer records of the same keys"
}

// see looks at one record.
func (s *search) see(r sources.Record) {
	for _, value := range fieldOf(s.by, r.Key, r.Headers, r.Body) {
		for _, w := range s.wanted[value] {
			if s.found[w.id] == "" && s.counts(w, r) {
				s.found[w.id] = fmt.Sprintf("%s partition %d offset %s%s has the same %s", r.Topic, r.Partition, payload.Count(r.Offset), at(r.Timestamp), s.by)
			}
		}
	}
}

// counts tells whether a record came after the letter: behind its original where
// that lies in the same partition, else not before it.
func (s *search) counts(w wanted, r sources.Record) bool {
	if w.at != nil && *w.at.Partition == r.Partition {
		return r.Offset > *w.at.Offset
	}
	if s.done {
		return !r.Timestamp.Before(w.after)
	}
	return r.Timestamp.After(w.after)
}

func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " at " + moment(t)
}

// tell says how far a look got. What came after it, nobody has looked at.
func (n *notKnown) tell(s *search, got sources.Looked) {
	since := ""
	if !s.stretch.Since.IsZero() {
		since = " since " + moment(s.stretch.Since)
	}
	switch {
	case got.Err != nil:
		n.add("%s could not be looked through %s (%s of it were): %v", s.queue, s.purpose(), count(int(got.Records), "record", "records"), got.Err)
	case got.Left > 0:
		n.add("looked at %s of about %s of %s%s %s%s: the rest was not looked at", payload.Count(got.Records),
			count(int(got.Records+got.Left), "record", "records"), s.queue, since, s.purpose(), upTo(got.Until))
	case s.done:
		n.add("looked through %s of %s%s up to %s for finished work: what was done earlier or later is not known",
			count(int(got.Records), "record", "records"), s.queue, since, moment(got.Until))
	}
}

func upTo(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", up to " + moment(t)
}

// besideMost is how many other letters of a queue are looked at for the same keys.
const besideMost = 100_000

// lookBeside looks for later letters of the same keys that lie in the same
// dead-letter queue and are not in the plan.
func (l *lookout) lookBeside(ctx context.Context, d *Desk, plan Plan) error {
	for lies, wanted := range l.beside {
		seen := 0
		err := d.Letters.KeysBeside(ctx, plan.ID, lies.source, lies.name, besideMost, func(other Letter) {
			seen++
			key := other.RedriveKey()
			if key == nil {
				return
			}
			for _, one := range wanted[string(key)] {
				if l.p.seen.newer[one.ID] == "" && liesBehind(other, one) {
					l.p.seen.newer[one.ID] = fmt.Sprintf("letter %s of the same key came to %s later, and is not in this plan", other.ID, lies.name)
				}
			}
		})
		if err != nil {
			return err
		}
		if seen == besideMost {
			l.p.gaps.add("of the other letters of %s only the latest %s were looked at for the same keys", lies.name, payload.Count(besideMost))
		}
	}
	return nil
}

// liesBehind tells whether a letter came to its queue after another one.
func liesBehind(other, one Letter) bool {
	if other.Place.Partition == one.Place.Partition && other.Place.TopicID == one.Place.TopicID {
		return other.Place.Offset > one.Place.Offset
	}
	return other.ListedAt().After(one.ListedAt())
}
