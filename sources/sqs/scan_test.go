package sqs_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

func TestC48LookingMovesNothing(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("second", 2))
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.must(w.SetAttributes("dlq", map[string]string{"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, w.ARN("second"))}))
	for range 5 {
		w.Put("work", sqstest.Message{Body: "live"})
		w.Put("dlq", sqstest.Message{Body: "dead", Source: "work"})
	}
	for range 4 {
		_, err := w.Queues(t.Context())
		w.must(err)
		batch := w.scan("dlq")
		if len(batch.Letters) != 0 || !strings.Contains(batch.Note, "viewing counts as a receive: 1 of 2 left") {
			t.Fatalf("%d letters, %q", len(batch.Letters), batch.Note)
		}
	}
	if n := len(w.Messages("second")); n != 0 {
		t.Errorf("%d letters were pushed on", n)
	}
	if _, err := w.DeadLetters(t.Context(), "work", nil, 10); !errors.Is(err, sqs.ErrNotDeadLetters) {
		t.Errorf("a work queue: %v", err)
	}
	if n := w.calls("ReceiveMessage", "*"); n != 0 {
		t.Errorf("%d receives", n)
	}
	if got := findings(w, sqs.OwnRedrivePolicy); len(got) != 1 || got[0].Queue != "dlq" || !strings.Contains(got[0].Message, "1 of 2 left") {
		t.Errorf("findings: %+v", got)
	}
}

func findings(w *world, kind string) (out []sources.Finding) {
	w.t.Helper()
	all, err := w.Findings(w.t.Context())
	w.must(err)
	for _, f := range all {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

func TestC48AQueueWithItsOwnPolicyIsScannedWhereItIsNamed(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{DeadLetters: sources.Patterns{Include: []string{"dlq"}}})
	w.must(w.CreateDeadLetterQueue("second", 5, "dlq"))
	w.put("dlq", "work", 2)
	if w.scan("dlq"); len(w.letters) != 2 {
		t.Errorf("%d letters", len(w.letters))
	}
}

func TestC49EachLetterIsListedOnce(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 3)
	var rows int
	for batch := w.step("dlq"); ; batch = w.step("dlq") {
		rows += len(batch.Letters)
		if !batch.More {
			break
		}
	}
	if rows != 3 || len(w.letters) != 3 || len(w.last.Present) != 3 {
		t.Errorf("%d rows of %d letters, %d present", rows, len(w.letters), len(w.last.Present))
	}
	for _, m := range w.Messages("dlq") {
		if m.Receives != 4 {
			t.Errorf("%s was received %d times for one scan", m.Body, m.Receives-3)
		}
	}
}

func TestC50NothingStaysHidden(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.must(w.SetAttributes("dlq", map[string]string{"VisibilityTimeout": "600"}))
	w.put("dlq", "work", 10)
	w.scan("dlq")
	for _, m := range w.Messages("dlq") {
		if m.InFlight {
			t.Errorf("%s is still hidden after the scan", m.Body)
		}
	}
	w.pass(time.Hour)
	w.step("dlq") // begins a sweep
	w.step("dlq") // holds, and the program dies here
	w.pass(35 * time.Second)
	for _, m := range w.Messages("dlq") {
		if m.InFlight {
			t.Errorf("%s is hidden 35 s after a crash", m.Body)
		}
	}
}

func TestC52AnEmptyAnswerIsNoEmptyQueue(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 5)
	var receives atomic.Int32
	w.proxy(func(s *sqstest.Server) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".ReceiveMessage") && receives.Add(1) <= 3 {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(out, "{}")
				return
			}
			s.ServeHTTP(out, r)
		}))
	})
	if w.scan("dlq"); len(w.letters) != 5 {
		t.Errorf("%d of 5 letters: %q", len(w.letters), w.last.Note)
	}
}

func TestC62WhatTheBrokerKnowsIsAskedFor(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 4, "work"))
	sent := time.Now().Add(-30 * time.Hour).Truncate(time.Millisecond).UTC()
	w.Put("dlq", sqstest.Message{
		Body: "x", Source: "work", Receives: 4, Sent: sent, FirstReceived: sent.Add(time.Second),
		Attributes: map[string]sqstest.Attribute{"tenant": sqstest.Text("t1"), "bytes": {DataType: "Binary", BinaryValue: []byte{0, 0xff}}},
	})
	w.scan("dlq")
	l := w.only()
	wantInt(t, "attempts", l.Attempts, 4)
	if l.Looks != 1 || l.System["ApproximateReceiveCount"] != "5" {
		t.Errorf("%d looks of ours, %s receives", l.Looks, l.System["ApproximateReceiveCount"])
	}
	if l.Origin.Queue != "work" || !l.Timestamp.Equal(sent) || l.System["ApproximateFirstReceiveTimestamp"] == "" {
		t.Errorf("%+v", l)
	}
	if l.ExpiryIs != "exact" || !l.ExpiresAt.Equal(sent.Add(4*24*time.Hour)) {
		t.Errorf("expires %s %s", l.ExpiryIs, l.ExpiresAt)
	}
	if got := fmt.Sprintf("%s=%x/%s %s=%s/%s", l.Headers[0].Name, l.Headers[0].Value, l.Headers[0].Type, l.Headers[1].Name, l.Headers[1].Value, l.Headers[1].Type); got != "bytes=00ff/Binary tenant=t1/String" {
		t.Errorf("attributes: %s", got)
	}
}

func TestALetterThatNoPolicyMovedHasNoAttempts(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{DeadLetters: sources.Patterns{Include: []string{"sns-*"}}})
	w.must(w.CreateQueue("sns-dlq", nil))
	w.Put("sns-dlq", sqstest.Message{Body: "x"})
	w.scan("sns-dlq")
	if l := w.only(); l.Attempts != nil || l.Origin.Queue != "" {
		t.Errorf("attempts %v, origin %q", show(l.Attempts), l.Origin.Queue)
	}
}

func TestTheClockOfAFIFOQueueIsNotExact(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	w.Put("dlq.fifo", sqstest.Message{Body: "x", Source: "work.fifo", Group: "g"})
	w.scan("dlq.fifo")
	if l := w.only(); l.ExpiryIs != "not before" {
		t.Errorf("expires %q", l.ExpiryIs)
	}
}

func TestDeeperLettersOfAFIFOGroupAreCounted(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	for i := range 40 {
		w.Put("dlq.fifo", sqstest.Message{Body: fmt.Sprintf("%02d", i), Source: "work.fifo", Group: "g"})
	}
	batch := w.scan("dlq.fifo")
	if len(w.letters) != 10 || !strings.HasPrefix(batch.Note, "10 of about 40:") {
		t.Errorf("%d letters, %q", len(w.letters), batch.Note)
	}
}

func TestBetweenSweepsNothingIsReceived(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{ScanEvery: 10 * time.Minute})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 2)
	w.scan("dlq")
	before := w.calls("ReceiveMessage", "dlq")
	w.scan("dlq")
	if n := w.calls("ReceiveMessage", "dlq"); n != before {
		t.Errorf("%d receives before the next sweep was due", n-before)
	}
	w.pass(10 * time.Minute)
	if w.scan("dlq"); w.calls("ReceiveMessage", "dlq") == before {
		t.Error("no sweep when it was due")
	}
	for id, l := range w.letters {
		if w.looks[id] != 2 {
			t.Errorf("%d looks at %s in two sweeps", w.looks[id], id)
		}
		wantInt(t, "attempts after two sweeps", l.Attempts, 3)
	}
}

// The same cursor again means that the store could not keep what it brought.
func TestAStepThatWasNotStoredBringsTheSameAgain(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 4)
	w.step("dlq")
	lost, err := w.DeadLetters(t.Context(), "dlq", w.cursor["dlq"], 1000)
	w.must(err)
	again, err := w.DeadLetters(t.Context(), "dlq", w.cursor["dlq"], 1000)
	w.must(err)
	if len(lost.Letters) != 4 || len(again.Letters) != 4 {
		t.Fatalf("%d letters, then %d", len(lost.Letters), len(again.Letters))
	}
	wantInt(t, "attempts", again.Letters[0].Attempts, 3)
}

func TestSomebodyElseHoldsLetters(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 11)
	other, err := sqs.New(w.config)
	w.must(err)
	t.Cleanup(other.Close)
	cursor := []byte(nil)
	for range 2 { // it holds ten
		b, err := other.DeadLetters(t.Context(), "dlq", cursor, 10)
		w.must(err)
		cursor = b.Next
	}
	batch := w.scan("dlq")
	if len(w.letters) != 1 || batch.Present != nil || !strings.Contains(batch.Note, "1 of about 11: somebody else holds") {
		t.Errorf("%d letters, present %v, %q", len(w.letters), batch.Present, batch.Note)
	}
}

// A redrive looks at the queue too, in the middle of a sweep. What it hides from
// the sweep is there, and must not be taken for gone.
func TestWhatARedriveLooksAtDuringASweepIsPresent(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 30)
	w.scan("dlq")
	w.pass(time.Hour)
	w.step("dlq") // a sweep begins
	wanted := w.parcels("work")[29:]
	_, _, err := w.Pack(t.Context(), wanted)
	w.must(err)
	if batch := w.scan("dlq"); batch.Present != nil && len(batch.Present) != 30 {
		t.Errorf("%d of 30 letters are said to be there", len(batch.Present))
	}
}
