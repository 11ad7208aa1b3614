package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ask sends a request to one broker and waits for its answer. A connection
// that turns out to be dead is replaced once.
func ask[R kmsg.Response](ctx context.Context, s *Source, c *cluster, broker int32, req kmsg.Request) (R, error) {
	answer, err := askOnce[R](ctx, s, c, broker, req)
	if err != nil && lostConnection(err) && ctx.Err() == nil {
		return askOnce[R](ctx, s, c, broker, req)
	}
	return answer, err
}

// askOnce is ask without a second attempt: for what must not arrive twice.
func askOnce[R kmsg.Response](ctx context.Context, s *Source, c *cluster, broker int32, req kmsg.Request) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	var none R
	resp, err := s.client.Broker(int(broker)).Request(ctx, req)
	if err != nil {
		return none, fmt.Errorf("ask broker %d (%s) for %s: %w", broker, c.brokers[broker], kmsg.NameForKey(req.Key()), s.readable(err))
	}
	answer, ok := resp.(R)
	if !ok {
		return none, fmt.Errorf("broker %d (%s) answered %s with %T", broker, c.brokers[broker], kmsg.NameForKey(req.Key()), resp)
	}
	return answer, nil
}

// round is one round of questions to the brokers of a cluster: a broker that
// did not answer one is not asked the next, so that a dead one costs one
// time-out and not one for each kind of question.
type round struct {
	s *Source
	c *cluster

	mu   sync.Mutex
	down map[int32]error
}

func (s *Source) newRound(c *cluster) *round { return &round{s: s, c: c, down: map[int32]error{}} }

// askIn is ask within a round.
func askIn[R kmsg.Response](ctx context.Context, r *round, broker int32, req kmsg.Request) (R, error) {
	var none R
	if err := r.isDown(broker); err != nil {
		return none, err
	}
	resp, err := ask[R](ctx, r.s, r.c, broker, req)
	if err != nil && isAny(err, ErrTimeout, ErrLogin) || isDial(err) {
		r.mu.Lock()
		r.down[broker] = err
		r.mu.Unlock()
	}
	return resp, err
}

func (r *round) isDown(broker int32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.down[broker]
}

// each does something for each broker at the same time, and waits for all.
func each(brokers []int32, do func(broker int32)) {
	var wg sync.WaitGroup
	for _, b := range brokers {
		wg.Go(func() { do(b) })
	}
	wg.Wait()
}
