package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The groups of the story.
const (
	retryGroup  = "payment-retry-consumer-group"
	eventsGroup = "payment-events-worker"
	ledgerGroup = "ledger-projection" // of the KIP-848 protocol
	shareGroup  = "notification-senders"
	fraudGroup  = "fraud-scoring"
)

// crew is the workers of all groups. They run until stop.
type crew struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// startRetriers hires those of the retries, who can be stopped by a call.
func startRetriers(brokers []string, fixed func() bool) *crew {
	ctx, cancel := context.WithCancel(context.Background())
	c := &crew{cancel: cancel}
	for i := range 3 {
		c.running.Go(func() {
			consume(ctx, brokers, retryGroup, fmt.Sprintf("retry-7c9f-%d", i+1), payOrThrow(fixed), kgo.ConsumeTopics(retryRequests))
		})
	}
	return c
}

// startCrew hires all others.
func startCrew(brokers []string, queues *queueWorld, fixed func() bool) *crew {
	ctx, cancel := context.WithCancel(context.Background())
	c := &crew{cancel: cancel}
	hire := func(group, id string, handle handler, more ...kgo.Opt) {
		c.running.Go(func() { consume(ctx, brokers, group, id, handle, more...) })
	}
	hire(ledgerGroup, "ledger-1", accept, kgo.ConsumeTopics(paymentEvents, ledgerPostings), kgo.ServerSideBalancer())
	hire(fraudGroup, "fraud-1", accept, kgo.ConsumeTopics(retryRequests, paymentEvents))
	c.running.Go(func() { share(ctx, brokers) })
	c.running.Go(func() { retry(ctx, brokers, fixed) })
	c.running.Go(func() { queues.work(ctx, fixed) })
	return c
}

func (c *crew) stop() {
	c.cancel()
	c.running.Wait()
}

// handler does the work of one record, or throws.
type handler func(*kgo.Record) error

func accept(*kgo.Record) error { return nil }

// payOrThrow is the consumer of the story: it knows three currencies.
func payOrThrow(fixed func() bool) handler {
	return func(r *kgo.Record) error {
		var p struct {
			Currency string `json:"currency"`
		}
		if err := json.Unmarshal(r.Value, &p); err != nil {
			return fmt.Errorf("read a payment: %w", err)
		}
		switch p.Currency {
		case "INR", "EUR", "USD":
			return nil
		case badCurrency:
			if fixed() {
				return nil
			}
		}
		return fmt.Errorf("unknown currency %q", p.Currency)
	}
}

// patience is how long a worker waits before it takes a failed record again.
const patience = 500 * time.Millisecond

// consume is one member of a group. It commits what it has done after each
// poll; a record that it throws on, and all behind it on that line, it takes
// again, for ever.
func consume(ctx context.Context, brokers []string, group, id string, handle handler, more ...kgo.Opt) {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ClientID(id), kgo.ConsumerGroup(group), kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(250 * time.Millisecond),
	}, more...)...)
	if err != nil {
		return // only options of our own
	}
	defer client.Close()
	for ctx.Err() == nil {
		done, failed := work(client.PollRecords(ctx, 500), handle)
		if len(done) > 0 {
			_ = client.CommitRecords(ctx, done...) // what is not committed comes again
		}
		if len(failed) > 0 {
			client.SetOffsets(failed)
			wait(ctx, patience)
		}
	}
}

// work handles what was polled, line by line, each up to its first failure.
func work(fetches kgo.Fetches, handle handler) (done []*kgo.Record, failed map[string]map[int32]kgo.EpochOffset) {
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		for _, r := range p.Records {
			if handle(r) == nil {
				done = append(done, r)
				continue
			}
			if failed == nil {
				failed = map[string]map[int32]kgo.EpochOffset{}
			}
			if failed[r.Topic] == nil {
				failed[r.Topic] = map[int32]kgo.EpochOffset{}
			}
			failed[r.Topic][r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset}
			return
		}
	})
	return done, failed
}

// share is the member of a share group: it acknowledges record by record.
func share(ctx context.Context, brokers []string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ClientID("sender-1"), kgo.ShareGroup(shareGroup), kgo.ConsumeTopics(notifications))
	if err != nil {
		return // only options of our own
	}
	defer client.Close()
	for ctx.Err() == nil {
		client.PollRecords(ctx, 100).EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept) })
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
