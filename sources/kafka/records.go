package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// recordLimits bound one fetch of a sample, and sampleBytes a whole sample: a
// topic of large records gives fewer of them.
var recordLimits = limits{partition: 2 << 20, whole: 2 << 20}

const sampleBytes = 16 << 20

// Records reads, read committed, at most max records of a partition from
// offset from on and before offset to, and stops early after sampleBytes of
// keys, values and headers. Offsets that retention has passed are left out.
func (s *Source) Records(ctx context.Context, topic string, partition int32, from, to int64, max int) ([]sources.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*s.cfg.Timeout)
	defer cancel()
	c, err := s.cluster(ctx, time.Minute)
	if err != nil {
		return nil, err
	}
	tp := sources.TopicPartition{Topic: topic, Partition: partition}
	if _, err := c.leader(tp); err != nil {
		return nil, err
	}
	return s.newRound(c).records(ctx, at{tp, from}, to, max)
}

func (r *round) records(ctx context.Context, place at, to int64, most int) ([]sources.Record, error) {
	var out []sources.Record
	for size := 0; place.offset < to && len(out) < most && size < sampleBytes; {
		g := r.fetch(ctx, []at{place}, recordLimits, kgo.ReadCommitted())[place.TopicPartition]
		if outOfRange(g.err) {
			start, err := r.list(ctx, map[sources.TopicPartition]bool{place.TopicPartition: true}, startEdge)[0].of(place.TopicPartition)
			if err != nil || start <= place.offset {
				return out, err // it is past the end
			}
			place.offset = start
			continue
		}
		if g.err != nil {
			return out, fmt.Errorf("sample records: %w", g.err)
		}
		for _, rec := range g.records {
			if rec.Offset < to && len(out) < most {
				out = append(out, recordOf(rec))
				size += sizeOf(rec)
			}
		}
		if g.next <= place.offset {
			break // the stable end
		}
		place.offset = g.next
	}
	return out, nil
}

func sizeOf(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}
