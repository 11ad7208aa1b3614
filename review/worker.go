package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/unwedge/unwedge/internal/failpoint"
	"github.com/unwedge/unwedge/sources"
)

const (
	// loadMost is how many letters are packed at a time: enough for the batches
	// of a dozen partitions, few enough that a pause is heeded soon.
	loadMost = 500
	// sendGrace is how long a send that is under way may go on once the program
	// is told to stop: an answer that is waited for leaves nothing unknown.
	sendGrace = 5 * time.Second
	// sendLimit ends a send that hangs.
	sendLimit = time.Minute
)

// backoff is how long the worker waits before it tries again, by how often it
// has failed in a row.
func backoff(failures int) time.Duration {
	return min(30*time.Second, time.Second<<min(failures, 5))
}

// Dispatch is a shipment in the ledger that is not settled yet.
type Dispatch struct {
	Number int64 // in the ledger
	Source string
	State  ItemState // Sending or Sent
	sources.Shipment
	Receipts []sources.Receipt // of its items that were sent

	tries int // sends of this run whose outcome stayed open
}

// Load is what goes next: planned letters of one source.
type Load struct {
	Source  string
	Parcels []sources.Parcel
	// Lost are items whose letters cannot be sent any more, and why.
	Lost map[string]error
}

// Ledger is what the worker reads of the redrives.
type Ledger interface {
	// Working lists the redrives that are to be worked on.
	Working(ctx context.Context) ([]Redrive, error)
	// InFlight gives shipments of a redrive that are not settled, oldest first.
	InFlight(ctx context.Context, redrive string) ([]Dispatch, error)
	// NextLoad gives at most max planned letters of a redrive, in their order.
	NextLoad(ctx context.Context, redrive string, max int) (Load, error)
}

// Journal is what the worker writes. Each call is one transaction, synced to
// the disk when it returns, with the letters and the audit in it.
type Journal interface {
	// BeginShipments writes shipments with their bytes before they are sent, and fails the
	// items that can never be. It returns the shipments' numbers.
	BeginShipments(ctx context.Context, redrive, source string, shipments []sources.Shipment, refused map[string]error) ([]int64, error)
	// RecordReceipts writes what became of shipments: accepted items are sent, refused
	// ones failed, ambiguous ones unknown.
	RecordReceipts(ctx context.Context, redrive string, results []Result) error
	// RecordSettled writes which sent items are settled at their source: confirmed.
	RecordSettled(ctx context.Context, redrive string, results []Result) error
	// SetTrouble writes why the redrive does not get on just now; "" when it does.
	SetTrouble(ctx context.Context, redrive, text string) error
	// FinishRedrive ends it when nothing is left, and tells whether it has.
	FinishRedrive(ctx context.Context, redrive string) (bool, error)
}

// Result is what became of a shipment.
type Result struct {
	Shipment int64
	Receipts []sources.Receipt
}

// Worker sends the letters of redrives. What it is about to send is in the
// ledger, byte for byte, before it goes out; after a crash the very same bytes
// are sent again where the broker drops a second copy, and where it does not
// the outcome is unknown, never sent again.
type Worker struct {
	Ledger  Ledger
	Journal Journal
	Senders map[string]Sender // by source
	Log     *slog.Logger
	// Changed is called with the id of a redrive whose counts changed; may be nil.
	Changed func(id string)

	wake  chan struct{}
	mu    sync.Mutex
	busy  map[string]bool        // redrives with a goroutine
	locks map[string]*sync.Mutex // by source: one load of a source is out at a time
}

// NewWorker returns a worker that is to be run.
func NewWorker(l Ledger, j Journal, senders map[string]Sender, log *slog.Logger) *Worker {
	w := &Worker{Ledger: l, Journal: j, Senders: senders, Log: log, wake: make(chan struct{}, 1), busy: map[string]bool{}, locks: map[string]*sync.Mutex{}}
	for name := range senders {
		w.locks[name] = &sync.Mutex{}
	}
	return w
}

// Wake makes the worker look for new redrives at once.
func (w *Worker) Wake(string) {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run works on redrives until the context ends: first on those that an earlier
// run left.
func (w *Worker) Run(ctx context.Context) error {
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for ctx.Err() == nil {
		all, err := w.Ledger.Working(ctx)
		if err != nil && ctx.Err() == nil {
			w.Log.Error("the redrives could not be read", "error", err)
		}
		for _, r := range all {
			if w.claim(r.ID) {
				jobs.Go(func() {
					defer w.release(r.ID)
					w.job(ctx, r)
				})
			}
		}
		w.sleep(ctx, backoff(5))
	}
	return ctx.Err()
}

// sleep waits until somebody wakes the worker, or for so long.
func (w *Worker) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w.wake:
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *Worker) claim(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] {
		return false
	}
	w.busy[id] = true
	return true
}

func (w *Worker) release(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, id)
}

// job is a redrive that is being worked on.
type job struct {
	id       string
	pace     pacer
	settleAt time.Time     // when what could not be settled is tried again
	unsettle int           // how often that failed in a row
	tries    map[int64]int // by shipment: sends of this run whose outcome stayed open
}

// job works on one redrive until it ends or the context does. What fails is
// tried again, ever more slowly; the redrive says why it waits.
func (w *Worker) job(ctx context.Context, r Redrive) {
	j := &job{id: r.ID, pace: pacer{perSecond: r.RatePerSecond, next: time.Now()}, tries: map[int64]int{}}
	for failures := 0; ctx.Err() == nil; {
		done, err := w.step(ctx, j)
		if done || ctx.Err() != nil {
			return
		}
		if err == nil {
			failures = 0
			continue
		}
		w.troubled(ctx, r.ID, err, failures == 0)
		wait(ctx, backoff(failures))
		failures++
	}
}

// troubled says once why a redrive waits.
func (w *Worker) troubled(ctx context.Context, id string, cause error, first bool) {
	if first {
		w.Log.Warn("a redrive does not get on", "redrive", id, "error", cause)
	}
	if err := w.Journal.SetTrouble(ctx, id, cause.Error()); err != nil {
		w.Log.Error("the redrive's trouble could not be stored", "redrive", id, "error", err)
	}
	w.changed(id)
}

func (w *Worker) changed(id string) {
	if w.Changed != nil {
		w.Changed(id)
	}
}

// step goes on with what is out, then sends the next load. It tells whether the
// redrive has ended.
func (w *Worker) step(ctx context.Context, j *job) (done bool, err error) {
	out, err := w.Ledger.InFlight(ctx, j.id)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(out, func(d Dispatch) bool { return d.State == Sending }) {
		return false, w.resume(ctx, j, out)
	}
	if len(out) > 0 && !time.Now().Before(j.settleAt) {
		return false, w.resume(ctx, j, out)
	}
	if !j.pace.ready(ctx) {
		return false, nil
	}
	load, err := w.Ledger.NextLoad(ctx, j.id, j.pace.most())
	switch {
	case err != nil:
		return false, err
	case len(load.Parcels) > 0 || len(load.Lost) > 0:
		return false, w.send(ctx, j, load)
	case len(out) > 0:
		wait(ctx, min(time.Second, time.Until(j.settleAt)))
		return false, nil
	}
	failpoint.Hit("redrive-finishing")
	done, err = w.Journal.FinishRedrive(ctx, j.id)
	failpoint.Hit("redrive-finished")
	w.changed(j.id)
	return done, err
}

// send packs a load, writes it down, and sends it.
func (w *Worker) send(ctx context.Context, j *job, load Load) error {
	sender, unlock, err := w.sender(load.Source)
	if err != nil {
		return err
	}
	defer unlock()
	shipments, refused, err := pack(ctx, sender, load)
	if err != nil {
		return fmt.Errorf("make letters ready for %s: %w", load.Source, err)
	}
	if len(shipments) == 0 && len(refused) == 0 {
		return fmt.Errorf("none of the next %d letters could be taken hold of at %s yet", len(load.Parcels), load.Source)
	}
	if len(refused) > 0 {
		if _, err := w.Journal.BeginShipments(ctx, j.id, load.Source, nil, refused); err != nil {
			return err
		}
		w.changed(j.id)
	}
	for _, wave := range waves(shipments) {
		if err := w.sendWave(ctx, j, sender, load.Source, wave); err != nil {
			return err
		}
	}
	return nil
}

// sendWave writes shipments down, and sends them.
func (w *Worker) sendWave(ctx context.Context, j *job, sender Sender, source string, wave []sources.Shipment) error {
	failpoint.Hit("redrive-packed")
	numbers, err := w.Journal.BeginShipments(ctx, j.id, source, wave, nil)
	if err != nil {
		return err
	}
	failpoint.Hit("redrive-begun")
	out := make([]Dispatch, len(wave))
	for i, s := range wave {
		out[i] = Dispatch{Number: numbers[i], Source: source, State: Sending, Shipment: s}
		j.pace.sent(len(s.Items))
	}
	return w.carry(ctx, j, sender, out, false)
}

// resume goes on with what an earlier step or an earlier run has left out.
func (w *Worker) resume(ctx context.Context, j *job, out []Dispatch) error {
	bySource := map[string][]Dispatch{}
	for _, d := range out {
		bySource[d.Source] = append(bySource[d.Source], d)
	}
	var errs []error
	for source, list := range bySource {
		sender, unlock, err := w.sender(source)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, w.carry(ctx, j, sender, list, true))
		unlock()
	}
	return errors.Join(errs...)
}

// carry sends what is to be sent, writes the receipts, then settles what was
// sent and writes that. Shipments that were out already are sent again only
// where the broker drops a second copy. That something could not be settled
// holds up nothing else: it is tried again later.
func (w *Worker) carry(ctx context.Context, j *job, sender Sender, out []Dispatch, again bool) error {
	defer w.changed(j.id)
	for i := range out {
		out[i].tries = j.tries[out[i].Number]
	}
	shipErr := w.shipAll(ctx, j.id, sender, out, again)
	for _, d := range out {
		if delete(j.tries, d.Number); d.State == Sending {
			j.tries[d.Number] = d.tries + 1
		}
	}
	if errors.Is(shipErr, errNotWritten) {
		return shipErr
	}
	if err := w.settleAll(ctx, j.id, sender, out); err != nil {
		j.settleAt = time.Now().Add(backoff(j.unsettle))
		w.troubled(ctx, j.id, err, j.unsettle == 0)
		j.unsettle++
	} else if !again || shipErr == nil {
		j.settleAt, j.unsettle = time.Time{}, 0
	}
	return shipErr
}

// pack packs the parcels of a load, and adds what cannot be packed at all.
func pack(ctx context.Context, sender Sender, load Load) ([]sources.Shipment, map[string]error, error) {
	refused := map[string]error{}
	for item, err := range load.Lost {
		refused[item] = err
	}
	if len(load.Parcels) == 0 {
		return nil, refused, nil
	}
	shipments, more, err := sender.Pack(ctx, load.Parcels)
	for item, err := range more {
		refused[item] = err
	}
	return shipments, refused, err
}

// sender is the sender of a source, which nobody else uses until it is unlocked:
// the broker remembers the last five batches of a producer only, and a letter
// that another redrive holds looks as if it were gone.
func (w *Worker) sender(source string) (Sender, func(), error) {
	s := w.Senders[source]
	if s == nil {
		return nil, nil, fmt.Errorf("source %s is not configured any more", source)
	}
	w.locks[source].Lock()
	return s, w.locks[source].Unlock, nil
}
