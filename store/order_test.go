package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// TestWhatStandsBehindAnUnknownLetterOfItsGroupIsNotSent: it would overtake it.
// Other groups go on, and so does the same group of another redrive.
func TestWhatStandsBehindAnUnknownLetterOfItsGroupIsNotSent(t *testing.T) {
	o := newOffice(t, true)
	list := o.messages(8)
	for i := range list {
		list[i].Queue, list[i].System["MessageGroupId"] = "jobs-dlq.fifo", fmt.Sprint("g", i%2)
	}
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	job := o.start(t, ids[:6])
	load, err := o.NextLoad(t.Context(), job.ID, 0, 3)
	must(t, err)
	var items []string
	for _, p := range load.Parcels {
		items = append(items, p.Item)
	}
	numbers, err := o.BeginShipments(t.Context(), job.ID, load.Source, []sources.Shipment{{Items: items}}, nil)
	must(t, err)
	outcomes := []sources.Receipt{{Item: items[0], MessageID: "x"}, {Item: items[1], Err: sources.ErrAmbiguous}, {Item: items[2], MessageID: "y"}}
	must(t, o.RecordReceipts(t.Context(), job.ID, []review.Result{{Shipment: numbers[0], Receipts: outcomes}}))
	load, err = o.NextLoad(t.Context(), job.ID, 0, 100)
	must(t, err)
	if len(load.Parcels) != 1 || load.Parcels[0].System["MessageGroupId"] != "g0" || len(load.Lost) != 2 {
		t.Errorf("%d go next, %v are lost", len(load.Parcels), load.Lost)
	}
	other := o.start(t, ids[6:])
	if load, err = o.NextLoad(t.Context(), other.ID, 0, 100); err != nil || len(load.Parcels) != 2 {
		t.Errorf("of the other redrive %d go, %v", len(load.Parcels), err)
	}
}
