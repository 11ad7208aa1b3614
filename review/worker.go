package review

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// backoff is how long the worker waits before it tries again, by how often it
// has failed in a row.
func backoff(failures int) time.Duration {
	return min(30*time.Second, time.Second<<min(failures, 5))
}

// provenRun is how long a run of the program must have worked on a redrive
// before the crashes of earlier runs count no more.
const provenRun = 10 * time.Minute

// Books are what the worker reads and writes, each by what it is for.
type Books struct {
	Ledger  Ledger
	Journal Journal
	Course  Course
	Fates   Fates
	Shifts  Shifts
}

// Worker sends the letters of redrives. What it is about to send is in the
// ledger, byte for byte, before it goes out; after a crash the very same bytes
// are sent again where the broker drops a second copy, and where it does not
// the outcome is unknown, never sent again.
type Worker struct {
	Books
	Senders map[string]Sender // by source
	// Readers are the sources that know who reads their queues, by name. Canaries
	// on any other are watched for a while, since nobody can tell who took them.
	Readers map[string]Receivers
	// Returns says how long letters take to come back; nil: nobody knows.
	Returns Returns
	Log     *slog.Logger
	// Changed is called with the id of a redrive whose counts changed; may be nil.
	Changed func(id string)

	wake  chan struct{}
	mu    sync.Mutex
	jobs  map[string]*job        // redrives with a goroutine
	locks map[string]*sync.Mutex // by source: one load of a source is out at a time
}

// NewWorker returns a worker that is to be run.
func NewWorker(b Books, senders map[string]Sender, log *slog.Logger) *Worker {
	w := &Worker{Books: b, Senders: senders, Log: log, wake: make(chan struct{}, 1), jobs: map[string]*job{}, locks: map[string]*sync.Mutex{}}
	for name := range senders {
		w.locks[name] = &sync.Mutex{}
	}
	return w
}

// Wake makes the worker look at a redrive at once: it is new, or got an order.
func (w *Worker) Wake(id string) {
	w.mu.Lock()
	j := w.jobs[id]
	w.mu.Unlock()
	if j != nil {
		poke(j.wake)
	}
	poke(w.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run works on redrives until the context ends: first on those that an earlier
// run left.
func (w *Worker) Run(ctx context.Context) error {
	var jobs sync.WaitGroup
	defer jobs.Wait()
	w.countCrashes(ctx)
	for ctx.Err() == nil {
		all, err := w.Ledger.Working(ctx)
		if err != nil && ctx.Err() == nil {
			w.Log.Error("the redrives could not be read", "error", err)
		}
		for _, id := range all {
			if j := w.claim(id); j != nil {
				jobs.Go(func() {
					defer w.release(id)
					w.job(ctx, j)
				})
			}
		}
		pause(ctx, w.wake, backoff(5))
	}
	return ctx.Err()
}

// countCrashes tells the redrives that an earlier run of the program did not
// end well while it worked on them, before any of them is worked on.
func (w *Worker) countCrashes(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		stopped, err := w.Shifts.CountCrashes(ctx)
		if err == nil {
			for _, id := range stopped {
				w.Log.Warn("a redrive stays paused: the program crashed again and again while it was at work", "redrive", id)
				w.changed(id)
			}
			return
		}
		w.Log.Error("what an earlier run left could not be read", "error", err)
		pause(ctx, nil, backoff(failures))
	}
}

// pause waits for so long, or until it is woken or the context ends.
func pause(ctx context.Context, wake <-chan struct{}, d time.Duration) {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-wake:
	case <-t.C:
	case <-ctx.Done():
	}
}

// claim takes a redrive that nobody works on; nil when somebody does.
func (w *Worker) claim(id string) *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jobs[id] != nil {
		return nil
	}
	j := &job{id: id, wake: make(chan struct{}, 1), pace: pacer{next: time.Now()}, tries: map[int64]int{}, fresh: map[int64]bool{}, named: map[string]naming{}}
	w.jobs[id] = j
	return j
}

// release lets a redrive go, and looks whether it was resumed at that moment.
func (w *Worker) release(id string) {
	w.mu.Lock()
	delete(w.jobs, id)
	w.mu.Unlock()
	poke(w.wake)
}

// job is a redrive that is being worked on.
type job struct {
	id       string
	wake     chan struct{}
	began    time.Time // when this run began to work on it
	pace     pacer
	settleAt time.Time     // when what could not be settled is tried again
	unsettle int           // how often that failed in a row
	tries    map[int64]int // by shipment: sends of this run whose outcome stayed open
	after    int64         // place in its order behind which it goes on: some of those before were left for later
	left     int           // how many
	order    order
	fresh    map[int64]bool // shipments that this run wrote down and has not begun to send
	rounds   int            // how often it has gone through those in a row without getting any
	named    map[string]naming
	source   string // of the last load
	bulky    int    // how many of its letters may go at a time; 0: it is not Bulky
	ahead    *ahead // what was read ahead; nil: nothing
}

// job works on one redrive until it ends, or there is nothing to do while it is
// paused, or the context ends. What fails is tried again, ever more slowly; the
// redrive says why it waits.
func (w *Worker) job(ctx context.Context, j *job) {
	defer w.endShift(ctx, j)
	for failures := 0; ctx.Err() == nil; {
		done, err := w.step(ctx, j)
		if done || ctx.Err() != nil {
			return
		}
		if err == nil {
			failures = 0
			continue
		}
		w.troubled(ctx, j.id, err, failures == 0)
		pause(ctx, j.wake, backoff(failures))
		failures++
	}
}

// beginShift marks that this run works on a redrive. A mark that the next run
// finds means that this one died at its work.
func (w *Worker) beginShift(ctx context.Context, j *job, s Standing) error {
	if j.began.IsZero() {
		if err := w.Shifts.BeginShift(ctx, j.id); err != nil {
			return err
		}
		j.began = time.Now()
	}
	if s.Crashes > 0 && time.Since(j.began) >= provenRun {
		return w.Shifts.ForgetCrashes(ctx, j.id)
	}
	return nil
}

func (w *Worker) endShift(ctx context.Context, j *job) {
	if j.began.IsZero() {
		return
	}
	if err := w.Shifts.EndShift(context.WithoutCancel(ctx), j.id); err != nil {
		w.Log.Error("it could not be stored that a redrive rests: if the program ends now it counts as a crash", "redrive", j.id, "error", err)
	}
}

// troubled says once why a redrive waits.
func (w *Worker) troubled(ctx context.Context, id string, cause error, first bool) {
	if first {
		w.Log.Warn("a redrive does not get on", "redrive", id, "error", cause)
	}
	if err := w.Course.SetTrouble(ctx, id, cause.Error()); err != nil {
		w.Log.Error("the redrive's trouble could not be stored", "redrive", id, "error", err)
	}
	w.changed(id)
}

func (w *Worker) changed(id string) {
	if w.Changed != nil {
		w.Changed(id)
	}
}
