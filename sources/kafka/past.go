package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// pastLimits bound one fetch of a look through a topic.
var pastLimits = limits{partition: 1 << 20, whole: 8 << 20}

// LookThrough gives see the records of a stretch of a topic, read committed,
// partition by partition in their order, up to the stable ends that the topic has
// when it is called. Nothing is taken: it fetches, and neither joins a group nor
// commits. A partition that cannot be read holds up no other; the first such
// reason is in the answer.
func (s *Source) LookThrough(ctx context.Context, what sources.Stretch, most sources.Bounds, see func(sources.Record)) sources.Looked {
	ctx, cancel := context.WithTimeout(ctx, most.Time)
	defer cancel()
	c, t, err := s.topic(ctx, what.Queue)
	if err != nil {
		return sources.Looked{Err: err}
	}
	w := &walk{round: s.newRound(c), most: most, see: see, next: map[int32]int64{}, end: map[int32]int64{}, last: map[int32]int{}, until: map[int32]time.Time{}}
	w.began = s.now()
	if err := w.begin(ctx, t, what); err != nil {
		return sources.Looked{Err: err}
	}
	w.walk(ctx, t.name)
	return w.looked()
}

// walk is one look through a topic.
type walk struct {
	*round
	most  sources.Bounds
	see   func(sources.Record)
	began time.Time
	next  map[int32]int64
	end   map[int32]int64
	last  map[int32]int       // the fetch that last brought something, so that all get their turn
	until map[int32]time.Time // of the last record that was seen, before it when the look begins
	done  sources.Looked
}

// begin finds where each partition begins and ends.
func (w *walk) begin(ctx context.Context, t *topic, what sources.Stretch) error {
	edges := []edge{startEdge, stableEdge}
	if !what.Since.IsZero() {
		edges = append(edges, since(what.Since))
	}
	got := w.list(ctx, partitionsOf(t), edges...)
	for _, p := range t.parts {
		tp := sources.TopicPartition{Topic: t.name, Partition: p.number}
		start, err := got[0].of(tp)
		end, endErr := got[1].of(tp)
		first, asked := what.From[p.number]
		if err == nil && endErr == nil && len(got) > 2 {
			var at int64
			if at, err = got[2].of(tp); at < 0 { // no record is young enough
				at = end
			}
			if !asked || at < first {
				first, asked = at, true
			}
		}
		if err == nil {
			err = endErr
		}
		if err != nil {
			w.fail(err)
			continue
		}
		if asked {
			w.next[p.number], w.end[p.number], w.until[p.number] = max(first, start), end, what.Since
		}
	}
	if len(w.end) == 0 && w.done.Err != nil {
		return w.done.Err
	}
	return nil
}

func (w *walk) fail(err error) {
	if w.done.Err == nil {
		w.done.Err = fmt.Errorf("look through a topic: %w", err)
	}
}

// walk fetches until all was seen, or a bound is reached.
func (w *walk) walk(ctx context.Context, topic string) {
	for turn := 1; !w.full(); turn++ {
		places := w.waiting(topic)
		if len(places) == 0 || ctx.Err() != nil {
			return
		}
		got := w.fetch(ctx, places, pastLimits, kgo.ReadCommitted())
		stuck := true
		for _, place := range places {
			if w.take(ctx, place, got[place.TopicPartition]) {
				w.last[place.Partition] = turn
				stuck = false
			}
		}
		if stuck {
			return
		}
	}
}

func (w *walk) full() bool { return w.done.Records >= w.most.Records || w.done.Bytes >= w.most.Bytes }

// waiting are the partitions that have something left, those first that had
// nothing for longest: a broker hands out one batch beyond its limits, and only of
// the first.
func (w *walk) waiting(topic string) []at {
	var out []at
	for p, end := range w.end {
		if w.next[p] < end {
			out = append(out, at{sources.TopicPartition{Topic: topic, Partition: p}, w.next[p]})
		}
	}
	slices.SortFunc(out, func(a, b at) int {
		if w.last[a.Partition] != w.last[b.Partition] {
			return w.last[a.Partition] - w.last[b.Partition]
		}
		return int(a.Partition - b.Partition)
	})
	return out
}

// take takes what one fetch brought of a partition, and tells whether it got on.
func (w *walk) take(ctx context.Context, place at, g got) bool {
	p := place.Partition
	if g.err != nil {
		if ctx.Err() == nil {
			w.fail(g.err)
			delete(w.end, p)
		}
		return false
	}
	for _, r := range g.records {
		if r.Offset >= w.end[p] {
			break
		}
		if w.full() {
			w.next[p] = r.Offset
			return true
		}
		w.see(recordOf(r))
		w.done.Records++
		w.done.Bytes += int64(sizeOf(r))
		w.until[p] = r.Timestamp
	}
	w.next[p] = max(g.next, place.offset)
	return w.next[p] > place.offset
}

// looked says how far it got. A partition that was seen to its end was seen up
// to when the look began.
func (w *walk) looked() sources.Looked {
	out := w.done
	out.Until = w.began
	for p, end := range w.end {
		if left := end - w.next[p]; left > 0 {
			out.Left += left
			if w.until[p].Before(out.Until) {
				out.Until = w.until[p]
			}
		}
	}
	return out
}
