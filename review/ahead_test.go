package review

import (
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// A load is never larger than what went before it: a redrive that goes wrong is
// stopped before much more went. A source that says nothing gets small loads.
func TestLoadsGrowWithWhatWent(t *testing.T) {
	for _, c := range []struct{ bulky, tried, want int }{
		{0, 1_000_000, loadMost}, {5000, 0, loadMost}, {5000, 1200, 1200}, {5000, 1_000_000, 5000},
	} {
		if got := (&job{bulky: c.bulky}).loadSize(Sums{Tried: c.tried}); got != c.want {
			t.Errorf("a source of %d, %d tried: %d letters, want %d", c.bulky, c.tried, got, c.want)
		}
	}
}

// What was read ahead is dropped when something before it did not arrive: it may
// be planned again, and stands before it on its partition.
func TestReadAheadIsDroppedBehindWhatDidNotArrive(t *testing.T) {
	arrived := Dispatch{State: Sent, Shipment: sources.Shipment{Items: []string{"1"}}, Receipts: []sources.Receipt{{Item: "1"}}}
	open, refused := arrived, arrived
	open.State, refused.Receipts = Sending, nil
	for _, c := range []struct {
		name string
		out  []Dispatch
		err  error
		want bool
	}{
		{"all arrived", []Dispatch{arrived, arrived}, nil, true},
		{"one is open", []Dispatch{arrived, open}, nil, false},
		{"one was refused", []Dispatch{refused, arrived}, nil, false},
		{"not written down", []Dispatch{arrived}, errNotWritten, false},
	} {
		j := &job{}
		a := &ahead{load: Load{Parcels: []sources.Parcel{{Item: "2"}}}, read: make(chan struct{})}
		close(a.read)
		a.keep(j, c.out, c.err)
		if _, kept := j.takeAhead(loadMost); kept != c.want {
			t.Errorf("%s: kept %v", c.name, kept)
		}
	}
}
