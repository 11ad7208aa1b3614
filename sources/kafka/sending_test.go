package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

func number(n int32) *int32 { return &n }

func TestAim(t *testing.T) {
	b := start(t)
	ten, four := b.topic("ten", 10, nil), b.topic("four", 4, nil)
	s := b.source(func(c *kafka.Config) { c.RedriveTo = sources.Patterns{Include: []string{"ten", "four", "none"}} })
	from := func(queue string, partition int32) sources.Origin {
		return sources.Origin{Queue: queue, Partition: &partition}
	}
	for name, c := range map[string]struct {
		queue string
		l     sources.DeadLetter
		want  *int32
		why   string
		err   error
	}{
		"C65 it came from a partition":            {ten, sources.DeadLetter{Key: []byte("354afe16-939a-4ea8-8e17-8bb0840b6886"), Origin: from(ten, 9)}, number(9), "partition 9, where it came from", nil},
		"C65 murmur2 of the first key":            {ten, sources.DeadLetter{Key: []byte("354afe16-939a-4ea8-8e17-8bb0840b6886")}, number(4), "partition 4, by its key (murmur2)", nil},
		"C65 murmur2 of the second key":           {ten, sources.DeadLetter{Key: []byte("f562ac3b-2224-4e25-a0ab-56094e10c239")}, number(5), "partition 5, by its key (murmur2)", nil},
		"it came from another topic":              {ten, sources.DeadLetter{Key: []byte("354afe16-939a-4ea8-8e17-8bb0840b6886"), Origin: from("other", 9)}, number(4), "partition 4, by its key (murmur2)", nil},
		"C67 the partition is not there":          {four, sources.DeadLetter{Key: []byte("k1"), Origin: from(four, 7)}, number(1), "partition 7 does not exist, used 1, by its key", nil},
		"C67 the partition is not there, no key":  {four, sources.DeadLetter{Origin: from(four, 7)}, nil, "partition 7 does not exist, any partition, because it has no key", nil},
		"no key":                                  {four, sources.DeadLetter{}, nil, "any partition, because it has no key", nil},
		"an empty key is a key":                   {four, sources.DeadLetter{Key: []byte{}}, number(1), "partition 1, by its key (murmur2)", nil},
		"the target is not there":                 {"none", sources.DeadLetter{}, nil, "", sources.ErrNoSuchQueue},
		"the target is not allowed":               {"other", sources.DeadLetter{}, nil, "", sources.ErrNotAuthorised},
		"the target is Kafka's own":               {"__consumer_offsets", sources.DeadLetter{}, nil, "", sources.ErrNotAuthorised},
		"the letter is larger than the topic's":   {four, sources.DeadLetter{Key: []byte{}, Body: make([]byte, 2<<20)}, number(1), "partition 1, by its key (murmur2)", sources.ErrTooLarge},
		"error headers do not count as its bytes": {four, sources.DeadLetter{Key: []byte{}, Headers: []sources.Header{{Name: "e", Value: make([]byte, 2<<20)}}, ErrorHeaders: []string{"e"}}, number(1), "partition 1, by its key (murmur2)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			target, why, err := s.Aim(t.Context(), c.queue, c.l)
			if !errors.Is(err, c.err) || why != c.why || (target.Partition == nil) != (c.want == nil) || c.want != nil && *target.Partition != *c.want {
				t.Errorf("%+v, %q, %v", target, why, err)
			}
			if err == nil && (target.TopicID == "" || target.Queue != c.queue) {
				t.Errorf("%+v", target)
			}
		})
	}
}

// pack makes one shipment of one letter.
func (b *bench) pack(s *kafka.Source, topic string) sources.Shipment {
	b.Helper()
	out, refused, err := s.Pack(context.Background(), []sources.Parcel{{Item: "i", Target: sources.Target{Queue: topic, Partition: number(0)}, Key: []byte("k"), Body: []byte("x")}})
	if err != nil || len(out) != 1 {
		b.Fatal(out, refused, err)
	}
	return out[0]
}

// wantOnce wants a shipment accepted at an offset, and on the topic once.
func (b *bench) wantOnce(s *kafka.Source, shipment sources.Shipment, offset int64) {
	b.Helper()
	receipts, err := s.Ship(context.Background(), shipment)
	if err != nil || len(receipts) != 1 || receipts[0].Err != nil || receipts[0].Offset != offset || receipts[0].Item != "i" {
		b.Fatal(receipts, err)
	}
	if end := b.PartitionInfo(shipment.Target.Queue, 0).HighWatermark; end != offset+1 {
		b.Errorf("the end is %d, want %d", end, offset+1)
	}
}

func TestALostAnswerIsAskedForAgain(t *testing.T) {
	for name, f := range map[string]kfake.Fault{
		"applied, but timed out":     {Err: kerr.RequestTimedOut, Count: 2},
		"appended, too few replicas": {Err: kerr.NotEnoughReplicasAfterAppend, Count: 1},
		"the leader moved":           {Err: kerr.NotLeaderForPartition, Count: 2},
		"too few replicas":           {Err: kerr.NotEnoughReplicas, Count: 1},
		"the topic is not known yet": {Err: kerr.UnknownTopicOrPartition, Count: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, kfake.NumBrokers(3))
			topic := b.topic("orders", 1, nil)
			b.fill(topic, 0, 4)
			s := b.source()
			shipment := b.pack(s, topic)
			f.Keys = []kmsg.Key{kmsg.Produce}
			b.Fault(f)
			b.wantOnce(s, shipment, 4)
		})
	}
}

func TestAMovedLeaderIsFound(t *testing.T) {
	b := start(t, kfake.NumBrokers(3))
	topic := b.topic("orders", 1, nil)
	s := b.source()
	shipment := b.pack(s, topic)
	b.must(b.MoveTopicPartition(topic, 0, (b.LeaderFor(topic, 0)+1)%3))
	b.wantOnce(s, shipment, 0)
}

// When the broker has forgotten the producer, the target tells.
func TestAnUnrecognisedBatchIsLookedForOnTheTarget(t *testing.T) {
	for _, answer := range []*kerr.Error{kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID} {
		b := start(t)
		topic := b.topic("orders", 1, nil)
		b.fill(topic, 0, 4)
		s := b.source()
		shipment := b.pack(s, topic)
		b.wantOnce(s, shipment, 4)
		b.fill(topic, 0, 3)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: answer, Count: 2})
		if r, err := s.Ship(t.Context(), shipment); err != nil || r[0].Err != nil || r[0].Offset != 4 {
			t.Errorf("there: %+v, %v", r, err)
		}
		if r, err := s.Ship(t.Context(), b.pack(s, topic)); err != nil || r[0].Err == nil || errors.Is(r[0].Err, sources.ErrAmbiguous) {
			t.Errorf("not there: %+v, %v", r, err)
		}
	}
}

func TestARefusalIsAnErrorOfTheItem(t *testing.T) {
	for _, c := range []struct {
		code *kerr.Error
		is   error
		says string
	}{
		{kerr.MessageTooLarge, sources.ErrTooLarge, "max.message.bytes"},
		{kerr.TopicAuthorizationFailed, sources.ErrNotAuthorised, "Write"},
		{kerr.InvalidRecord, kerr.InvalidRecord, "needs a key"},
		{kerr.InvalidTimestamp, kerr.InvalidTimestamp, "message.timestamp"},
	} {
		b := start(t)
		topic := b.topic("orders", 1, nil)
		s := b.source()
		shipment := b.pack(s, topic)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.code, Count: -1})
		r, err := s.Ship(t.Context(), shipment)
		if err != nil || len(r) != 1 || !errors.Is(r[0].Err, c.is) || errors.Is(r[0].Err, sources.ErrAmbiguous) || !containsText(r[0].Err, c.says) {
			t.Errorf("%v: %+v, %v", c.code, r, err)
		}
	}
}

// A refusal of a shipment that may have been sent before does not say that
// nothing arrived: the target does.
func TestARefusalAfterALostAnswerIsLookedInto(t *testing.T) {
	refuse := kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed, Count: -1}
	t.Run("it arrived", func(t *testing.T) {
		b := start(t)
		topic := b.topic("orders", 1, nil)
		s := b.source()
		shipment := b.pack(s, topic)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut}, refuse)
		b.wantOnce(s, shipment, 0)
	})
	t.Run("it did not", func(t *testing.T) {
		b := start(t)
		topic := b.topic("orders", 1, nil)
		s := b.source()
		shipment := b.pack(s, topic)
		shipment.Repeated = true
		b.Fault(refuse)
		if r, err := s.Ship(t.Context(), shipment); err != nil || !errors.Is(r[0].Err, sources.ErrNotAuthorised) || errors.Is(r[0].Err, sources.ErrAmbiguous) {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("nobody can tell", func(t *testing.T) {
		b := start(t)
		topic := b.topic("orders", 1, map[string]string{"cleanup.policy": "compact"})
		s := b.source()
		shipment := b.pack(s, topic)
		shipment.Repeated = true
		b.Fault(refuse)
		if r, err := s.Ship(t.Context(), shipment); err != nil || !errors.Is(r[0].Err, sources.ErrAmbiguous) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// The broker forgets a producer by the timestamps of its records: a shipment of
// old ones is looked for, and sent again only when it is not there and cannot
// land any more.
func TestAShipmentOfOldRecordsIsNeverAppendedTwice(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	s := b.source()
	old := func() sources.Shipment {
		out, _, err := s.Pack(t.Context(), []sources.Parcel{{
			Item: "i", Target: sources.Target{Queue: topic, Partition: number(0)}, Key: []byte("k"), Body: []byte("x"), Timestamp: time.Now().AddDate(0, 0, -2),
		}})
		b.must(err)
		return out[0]
	}
	shipment := old()
	b.wantOnce(s, shipment, 0)
	shipment.Repeated = true
	b.wantOnce(s, shipment, 0)

	unsent := old()
	unsent.Repeated = true
	if r, err := s.Ship(t.Context(), unsent); r != nil || !errors.Is(err, sources.ErrAmbiguous) {
		t.Errorf("it may still land: %+v, %v", r, err)
	}
	b.wantOnce(s, shipment, 0)
	s.SetQuiet(0)
	b.wantOnce(s, unsent, 1)

	lost := old()
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut})
	if r, err := s.Ship(t.Context(), lost); r != nil || !errors.Is(err, sources.ErrAmbiguous) {
		t.Errorf("its answer was lost: %+v, %v", r, err)
	}
	lost.Repeated = true
	b.wantOnce(s, lost, 2)
}

// Of a batch that the broker refuses without saying which record it means, all
// but that one arrive.
func TestC74OneThatIsRefusedInABatchFailsAlone(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	s := b.source()
	var left []sources.Parcel
	for i := range 20 {
		left = append(left, sources.Parcel{Item: fmt.Sprint(i), Target: sources.Target{Queue: topic, Partition: number(0)}, Key: []byte("k"), Body: fmt.Appendf(nil, "body-%d", i)})
	}
	b.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		if !bytes.Contains(r.Topics[0].Partitions[0].Records, []byte("body-13")) {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		resp.Topics = []kmsg.ProduceResponseTopic{{Topic: r.Topics[0].Topic, TopicID: r.Topics[0].TopicID, Partitions: []kmsg.ProduceResponseTopicPartition{{ErrorCode: kerr.MessageTooLarge.Code}}}}
		return resp, nil, true
	})
	failed := map[string]error{}
	rounds := 0
	for ; len(left) > 0; rounds++ {
		out, refused, err := s.Pack(t.Context(), left)
		if b.must(err); len(refused) > 0 {
			t.Fatal(refused)
		}
		again := map[string]bool{}
		for _, shipment := range out {
			receipts, err := s.Ship(t.Context(), shipment)
			b.must(err)
			for _, r := range receipts {
				switch {
				case errors.Is(r.Err, sources.ErrNotSent):
					again[r.Item] = true
				case r.Err != nil:
					failed[r.Item] = r.Err
				}
			}
		}
		left = slices.DeleteFunc(left, func(p sources.Parcel) bool { return !again[p.Item] })
	}
	if len(failed) != 1 || !errors.Is(failed["13"], sources.ErrTooLarge) || rounds > 6 {
		t.Errorf("after %d rounds failed: %v", rounds, failed)
	}
	if end := b.PartitionInfo(topic, 0).HighWatermark; end != 19 {
		t.Errorf("%d arrived, want 19", end)
	}
}

// Given up on, a shipment says whether it may be there, and may be shipped
// again.
func TestAShipmentThatIsGivenUpOnMayBeShippedAgain(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 1, nil)
	s := b.source()
	shipment := b.pack(s, topic)
	for _, c := range []struct {
		code *kerr.Error
		open bool
	}{{kerr.NotLeaderForPartition, false}, {kerr.RequestTimedOut, true}} {
		h := b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.code, Count: -1})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		r, err := s.Ship(ctx, shipment)
		cancel()
		if r != nil || err == nil || errors.Is(err, sources.ErrAmbiguous) != c.open {
			t.Errorf("%v: %+v, %v", c.code, r, err)
		}
		h.Remove()
	}
	b.wantOnce(s, shipment, 0)
}

func TestLettersWithoutAPartitionAreSpreadAndStayInOrder(t *testing.T) {
	b := start(t)
	topic := b.topic("orders", 4, nil)
	s := b.source()
	parts := map[int32]int{}
	for range 8 {
		var parcels []sources.Parcel
		for _, item := range []string{"1", "2", "3"} {
			parcels = append(parcels, sources.Parcel{Item: item, Target: sources.Target{Queue: topic}, Body: []byte(item)})
		}
		out, _, err := s.Pack(t.Context(), parcels)
		b.must(err)
		if len(out) != 1 || len(out[0].Items) != 3 || out[0].Items[2] != "3" {
			t.Fatalf("%+v", out)
		}
		parts[*out[0].Target.Partition]++
	}
	if len(parts) != 4 {
		t.Errorf("partitions used: %v", parts)
	}
}
