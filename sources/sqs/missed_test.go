package sqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// packs asks for the parcels once, and gives how many were packed and what was
// refused.
func (w *world) packs(parcels []sources.Parcel) (packed int, refused map[string]error) {
	w.t.Helper()
	shipments, refused, err := w.Pack(w.t.Context(), parcels)
	w.must(err)
	for _, s := range shipments {
		packed += len(s.Items)
	}
	return packed, refused
}

func TestALetterThatSomebodyTookIsGone(t *testing.T) {
	w := pair(t, sqstest.Options{}, 3)
	parcels := w.parcels("work")
	parcels[1].Place.MessageID = "taken"
	o := w.redrive(parcels)
	if err := o.failed["001"]; len(o.confirmed) != 2 || !errors.Is(err, sources.ErrGone) {
		t.Errorf("%v confirmed, %v", o.confirmed, err)
	}
}

// TestGoneIsSaidSoonWhereNobodyHoldsAnything: not at the first look, because the
// counts may be old, and within the four looks that a worker makes in 15 s.
func TestGoneIsSaidSoonWhereNobodyHoldsAnything(t *testing.T) {
	w := pair(t, sqstest.Options{}, 1)
	parcels := w.parcels("work")
	parcels[0].Place.MessageID = "taken"
	looks := 0
	for refused := map[string]error{}; len(refused) == 0; looks++ {
		if looks > 0 {
			w.pass(time.Second << looks)
		}
		_, refused = w.packs(parcels)
	}
	if looks < 3 || looks > 4 {
		t.Errorf("gone after %d looks", looks)
	}
}

// TestWhatAKilledRunHeldIsNotGone: after kill -9 in a redrive the letters that
// were held are hidden for a while yet. Absence is no proof: they are left for
// later, and redriven when their hold is over.
func TestWhatAKilledRunHeldIsNotGone(t *testing.T) {
	for _, suffix := range []string{"", ".fifo"} {
		t.Run("dlq"+suffix, func(t *testing.T) {
			w := newWorld(t, sqstest.Options{}, sqs.Config{})
			dlq, work := "dlq"+suffix, "work"+suffix
			w.must(w.CreateDeadLetterQueue(dlq, 3, work))
			for i := range 8 {
				w.Put(dlq, sqstest.Message{Body: fmt.Sprint(i), Source: work, Receives: 3, Group: fmt.Sprint("g", i%2)})
			}
			w.scan(dlq)
			parcels := w.parcels(work)
			if packed, refused := w.packs(parcels); packed != 8 {
				t.Fatalf("%d packed, %v", packed, refused)
			}
			w.restart() // killed: nothing was let go
			for range 5 {
				if packed, refused := w.packs(parcels); packed != 0 || len(refused) != 0 {
					t.Fatalf("while they are hidden: %d packed, %v", packed, refused)
				}
				w.pass(2 * time.Second)
			}
			w.pass(51 * time.Second) // a minute after the kill
			if o := w.redrive(parcels); len(o.confirmed) != 8 || len(o.failed) != 0 {
				t.Errorf("after the hold: %d confirmed, failed %v", len(o.confirmed), o.failed)
			}
		})
	}
}

// TestOtherLettersGoOnWhileSomeAreHeld: those that a dead run holds keep none
// of the others waiting.
func TestOtherLettersGoOnWhileSomeAreHeld(t *testing.T) {
	w := pair(t, sqstest.Options{}, 12)
	parcels := w.parcels("work")
	w.packs(parcels[:4])
	w.pass(15 * time.Second)
	w.packs(parcels[:4]) // their holds are made longer
	w.restart()          // killed
	// What its looks had hidden turns visible first.
	w.pass(16 * time.Second)
	if packed, refused := w.packs(parcels); packed != 8 || len(refused) != 0 {
		t.Errorf("%d packed, refused %v", packed, refused)
	}
}

// TestALetterThatSomebodyHoldsIsNotGone: a reader may hold a letter for twelve
// hours, and let it go then. Until the queue shows that nobody has it, it is left
// for later, and the others go.
func TestALetterThatSomebodyHoldsIsNotGone(t *testing.T) {
	w := pair(t, sqstest.Options{}, 3)
	other, url := sourcetest.SQSClient(w.endpoint), w.endpoint+"/000000000000/dlq"
	got, err := other.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 2, VisibilityTimeout: 40_000})
	w.must(err)
	if len(got.Messages) != 2 {
		t.Fatalf("the other one holds %d", len(got.Messages))
	}
	parcels := w.parcels("work")
	if o := w.redrive(parcels); len(o.confirmed) != 1 || len(o.failed) != 0 {
		t.Errorf("%d confirmed, %v", len(o.confirmed), o.failed)
	}
	parcels = slices.DeleteFunc(parcels, func(p sources.Parcel) bool { return string(p.Body) == "002" })
	w.pass(time.Hour)
	if packed, refused := w.packs(parcels); packed != 0 || len(refused) != 0 {
		t.Errorf("after an hour: %d packed, refused %v", packed, refused)
	}
	w.pass(11 * time.Hour)
	if o := w.redrive(parcels); len(o.confirmed) != 2 {
		t.Errorf("when it was let go: %d confirmed, %v", len(o.confirmed), o.failed)
	}
}

// TestOneOldReadingIsNoProof: the counts of SQS lag behind. One that says that
// nothing is in flight takes no letter away.
func TestOneOldReadingIsNoProof(t *testing.T) {
	w := pair(t, sqstest.Options{}, 3)
	parcels := w.parcels("work")
	w.packs(parcels)
	old := &oldCounts{}
	w.proxy(func(s *sqstest.Server) *httptest.Server { old.Server = s; return httptest.NewServer(old) }) // a new run
	for i, say := range []bool{true, true, false, true, true, false} {
		old.set(say)
		if packed, refused := w.packs(parcels); packed != 0 || len(refused) != 0 {
			t.Fatalf("look %d: %d packed, refused %v", i+1, packed, refused)
		}
		w.pass(4 * time.Second)
	}
}

// oldCounts is a server that may say that nothing is in flight.
type oldCounts struct {
	*sqstest.Server
	mu  sync.Mutex
	old bool
}

func (o *oldCounts) set(old bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.old = old
}

func (o *oldCounts) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	old := o.old
	o.mu.Unlock()
	if !old || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueueAttributes") {
		o.Server.ServeHTTP(out, r)
		return
	}
	answer := httptest.NewRecorder()
	o.Server.ServeHTTP(answer, r)
	var body struct{ Attributes map[string]string }
	if json.Unmarshal(answer.Body.Bytes(), &body) == nil && body.Attributes != nil {
		body.Attributes["ApproximateNumberOfMessagesNotVisible"] = "0"
	}
	maps.Copy(out.Header(), answer.Header())
	out.Header().Del("Content-Length")
	_ = json.NewEncoder(out).Encode(body)
}

// TestC58DeepGroupsAreNotGone: SQS hands out no more of a group while we hold
// one message of it. What lies behind is there.
func TestC58DeepGroupsAreNotGone(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	var parcels []sources.Parcel
	for i := range 36 {
		body, group := fmt.Sprintf("%02d", i), fmt.Sprint("g", i%3)
		id := w.Put("dlq.fifo", sqstest.Message{Body: body, Source: "work.fifo", Group: group})
		parcels = append(parcels, sources.Parcel{
			Item: body, Queue: "dlq.fifo", Place: sources.Place{MessageID: id}, Target: sources.Target{Queue: "work.fifo"},
			Body: []byte(body), System: map[string]string{"MessageGroupId": group},
		})
	}
	o := w.redrive(parcels)
	if len(o.confirmed) != 36 {
		t.Errorf("%d confirmed, failed: %v", len(o.confirmed), o.failed)
	}
	for _, group := range []string{"g0", "g1", "g2"} {
		var got []string
		for _, m := range w.Messages("work.fifo") {
			if m.Group == group {
				got = append(got, m.Body)
			}
		}
		if !slices.IsSorted(got) || len(got) != 12 {
			t.Errorf("%s arrived as %v", group, got)
		}
	}
}

// TestStoppingReleasesWhatAReceiveUnderWayHasHidden: SIGTERM comes when SQS has
// hidden messages and its answer is on the way. The answer is heard, and all is
// released.
func TestStoppingReleasesWhatAReceiveUnderWayHasHidden(t *testing.T) {
	w := pair(t, sqstest.Options{}, 5)
	hidden, answer := make(chan struct{}), make(chan struct{})
	w.proxy(func(s *sqstest.Server) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			late := strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".ReceiveMessage")
			if !late {
				s.ServeHTTP(out, r)
				return
			}
			got := httptest.NewRecorder()
			s.ServeHTTP(got, r)
			hidden <- struct{}{}
			<-answer
			maps.Copy(out.Header(), got.Header())
			_, _ = got.Body.WriteTo(out)
		}))
	})
	w.queues()
	ctx, stop := context.WithCancel(t.Context())
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		_, _, _ = w.Pack(ctx, w.parcels("work")[:2])
	}()
	<-hidden
	stop()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		w.Close()
	}()
	close(answer)
	<-packed
	<-closed
	for _, m := range w.Messages("dlq") {
		if m.InFlight {
			t.Errorf("%s is hidden after Close", m.Body)
		}
	}
	if _, _, err := w.Pack(t.Context(), w.parcels("work")); err == nil {
		t.Error("something was received after Close")
	}
}
