package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	// limits are how many letters may be in one batch with an item, of items that
	// were in a batch that the broker refused without saying which of them it meant.
	limits map[string]int
	// tried is when a send of a batch last ended without an answer, by producer
	// and sequence.
	tried map[attempt]time.Time
}

// attempt names a batch that was sent.
type attempt struct {
	producer  int64
	sequence  int32
	partition sources.TopicPartition
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
	limitedItems      = 100_000
)

// limit is how many letters may be in one batch with an item.
func (ps *producers) limit(item string) int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if n := ps.limits[item]; n > 0 {
		return n
	}
	return pieceRecords
}

// halve has items packed in batches of half as many. What was forgotten, because
// there are too many or after a restart, is found out again.
func (ps *producers) halve(items []string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.limits == nil || len(ps.limits) > limitedItems {
		ps.limits = map[string]int{}
	}
	for _, item := range items {
		ps.limits[item] = max(1, len(items)/2)
	}
}

// unanswered notes that a send ended whose answer nobody heard.
func (ps *producers) unanswered(a attempt, at time.Time) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.tried == nil || len(ps.tried) > outProducers {
		ps.tried = map[attempt]time.Time{}
	}
	ps.tried[a] = at
}

// lastTry is when the last send of a batch ended: one of an earlier run did
// when this one began, at the latest.
func (ps *producers) lastTry(a attempt, began time.Time) time.Time {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if at := ps.tried[a]; at.After(began) {
		return at
	}
	return began
}

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
func (ps *producers) accepted(c cargo, tp sources.TopicPartition, items []string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.tried, attempt{c.ProducerID, c.Sequence, tp})
	if len(ps.limits) > 0 {
		for _, item := range items {
			delete(ps.limits, item)
		}
	}
	p := ps.out[c.ProducerID]
	if p == nil || p.next[tp] != c.Sequence {
		return // of an earlier run of ours, or accepted a second time
	}
	delete(ps.out, p.id)
	p.next[tp] += int32(len(items)) //nolint:gosec // at most pieceRecords
	p.used[tp]++
	if len(ps.idle) < idleProducers {
		ps.idle = append(ps.idle, p)
	}
}
