package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// pair is a work queue with its dead-letter queue and n letters in it, which
// were scanned.
func pair(t *testing.T, o sqstest.Options, n int) *world {
	t.Helper()
	w := newWorld(t, o, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", n)
	w.scan("dlq")
	return w
}

func TestRedrivenLettersArriveOnceWithTheirBytes(t *testing.T) {
	w := pair(t, sqstest.Options{}, 25)
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 25 || len(o.failed) != 0 {
		t.Errorf("%d confirmed, failed: %v", len(o.confirmed), o.failed)
	}
	got := w.bodies("work")
	slices.Sort(got)
	if len(slices.Compact(got)) != 25 || len(w.Messages("dlq")) != 0 {
		t.Errorf("%d arrived, %d left", len(got), len(w.Messages("dlq")))
	}
}

func TestC56RedriveToADeletedQueueLosesNothing(t *testing.T) {
	w := pair(t, sqstest.Options{}, 20)
	w.DeleteQueue("work")
	if _, _, err := w.Aim(t.Context(), "work", sources.DeadLetter{}); err != nil && !errors.Is(err, sources.ErrNoSuchQueue) {
		t.Errorf("aim: %v", err)
	}
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 0 || len(o.failed) != 20 || len(w.Messages("dlq")) != 20 {
		t.Errorf("%d confirmed, %d failed, %d left", len(o.confirmed), len(o.failed), len(w.Messages("dlq")))
	}
	for _, err := range o.failed {
		if !errors.Is(err, sources.ErrNoSuchQueue) {
			t.Errorf("%v", err)
		}
	}
}

func TestC56APolicyThatPointsToAMissingQueueIsFound(t *testing.T) {
	w := pair(t, sqstest.Options{}, 0)
	w.DeleteQueue("dlq")
	w.pass(time.Minute)
	_, err := w.Queues(t.Context())
	w.must(err)
	if got := findings(w, sqs.MissingTarget); len(got) != 1 || got[0].Queue != "work" || !strings.Contains(got[0].Message, "points to a missing queue") {
		t.Errorf("%+v", got)
	}
}

func TestC58FIFORedrivesKeepGroupOrderAndAttributes(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	big, trace := "9007199254740993", "Root=1-5759e988-bd862e3fe1be46a994272793"
	for i := range 6 {
		w.Put("dlq.fifo", sqstest.Message{
			Body: fmt.Sprint(i), Source: "work.fifo", Group: fmt.Sprint("g", i%2+1), DedupID: fmt.Sprint("old", i), Receives: 3,
			Attributes: map[string]sqstest.Attribute{
				"text": sqstest.Text("é"), "n": {DataType: "Number", StringValue: &big}, "bin": {DataType: "Binary.gzip", BinaryValue: []byte{0, 0xff}},
			},
			SystemAttributes: map[string]sqstest.Attribute{"AWSTraceHeader": sqstest.Text(trace)},
		})
	}
	w.scan("dlq.fifo")
	o := w.redrive(w.parcels("work.fifo"))
	if len(o.confirmed) != 6 {
		t.Fatalf("%d confirmed, failed: %v", len(o.confirmed), o.failed)
	}
	order := map[string]string{}
	for _, m := range w.Messages("work.fifo") {
		order[m.Group] += m.Body
		a := m.Attributes
		if *a["text"].StringValue != "é" || *a["n"].StringValue != big || a["n"].DataType != "Number" ||
			a["bin"].DataType != "Binary.gzip" || string(a["bin"].BinaryValue) != "\x00\xff" || *m.SystemAttributes["AWSTraceHeader"].StringValue != trace {
			t.Errorf("%s: %+v", m.Body, a)
		}
	}
	if order["g1"] != "024" || order["g2"] != "135" {
		t.Errorf("order: %v", order)
	}
}

func TestC58AGroupStopsAtItsFirstFailure(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	for i := range 6 {
		w.Put("dlq.fifo", sqstest.Message{Body: fmt.Sprint(i), Source: "work.fifo", Group: fmt.Sprint("g", i%2+1)})
	}
	w.scan("dlq.fifo")
	sends := 0
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "SendMessageBatch" {
			return nil
		}
		if sends++; sends == 2 { // the second of each group; that of g1 is refused
			return &sqstest.Fault{Entries: map[int]sqstest.EntryFailed{0: {Code: "InvalidMessageContents", SenderFault: true}}}
		}
		return nil
	})
	o := w.redrive(w.parcels("work.fifo"))
	arrived := strings.Join(w.bodies("work.fifo"), "")
	if arrived != "0135" || len(o.failed) != 2 || !strings.Contains(fmt.Sprint(o.failed["4"]), "not sent: an earlier message of its group") {
		t.Errorf("arrived %s, failed: %v", arrived, o.failed)
	}
	if left := strings.Join(w.bodies("dlq.fifo"), ""); left != "24" {
		t.Errorf("left: %s", left)
	}
}

func TestC59BatchesAreCutByBytes(t *testing.T) {
	w := newWorld(t, sqstest.Options{BatchBytes: 262_144}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	for i := range 10 {
		w.Put("dlq", sqstest.Message{Body: fmt.Sprint(i) + strings.Repeat("x", 86_694), Source: "work"})
	}
	w.Put("dlq", sqstest.Message{Body: "y" + strings.Repeat("x", 262_143), Source: "work"})
	w.scan("dlq")
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 11 || len(w.Messages("work")) != 11 || len(w.Messages("dlq")) != 0 {
		t.Errorf("%d confirmed, %d arrived, %d left, %d failed", len(o.confirmed), len(w.Messages("work")), len(w.Messages("dlq")), len(o.failed))
	}
}

func TestC60FailuresInsideA200AreHeeded(t *testing.T) {
	w := pair(t, sqstest.Options{}, 10)
	sends := 0
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "SendMessageBatch" {
			return nil
		}
		sends++
		if sends == 1 {
			return &sqstest.Fault{Entries: map[int]sqstest.EntryFailed{
				3: {Code: "InvalidMessageContents", Message: "no", SenderFault: true},
				7: {Code: "InternalError", Message: "try again"},
			}}
		}
		return nil
	})
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 9 || len(o.failed) != 1 || sends != 2 {
		t.Errorf("%d confirmed in %d sends, failed: %v", len(o.confirmed), sends, o.failed)
	}
	for body, err := range o.failed {
		if !strings.Contains(err.Error(), "InvalidMessageContents: no") {
			t.Errorf("%v", err)
		}
		if left := w.bodies("dlq"); len(left) != 1 || left[0] != body {
			t.Errorf("left in the dead-letter queue: %v, failed: %s", left, body)
		}
	}
}

func TestC61ALetterThatWasSentAndNotDeletedSaysSo(t *testing.T) {
	w := pair(t, sqstest.Options{}, 10)
	deletes := 0
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "DeleteMessageBatch" {
			return nil
		}
		deletes++
		faults := map[int]sqstest.EntryFailed{0: {Code: "ReceiptHandleIsInvalid", SenderFault: true}}
		if deletes == 1 {
			faults[1] = sqstest.EntryFailed{Code: "InternalError"}
		}
		return &sqstest.Fault{Entries: faults}
	})
	o := w.redrive(w.parcels("work"))
	if len(w.Messages("work")) != 10 || len(o.confirmed)+len(o.failed) != 10 || len(o.failed) == 0 || len(o.failed) != len(w.Messages("dlq")) {
		t.Errorf("%d sent, %d confirmed, %d left, failed: %v", len(w.Messages("work")), len(o.confirmed), len(w.Messages("dlq")), o.failed)
	}
	for _, err := range o.failed {
		if !strings.Contains(err.Error(), "sent, and still in the dead-letter queue dlq: do not redrive it again") {
			t.Errorf("%v", err)
		}
	}
}

func TestC64APointerIsRedrivenAsItIs(t *testing.T) {
	const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`
	if got := sqs.PayloadIn([]byte(pointer)); got != "s3://b/k" {
		t.Errorf("payload in %q", got)
	}
	if got := sqs.PayloadIn([]byte(`["a",{"s3BucketName":"b"}]`)); got != "" {
		t.Errorf("no pointer: %q", got)
	}
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	size := "300000"
	w.Put("dlq", sqstest.Message{Body: pointer, Source: "work", Attributes: map[string]sqstest.Attribute{"ExtendedPayloadSize": {DataType: "Number", StringValue: &size}}})
	w.scan("dlq")
	if w.only().NotTheOriginal {
		t.Error("a pointer can be redriven")
	}
	w.redrive(w.parcels("work"))
	if m := w.Messages("work"); len(m) != 1 || m[0].Body != pointer || *m[0].Attributes["ExtendedPayloadSize"].StringValue != size {
		t.Errorf("%+v", m)
	}
}

func TestALostAnswerIsUnknownOnAStandardQueue(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	w.SetFault(loseFirst("SendMessageBatch"))
	o := w.redrive(w.parcels("work"))
	if err := o.failed["000"]; !errors.Is(err, sources.ErrAmbiguous) || len(w.Messages("work")) != 1 || w.calls("SendMessageBatch", "*") != 1 {
		t.Errorf("%v; %d arrived in %d sends", err, len(w.Messages("work")), w.calls("SendMessageBatch", "*"))
	}
}

// loseFirst does what the first request of an action asks for, and loses the
// answer.
func loseFirst(action string) func(sqstest.Call) *sqstest.Fault {
	done := false
	return func(c sqstest.Call) *sqstest.Fault {
		if c.Action != action || done {
			return nil
		}
		done = true
		return &sqstest.Fault{Drop: true, After: true}
	}
}

func TestALostAnswerIsRepeatedOnAFIFOQueueAndArrivesOnce(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	w.Put("dlq.fifo", sqstest.Message{Body: "x", Source: "work.fifo", Group: "g"})
	w.scan("dlq.fifo")
	shipments, _, err := w.Pack(t.Context(), w.parcels("work.fifo"))
	w.must(err)
	if len(shipments) != 1 || time.Until(shipments[0].RepeatUntil) < 4*time.Minute {
		t.Fatalf("%+v", shipments)
	}
	w.SetFault(loseFirst("SendMessageBatch"))
	receipts, err := w.Ship(t.Context(), shipments[0])
	if err != nil || !errors.Is(receipts[0].Err, sources.ErrAmbiguous) {
		t.Fatalf("%+v %v", receipts, err)
	}
	w.restart() // and after kill -9 the ledger has the shipment
	receipts, err = w.Ship(t.Context(), shipments[0])
	if err != nil || receipts[0].Err != nil {
		t.Fatalf("%+v %v", receipts, err)
	}
	settled, err := w.Settle(t.Context(), shipments[0], receipts)
	if err != nil || settled[0].Err != nil || len(w.Messages("work.fifo")) != 1 || len(w.Messages("dlq.fifo")) != 0 {
		t.Errorf("%+v %v; %d arrived, %d left", settled, err, len(w.Messages("work.fifo")), len(w.Messages("dlq.fifo")))
	}
}

func TestAFIFOShipmentIsRepeatedAlsoWhenItsLettersAreOff(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	w.Put("dlq.fifo", sqstest.Message{Body: "x", Source: "work.fifo", Group: "g"})
	w.scan("dlq.fifo")
	shipments, _, err := w.Pack(t.Context(), w.parcels("work.fifo"))
	w.must(err)
	first, err := w.Ship(t.Context(), shipments[0])
	w.must(err)
	_, err = w.Settle(t.Context(), shipments[0], first)
	w.must(err)
	w.restart() // before either was written down
	again, err := w.Ship(t.Context(), shipments[0])
	if err != nil || again[0].Err != nil || again[0].MessageID != first[0].MessageID || len(w.Messages("work.fifo")) != 1 {
		t.Errorf("%+v, then %+v %v; %d arrived", first, again, err, len(w.Messages("work.fifo")))
	}
}

func TestOnlyWhatIsRedrivenIsTouched(t *testing.T) {
	w := pair(t, sqstest.Options{}, 30)
	o := w.redrive(w.parcels("work")[7:9])
	if len(o.confirmed) != 2 || len(w.Messages("dlq")) != 28 || len(w.Messages("work")) != 2 {
		t.Errorf("%v, %d left", o, len(w.Messages("dlq")))
	}
	w.Close()
	for _, m := range w.Messages("dlq") {
		if m.InFlight {
			t.Errorf("%s is hidden after Close", m.Body)
		}
	}
}

func TestAHoldThatEndedIsTakenAgain(t *testing.T) {
	w := pair(t, sqstest.Options{}, 2)
	shipments, _, err := w.Pack(t.Context(), w.parcels("work"))
	w.must(err)
	w.pass(time.Hour) // a job that was paused
	receipts, err := w.Ship(t.Context(), shipments[0])
	w.must(err)
	w.pass(time.Hour)
	settled, err := w.Settle(t.Context(), shipments[0], receipts)
	w.must(err)
	for _, r := range settled {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	if len(w.Messages("dlq")) != 0 || len(w.Messages("work")) != 2 {
		t.Errorf("%d left, %d arrived", len(w.Messages("dlq")), len(w.Messages("work")))
	}
}

func TestALetterDeepInAGroupWaitsForThoseInFront(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	var parcels []sources.Parcel
	for i := range 40 {
		body := fmt.Sprintf("%02d", i)
		id := w.Put("dlq.fifo", sqstest.Message{Body: body, Source: "work.fifo", Group: "g"})
		parcels = append(parcels, sources.Parcel{
			Item: body, Queue: "dlq.fifo", Place: sources.Place{MessageID: id}, Target: sources.Target{Queue: "work.fifo"},
			Body: []byte(body), System: map[string]string{"MessageGroupId": "g"},
		})
	}
	if o := w.redrive(parcels[20:21]); !strings.Contains(fmt.Sprint(o.failed["20"]), "behind ten others of its message group g") {
		t.Errorf("the 21st alone: %v", o)
	}
	o := w.redrive(parcels)
	if len(o.confirmed) != 40 {
		t.Errorf("%d confirmed, failed: %v", len(o.confirmed), o.failed)
	}
	if got := w.bodies("work.fifo"); !slices.IsSorted(got) || len(got) != 40 {
		t.Errorf("arrived: %v", got)
	}
}

func TestThrottlingIsAnsweredWithPatience(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	left := 3
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "SendMessageBatch" || left == 0 {
			return nil
		}
		left--
		return &sqstest.Fault{Status: 403, Code: "RequestThrottled"}
	})
	if o := w.redrive(w.parcels("work")); len(o.confirmed) != 1 || len(w.Messages("work")) != 1 {
		t.Errorf("%v", o)
	}
}

func TestNothingIsSentThatMayNotBe(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	w.Deny("SendMessage", "work")
	o := w.redrive(w.parcels("work"))
	if err := o.failed["000"]; !errors.Is(err, sources.ErrNotAuthorised) || !strings.Contains(err.Error(), "sqs:SendMessage on work") || len(w.Messages("dlq")) != 1 {
		t.Errorf("%v", err)
	}
}

func TestAServerThatIsAwayIsNoUnknown(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	shipments, _, err := w.Pack(t.Context(), w.parcels("work"))
	w.must(err)
	w.config.Endpoint = "http://127.0.0.1:1"
	w.restart()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := w.Ship(ctx, shipments[0]); err == nil || errors.Is(err, sources.ErrAmbiguous) {
		t.Errorf("%v", err)
	}
}

func TestAimSaysWhatItKnows(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{Routes: []sources.Route{{From: "routed-*", To: "work"}}})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.must(w.CreateQueue("f.fifo", map[string]string{"FifoQueue": "true"}))
	w.must(w.SetAttributes("work", map[string]string{"MaximumMessageSize": "1024"}))
	letter := func(queue, arn, group string, n int) sources.DeadLetter {
		return sources.DeadLetter{Queue: queue, Place: sources.Place{MessageID: "id"}, Body: make([]byte, n), System: map[string]string{"DeadLetterQueueSourceArn": arn, "MessageGroupId": group}}
	}
	for _, c := range []struct {
		name, to string
		letter   sources.DeadLetter
		want     string
		err      error
	}{
		{"by its origin", "", letter("dlq", w.ARN("work"), "", 1), "work: SQS says that it came from there", nil},
		{"by the configuration", "", letter("routed-dlq", w.ARN("other"), "", 1), "work: configured", nil},
		{"nobody knows", "", letter("else", "", "", 1), ": ", sqs.ErrNoWayBack},
		{"not there", "nowhere", letter("dlq", "", "", 1), "nowhere: ", sources.ErrNoSuchQueue},
		{"too large", "work", letter("dlq", "", "", 1025), "work: ", sources.ErrTooLarge},
		{"with a group", "f.fifo", letter("dlq", "", "g1", 1), "f.fifo: message group g1", nil},
		{"without one", "f.fifo", letter("dlq", "", "", 1), "f.fifo: a message group of its own, for it has none", nil},
	} {
		to, why, err := w.Aim(t.Context(), c.to, c.letter)
		if got := to.Queue + ": " + why; got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
}

func TestC48ARedriveDoesNotLookIntoAQueueThatMovesLettersOn(t *testing.T) {
	w := pair(t, sqstest.Options{}, 2)
	w.must(w.CreateQueue("second", nil))
	w.must(w.SetAttributes("dlq", map[string]string{"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, w.ARN("second"))}))
	w.pass(time.Minute)
	w.queues()
	before := w.calls("ReceiveMessage", "dlq")
	o := w.redrive(w.parcels("work"))
	if len(o.failed) != 2 || w.calls("ReceiveMessage", "dlq") != before || len(w.Messages("second")) != 0 {
		t.Errorf("%v; %d receives", o, w.calls("ReceiveMessage", "dlq")-before)
	}
}
