package sqs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// killInASweep runs a sweep until the middle of a step whose letters are never
// stored, and starts the program again after a while.
func killInASweep(w *world, after time.Duration) {
	w.t.Helper()
	w.step("dlq") // written down: a step begins
	_, err := w.DeadLetters(w.t.Context(), "dlq", w.cursor["dlq"], 10)
	w.must(err) // ten were looked at, and then: kill -9
	w.pass(after)
	w.restart()
}

// untilDue scans what an earlier run does not hide, until all that is left to
// do is to wait for the rest.
func (w *world) untilDue() {
	w.t.Helper()
	for !strings.Contains(string(w.cursor["dlq"]), `"due"`) {
		w.step("dlq")
	}
}

func (w *world) wantAttempts(n, attempts int) {
	w.t.Helper()
	if len(w.letters) != n {
		w.t.Errorf("%d of %d letters", len(w.letters), n)
	}
	for _, l := range w.letters {
		wantInt(w.t, "attempts of "+string(l.Body)+" (received "+l.System["ApproximateReceiveCount"]+" times)", l.Attempts, attempts)
	}
}

func TestLooksOfARunThatWasKilledAreNoAttempts(t *testing.T) {
	for name, after := range map[string]time.Duration{"restarted at once": 0, "restarted later": time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sqstest.Options{}, sqs.Config{})
			w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
			w.put("dlq", "work", 25)
			killInASweep(w, after)
			if after == 0 { // what the dead run holds turns visible in the end
				w.untilDue()
				w.pass(time.Minute)
			}
			w.scan("dlq")
			w.wantAttempts(25, 3)
		})
	}
}

// Without a policy that says how often the consumer may try, what stayed hidden
// after the crash tells what was looked at.
func TestLooksOfAKilledRunAreToldByWhatItHid(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 30, "work")) // and these gave up after three, by an older policy
	w.put("dlq", "work", 25)
	killInASweep(w, 0)
	w.untilDue()
	w.wantAttempts(15, 3)
	w.pass(time.Minute)
	w.scan("dlq")
	w.wantAttempts(25, 3)
}

func TestLooksOfARedriveAreNoAttempts(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 30, "work"))
	w.put("dlq", "work", 1)
	w.scan("dlq")
	w.put("dlq", "work", 8) // not seen by any sweep yet
	gone := w.parcels("work")
	gone[0].Place.MessageID = "taken-by-somebody"
	w.redrive(gone)
	w.pass(time.Hour)
	w.scan("dlq")
	w.wantAttempts(9, 3)
}

func TestAKilledSweepIsTakenUpWithoutLosingALetter(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 230)
	w.step("dlq")
	w.step("dlq") // a hundred are stored
	_, err := w.DeadLetters(t.Context(), "dlq", w.cursor["dlq"], 1000)
	w.must(err)
	w.restart()
	w.pass(time.Hour)
	batch := w.scan("dlq")
	w.wantAttempts(230, 3)
	if len(batch.Present) != 230 {
		t.Errorf("%d of 230 present", len(batch.Present))
	}
}
