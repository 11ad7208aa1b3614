package alerts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

const (
	// sampled is how many records before the position are taken for usual, and
	// how many from it on for suspect: a consumer that commits after each poll
	// stands at the first record of a poll, of 500 by default, and the bad one
	// is anywhere in it (max.poll.records of the Java client).
	sampled = 500
	// keptSuspects is how many suspects an incident keeps.
	keptSuspects = 10
	// evidenceFor bounds how long opening an incident waits for its records: a
	// page without them is better than one that is late.
	evidenceFor = 3 * time.Second
	// readsAtOnce bounds how many incidents' records are read side by side.
	readsAtOnce = 4
)

// RecordReader reads records of one partition, committed ones only, with
// offsets from from to to (exclusive), at most max of them, in order. It joins
// no group and commits nothing.
type RecordReader interface {
	Records(ctx context.Context, topic string, partition int32, from, to int64, max int) ([]sources.Record, error)
}

// Keeping is evidence over an older one of the same incident: a head record that
// was read is not forgotten because it cannot be read again, or because the
// verdict is one by now for which nobody reads it.
func (e Evidence) Keeping(old Evidence) Evidence {
	if e.Head != nil || old.Head == nil || e.Line != old.Line {
		return e
	}
	e.Head, e.Suspects, e.Sample, e.Missing = old.Head, old.Suspects, old.Sample, ""
	return e
}

// scene is an incident, and the line that its evidence is of as it is now.
type scene struct {
	incident Incident
	line     LineView
}

// evidence is what can be told without reading a record.
func (s scene) evidence() Evidence {
	e := s.incident.Evidence
	e.Owner, e.Grows, e.RetentionAt = s.line.Owner, s.line.Grows, s.line.RetentionAt
	if suspectable(s.line.Verdict) {
		e.Position, e.Since = s.line.Position, s.line.Since
	}
	return e
}

// waitingIn adds up what waits in some lines of a group; sources.NotKnown when
// nothing is known of any.
func waitingIn(view GroupView, lines []sources.Partition) int64 {
	in := make(map[sources.Partition]bool, len(lines))
	for _, p := range lines {
		in[p] = true
	}
	sum, known := int64(0), false
	for _, l := range view.Lines {
		if in[l.Partition] && l.Lag != sources.NotKnown {
			sum += l.Lag
			known = true
		}
	}
	if !known {
		return sources.NotKnown
	}
	return sum
}

// suspectable tells whether a record may be to blame: what nobody reads, or a
// producer holds back, no record blocks.
func suspectable(v Verdict) bool { return v.stalls() }

// read reads the records around the position of the line and says what
// sets those that may block apart from those before. What could not be read it
// says.
func (s scene) read(ctx context.Context, reader RecordReader) Evidence {
	e, l := s.evidence(), s.line
	if ctx.Err() != nil {
		e.Missing = ctx.Err().Error()
		return e
	}
	at := max(l.Position, l.Start)
	next, err := reader.Records(ctx, l.Topic, l.Number, at, min(at+sampled, l.End), sampled)
	switch {
	case err != nil && len(next) == 0:
		e.Missing = fmt.Sprintf("the record at offset %s could not be read: %v", count(at), err)
		return e
	case len(next) == 0:
		e.Missing = fmt.Sprintf("no record was found at or after offset %s", count(at))
		return e
	}
	e.Head = &next[0]
	before, err := reader.Records(ctx, l.Topic, l.Number, max(at-sampled, l.Start), at, sampled)
	if err != nil && len(before) == 0 {
		e.Missing = fmt.Sprintf("the records before offset %s could not be read, so nothing is said to set one apart: %v", count(at), err)
		return e
	}
	e.Sample = len(before)
	e.Suspects = compare(before, next)
	return e
}

// compare ranks the suspects by what sets them apart. What it says of them is
// masked: it may leave for a pager.
func compare(before, next []sources.Record) []Suspect {
	found := payload.Compare(toCompare(before), toCompare(next))
	suspects := make([]Suspect, 0, keptSuspects)
	for _, f := range found[:min(len(found), keptSuspects)] {
		one := Suspect{Offset: f.Offset}
		for _, d := range f.Apart {
			one.Apart = append(one.Apart, Apart{Field: d.Field, Value: d.Value, Usual: d.Usual})
		}
		suspects = append(suspects, one)
	}
	return suspects
}

func toCompare(records []sources.Record) []payload.Record {
	out := make([]payload.Record, len(records))
	for i, r := range records {
		out[i] = payload.Record{Offset: r.Offset, At: r.Timestamp, Key: r.Key, Body: r.Body}
		for _, h := range r.Headers {
			out[i].Headers = append(out[i].Headers, payload.Header{Name: h.Name, Value: h.Value})
		}
	}
	return out
}

// gather reads the evidence of some incidents side by side, and waits for it no
// longer than evidenceFor in all, for a reader gives up when its context ends.
// What did not come in time is told without its records. Nothing of it goes on
// when gather has returned.
func gather(ctx context.Context, reader RecordReader, scenes []scene) []Evidence {
	ctx, cancel := context.WithTimeout(ctx, evidenceFor)
	defer cancel()
	out := make([]Evidence, len(scenes))
	turn := make(chan struct{}, readsAtOnce)
	var all sync.WaitGroup
	for i, s := range scenes {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if out[i] = s.read(ctx, reader); ctx.Err() != nil && out[i].Missing != "" {
				out[i].Missing = "the records were not read in time"
			}
		})
	}
	all.Wait()
	return out
}
