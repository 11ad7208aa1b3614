package kafka_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

var plenty = sources.Bounds{Records: 1 << 20, Bytes: 1 << 30, Time: time.Minute}

// history is a topic with 20 records in each of three partitions, one a minute.
func (b *bench) history(topic string) (name string, first time.Time) {
	b.Helper()
	name = b.topic(topic, 3, nil)
	first = time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	var all []*kgo.Record
	for i := range 60 {
		all = append(all, &kgo.Record{Topic: name, Partition: int32(i % 3), Value: fmt.Append(nil, i), Timestamp: first.Add(time.Duration(i/3) * time.Minute)})
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(512))
	b.must(err)
	defer client.Close()
	b.must(client.ProduceSync(b.Context(), all...).FirstErr())
	return name, first
}

func TestALookThroughATopic(t *testing.T) {
	b := start(t)
	topic, first := b.history("settled")
	s := b.source()
	for name, c := range map[string]struct {
		what sources.Stretch
		most sources.Bounds
		want int // records
		left bool
	}{
		"from a time on":                     {sources.Stretch{Since: first.Add(10 * time.Minute)}, plenty, 30, false},
		"from before all":                    {sources.Stretch{Since: first.Add(-time.Hour)}, plenty, 60, false},
		"from after all":                     {sources.Stretch{Since: first.Add(time.Hour * 2)}, plenty, 0, false},
		"one partition from an offset on":    {sources.Stretch{From: map[int32]int64{1: 15}}, plenty, 5, false},
		"a partition from the earlier place": {sources.Stretch{Since: first.Add(15 * time.Minute), From: map[int32]int64{1: 2}}, plenty, 5 + 18 + 5, false},
		"until it has read enough":           {sources.Stretch{Since: first}, sources.Bounds{Records: 5, Bytes: 1 << 30, Time: time.Minute}, -1, true},
		"until it weighs enough":             {sources.Stretch{Since: first}, sources.Bounds{Records: 1 << 20, Bytes: 3, Time: time.Minute}, -1, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.what.Queue = topic
			last, seen := map[int32]int64{}, 0
			got := s.LookThrough(t.Context(), c.what, c.most, func(r sources.Record) {
				if before, known := last[r.Partition]; known && r.Offset <= before {
					t.Errorf("offset %d of partition %d after %d", r.Offset, r.Partition, before)
				}
				last[r.Partition] = r.Offset
				seen++
			})
			if got.Err != nil || int(got.Records) != seen || c.want >= 0 && seen != c.want || got.Left > 0 != c.left || got.Until.IsZero() {
				t.Errorf("%d records seen, %+v", seen, got)
			}
			if c.left && int(got.Left)+seen != 60 {
				t.Errorf("%d were seen and %d left of 60", seen, got.Left)
			}
		})
	}
}

func TestALookThroughATopicSeesWhatIsCommittedOnly(t *testing.T) {
	b := start(t)
	topic := b.topic("settled", 1, nil)
	for i, commit := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
		client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.TransactionalID(fmt.Sprint("tx", i)), kgo.DefaultProduceTopic(topic))
		b.must(err)
		b.must(client.BeginTransaction())
		b.must(client.ProduceSync(t.Context(), &kgo.Record{Value: fmt.Append(nil, i)}).FirstErr())
		b.must(client.EndTransaction(t.Context(), commit))
		client.Close()
	}
	var seen []string
	got := b.source().LookThrough(t.Context(), sources.Stretch{Queue: topic, Since: time.Now().Add(-time.Hour)}, plenty, func(r sources.Record) { seen = append(seen, string(r.Body)) })
	if !slices.Equal(seen, []string{"0", "2"}) || got.Err != nil || got.Left != 0 {
		t.Errorf("%v, %+v", seen, got)
	}
}

func TestALookThroughATopicThatIsNotThereSaysSo(t *testing.T) {
	b := start(t)
	if got := b.source().LookThrough(t.Context(), sources.Stretch{Queue: "none", Since: time.Now()}, plenty, nil); !errors.Is(got.Err, sources.ErrNoSuchQueue) {
		t.Errorf("%+v", got)
	}
}

// TestALookThroughATopicTakesNothing: it asks for records and offsets, and for
// nothing else.
func TestALookThroughATopicTakesNothing(t *testing.T) {
	b := start(t)
	topic, first := b.history("settled")
	asked := map[string]bool{}
	b.watch(func(r kmsg.Request) { asked[kmsg.NameForKey(r.Key())] = true })
	b.source().LookThrough(t.Context(), sources.Stretch{Queue: topic, Since: first}, plenty, func(sources.Record) {})
	for _, allowed := range []string{"ApiVersions", "Metadata", "ListOffsets", "Fetch"} {
		delete(asked, allowed)
	}
	if len(asked) > 0 {
		t.Errorf("it also asked for %v", asked)
	}
}

func TestWhatATopicTakes(t *testing.T) {
	for name, c := range map[string]struct {
		config map[string]string
		want   sources.Destination
	}{
		"an hour":      {map[string]string{"retention.ms": "3600000", "retention.bytes": "1000"}, sources.Destination{Retention: time.Hour}},
		"for ever":     {map[string]string{"retention.ms": "-1"}, sources.Destination{Retention: -1}},
		"compacted":    {map[string]string{"cleanup.policy": "compact", "retention.ms": "3600000"}, sources.Destination{Retention: -1, Compacted: true}},
		"both":         {map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "3600000"}, sources.Destination{Retention: time.Hour, Compacted: true}},
		"C73: not old": {map[string]string{"retention.ms": "-1", "message.timestamp.before.max.ms": "60000"}, sources.Destination{Retention: -1, OldestTaken: time.Minute}},
		"its own time": {map[string]string{"retention.ms": "-1", "message.timestamp.type": "LogAppendTime"}, sources.Destination{Retention: -1, StampsItself: true}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			topic := b.topic("orders", 3, c.config)
			got, err := b.source().About(t.Context(), topic)
			if err != nil || got.Partitions != 3 || got.TopicID == "" {
				t.Fatalf("%+v, %v", got, err)
			}
			got.TopicID, got.Partitions, got.MaxBytes = "", 0, 0
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestWhoElseReadsADeadLetterTopic names the groups with their state and lag.
func TestWhoElseReadsADeadLetterTopic(t *testing.T) {
	b := start(t)
	topic := b.topic("orders.dlq", 1, nil)
	b.fill(topic, 0, 5)
	s := b.source()
	if others, err := s.OtherReaders(t.Context(), topic); err != nil || len(others) > 0 {
		t.Errorf("nobody: %v, %v", others, err)
	}
	b.commit("resend", topic, 0, 2)
	_, err := s.Lag(t.Context())
	b.must(err)
	others, err := s.OtherReaders(t.Context(), topic)
	if want := []string{"group resend reads " + topic + ": Empty, lag 3"}; err != nil || !slices.Equal(others, want) {
		t.Errorf("%v, %v", others, err)
	}
}

func TestCheckNamesTopicsOfFinishedWorkThatAreMissing(t *testing.T) {
	b := start(t)
	there := b.topic("settled", 1, nil)
	s := b.source(func(c *kafka.Config) {
		c.Done = []sources.Finished{{For: "*", Topic: there, By: sources.Field{In: sources.InKey}}, {For: "*", Topic: "nowhere", By: sources.Field{In: sources.InKey}}}
	})
	outcome := map[string]sources.Outcome{}
	for _, c := range s.Check(t.Context()) {
		outcome[c.What] = c.Outcome
	}
	if outcome["read the finished work of nowhere"] != sources.Denied || outcome["read the finished work of "+there] == sources.Denied {
		t.Errorf("%v", outcome)
	}
}
