package sourcetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// parcel is a letter for the first partition of a topic.
func parcel(item, topic, body string) sources.Parcel {
	var partition int32
	return sources.Parcel{Item: item, Target: sources.Target{Queue: topic, Partition: &partition}, Key: []byte("k"), Body: []byte(body)}
}

func (k *kafkaTest) pack(s *kafka.Source, parcels ...sources.Parcel) []sources.Shipment {
	k.Helper()
	shipments, refused, err := s.Pack(k.Context(), parcels)
	k.must(err)
	if len(refused) != 0 {
		k.Fatalf("refused: %v", refused)
	}
	return shipments
}

// ship sends one shipment and wants every item accepted, the first at an offset.
func (k *kafkaTest) ship(s *kafka.Source, shipment sources.Shipment, first int64) {
	k.Helper()
	receipts, err := s.Ship(k.Context(), shipment)
	k.must(err)
	if len(receipts) != len(shipment.Items) {
		k.Fatalf("%d receipts for %d items", len(receipts), len(shipment.Items))
	}
	for i, r := range receipts {
		if r.Err != nil || r.Item != shipment.Items[i] || r.Offset != first+int64(i) {
			k.Errorf("receipt %d: %+v, want offset %d", i, r, first+int64(i))
		}
	}
	settled, err := s.Settle(k.Context(), shipment, receipts)
	if err != nil || len(settled) != len(receipts) {
		k.Errorf("settle: %+v, %v", settled, err)
	}
}

func (k *kafkaTest) wantRecords(s *kafka.Source, topic string, bodies ...string) {
	k.Helper()
	got, err := s.Records(k.Context(), topic, 0, 0, 1<<40, 1000)
	k.must(err)
	var have []string
	for _, r := range got {
		have = append(have, string(r.Body))
	}
	if strings.Join(have, ",") != strings.Join(bodies, ",") {
		k.Errorf("on the topic: %q, want %q", have, bodies)
	}
}

func testSentBytes(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	s := k.source()
	var parcels []sources.Parcel
	want := everyKind(topic)
	for i, r := range want {
		p := sources.Parcel{Item: fmt.Sprint(i), Target: sources.Target{Queue: topic}, Key: r.Key, Body: r.Value}
		for _, h := range r.Headers {
			p.Headers = append(p.Headers, sources.Header{Name: h.Key, Value: h.Value})
		}
		parcels = append(parcels, p)
	}
	shipments := k.pack(s, parcels...)
	if len(shipments) != 1 || shipments[0].Target.Partition == nil || shipments[0].RepeatUntil.IsZero() {
		k.Fatalf("%+v", shipments)
	}
	k.ship(s, shipments[0], 0)
	got, _ := k.all(s, topic, nil, 100)
	if len(got) != len(want) {
		k.Fatalf("%d records", len(got))
	}
	for i, r := range want {
		same := sameBytes(got[i].Key, r.Key) && sameBytes(got[i].Body, r.Value) && len(got[i].Headers) == len(r.Headers)
		for j := 0; same && j < len(r.Headers); j++ {
			same = got[i].Headers[j].Name == r.Headers[j].Key && sameBytes(got[i].Headers[j].Value, r.Headers[j].Value)
		}
		if !same {
			k.Errorf("record %d: %+v, want %+v", i, got[i], r)
		}
	}
}

func testSentTwice(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	s := k.source()
	first := k.pack(s, parcel("1", topic, "a"), parcel("2", topic, "b"))[0]
	k.ship(s, first, 0)
	k.ship(s, first, 0)
	k.ship(k.source(), first, 0) // after a restart of ours
	for i := range 8 {           // more batches than a broker remembers of one producer
		k.ship(s, k.pack(s, parcel("x", topic, fmt.Sprint(i)))[0], int64(2+i))
	}
	k.ship(s, first, 0)
	k.wantRecords(s, topic, "a", "b", "0", "1", "2", "3", "4", "5", "6", "7")
}

// testUnsentShipment: a shipment that is packed and never sent, or sent late,
// is no gap for others.
func testUnsentShipment(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	s := k.source()
	k.ship(s, k.pack(s, parcel("0", topic, "0"))[0], 0)
	_ = k.pack(s, parcel("1", topic, "never sent"))
	late := k.pack(s, parcel("2", topic, "late"))[0]
	k.ship(s, k.pack(s, parcel("3", topic, "3"))[0], 1)
	k.ship(s, late, 2)
	k.ship(s, late, 2)
	k.wantRecords(s, topic, "0", "3", "late")
}

// testForgottenBatch: a batch that may have been sent, and that the broker may
// not recognise any more, is looked for on the target.
func testForgottenBatch(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	s := k.source()
	k.fill(topic, 0, 3)
	first := k.pack(s, parcel("a", topic, "a"), parcel("b", topic, "b"))[0]
	k.ship(s, first, 3)
	k.fill(topic, 0, 20)
	first.RepeatUntil = first.RepeatUntil.AddDate(-1, 0, 0)
	first.Repeated = true
	k.ship(s, first, 3)
	never := k.pack(s, parcel("c", topic, "c"))[0]
	never.RepeatUntil, never.Repeated = first.RepeatUntil, true
	receipts, err := s.Ship(k.Context(), never)
	if !errors.Is(err, sources.ErrAmbiguous) || receipts != nil || !strings.Contains(err.Error(), "may still land") {
		k.Errorf("one that is not there, and may be under way: %+v, %v", receipts, err)
	}
	k.cut(topic, 0, 20)
	receipts, err = s.Ship(k.Context(), first)
	if err != nil || len(receipts) != 2 || !errors.Is(receipts[0].Err, sources.ErrAmbiguous) {
		k.Errorf("one whose place retention has passed: %+v, %v", receipts, err)
	}
}

// testKeptTimestamps: records keep the times that they had, and C73: those that
// the target refuses for their time fail with what to do, and hold up no others.
func testKeptTimestamps(k *kafkaTest) {
	day := time.Now().Add(-48 * time.Hour).Truncate(time.Millisecond)
	at := func(item, topic string, when time.Time) sources.Parcel {
		p := parcel(item, topic, item)
		p.Timestamp = when
		return p
	}
	s := k.source()
	topic := k.topic("orders", 1, nil)
	shipment := k.pack(s, at("late", topic, day.Add(time.Hour)), at("early", topic, day), parcel("now", topic, "now"))[0]
	k.ship(s, shipment, 0)
	got, err := s.Records(k.Context(), topic, 0, 0, 9, 9)
	if k.must(err); len(got) != 3 || !got[0].Timestamp.Equal(day.Add(time.Hour)) || !got[1].Timestamp.Equal(day) || time.Since(got[2].Timestamp) > time.Hour {
		k.Errorf("%+v", got)
	}
	old := k.pack(s, at("old", topic, day))[0]
	if time.Until(old.RepeatUntil) > 0 {
		k.Errorf("the broker remembers a batch of two days ago until %s", old.RepeatUntil)
	}
	if !k.Real {
		return // kfake takes every time
	}
	strict := k.topic("strict", 1, map[string]string{"message.timestamp.before.max.ms": "3600000"})
	three := []sources.Parcel{parcel("a", strict, "a"), at("old", strict, day), parcel("b", strict, "b")}
	receipts, err := s.Ship(k.Context(), k.pack(s, three...)[0])
	if k.must(err); len(receipts) != 3 || !errors.Is(receipts[0].Err, sources.ErrNotSent) || !errors.Is(receipts[2].Err, sources.ErrNotSent) {
		k.Fatalf("%+v", receipts)
	}
	if err := receipts[1].Err; errors.Is(err, sources.ErrNotSent) || !strings.Contains(err.Error(), "send with current time") {
		k.Errorf("the old one: %v", err)
	}
	k.ship(s, k.pack(s, three[0], three[2])[0], 0)
	k.wantRecords(s, strict, "a", "b")
}

func testCompactedTarget(k *kafkaTest) {
	topic := k.topic("orders", 1, map[string]string{"cleanup.policy": "compact"})
	s := k.source()
	null := parcel("null", topic, "x")
	null.Key = nil
	shipments, refused, err := s.Pack(k.Context(), []sources.Parcel{parcel("a", topic, "a"), null, parcel("b", topic, "b")})
	k.must(err)
	if len(shipments) != 1 || len(shipments[0].Items) != 2 || refused["null"] == nil || !strings.Contains(refused["null"].Error(), "a key is needed") {
		k.Fatalf("%+v, %v", shipments, refused)
	}
	k.ship(s, shipments[0], 0)
	if d, err := s.About(k.Context(), topic); err != nil || !d.Compacted || d.Partitions != 1 || d.MaxBytes <= 0 {
		k.Errorf("%+v, %v", d, err)
	}
}

func testTooLarge(k *kafkaTest) {
	topic := k.topic("orders", 1, map[string]string{"max.message.bytes": "2000"})
	s := k.source()
	large := parcel("large", topic, strings.Repeat("x", 3000))
	var parcels []sources.Parcel
	for i := range 10 {
		parcels = append(parcels, parcel(fmt.Sprint(i), topic, strings.Repeat("y", 500)))
	}
	shipments, refused, err := s.Pack(k.Context(), append(parcels, large))
	k.must(err)
	if !errors.Is(refused["large"], sources.ErrTooLarge) || len(refused) != 1 {
		k.Errorf("refused: %v", refused)
	}
	next := int64(0)
	for _, shipment := range shipments {
		k.ship(s, shipment, next)
		next += int64(len(shipment.Items))
	}
	if next != 10 || len(shipments) < 3 {
		k.Errorf("%d letters in %d shipments", next, len(shipments))
	}
	if _, _, err := s.Aim(k.Context(), topic, sources.DeadLetter{Body: large.Body}); !errors.Is(err, sources.ErrTooLarge) {
		k.Errorf("aim: %v", err)
	}
}

func testTargetMadeAgain(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	s := k.source()
	target, _, err := s.Aim(k.Context(), topic, sources.DeadLetter{Key: []byte("k")})
	k.must(err)
	shipment := k.pack(s, parcel("a", topic, "a"))[0]
	k.deleteTopic(topic)
	k.topic("orders", 1, nil)
	k.until("the shipment is refused", func() error {
		receipts, err := s.Ship(k.Context(), shipment)
		if err != nil {
			return err
		}
		if receipts[0].Err == nil || !strings.Contains(receipts[0].Err.Error(), "made again") {
			k.Fatalf("%+v", receipts)
		}
		return nil
	})
	planned := parcel("b", topic, "b")
	planned.Target = target
	k.until("a parcel of the old plan is refused", func() error {
		if _, refused, err := s.Pack(k.Context(), []sources.Parcel{planned}); err != nil || refused["b"] == nil {
			return fmt.Errorf("%v, %w", refused, errors.Join(err))
		}
		return nil
	})
	k.wantRecords(k.source(), topic)
}
