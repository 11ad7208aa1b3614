package kafka_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
	"github.com/unwedge/unwedge/sources/kafka"
)

func TestLettersExpireByTheRetentionOfTheirTopic(t *testing.T) {
	at := time.Now().Truncate(time.Millisecond)
	for name, c := range map[string]struct {
		config map[string]string
		want   time.Time
		is     string
	}{
		"an hour":     {map[string]string{"retention.ms": "3600000"}, at.Add(time.Hour), "not before"},
		"for ever":    {map[string]string{"retention.ms": "-1"}, time.Time{}, "never"},
		"by size":     {map[string]string{"retention.ms": "3600000", "retention.bytes": "1000000"}, time.Time{}, ""},
		"compacted":   {map[string]string{"cleanup.policy": "compact", "retention.ms": "3600000"}, time.Time{}, "never"},
		"by default":  {nil, at.Add(7 * 24 * time.Hour), "not before"},
		"beyond time": {map[string]string{"retention.ms": "9223372036854775807"}, time.Time{}, "never"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			topic := b.topic("orders.dlq", 1, c.config)
			b.must(b.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte("k"), Timestamp: at}).FirstErr())
			batch, err := b.source().DeadLetters(t.Context(), topic, nil, 10)
			if err != nil || len(batch.Letters) != 1 {
				t.Fatal(batch, err)
			}
			if l := batch.Letters[0]; !l.ExpiresAt.Equal(c.want) || l.ExpiryIs != c.is || !l.Timestamp.Equal(at) {
				t.Errorf("%v %q, want %v %q", l.ExpiresAt, l.ExpiryIs, c.want, c.is)
			}
		})
	}
}

// raw appends a batch with these bytes for records, as they are.
func (b *bench) raw(topic string, compression int16, records []byte) {
	b.Helper()
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: compression, LastOffsetDelta: 2, FirstTimestamp: 1, MaxTimestamp: 1,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 3, Records: records,
	}
	bytes := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(bytes[8:], uint32(len(bytes)-12))
	binary.BigEndian.PutUint32(bytes[17:], crc32.Checksum(bytes[21:], crc32.MakeTable(crc32.Castagnoli)))
	topics, err := b.admin.ListTopics(context.Background(), topic)
	b.must(err)
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 1000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = topic, topics[topic].ID
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = bytes
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := b.client.Broker(int(b.LeaderFor(topic, 0))).Request(context.Background(), req)
	b.must(err)
	if code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		b.Fatalf("code %d", code)
	}
}

func zipBomb(size int) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for range size >> 20 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	_ = w.Close()
	return out.Bytes()
}

// A batch that nobody can unpack is shown as one letter, and holds up nothing.
func TestABatchThatCannotBeReadIsALetterOfItsOwn(t *testing.T) {
	for name, records := range map[string][]byte{"garbage": []byte("this is no gzip"), "a bomb": zipBomb(100 << 20)} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			topic := b.topic("orders.dlq", 1, nil)
			b.fill(topic, 0, 2)
			b.raw(topic, 1, records)
			b.fill(topic, 0, 1)
			s := b.source()
			batch, err := s.DeadLetters(t.Context(), topic, nil, 10)
			if err != nil || len(batch.Letters) != 4 {
				t.Fatal(batch, err)
			}
			if l := batch.Letters[2]; l.Place.Offset != 2 || !l.NotTheOriginal || l.Reason.Message == "" || l.Body != nil {
				t.Errorf("%+v", l)
			}
			if l := batch.Letters[3]; l.Place.Offset != 5 || string(l.Body) != "0" {
				t.Errorf("%+v", l)
			}
			if again, err := s.DeadLetters(t.Context(), topic, batch.Next, 10); err != nil || len(again.Letters) != 0 {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
}

func TestLettersAreRecognised(t *testing.T) {
	b := start(t)
	b.topic("orders", 1, nil)
	topic, legacy := b.topic("orders.dlq", 1, nil), b.topic("legacy.dlq", 1, nil)
	header := func(name, value string) kgo.RecordHeader { return kgo.RecordHeader{Key: name, Value: []byte(value)} }
	b.must(b.client.ProduceSync(t.Context(),
		&kgo.Record{Topic: topic, Value: []byte("x")},
		&kgo.Record{Topic: legacy, Value: []byte("x"), Headers: []kgo.RecordHeader{header("src-topic", "orders"), header("err", "too late")}},
	).FirstErr())
	s := b.source(func(c *kafka.Config) {
		c.Mappings = []convention.Mapping{{Queue: "legacy.*", Origin: convention.OriginMapping{Queue: "header:src-topic"}, Reason: convention.ReasonMapping{Message: "header:err"}}}
	})
	for queue, reason := range map[string]string{topic: "", legacy: "too late"} {
		batch, err := s.DeadLetters(t.Context(), queue, nil, 10)
		if err != nil || len(batch.Letters) != 1 {
			t.Fatal(batch, err)
		}
		if l := batch.Letters[0]; l.Origin.Queue != "orders" || l.Reason.Message != reason || l.Convention == "" {
			t.Errorf("%s: %+v", queue, l)
		}
	}
}

func TestC82DeadLetterAndRetryTopicsAreFoundByDefault(t *testing.T) {
	b := start(t)
	want := map[string]sources.QueueKind{
		"orders.DLT": sources.DeadLetterQueue, "orders-dlt": sources.DeadLetterQueue, "orders.dlq": sources.DeadLetterQueue,
		"dead-letters": sources.DeadLetterQueue, "orders-retry-0": sources.RetryQueue, "orders.retry-5s": sources.RetryQueue,
		"orders_DLQ": sources.DeadLetterQueue, "orders-retry-dlt": sources.DeadLetterQueue, "dlq.share-group": sources.DeadLetterQueue,
		"dead-letter-topic-orders": sources.DeadLetterQueue, "error.orders.billing": sources.DeadLetterQueue, "rides__billing__dlq": sources.DeadLetterQueue,
	}
	for name := range want {
		b.topic(name, 1, nil)
	}
	for _, name := range []string{"orders", "middlequark", "adult", "__dlq"} {
		b.topic(name, 1, nil)
	}
	queues, err := b.source().Queues(t.Context())
	b.must(err)
	for _, q := range queues {
		if q.Kind != want[q.Name] {
			t.Errorf("%s is %q, want %q", q.Name, q.Kind, want[q.Name])
		}
		delete(want, q.Name)
	}
	if len(want) != 0 {
		t.Errorf("not found: %v", want)
	}
}

func TestC24CountsAreAtMost(t *testing.T) {
	b := start(t)
	topic := b.topic("orders.dlq", 1, nil)
	empty := b.topic("empty.dlq", 1, nil)
	b.fill(topic, 0, 3)
	queues, err := b.source().Queues(t.Context())
	b.must(err)
	for _, q := range queues {
		if q.Name == topic && (q.Count != 3 || q.CountIsExact) || q.Name == empty && (q.Count != 0 || !q.CountIsExact) {
			t.Errorf("%+v", q)
		}
	}
}

func TestAPartitionThatCannotBeReadIsNoted(t *testing.T) {
	b := start(t)
	topic := b.topic("orders.dlq", 2, nil)
	b.fill(topic, 0, 2)
	b.fill(topic, 1, 2)
	s := b.source(func(c *kafka.Config) { c.From = kafka.From{Age: time.Hour} })
	h := b.fail(kmsg.ListOffsets, topic, 1)
	batch, err := s.DeadLetters(t.Context(), topic, nil, 10)
	if err != nil || len(batch.Letters) != 2 || batch.Note == "" {
		t.Fatal(batch, err)
	}
	if changed, err := s.Changed(t.Context(), []string{topic}); err != nil || len(changed) != 1 {
		t.Errorf("%v, %v", changed, err)
	}
	h.Remove()
	batch, err = s.DeadLetters(t.Context(), topic, batch.Next, 10)
	if err != nil || len(batch.Letters) != 2 || batch.Letters[0].Place.Partition != 1 || batch.Note != "" {
		t.Errorf("%+v, %v", batch, err)
	}
}
