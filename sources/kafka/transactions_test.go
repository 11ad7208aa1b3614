package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// TestTheProducerOfAnOpenTransactionIsNamed, with its own time-out; a partition
// without one is not in the answer.
func TestTheProducerOfAnOpenTransactionIsNamed(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 2, nil)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.TransactionalID("settle-7"), kgo.TransactionTimeout(42*time.Second), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.must(err)
	defer client.Close()
	b.must(client.BeginTransaction())
	b.must(client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: 1, Value: []byte("x")}).FirstErr())
	held, free := sources.TopicPartition{Topic: topic, Partition: 1}, sources.TopicPartition{Topic: topic}
	open, err := b.source().OpenTransactions(t.Context(), []sources.TopicPartition{held, free})
	b.must(err)
	is := open[held]
	if len(open) != 1 || is.ID != "settle-7" || is.Timeout != 42*time.Second || is.ProducerID < 0 || time.Since(is.Since) > time.Minute {
		t.Errorf("open: %+v", open)
	}
	b.must(client.EndTransaction(t.Context(), kgo.TryCommit))
	if open, err = b.source().OpenTransactions(t.Context(), []sources.TopicPartition{held, free}); err != nil || len(open) != 0 {
		t.Errorf("after its end: %+v, %v", open, err)
	}
}
