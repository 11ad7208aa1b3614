package sqs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// ids are the message ids of the world's letters by their bodies.
func (w *world) ids() map[string]string {
	ids := map[string]string{}
	for id, l := range w.letters {
		ids[string(l.Body)] = id
	}
	return ids
}

func TestRemoveTakesOffWhatIsNamedAndNothingElse(t *testing.T) {
	w := pair(t, sqstest.Options{}, 12)
	ids := w.ids()
	wanted := []string{ids["003"], ids["011"], "taken by somebody"}
	answer := map[string]error{}
	for range 4 {
		got, err := w.Remove(t.Context(), "dlq", wanted)
		w.must(err)
		for id, why := range got {
			if answer[id] = why; why != nil {
				t.Errorf("%s: %v", id, why)
			}
		}
		w.pass(2 * time.Second)
	}
	if _, proven := answer["taken by somebody"]; len(answer) != 3 || !proven {
		t.Errorf("%v", answer)
	}
	w.Close()
	if left := strings.Join(w.bodies("dlq"), " "); strings.Contains(left, "003") || strings.Contains(left, "011") || len(w.Messages("dlq")) != 10 {
		t.Errorf("left: %s", left)
	}
	for _, m := range w.Messages("dlq") {
		if m.InFlight {
			t.Errorf("%s is hidden", m.Body)
		}
	}
}

func TestRemoveLeavesForLaterWhatSomebodyHolds(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	w.hold("dlq", 1, 3600)
	id := w.only().Place.MessageID
	for range 4 {
		got, err := w.Remove(t.Context(), "dlq", []string{id})
		if why, answered := got[id]; err != nil || answered {
			t.Fatalf("%v %v", why, err)
		}
		w.pass(time.Minute)
	}
}

// hold receives messages as another reader.
func (w *world) hold(queue string, n, seconds int) {
	w.t.Helper()
	url := w.endpoint + "/000000000000/" + queue
	got, err := sourcetest.SQSClient(w.endpoint).ReceiveMessage(w.t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: int32(n), VisibilityTimeout: int32(seconds)})
	w.must(err)
	if len(got.Messages) != n {
		w.t.Fatalf("the other reader got %d messages, want %d", len(got.Messages), n)
	}
}

func TestWhatIsReleasedIsThereForOthersAtOnce(t *testing.T) {
	w := pair(t, sqstest.Options{}, 5)
	shipments, _, err := w.Pack(t.Context(), w.parcels("work"))
	w.must(err)
	w.Release(t.Context(), shipments)
	w.hold("dlq", 5, 30)
	if _, err := w.Ship(t.Context(), shipments[0]); err != nil || len(w.Messages("work")) != 0 {
		t.Errorf("%v; %d were sent without a hold", err, len(w.Messages("work")))
	}
}

func TestAStoredCopyIsSentWithoutItsQueue(t *testing.T) {
	w := pair(t, sqstest.Options{}, 12)
	parcels := w.parcels("work")
	for i := range parcels {
		parcels[i].StoredCopy = true
	}
	w.DeleteQueue("dlq")
	before := w.calls("ReceiveMessage", "*")
	o := w.redrive(parcels)
	if len(o.confirmed) != 12 || len(w.Messages("work")) != 12 || w.calls("ReceiveMessage", "*") != before || w.calls("DeleteMessageBatch", "*") != 0 {
		t.Errorf("%d confirmed, %d arrived, failed: %v", len(o.confirmed), len(w.Messages("work")), o.failed)
	}
	w.SetFault(loseFirst("SendMessageBatch"))
	if o := w.redrive(parcels[:1]); !errors.Is(o.failed["000"], sources.ErrAmbiguous) {
		t.Errorf("an answer that was lost: %v", o.failed)
	}
}

// TestADeleteAfterTheHoldIsNotBelieved: with a receipt whose time is over SQS may
// say yes and delete nothing. The letter is received again, and deleted.
func TestADeleteAfterTheHoldIsNotBelieved(t *testing.T) {
	w := pair(t, sqstest.Options{}, 2)
	deletes := 0
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "DeleteMessageBatch" {
			return nil
		}
		if deletes++; deletes > 1 {
			return nil
		}
		w.pass(time.Hour)
		return &sqstest.Fault{Lie: true}
	})
	if o := w.redrive(w.parcels("work")); len(o.confirmed) != 2 || len(w.Messages("dlq")) != 0 || deletes < 2 {
		t.Errorf("%d confirmed after %d deletes, %d left, failed: %v", len(o.confirmed), deletes, len(w.Messages("dlq")), o.failed)
	}
}

// TestADeleteThatNobodyCanConfirmStaysOpen: the letter may be with somebody else
// after a hold that was over; it is not said to be off.
func TestADeleteThatNobodyCanConfirmStaysOpen(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	shipments, _, err := w.Pack(t.Context(), w.parcels("work"))
	w.must(err)
	receipts, err := w.Ship(t.Context(), shipments[0])
	w.must(err)
	w.pass(time.Hour)
	w.hold("dlq", 1, 40_000)
	for range 4 {
		settled, err := w.Settle(t.Context(), shipments[0], receipts)
		if err != nil || settled[0].Err == nil || errors.Is(settled[0].Err, sources.ErrGone) {
			t.Fatalf("%+v %v", settled, err)
		}
		w.pass(time.Minute)
	}
	w.pass(12 * time.Hour)
	if settled, err := w.Settle(t.Context(), shipments[0], receipts); err != nil || settled[0].Err != nil || len(w.Messages("dlq")) != 0 {
		t.Errorf("%+v %v, %d left", settled, err, len(w.Messages("dlq")))
	}
}

func TestOneLetterThatIsAwayHoldsUpNoOther(t *testing.T) {
	w := pair(t, sqstest.Options{}, 10)
	shipments, _, err := w.Pack(t.Context(), w.parcels("work"))
	w.must(err)
	w.pass(time.Hour) // the job was paused
	w.hold("dlq", 1, 3600)
	receipts, err := w.Ship(t.Context(), shipments[0])
	w.must(err)
	away := 0
	for _, r := range receipts {
		if r.Err == nil {
			continue
		}
		if away++; !errors.Is(r.Err, sources.ErrNotSent) {
			t.Errorf("%v", r.Err)
		}
	}
	if away != 1 || len(w.Messages("work")) != 9 {
		t.Errorf("%d away, %d arrived", away, len(w.Messages("work")))
	}
}

// TestWhatWaitsInAGroupKeepsThoseBehindIt: of a FIFO group nothing overtakes a
// letter that is not there just now.
func TestWhatWaitsInAGroupKeepsThoseBehindIt(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	for i := range 6 {
		w.Put("dlq.fifo", sqstest.Message{Body: fmt.Sprint(i), Source: "work.fifo", Group: fmt.Sprint("g", i/3)})
	}
	w.scan("dlq.fifo")
	shipments, _, err := w.Pack(t.Context(), w.parcels("work.fifo"))
	w.must(err)
	w.pass(2 * time.Minute)
	w.hold("dlq.fifo", 1, 3600) // the first of g0
	receipts, err := w.Ship(t.Context(), shipments[0])
	w.must(err)
	for i, r := range receipts {
		if waits := errors.Is(r.Err, sources.ErrNotSent); waits != (i < 3) {
			t.Errorf("%d: %v", i, r.Err)
		}
	}
	if got := strings.Join(w.bodies("work.fifo"), ""); got != "345" {
		t.Errorf("arrived: %s", got)
	}
}

func TestAboutSaysWhatAQueueTakes(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.must(w.CreateQueue("f.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true", "MaximumMessageSize": "2048"}))
	d, err := w.About(t.Context(), "f.fifo")
	if want := (sources.Destination{MaxBytes: 2048, Retention: 4 * 24 * time.Hour, FIFO: true, DefaultDedup: true}); err != nil || d != want {
		t.Errorf("%+v %v", d, err)
	}
	if d, err := w.About(t.Context(), "work"); err != nil || d.FIFO || d.DefaultDedup || d.MaxBytes != 1<<20 {
		t.Errorf("%+v %v", d, err)
	}
	if _, err := w.About(t.Context(), "nowhere"); !errors.Is(err, sources.ErrNoSuchQueue) {
		t.Errorf("%v", err)
	}
	if q := w.queues()["dlq"]; q.GivesUpAfter != 90*time.Second {
		t.Errorf("gives up after %s, want 3 × 30 s", q.GivesUpAfter)
	}
}

// TestC55AMoveTaskIsShownAndNoneIsStarted: SQS moves whole queues by itself, and
// only those that it fed. Who started one sees it; we start none.
func TestC55AMoveTaskIsShownAndNoneIsStarted(t *testing.T) {
	for _, c := range []struct {
		name, status   string
		failure, shown string
	}{
		{"(b) cancelling", "CANCELLING", "", "a move task of SQS is cancelling: 200 of about 1,000 letters moved"},
		{"(c) running", "RUNNING", "", "a move task of SQS is running: 200 of about 1,000 letters moved"},
		{"failed", "FAILED", "AWS.SimpleQueueService.NonExistentQueue", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := pair(t, sqstest.Options{}, 3)
			w.SetMove("dlq", c.status, 200, 1000, c.failure)
			if q := w.queues()["dlq"]; q.Redriving != c.shown || q.Err != nil {
				t.Errorf("%q %v", q.Redriving, q.Err)
			}
			failed := findings(w, sqs.MoveTaskFailed)
			if (len(failed) == 1 && strings.Contains(failed[0].Message, c.failure)) != (c.failure != "") {
				t.Errorf("%+v", failed)
			}
			w.redrive(w.parcels("work"))
			if w.calls("StartMessageMoveTask", "*") != 0 || len(w.Messages("work")) != 3 {
				t.Errorf("%d tasks started, %d arrived", w.calls("StartMessageMoveTask", "*"), len(w.Messages("work")))
			}
		})
	}
}

// TestC55LettersOfSNSAreCopied: of a dead-letter queue that no SQS queue feeds,
// SQS moves nothing. Ours go one by one, where the configuration says.
func TestC55LettersOfSNSAreCopied(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{
		DeadLetters: sources.Patterns{Include: []string{"sns-*"}}, Routes: []sources.Route{{From: "sns-*", To: "work"}},
	})
	w.must(w.CreateQueue("sns-dlq", nil))
	w.must(w.CreateQueue("work", nil))
	w.put("sns-dlq", "", 3)
	w.scan("sns-dlq")
	to, why, err := w.Aim(t.Context(), "", w.letters[w.ids()["000"]])
	if err != nil || to.Queue != "work" || why != "configured" {
		t.Errorf("%+v %q %v", to, why, err)
	}
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 3 || w.calls("StartMessageMoveTask", "*")+w.calls("ListMessageMoveTasks", "*") != 0 {
		t.Errorf("%v", o)
	}
}

// TestC63LettersThatNobodySentAreSeen: what a redrive policy moves is in no count
// of messages sent.
func TestC63LettersThatNobodySentAreSeen(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 1, "work"))
	for i := range 5 {
		w.Put("work", sqstest.Message{Body: fmt.Sprint(i)})
	}
	w.hold("work", 5, 1)
	w.pass(2 * time.Second)
	w.receivesNothing("work") // the receive after the last allowed one moves them
	w.scan("dlq")
	if q := w.queues()["dlq"]; len(w.letters) != 5 || q.Count != 5 || w.calls("SendMessage", "*")+w.calls("SendMessageBatch", "*") != 0 {
		t.Errorf("%d letters, count %d", len(w.letters), q.Count)
	}
}

func (w *world) receivesNothing(queue string) {
	w.t.Helper()
	url := w.endpoint + "/000000000000/" + queue
	got, err := sourcetest.SQSClient(w.endpoint).ReceiveMessage(w.t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
	w.must(err)
	if len(got.Messages) != 0 {
		w.t.Fatalf("%d messages in %s", len(got.Messages), queue)
	}
}
