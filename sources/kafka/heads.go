package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// headLimits and headRounds bound one look at the heads: a few times what a
// reading of the offsets costs, whatever lies there.
var headLimits = limits{partition: 64 << 10, whole: 8 << 20}

const headRounds = 20

// empty is a stretch of a partition in which a look found nothing to read.
type empty struct {
	topicID  string
	from, to int64
}

// tails remembers stretches of markers and aborted records at the end of
// partitions, so that a group that waits there is not looked for again at each
// reading. It holds those of the last look only.
type tails struct {
	mu   sync.Mutex
	seen map[sources.Partition]empty
}

// look is one line whose head is being looked for.
type look struct {
	line   sources.Lag
	next   int64
	end    int64 // nothing is readable from here on
	result sources.HeadLook
	err    error
}

func (l *look) done() bool { return l.result.Head != sources.HeadNotAsked || l.err != nil }

// Heads looks once, read committed, at the position of each line: is there a
// record to read at or after it, or only markers, aborted records and holes
// that compaction left? A line that could not be decided within the bounds, or
// not be read, is not in the answer; the error is the first such reason when
// nothing could be read at all. A line that stands past the stable end reads
// uncommitted, and is looked at that way.
func (s *Source) Heads(ctx context.Context, lines []sources.Lag) (map[sources.Partition]sources.HeadLook, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*s.cfg.Timeout)
	defer cancel()
	c, err := s.cluster(ctx, time.Minute)
	if err != nil {
		return nil, err
	}
	r := s.newRound(c)
	var committed, uncommitted []*look
	for _, line := range lines {
		l := s.lookAt(line)
		if line.Position > line.StableEnd && line.StableEnd >= 0 {
			l.end = line.End
			uncommitted = append(uncommitted, l)
		} else {
			committed = append(committed, l)
		}
	}
	r.look(ctx, committed, kgo.ReadCommitted())
	r.look(ctx, uncommitted, kgo.ReadUncommitted())
	return s.headsOf(append(committed, uncommitted...))
}

// lookAt begins where the group stands, or at what the log still has, and past
// what an earlier look found empty.
func (s *Source) lookAt(line sources.Lag) *look {
	l := &look{line: line, next: max(line.Position, line.Start, 0), end: line.StableEnd}
	s.tails.mu.Lock()
	defer s.tails.mu.Unlock()
	if e, there := s.tails.seen[line.Partition]; there && e.topicID == line.TopicID && e.from <= l.next && l.next <= e.to {
		l.next = e.to
	}
	return l
}

// look goes on until every line is decided, or the bounds are reached.
func (r *round) look(ctx context.Context, looks []*look, level kgo.IsolationLevel) {
	for range headRounds {
		waiting := map[sources.TopicPartition]*look{}
		var places []at
		for _, l := range looks {
			tp := sources.TopicPartition{Topic: l.line.Topic, Partition: l.line.Number}
			if !l.done() && l.next >= l.end {
				l.result = sources.HeadLook{Head: sources.HeadNone}
			}
			if l.done() || waiting[tp] != nil { // two groups on one partition take turns
				continue
			}
			waiting[tp] = l
			places = append(places, at{tp, l.next})
		}
		if len(places) == 0 || ctx.Err() != nil {
			return
		}
		stuck := true
		for tp, g := range r.fetch(ctx, places, headLimits, level) {
			stuck = waiting[tp].take(g) && stuck
		}
		if stuck {
			return
		}
		looks = stillFirst(looks)
	}
}

// take takes an answer, and tells whether nothing was learnt from it.
func (l *look) take(g got) (stuck bool) {
	switch {
	case g.err != nil:
		l.err = g.err
	case len(g.records) > 0:
		l.result = sources.HeadLook{Head: sources.HeadRecord, Offset: g.records[0].Offset, Timestamp: timeOf(g.records[0])}
	case g.damaged != nil: // nobody can read it, and a consumer stands before it
		l.result = sources.HeadLook{Head: sources.HeadRecord, Offset: g.damaged.from, Timestamp: g.damaged.at}
	case g.next > l.next:
		l.next = g.next
	default:
		return true
	}
	return false
}

// stillFirst puts the undecided ones first: a broker always answers for the
// first partition.
func stillFirst(looks []*look) []*look {
	var waiting []*look
	for _, l := range looks {
		if !l.done() {
			waiting = append(waiting, l)
		}
	}
	return waiting
}

func (s *Source) headsOf(looks []*look) (map[sources.Partition]sources.HeadLook, error) {
	out := map[sources.Partition]sources.HeadLook{}
	seen := map[sources.Partition]empty{}
	var errs []error
	for _, l := range looks {
		from := max(l.line.Position, l.line.Start, 0)
		switch {
		case l.err != nil:
			errs = append(errs, l.err)
			continue
		case l.result.Head != sources.HeadNotAsked:
			out[l.line.Partition] = l.result
		}
		if l.next > from {
			seen[l.line.Partition] = empty{l.line.TopicID, from, l.next}
		}
	}
	s.tails.mu.Lock()
	s.tails.seen = seen
	s.tails.mu.Unlock()
	if len(out) == 0 && len(errs) > 0 {
		return out, errs[0]
	}
	return out, nil
}
