package sourcetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// everyKind is a record of every kind of bytes that Kafka takes.
func everyKind(topic string) []*kgo.Record {
	return []*kgo.Record{
		{Topic: topic, Key: []byte("k"), Value: []byte("{ \"n\" : 9007199254740993 }\n")},
		{Topic: topic},
		{Topic: topic, Key: []byte{}, Value: []byte{}},
		{Topic: topic, Key: []byte{0xff, 0}, Value: []byte{0, 1, 0xfe, 0xff}},
		{Topic: topic, Value: []byte("x"), Headers: []kgo.RecordHeader{
			{Key: "h", Value: []byte("2")}, {Key: "h"}, {Key: "h", Value: []byte("1")}, {Key: "", Value: []byte{}},
		}},
	}
}

// all reads a queue to its end, in batches.
func (k *kafkaTest) all(s *kafka.Source, queue string, cursor []byte, most int) ([]sources.DeadLetter, sources.Batch) {
	k.Helper()
	var out []sources.DeadLetter
	for {
		b, err := s.DeadLetters(k.Context(), queue, cursor, most)
		k.must(err)
		if len(b.Letters) > most {
			k.Errorf("%d letters where %d were asked for", len(b.Letters), most)
		}
		out, cursor = append(out, b.Letters...), b.Next
		if !b.More {
			return out, b
		}
	}
}

func testLettersAreExact(k *kafkaTest) {
	topic := k.topic("orders.dlq", 1, nil)
	want := everyKind(topic)
	k.produce(want...)
	got, b := k.all(k.source(), topic, nil, 100)
	if len(got) != len(want) || b.Older != 0 || b.Start[0] != 0 || b.Note != "" {
		k.Fatalf("%d letters, %+v", len(got), b)
	}
	for i, r := range want {
		d := got[i]
		if !sameBytes(d.Key, r.Key) || !sameBytes(d.Body, r.Value) || len(d.Headers) != len(r.Headers) {
			k.Errorf("letter %d: %+v, want %+v", i, d, r)
		}
		for j, h := range r.Headers {
			if d.Headers[j].Name != h.Key || !sameBytes(d.Headers[j].Value, h.Value) {
				k.Errorf("letter %d, header %d: %+v, want %+v", i, j, d.Headers[j], h)
			}
		}
		if d.Place.Offset != int64(i) || d.Place.TopicID == "" || d.Source != "k" || d.Queue != topic || d.ExpiryIs != "never" || d.DeadAt.IsZero() {
			k.Errorf("letter %d: %+v", i, d)
		}
	}
}

// testLettersOfTransactions lists what is committed only.
func testLettersOfTransactions(k *kafkaTest) {
	topic := k.topic("orders.dlq", 1, nil)
	k.transaction(topic, 3, &tryAbort)
	k.transaction(topic, 2, &tryCommit)
	k.fill(topic, 0, 1)
	k.transaction(topic, 2, nil)
	s := k.source()
	k.until("the markers are written", func() error {
		got, b := k.all(s, topic, nil, 100)
		if len(got) != 3 || got[0].Place.Offset != 4 || got[2].Place.Offset != 7 {
			return fmt.Errorf("%+v", got)
		}
		if more, _ := k.all(s, topic, b.Next, 100); len(more) != 0 {
			return fmt.Errorf("letters of an open transaction: %+v", more)
		}
		return nil
	})
}

func testLettersInBatches(k *kafkaTest) {
	topic := k.topic("orders.dlq", 3, nil)
	for p := range int32(3) {
		k.fill(topic, p, 50)
	}
	got, b := k.all(k.source(), topic, nil, 7)
	next := map[int32]int64{}
	for _, d := range got {
		if d.Place.Offset != next[d.Place.Partition] {
			k.Errorf("partition %d: offset %d where %d should come", d.Place.Partition, d.Place.Offset, next[d.Place.Partition])
		}
		next[d.Place.Partition]++
	}
	if len(got) != 150 {
		k.Errorf("%d letters", len(got))
	}
	again, same := k.all(k.source(), topic, b.Next, 7)
	if len(again) != 0 || !bytes.Equal(same.Next, b.Next) {
		k.Errorf("after the end: %d letters, cursor %s, then %s", len(again), b.Next, same.Next)
	}
}

func testLettersFromAnAge(k *kafkaTest) {
	topic := k.topic("orders.dlq", 2, nil)
	old, young := time.Now().Add(-48*time.Hour), time.Now().Add(-time.Minute)
	for i := range 10 {
		at := old
		if i >= 6 {
			at = young
		}
		k.produce(&kgo.Record{Topic: topic, Timestamp: at, Value: []byte("p0")})
	}
	k.produce(&kgo.Record{Topic: topic, Partition: 1, Timestamp: old, Value: []byte("p1")})
	s := k.source(func(c *kafka.Config) { c.From = kafka.From{Age: time.Hour} })
	got, b := k.all(s, topic, nil, 100)
	if len(got) != 4 || got[0].Place.Offset != 6 || b.Older != 7 {
		k.Errorf("%d letters, %d older", len(got), b.Older)
	}
	k.produce(&kgo.Record{Topic: topic, Partition: 1, Timestamp: old, Value: []byte("old, but it comes now")})
	got, b = k.all(s, topic, b.Next, 100)
	if len(got) != 1 || b.Older != 7 {
		k.Errorf("later: %d letters, %d older", len(got), b.Older)
	}
	k.cut(topic, 0, 5)
	if _, b = k.all(s, topic, b.Next, 100); b.Older != 2 || b.Start[0] != 5 {
		k.Errorf("after retention: %d older, start %d", b.Older, b.Start[0])
	}
}

func testLettersFromNow(k *kafkaTest) {
	topic := k.topic("orders.dlq", 1, nil)
	k.fill(topic, 0, 5)
	s := k.source(func(c *kafka.Config) { c.From = kafka.From{Latest: true} })
	got, b := k.all(s, topic, nil, 100)
	if len(got) != 0 || b.Older != 5 {
		k.Errorf("%d letters, %d older", len(got), b.Older)
	}
	k.fill(topic, 0, 1)
	if got, _ = k.all(s, topic, b.Next, 100); len(got) != 1 || got[0].Place.Offset != 5 {
		k.Errorf("%+v", got)
	}
	fresh := k.topic("new.dlq", 1, nil) // made after we first looked: nothing of it is old
	k.fill(fresh, 0, 2)
	if got, _ = k.all(s, fresh, nil, 100); len(got) != 2 {
		k.Errorf("%d letters of a new topic", len(got))
	}
}

func testLettersPastRetention(k *kafkaTest) {
	topic := k.topic("orders.dlq", 2, nil)
	k.fill(topic, 0, 10)
	k.fill(topic, 1, 10)
	s := k.source()
	first, err := s.DeadLetters(k.Context(), topic, nil, 3)
	k.must(err)
	k.cut(topic, 0, 8)
	k.cut(topic, 1, 10)
	got, b := k.all(s, topic, first.Next, 100)
	if len(got) != 2 || got[0].Place.Offset != 8 || b.Start[0] != 8 || b.Start[1] != 10 || b.Note != "" {
		k.Errorf("%+v", b)
	}
	if got, b = k.all(s, topic, nil, 100); len(got) != 2 || b.Start[1] != 10 {
		k.Errorf("from the beginning: %d letters, %+v", len(got), b.Start)
	}
}

func testLettersOfARecreatedTopic(k *kafkaTest) {
	topic := k.topic("orders.dlq", 1, nil)
	k.fill(topic, 0, 5)
	s := k.source(func(c *kafka.Config) { c.From = kafka.From{Latest: true} })
	_, b := k.all(s, topic, nil, 100)
	k.deleteTopic(topic)
	k.topic("orders.dlq", 1, nil)
	k.fill(topic, 0, 3)
	k.until("the new topic is read from its start", func() error {
		got, again := k.all(s, topic, b.Next, 100)
		if len(got) != 3 || got[0].Place.Offset != 0 || again.Older != 0 || string(again.Next) == string(b.Next) {
			return fmt.Errorf("%d letters, %+v", len(got), again)
		}
		return nil
	})
}

func testLettersOfAnAddedPartition(k *kafkaTest) {
	topic := k.topic("orders.dlq", 1, nil)
	k.fill(topic, 0, 2)
	s := k.source(func(c *kafka.Config) { c.From = kafka.From{Latest: true} })
	_, b := k.all(s, topic, nil, 100)
	_, err := k.admin.UpdatePartitions(k.Context(), 2, topic)
	k.must(err)
	k.until("the partition takes records", func() error {
		k.client.ForceMetadataRefresh()
		return k.client.ProduceSync(k.Context(), &kgo.Record{Topic: topic, Partition: 1, Value: []byte("x")}).FirstErr()
	})
	k.until("the letter in the new partition is read", func() error {
		if got, _ := k.all(s, topic, b.Next, 100); len(got) != 1 {
			return fmt.Errorf("%d letters", len(got))
		}
		return nil
	})
}

func testLargeLetter(k *kafkaTest) {
	topic := k.topic("orders.dlq", 2, map[string]string{"max.message.bytes": "16777216"})
	value := bytes.Repeat([]byte("0123456789abcdef"), 12<<16) // 12 MiB
	for p := range int32(2) {
		k.produce(&kgo.Record{Topic: topic, Partition: p, Value: []byte("small")}, &kgo.Record{Topic: topic, Partition: p, Value: value},
			&kgo.Record{Topic: topic, Partition: p, Value: []byte("small")})
	}
	got, _ := k.all(k.source(), topic, nil, 100)
	large := 0
	for _, d := range got {
		if bytes.Equal(d.Body, value) {
			large++
		}
	}
	if len(got) != 6 || large != 2 {
		k.Errorf("%d letters, %d of them large", len(got), large)
	}
}

func testChanged(k *kafkaTest) {
	one, two := k.topic("one.dlq", 2, nil), k.topic("two.dlq", 1, nil)
	k.fill(one, 0, 2)
	s, queues := k.source(), []string{one, two}
	changed := func(want ...string) {
		k.Helper()
		got, err := s.Changed(k.Context(), queues)
		k.must(err)
		if slices.Sort(got); !slices.Equal(got, want) {
			k.Errorf("changed: %v, want %v", got, want)
		}
	}
	changed(one, two) // never read
	_, first := k.all(s, one, nil, 100)
	_, second := k.all(s, two, nil, 100)
	k.all(s, one, first.Next, 100)
	k.all(s, two, second.Next, 100)
	changed()
	k.fill(one, 1, 1)
	changed(one)
	k.all(s, one, first.Next, 100)
	changed(one) // what that look brought may not have been stored
	_, first = k.all(s, one, first.Next, 100)
	k.all(s, one, first.Next, 100)
	changed()
}

func testQueues(k *kafkaTest) {
	work := k.topic("orders", 1, nil)
	retry := k.topic("orders-retry-5s", 1, nil)
	dead := k.topic("orders.dlq", 2, map[string]string{"retention.ms": "86400000"})
	compacted := k.topic("jobs-dlt", 1, map[string]string{"cleanup.policy": "compact"})
	k.fill(dead, 1, 3)
	k.commit(k.prefix+"g", work, 0, 0)
	s := k.source(func(c *kafka.Config) { c.Routes = []sources.Route{{From: "*.dlq", To: retry}} })
	queues, err := s.Queues(k.Context())
	k.must(err)
	got := map[string]sources.Queue{}
	for _, q := range queues {
		got[q.Name] = q
	}
	if q := got[work]; q.Kind != sources.WorkQueue || q.Err != nil {
		k.Errorf("%+v", q)
	}
	if q := got[retry]; q.Kind != sources.RetryQueue || !slices.Equal(q.FeedsFrom, []string{work}) {
		k.Errorf("%+v", q)
	}
	q := got[dead]
	if q.Kind != sources.DeadLetterQueue || q.Count != 3 || q.CountIsExact || q.Partitions != 2 || q.Retention != 24*time.Hour ||
		!slices.Equal(q.FeedsFrom, []string{work, retry}) || q.RedriveTo != retry || q.ID == "" {
		k.Errorf("%+v", q)
	}
	if q := got[compacted]; q.Kind != sources.DeadLetterQueue || q.Retention >= 0 {
		k.Errorf("%+v", q)
	}
	findings, err := s.Findings(k.Context())
	k.must(err)
	for kind, queue := range map[string]string{"compacted_dead_letter_topic": compacted, "dead_letter_topic_forgets": dead} {
		if !slices.ContainsFunc(findings, func(f sources.Finding) bool { return f.Kind == kind && f.Queue == queue && f.Source == "k" }) {
			k.Errorf("no finding %s for %s: %+v", kind, queue, findings)
		}
	}
}

func testReceivers(k *kafkaTest) {
	topic, other := k.topic("orders", 1, nil), k.topic("other", 1, nil)
	k.fill(topic, 0, 5)
	k.commit(k.prefix+"empty", topic, 0, 2)
	k.commit(k.prefix+"moved-on", topic, 0, 1)
	k.consume(k.prefix+"moved-on", other)
	s := k.source()
	k.until("the member is seen", func() error {
		if g := k.group(s, k.prefix+"moved-on"); g.State != "Stable" || len(g.Lines) != 2 {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	got, err := s.Receivers(k.Context(), topic)
	want := sources.Receiver{Queue: topic, Group: k.prefix + "empty", State: "Empty", Lag: 3}
	if err != nil || len(got) != 1 || got[0] != want {
		k.Errorf("%+v, %v", got, errors.Join(err))
	}
}
