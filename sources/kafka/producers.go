package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// producers are producer ids that have nothing in flight. One is taken from
// them by a shipment when it is packed, and comes back when it was accepted:
// one whose shipment was never sent, or refused, would have a gap in its
// sequence, and is forgotten.
type producers struct {
	mu   sync.Mutex
	idle []*producer
	out  map[int64]*producer // by id, with a shipment in flight
	turn uint32
}

type producer struct {
	id    int64
	epoch int16
	next  map[sources.TopicPartition]int32 // sequence
	used  map[sources.TopicPartition]int   // batches
}

const (
	// batchesRemembered is how many batches of a producer a partition of the
	// broker recognises again; an older one would be taken for a gap.
	batchesRemembered = 5
	idleProducers     = 100
	outProducers      = 1000
)

// producerFor takes an idle producer that may still write to a partition, or
// asks for a new one.
func (s *Source) producerFor(ctx context.Context, tp sources.TopicPartition) (*producer, error) {
	if p := s.sends.take(tp); p != nil {
		return p, nil
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionTimeoutMillis = 60_000 // without a transactional id it means nothing, and must not be zero
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil {
		err = code(resp.ErrorCode)
	}
	err = s.readable(err)
	if err != nil {
		return nil, fmt.Errorf("ask for a producer id (it needs Write on the topic, or IdempotentWrite on the cluster): %w", err)
	}
	p := &producer{id: resp.ProducerID, epoch: resp.ProducerEpoch, next: map[sources.TopicPartition]int32{}, used: map[sources.TopicPartition]int{}}
	s.sends.lend(p)
	return p, nil
}

func (ps *producers) take(tp sources.TopicPartition) *producer {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i, p := range ps.idle {
		if p.used[tp] < batchesRemembered {
			ps.idle = append(ps.idle[:i:i], ps.idle[i+1:]...)
			ps.out[p.id] = p
			return p
		}
	}
	return nil
}

// lend notes that a producer has a shipment. What was never sent is forgotten
// when there are too many.
func (ps *producers) lend(p *producer) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.out == nil || len(ps.out) >= outProducers {
		ps.out = map[int64]*producer{}
	}
	ps.out[p.id] = p
}

// accepted puts the producer of an accepted shipment back among the idle.
func (ps *producers) accepted(c cargo, tp sources.TopicPartition, records int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.out[c.ProducerID]
	if p == nil || p.next[tp] != c.Sequence {
		return // of an earlier run of ours, or accepted a second time
	}
	delete(ps.out, p.id)
	p.next[tp] += int32(records) //nolint:gosec // at most pieceRecords
	p.used[tp]++
	if len(ps.idle) < idleProducers {
		ps.idle = append(ps.idle, p)
	}
}
