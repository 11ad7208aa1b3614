package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// shop is one redrive in memory with a broker: its letters are numbered from 1,
// and all go to the queue "orders" of the source "payments".
type shop struct {
	t *testing.T

	mu        sync.Mutex
	standing  Standing
	finished  bool
	state     []ItemState // of letter 1 and those behind it
	shipments map[int64]Dispatch
	arrived   []arrival
	atWork    bool
	inFlight  int // the most shipments that were read at once

	packing  time.Duration // how long Pack takes
	held     map[string]bool
	settling error
	released []string
	consumes bool                  // the readers pass what arrives, a second later
	back     map[int]time.Duration // letters that come back, and when
	readers  []string
}

type arrival struct {
	item string
	at   time.Time
}

func newShop(t *testing.T, letters int, pace Pace) *shop {
	s := &shop{t: t, standing: Standing{State: JobRunning, Pace: pace}, shipments: map[int64]Dispatch{}, held: map[string]bool{}, back: map[int]time.Duration{}, readers: []string{"billing"}}
	s.state = slices.Repeat([]ItemState{Planning}, letters)
	return s
}

// run runs a worker on the redrive until the test, or what it gives, ends it.
func (s *shop) run(seen bool) (w *Worker, stop func()) {
	w, stop = s.runWith(Books{s, s, s, s, s}, s, seen)
	return w, stop
}

func (s *shop) runWith(b Books, sender Sender, seen bool) (w *Worker, stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	w = NewWorker(b, map[string]Sender{"payments": sender}, slog.New(slog.DiscardHandler))
	if seen {
		w.Readers = map[string]Receivers{"payments": s}
	}
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	return w, func() {
		cancel()
		done.Wait()
	}
}

func (s *shop) Receivers(context.Context, string) ([]sources.Receiver, error) {
	var all []sources.Receiver
	for _, name := range s.readers {
		all = append(all, sources.Receiver{Group: name})
	}
	return all, nil
}

func (s *shop) index(item string) int {
	var n int
	_, _ = fmt.Sscanf(item, "%d", &n) // the items are numbers
	return n - 1
}

func (s *shop) look(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// order does to the redrive what a person orders, and wakes the worker.
func (s *shop) order(w *Worker, f func(*Standing)) {
	s.look(func() { f(&s.standing) })
	w.Wake("rd_1")
}

func (s *shop) now() (state JobState, reason string, sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing.State, s.standing.Reason, len(s.arrived)
}

func (s *shop) Working(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished || s.standing.State == JobPaused && len(s.shipments) == 0 {
		return nil, nil
	}
	return []string{"rd_1"}, nil
}

func (s *shop) InFlight(_ context.Context, _ string, most int) ([]Dispatch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Dispatch
	for _, d := range s.shipments {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Dispatch) int { return int(a.Number - b.Number) })
	all = all[:min(most, len(all))]
	s.inFlight = max(s.inFlight, len(all))
	return all, nil
}

func (s *shop) NextLoad(_ context.Context, _ string, after int64, most int) (Load, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	load := Load{Source: "payments"}
	for i := int(after); i < len(s.state) && len(load.Parcels) < most; i++ {
		if s.state[i] == Planning {
			load.Parcels = append(load.Parcels, sources.Parcel{Item: fmt.Sprint(i + 1), Target: sources.Target{Queue: "orders"}})
			load.Last = int64(i + 1)
		}
	}
	return load, nil
}

func (s *shop) BeginShipments(_ context.Context, _, _ string, list []sources.Shipment, _ map[string]error) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.standing.maySend() {
		return nil, ErrHalted
	}
	var numbers []int64
	for _, sh := range list {
		n := int64(s.index(sh.Items[0]) + 1)
		s.shipments[n] = Dispatch{Number: n, Source: "payments", State: Sending, Shipment: sh}
		numbers = append(numbers, n)
		s.set(sh.Items, Sending)
	}
	return numbers, nil
}

func (s *shop) set(items []string, state ItemState) {
	for _, item := range items {
		s.state[s.index(item)] = state
	}
}

func (s *shop) RecordReceipts(_ context.Context, _ string, results []Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		d := s.shipments[r.Shipment]
		d.State, d.Receipts = Sent, r.Receipts
		s.shipments[r.Shipment] = d
		s.set(d.Items, Sent)
	}
	return nil
}

func (s *shop) RecordSettled(_ context.Context, _ string, results []Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		if r.Receipts[0].Err != nil {
			continue
		}
		for _, item := range s.shipments[r.Shipment].Items {
			i := s.index(item)
			s.state[i] = Confirmed
			if s.consumes {
				time.AfterFunc(time.Second, func() { s.look(func() { s.state[i] = ItemConsumed }) })
			}
			if after := s.back[i+1]; after > 0 {
				time.AfterFunc(after, func() { s.look(func() { s.state[i] = ItemReturned }) })
			}
		}
		delete(s.shipments, r.Shipment)
	}
	return nil
}

func (s *shop) FinishRedrive(context.Context, string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.state, Planning) || len(s.shipments) > 0 {
		return false, nil
	}
	s.finished, s.standing.State = true, JobDone
	return true, nil
}

func (s *shop) Standing(context.Context, string) (Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing, nil
}

func (s *shop) Steer(_ context.Context, _ string, was, now Standing) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standing.State != was.State || s.standing.Caution != was.Caution {
		return false, nil
	}
	s.standing = now
	return true, nil
}

func (s *shop) SetTrouble(context.Context, string, string) error { return nil }

func (s *shop) Counts(context.Context, string) (map[ItemState]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts(), nil
}

func (s *shop) counts() map[ItemState]int {
	counts := map[ItemState]int{}
	for _, state := range s.state {
		counts[state]++
	}
	return counts
}

func (s *shop) Pending(context.Context, string) ([]Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts()
	return []Pending{{Source: "payments", Queue: "orders", Out: n[Sending] + n[Sent], Unread: n[Confirmed]}}, nil
}

func (s *shop) CountCrashes(context.Context) ([]string, error) { return nil, nil }

func (s *shop) BeginShift(context.Context, string) error {
	s.look(func() { s.atWork = true })
	return nil
}

func (s *shop) EndShift(context.Context, string) error {
	s.look(func() { s.atWork = false })
	return nil
}

func (s *shop) ForgetCrashes(context.Context, string) error {
	s.look(func() { s.standing.Crashes = 0 })
	return nil
}

func (s *shop) Aim(context.Context, string, sources.DeadLetter) (sources.Target, string, error) {
	return sources.Target{}, "", errors.New("no plan is made here")
}

// Pack packs ten letters at a time; those that somebody holds are left.
func (s *shop) Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	wait(ctx, s.packing)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []string
	for _, p := range parcels {
		if !s.held[p.Item] {
			items = append(items, p.Item)
		}
	}
	var all []sources.Shipment
	for chunk := range slices.Chunk(items, 10) {
		all = append(all, sources.Shipment{Items: chunk, Target: sources.Target{Queue: "orders"}})
	}
	return all, nil, nil
}

func (s *shop) Release(_ context.Context, shipments []sources.Shipment) {
	s.look(func() {
		for _, sh := range shipments {
			s.released = append(s.released, sh.Items...)
		}
	})
}

// Ship takes 50 ms.
func (s *shop) Ship(ctx context.Context, sh sources.Shipment) ([]sources.Receipt, error) {
	wait(ctx, 50*time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	var receipts []sources.Receipt
	for _, item := range sh.Items {
		s.arrived = append(s.arrived, arrival{item, time.Now()})
		receipts = append(receipts, sources.Receipt{Item: item})
	}
	return receipts, nil
}

func (s *shop) Settle(_ context.Context, _ sources.Shipment, sent []sources.Receipt) ([]sources.Receipt, error) {
	settled := slices.Clone(sent)
	for i := range settled {
		settled[i].Err = s.settling
	}
	return settled, nil
}
