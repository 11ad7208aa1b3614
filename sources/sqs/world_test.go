package sqs_test

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// world is a server with our source on it, and what a store would keep.
type world struct {
	*sqstest.Server
	*sqs.Source
	t        *testing.T
	config   sqs.Config
	ahead    atomic.Int64 // nanoseconds; timers of a source read the clock too
	cursor   map[string][]byte
	letters  map[string]sources.DeadLetter // by message id, as first seen
	looks    map[string]int
	last     sources.Batch
	endpoint string
}

func newWorld(t *testing.T, o sqstest.Options, c sqs.Config) *world {
	t.Helper()
	t.Parallel()
	w := &world{Server: sqstest.New(o), t: t, cursor: map[string][]byte{}, letters: map[string]sources.DeadLetter{}, looks: map[string]int{}}
	w.endpoint = w.Start(t)
	c.Name, c.Region, c.Endpoint = "aws", "us-east-1", cmp.Or(c.Endpoint, w.endpoint)
	w.config = c
	w.restart()
	return w
}

// restart is a new run of the program, with what the store has kept. The old
// one is gone as after kill -9: it releases nothing.
func (w *world) restart() {
	w.t.Helper()
	s, err := sqs.New(w.config)
	w.must(err)
	s.SetNow(func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) })
	w.t.Cleanup(s.Close)
	w.Source = s
}

// pass moves the clocks of both. A real server has its own, and a look at its
// queue takes a second.
func (w *world) pass(d time.Duration) {
	if w.Server == nil {
		return
	}
	w.ahead.Add(int64(d))
	w.Advance(d)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// step looks once and keeps what it brought, as the collector does.
func (w *world) step(queue string) sources.Batch {
	w.t.Helper()
	batch, err := w.DeadLetters(w.t.Context(), queue, w.cursor[queue], 1000)
	w.must(err)
	w.keep(queue, batch)
	return batch
}

func (w *world) keep(queue string, batch sources.Batch) {
	for _, l := range batch.Letters {
		if _, known := w.letters[l.Place.MessageID]; !known {
			w.letters[l.Place.MessageID] = l
		}
		w.looks[l.Place.MessageID] += l.Looks
	}
	w.cursor[queue], w.last = batch.Next, batch
}

// scan looks until there is nothing more.
func (w *world) scan(queue string) sources.Batch {
	w.t.Helper()
	for {
		if batch := w.step(queue); !batch.More {
			return batch
		}
	}
}

func (w *world) only() sources.DeadLetter {
	w.t.Helper()
	if len(w.letters) != 1 {
		w.t.Fatalf("%d letters, want one: %v", len(w.letters), w.letters)
	}
	for _, l := range w.letters {
		return l
	}
	panic("unreachable")
}

// parcels are all letters, made ready to go to a queue, in the order of their
// bodies.
func (w *world) parcels(to string) []sources.Parcel {
	var out []sources.Parcel
	for id, l := range w.letters {
		out = append(out, sources.Parcel{
			Item: "item-" + id, Place: l.Place, Queue: l.Queue, Target: sources.Target{Queue: to},
			Body: l.Body, Headers: l.Headers, System: l.System,
		})
	}
	slices.SortFunc(out, func(a, b sources.Parcel) int { return strings.Compare(string(a.Body), string(b.Body)) })
	return out
}

// outcome is what became of a redrive, by body of the letter.
type outcome struct {
	confirmed []string
	failed    map[string]error
}

// redrive packs, ships and settles, as the worker does.
func (w *world) redrive(parcels []sources.Parcel) outcome {
	w.t.Helper()
	bodies, waiting := map[string]string{}, map[string]sources.Parcel{}
	for _, p := range parcels {
		bodies[p.Item], waiting[p.Item] = string(p.Body), p
	}
	o := outcome{failed: map[string]error{}}
	for tries, hidden := 0, 0; len(waiting) > 0 && tries < 20 && hidden < 8; tries++ {
		var rest []sources.Parcel
		for _, p := range parcels {
			if _, still := waiting[p.Item]; still {
				rest = append(rest, p)
			}
		}
		shipments, refused, err := w.Pack(w.t.Context(), rest)
		w.must(err)
		if len(shipments)+len(refused) == 0 { // they wait for something
			hidden++
			w.pass(2 * time.Second)
		}
		for item, why := range refused {
			o.failed[bodies[item]] = why
			delete(waiting, item)
		}
		for _, s := range shipments {
			w.carry(s, bodies, &o)
			for _, item := range s.Items {
				delete(waiting, item)
			}
		}
	}
	return o
}

func (w *world) carry(s sources.Shipment, bodies map[string]string, o *outcome) {
	w.t.Helper()
	receipts, err := w.Ship(w.t.Context(), s)
	if err != nil {
		for _, item := range s.Items {
			o.failed[bodies[item]] = err
		}
		return
	}
	var sent []sources.Receipt
	for _, r := range receipts {
		if r.Err != nil {
			o.failed[bodies[r.Item]] = r.Err
		} else {
			sent = append(sent, r)
		}
	}
	settled, err := w.Settle(w.t.Context(), s, sent)
	w.must(err)
	for _, r := range settled {
		if r.Err != nil {
			o.failed[bodies[r.Item]] = r.Err
		} else {
			o.confirmed = append(o.confirmed, bodies[r.Item])
		}
	}
}

func (w *world) bodies(queue string) []string {
	var out []string
	for _, m := range w.Messages(queue) {
		out = append(out, m.Body)
	}
	return out
}

func (w *world) calls(action, queue string) int {
	n := 0
	for _, c := range w.Calls() {
		if c.Action == action && (queue == "*" || c.Queue == queue) {
			n++
		}
	}
	return n
}

// put puts n letters into a dead-letter queue, whose consumer tried three
// times.
func (w *world) put(queue, source string, n int) {
	for i := range n {
		w.Put(queue, sqstest.Message{Body: fmt.Sprintf("%03d", i), Source: source, Receives: 3})
	}
}

// proxy serves the world's server behind a handler of the test's own.
func (w *world) proxy(wrap func(*sqstest.Server) *httptest.Server) {
	server := wrap(w.Server)
	w.t.Cleanup(server.Close)
	w.config.Endpoint = server.URL
	w.restart()
}

func wantInt(t *testing.T, what string, got *int, want int) {
	t.Helper()
	if got == nil || *got != want {
		t.Errorf("%s: %v, want %d", what, show(got), want)
	}
}

func show(n *int) any {
	if n == nil {
		return "not known"
	}
	return *n
}
