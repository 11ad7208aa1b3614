package sqs_test

import (
	"testing"

	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// TestWorkQueuesAreCountedAndNeverReceivedFrom.
func TestWorkQueuesAreCountedAndNeverReceivedFrom(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a"))
	w.put("dlq", "a", 2)
	w.put("a", "", 5)
	list, err := w.Backlogs(t.Context())
	w.must(err)
	if len(list) != 1 || list[0].Queue != "a" || list[0].Visible != 5 || list[0].InFlight != 0 || list[0].FIFO || list[0].Err != nil || list[0].Visibility == 0 {
		t.Errorf("%+v", list)
	}
}
