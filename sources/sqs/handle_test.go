package sqs_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

const expired = "Value abc== for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."

// TestC61ALetterWhoseReceiptHasExpiredIsReceivedAgain whichever way it is said:
// for the whole call, or for an entry, whosever fault that is.
func TestC61ALetterWhoseReceiptHasExpiredIsReceivedAgain(t *testing.T) {
	faults := map[string]sqstest.Fault{
		"the call":  {Status: http.StatusBadRequest, Code: "InvalidParameterValue", Message: expired},
		"an entry":  {Entries: map[int]sqstest.EntryFailed{0: {Code: "InvalidParameterValueException", Message: expired}}},
		"our fault": {Entries: map[int]sqstest.EntryFailed{0: {Code: "InvalidParameterValue", Message: expired, SenderFault: true}}},
		"invalid":   {Status: http.StatusBadRequest, Code: "InvalidReceiptHandle", Message: "no"},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			w := pair(t, sqstest.Options{}, 5)
			shipment, sent := w.sent(w.parcels("work"))
			times := 0
			w.SetFault(func(c sqstest.Call) *sqstest.Fault {
				if c.Action != "DeleteMessageBatch" || times == 2 {
					return nil
				}
				times++
				return &fault
			})
			before := w.calls("ReceiveMessage", "dlq")
			sent = w.settle(shipment, sent)
			if w.calls("ReceiveMessage", "dlq") == before {
				t.Error("nothing was received")
			}
			for range 4 {
				if sent = w.settle(shipment, sent); len(sent) == 0 {
					break
				}
				w.pass(longerThanAHold)
			}
			if left := w.bodies("dlq"); len(sent) > 0 || len(left) > 0 || len(w.Messages("work")) != 5 {
				t.Errorf("still sent: %v; in the dead-letter queue: %v", sent, left)
			}
		})
	}
}

const longerThanAHold = 61e9 // nanoseconds

// sent packs letters that are one shipment, and sends it.
func (w *world) sent(parcels []sources.Parcel) (sources.Shipment, []sources.Receipt) {
	w.t.Helper()
	shipments, refused, err := w.Pack(w.t.Context(), parcels)
	w.must(err)
	if len(shipments) != 1 {
		w.t.Fatalf("%d shipments, %v", len(shipments), refused)
	}
	receipts, err := w.Ship(w.t.Context(), shipments[0])
	w.must(err)
	for _, r := range receipts {
		w.must(r.Err)
	}
	return shipments[0], receipts
}

// settle settles what was sent, and gives the receipts of what is still there.
func (w *world) settle(shipment sources.Shipment, sent []sources.Receipt) (left []sources.Receipt) {
	w.t.Helper()
	settled, err := w.Settle(w.t.Context(), shipment, sent)
	w.must(err)
	for _, r := range settled {
		if r.Err != nil {
			r.Err = nil
			left = append(left, r)
		}
	}
	return left
}

// TestASentLetterBehindOthersOfItsGroupIsTakenOff: the program died before it took
// it off, and those in front of it in its group are nobody's to take.
func TestASentLetterBehindOthersOfItsGroupIsTakenOff(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	for i := range 20 {
		w.Put("dlq.fifo", sqstest.Message{Body: fmt.Sprintf("%03d", i), Source: "work.fifo", Receives: 3, Group: fmt.Sprint("g", i/5)})
	}
	w.scan("dlq.fifo")
	w.pass(longerThanAHold)
	all := w.parcels("work.fifo")
	shipment, sent := w.sent(all[13:14]) // three stand in front of it, and two whole groups
	w.restart()
	w.pass(longerThanAHold)
	if left := w.settle(shipment, sent); len(left) > 0 {
		t.Errorf("it is still there: %v", left)
	}
	if got := strings.Join(w.bodies("dlq.fifo"), " "); strings.Contains(got, "013") || len(w.Messages("dlq.fifo")) != 19 {
		t.Errorf("in the dead-letter queue: %s", got)
	}
}

// TestARefusedLetterIsLetGo: it is let go, so that its group goes on.
func TestARefusedLetterIsLetGo(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq.fifo", 3, "work.fifo"))
	for i := range 3 {
		w.Put("dlq.fifo", sqstest.Message{Body: fmt.Sprint(i), Source: "work.fifo", Receives: 3, Group: "g"})
	}
	w.scan("dlq.fifo")
	w.pass(longerThanAHold)
	w.SetFault(func(c sqstest.Call) *sqstest.Fault {
		if c.Action != "SendMessageBatch" {
			return nil
		}
		return &sqstest.Fault{Entries: map[int]sqstest.EntryFailed{0: {Code: "InvalidMessageContents", SenderFault: true}}}
	})
	o := w.redrive(w.parcels("work.fifo"))
	if len(o.failed) != 3 {
		t.Fatalf("%v", o)
	}
	w.SetFault(nil)
	w.restart() // who knows nothing of the holds of the other
	if o := w.redrive(w.parcels("work.fifo")); len(o.confirmed) != 3 {
		t.Errorf("after they were refused: %v", o)
	}
}
