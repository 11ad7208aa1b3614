package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// at is a kfake cluster and a client of its own for a test.
type bench struct {
	testing.TB
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
}

func start(t testing.TB, opts ...kfake.Opt) *bench {
	t.Helper()
	return on(t, fake(t, opts...))
}

func on(t testing.TB, c *kfake.Cluster, opts ...kgo.Opt) *bench {
	t.Helper()
	client, err := kgo.NewClient(append(opts, kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0), kgo.ConnIdleTimeout(10*time.Minute))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &bench{t, c, client, kadm.NewClient(client)}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) source(change ...func(*kafka.Config)) *kafka.Source {
	b.Helper()
	c := kafka.Config{Name: "k", Brokers: b.ListenAddrs(), From: kafka.From{All: true}, Timeout: 500 * time.Millisecond}
	for _, f := range change {
		f(&c)
	}
	s, err := kafka.New(c)
	b.must(err)
	b.Cleanup(s.Close)
	return s
}

func (b *bench) topic(name string, partitions int32, config map[string]string) string {
	b.Helper()
	b.must(b.CreateTopic(name, partitions, config))
	return name
}

func (b *bench) fill(topic string, partition int32, n int) {
	b.Helper()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Appendf(nil, "%d", i)})
	}
	b.must(b.client.ProduceSync(context.Background(), records...).FirstErr())
}

func (b *bench) commit(group, topic string, partition int32, offset int64) {
	b.Helper()
	var o kadm.Offsets
	o.Add(kadm.Offset{Topic: topic, Partition: partition, At: offset, LeaderEpoch: -1})
	answer, err := b.admin.CommitOffsets(context.Background(), group, o)
	if err == nil {
		err = answer.Error()
	}
	b.must(err)
}

// groups reads all groups by name.
func (b *bench) groups(s *kafka.Source) map[string]sources.Group {
	b.Helper()
	groups, err := s.Lag(context.Background())
	b.must(err)
	out := map[string]sources.Group{}
	for _, g := range groups {
		out[g.Name] = g
	}
	return out
}

func lineOf(g sources.Group, topic string, partition int32) (sources.Lag, bool) {
	for _, l := range g.Lines {
		if l.Topic == topic && l.Number == partition {
			return l, true
		}
	}
	return sources.Lag{}, false
}

// watch has every request seen before it is handled as always.
func (b *bench) watch(see func(kmsg.Request)) {
	b.ControlKey(-1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		see(r)
		return nil, nil, false
	})
}

// answer answers every request of a kind until off is called; a nil response
// leaves it to the cluster.
func (b *bench) answer(key kmsg.Key, with func(kmsg.Request) kmsg.Response) (off func()) {
	on := true
	b.ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if !on {
			b.DropControl()
			return nil, nil, false
		}
		b.KeepControl()
		resp := with(r)
		return resp, nil, resp != nil
	})
	return func() { on = false }
}

// silent has a broker swallow every request of a kind.
func (b *bench) silent(node int32, key kmsg.Key) {
	b.ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		return nil, nil, b.CurrentNode() == node
	})
}

// fail has every request about one partition fail.
func (b *bench) fail(key kmsg.Key, topic string, partition int32) *kfake.FaultHandle {
	return b.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: topic, Partitions: []int32{partition}, Err: kerr.NotLeaderForPartition, Count: -1})
}
