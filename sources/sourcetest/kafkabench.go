package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// KafkaBench is a Kafka server and what a test does there besides the adapter
// under test: it makes topics, writes, consumes, commits.
type KafkaBench struct {
	Address string
	Real    bool // Apache Kafka, and not kfake
	// Compact makes a fake compact its topics now; a real one does by itself.
	Compact func()
}

// kafkaTest is the bench of one test: its names are its own.
type kafkaTest struct {
	*testing.T
	KafkaBench
	client *kgo.Client
	admin  *kadm.Client
	prefix string
}

func (b KafkaBench) test(t *testing.T) *kafkaTest {
	t.Helper()
	k := &kafkaTest{T: t, KafkaBench: b}
	k.client = k.connect(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.ProducerBatchMaxBytes(20<<20))
	k.admin = kadm.NewClient(k.client)
	k.prefix = strings.ToLower(strings.Map(func(r rune) rune {
		if r == '/' || r == '_' {
			return '-'
		}
		return r
	}, t.Name())) + "."
	return k
}

func (k *kafkaTest) connect(opts ...kgo.Opt) *kgo.Client {
	k.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(k.Address)}, opts...)...)
	k.must(err)
	k.Cleanup(client.Close)
	return client
}

func (k *kafkaTest) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// source is an adapter that sees only what belongs to this test.
func (k *kafkaTest) source(change ...func(*kafka.Config)) *kafka.Source {
	k.Helper()
	c := kafka.Config{
		Name: "k", Brokers: []string{k.Address}, From: kafka.From{All: true},
		Groups: sources.Patterns{Include: []string{k.prefix + "*"}},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := kafka.New(c)
	k.must(err)
	k.Cleanup(s.Close)
	return s
}

// until waits for a condition, which says what it lacks.
func (k *kafkaTest) until(what string, holds func() error) {
	k.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			k.Fatalf("%s: %v", what, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-k.Context().Done():
			k.Fatal(what, k.Context().Err())
		}
	}
}

// topic makes a topic whose records do not expire.
func (k *kafkaTest) topic(name string, partitions int32, config map[string]string) string {
	k.Helper()
	name = k.prefix + name
	forEver := "-1"
	values := map[string]*string{"retention.ms": &forEver}
	for key, v := range config {
		values[key] = &v
	}
	k.until("topic "+name+" is made", func() error {
		answer, err := k.admin.CreateTopic(k.Context(), partitions, 1, values, name)
		return errors.Join(err, answer.Err)
	})
	k.until("topic "+name+" has leaders", func() error {
		ends, err := k.admin.ListEndOffsets(k.Context(), name)
		if err == nil {
			err = ends.Error()
		}
		return err
	})
	return name
}

func (k *kafkaTest) deleteTopic(name string) {
	k.Helper()
	_, err := k.admin.DeleteTopic(k.Context(), name)
	k.must(err)
	k.client.PurgeTopicsFromClient(name)
	k.until("topic "+name+" is gone", func() error {
		topics, err := k.admin.ListTopics(k.Context())
		if err == nil && topics.Has(name) {
			err = errors.New("still there")
		}
		return err
	})
}

func (k *kafkaTest) produce(records ...*kgo.Record) {
	k.Helper()
	k.must(k.client.ProduceSync(k.Context(), records...).FirstErr())
}

// fill writes n records to a partition.
func (k *kafkaTest) fill(topic string, partition int32, n int) {
	k.Helper()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Appendf(nil, "%d", i)})
	}
	k.produce(records...)
}

func (k *kafkaTest) commit(group, topic string, partition int32, offset int64) {
	k.Helper()
	var o kadm.Offsets
	o.Add(kadm.Offset{Topic: topic, Partition: partition, At: offset, LeaderEpoch: -1})
	answer, err := k.admin.CommitOffsets(k.Context(), group, o)
	if err == nil {
		err = answer.Error()
	}
	k.must(err)
}

// cut deletes the records before an offset, as retention does.
func (k *kafkaTest) cut(topic string, partition int32, before int64) {
	k.Helper()
	var o kadm.Offsets
	o.Add(kadm.Offset{Topic: topic, Partition: partition, At: before})
	answer, err := k.admin.DeleteRecords(k.Context(), o)
	if err == nil {
		err = answer.Error()
	}
	k.must(err)
}

// transaction writes n records to the first partition in one transaction and
// ends it; nil leaves it open until the test ends.
func (k *kafkaTest) transaction(topic string, n int, end *kgo.TransactionEndTry) {
	k.Helper()
	before, err := k.admin.ListEndOffsets(k.Context(), topic)
	k.must(err)
	client := k.connect(kgo.TransactionalID(fmt.Sprintf("%s%d", k.prefix, time.Now().UnixNano())), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	k.must(client.BeginTransaction())
	for i := range n {
		k.must(client.ProduceSync(k.Context(), &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "in transaction %d", i)}).FirstErr())
	}
	if end != nil {
		k.must(client.EndTransaction(k.Context(), *end))
		k.until("the marker is written", func() error {
			stable, err := k.admin.ListCommittedOffsets(k.Context(), topic)
			was, _ := before.Lookup(topic, 0)
			is, _ := stable.Lookup(topic, 0)
			if err == nil && is.Offset <= was.Offset+int64(n) {
				err = fmt.Errorf("the stable end is %d", is.Offset)
			}
			return err
		})
		return
	}
	k.Cleanup(func() { _ = client.EndTransaction(context.Background(), kgo.TryAbort) })
}

var (
	tryCommit = kgo.TryCommit
	tryAbort  = kgo.TryAbort
)

// groupConfig sets the configuration of a group, which need not exist yet.
func (k *kafkaTest) groupConfig(group string, values map[string]string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for name, v := range values {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, &v
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(k.Context(), k.client)
	if err != nil {
		return err
	}
	if e := resp.Resources[0]; e.ErrorCode != 0 {
		return fmt.Errorf("group config: code %d", e.ErrorCode)
	}
	return nil
}

// consume joins a group with a real client and polls until the test ends.
// Nothing is committed.
func (k *kafkaTest) consume(group, topic string, opts ...kgo.Opt) *kgo.Client {
	k.Helper()
	client := k.connect(append([]kgo.Opt{
		kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), kgo.DisableAutoCommit(), kgo.ClientID("worker"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
	}, opts...)...)
	go func() {
		for k.Context().Err() == nil {
			client.PollFetches(k.Context())
		}
	}()
	return client
}

// group reads one group of a source.
func (k *kafkaTest) group(s *kafka.Source, name string) sources.Group {
	k.Helper()
	g, err := find(k.Context(), s, name)
	k.must(err)
	return g
}

func find(ctx context.Context, s *kafka.Source, name string) (sources.Group, error) {
	groups, err := s.Lag(ctx)
	if err != nil {
		return sources.Group{}, err
	}
	for _, g := range groups {
		if g.Name == name {
			return g, nil
		}
	}
	return sources.Group{}, fmt.Errorf("group %s is not listed", name)
}

// line finds one line of a group.
func (k *kafkaTest) line(g sources.Group, topic string, partition int32) sources.Lag {
	k.Helper()
	for _, l := range g.Lines {
		if l.Topic == topic && l.Number == partition {
			return l
		}
	}
	k.Fatalf("group %s has no line %s/%d: %+v", g.Name, topic, partition, g.Lines)
	return sources.Lag{}
}
