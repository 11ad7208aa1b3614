package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// edge is which offset of a partition is asked for. The numbers are those of
// ListOffsets; any other is a time in milliseconds.
type edge struct {
	timestamp int64
	committed bool // isolation: the end is then the last stable offset
}

var (
	startEdge  = edge{timestamp: -2}
	endEdge    = edge{timestamp: -1}
	stableEdge = edge{timestamp: -1, committed: true}
)

// since asks for the first record of that time or later.
func since(t time.Time) edge { return edge{timestamp: t.UnixMilli()} }

// listed is one answer. For a time later than every record the offset is
// sources.NotKnown.
type listed struct {
	offset int64
	err    error
}

type listing map[sources.TopicPartition]listed

// of is the offset of a partition; one that was not answered for is an error.
func (l listing) of(tp sources.TopicPartition) (int64, error) {
	a, there := l[tp]
	if !there {
		return sources.NotKnown, fmt.Errorf("no broker answered for partition %d of %s", tp.Partition, tp.Topic)
	}
	return a.offset, a.err
}

// list asks for edges of partitions, one request for each edge and broker. A
// partition that cannot be read has its own error and hides no other: one
// without a leader is not asked for.
func (r *round) list(ctx context.Context, partitions map[sources.TopicPartition]bool, edges ...edge) []listing {
	out := make([]listing, len(edges))
	byBroker := map[int32]map[string][]int32{}
	for i := range out {
		out[i] = make(listing, len(partitions))
	}
	for tp := range partitions {
		leader, err := r.c.leader(tp)
		if err != nil {
			for i := range out {
				out[i][tp] = listed{sources.NotKnown, err}
			}
			continue
		}
		if byBroker[leader] == nil {
			byBroker[leader] = map[string][]int32{}
		}
		byBroker[leader][tp.Topic] = append(byBroker[leader][tp.Topic], tp.Partition)
	}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byBroker)), func(broker int32) {
		for i, e := range edges {
			got := r.listOne(ctx, broker, byBroker[broker], e)
			mu.Lock()
			maps.Copy(out[i], got)
			mu.Unlock()
		}
	})
	return out
}

// leader finds the broker to ask for a partition.
func (c *cluster) leader(tp sources.TopicPartition) (int32, error) {
	t, there := c.topics[tp.Topic]
	if !there {
		return -1, fmt.Errorf("topic %s: %w", tp.Topic, sources.ErrNoSuchQueue)
	}
	if t.err != nil {
		return -1, t.err
	}
	p, there := t.part(tp.Partition)
	if !there {
		return -1, fmt.Errorf("topic %s has no partition %d", tp.Topic, tp.Partition)
	}
	if p.err != nil {
		return -1, fmt.Errorf("partition %d of %s: %w", tp.Partition, tp.Topic, p.err)
	}
	return p.leader, nil
}

func (r *round) listOne(ctx context.Context, broker int32, topics map[string][]int32, e edge) listing {
	out := listing{}
	resp, err := askIn[*kmsg.ListOffsetsResponse](ctx, r, broker, listRequest(topics, e))
	if err != nil {
		for topic, partitions := range topics {
			for _, p := range partitions {
				out[sources.TopicPartition{Topic: topic, Partition: p}] = listed{sources.NotKnown, err}
			}
		}
		return out
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			a := listed{offset: p.Offset}
			if err := code(p.ErrorCode); err != nil {
				a = listed{sources.NotKnown, fmt.Errorf("offsets of partition %d of %s: %w", p.Partition, t.Topic, err)}
			}
			out[sources.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = a
		}
	}
	return out
}

func listRequest(topics map[string][]int32, e edge) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if e.committed {
		req.IsolationLevel = 1
	}
	for topic, partitions := range topics {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for _, n := range partitions {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = n, e.timestamp
			t.Partitions = append(t.Partitions, p)
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

// partitionsOf are all partitions of some topics, as list takes them.
func partitionsOf(topics ...*topic) map[sources.TopicPartition]bool {
	out := map[sources.TopicPartition]bool{}
	for _, t := range topics {
		for _, p := range t.parts {
			out[sources.TopicPartition{Topic: t.name, Partition: p.number}] = true
		}
	}
	return out
}
