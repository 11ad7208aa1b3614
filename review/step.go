package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/internal/failpoint"
	"github.com/unwedge/unwedge/sources"
)

const (
	// loadMost is how many letters are packed at a time, of a source that is not
	// Bulky: few enough that a pause is heeded soon.
	loadMost = 500
	// openMost is how many shipments are read that are not settled, and may be
	// unsettled before nothing more is sent.
	openMost = 100
	// sendGrace is how long a send that is under way may go on once the program
	// is told to stop: an answer that is waited for leaves nothing unknown.
	sendGrace = 5 * time.Second
	// sendLimit ends a send that hangs.
	sendLimit = time.Minute
	// lookAgain is how often a redrive that waits is looked at, when nobody wakes
	// the worker.
	lookAgain = time.Second
)

// step goes on with what is out, then sends the next load if the redrive may. It
// tells whether there is nothing more to do.
func (w *Worker) step(ctx context.Context, j *job) (done bool, err error) {
	s, err := w.Course.Standing(ctx, j.id)
	if err != nil {
		return false, err
	}
	if err := w.beginShift(ctx, j, s); err != nil {
		return false, err
	}
	out, err := w.Ledger.InFlight(ctx, j.id, openMost)
	if err != nil {
		return false, err
	}
	if len(out) > 0 || !s.maySend() {
		j.ahead = nil // something may have been planned again that stands before it
	}
	if j.mustGoOn(out) {
		return false, w.resume(ctx, j, out)
	}
	if s.maySend() && len(out) < openMost {
		return w.proceed(ctx, j, s, len(out) > 0)
	}
	if len(out) > 0 {
		pause(ctx, j.wake, min(lookAgain, time.Until(j.settleAt)))
		return false, nil
	}
	if s.Cancelling {
		return w.finish(ctx, j)
	}
	return true, nil // it is paused, or over
}

// maySend tells whether a redrive may begin shipments.
func (s Standing) maySend() bool {
	return (s.State == JobRunning || s.State == JobWaiting) && !s.Cancelling
}

// mustGoOn tells whether shipments are to be sent again or settled now.
func (j *job) mustGoOn(out []Dispatch) bool {
	sending := slices.ContainsFunc(out, func(d Dispatch) bool { return d.State == Sending })
	return sending || len(out) > 0 && !time.Now().Before(j.settleAt)
}

// finish ends a redrive of which nothing is left.
func (w *Worker) finish(ctx context.Context, j *job) (done bool, err error) {
	failpoint.Hit("redrive-finishing")
	done, err = w.Journal.FinishRedrive(ctx, j.id)
	failpoint.Hit("redrive-finished")
	w.changed(j.id)
	if err == nil && !done {
		err = errNotOver
	}
	return done, err
}

// errNotOver is a redrive that the worker finds nothing more to do for, and the
// ledger does not think to be over: it is looked at again after a while.
var errNotOver = errors.New("nothing of it is planned or out, and its counts say otherwise")

// proceed sends the next load, as far as pace and canaries allow.
func (w *Worker) proceed(ctx context.Context, j *job, s Standing, unsettled bool) (done bool, err error) {
	most, err := w.leave(ctx, j, s)
	if err != nil {
		return false, err
	}
	j.pace.limit(s.RatePerSecond)
	if left := j.pace.left(); most == 0 || left > 0 {
		if most == 0 || left > lookAgain {
			left = lookAgain
		}
		pause(ctx, j.wake, left)
		return false, nil
	}
	if s.RatePerSecond > 0 {
		most = min(most, j.pace.most())
	}
	load, again, err := w.nextLoad(ctx, j, most)
	switch {
	case err != nil || again:
		return false, err
	case load.weight() > 0:
		return false, w.send(ctx, j, load)
	case unsettled:
		pause(ctx, j.wake, min(lookAgain, time.Until(j.settleAt)))
		return false, nil
	}
	return w.finish(ctx, j)
}

func (l Load) weight() int { return len(l.Parcels) + len(l.Lost) }

// nextLoad reads what goes next. When it has gone through all it waits and
// begins again with those that were left for a later time, and says so.
func (w *Worker) nextLoad(ctx context.Context, j *job, most int) (load Load, again bool, err error) {
	if j.order.anew {
		j.beginAnew()
	}
	load, read := j.takeAhead(most)
	if !read {
		load, err = w.readNext(ctx, j, most)
	}
	if err != nil || load.weight() > 0 {
		again = j.inOrder(&load)
		return load, again, err
	}
	if j.after == 0 {
		return load, false, nil
	}
	if j.left > 0 {
		w.troubled(ctx, j.id, fmt.Errorf("%s could not be taken hold of yet: somebody else holds them", letters(j.left)), j.rounds == 0)
		pause(ctx, j.wake, backoff(j.rounds))
		j.rounds++
	}
	j.beginAnew()
	return load, true, nil
}

// readNext reads what goes next. Of another source than before it reads it
// again when it is more than that one may take.
func (w *Worker) readNext(ctx context.Context, j *job, most int) (Load, error) {
	load, err := w.Ledger.NextLoad(ctx, j.id, j.after, most)
	if err == nil && load.Source != j.source && load.weight() > loadMost {
		load, err = w.Ledger.NextLoad(ctx, j.id, j.after, loadMost)
	}
	return load, err
}

// leaveBehind lets letters that could not be taken hold of hold up none of
// those behind them. Letters of a partition or a message group stay in their
// order: those are not overtaken.
func (j *job) leaveBehind(load Load, shipments []sources.Shipment, refused map[string]error) error {
	taken := map[string]bool{}
	for _, s := range shipments {
		for _, item := range s.Items {
			taken[item] = true
		}
	}
	left, ordered := load.waiting, false
	for _, p := range load.Parcels {
		if !taken[p.Item] && refused[p.Item] == nil {
			left++
			j.order.wait(p)
			ordered = ordered || p.Target.Partition != nil
		}
	}
	if len(taken)+len(refused) > 0 {
		j.rounds = 0
	} else if ordered {
		return fmt.Errorf("none of the next %s could be made ready for %s yet", letters(len(load.Parcels)), load.Source)
	}
	if left > 0 && !ordered {
		j.after, j.left = load.Last, j.left+left
	}
	return nil
}

// send packs a load, writes it down, and sends it.
func (w *Worker) send(ctx context.Context, j *job, load Load) error {
	sender, unlock, err := w.sender(load.Source)
	if err != nil {
		return err
	}
	defer unlock()
	j.bulk(load.Source, sender)
	shipments, refused, err := w.pack(ctx, j, sender, load)
	if err == nil {
		err = j.leaveBehind(load, shipments, refused)
	}
	if err == nil && len(refused) > 0 {
		_, err = w.Journal.BeginShipments(ctx, j.id, load.Source, nil, refused)
		w.changed(j.id)
	}
	if err != nil {
		j.order.anew = true
		return halted(ctx, sender, shipments, err)
	}
	return w.sendWaves(ctx, j, sender, load.Source, waves(shipments))
}

// sendWaves sends waves of shipments one after the other. While one goes out the
// one before it is taken off its queue.
func (w *Worker) sendWaves(ctx context.Context, j *job, sender Sender, source string, all [][]sources.Shipment) error {
	var settling errgroup.Group
	settling.SetLimit(1)
	settled := make([]error, len(all))
	finish := func() {
		_ = settling.Wait() // errors are in settled
		w.settled(ctx, j, errors.Join(settled...))
	}
	for i, wave := range all {
		out, err := w.sendWave(ctx, j, sender, source, wave)
		settling.Go(func() error {
			settled[i] = w.settleAll(ctx, j.id, sender, out)
			return nil
		})
		if err != nil {
			finish()
			j.order.anew = true
			return halted(ctx, sender, slices.Concat(all[i:]...), err)
		}
	}
	finish()
	return nil
}

// settled notes whether what was sent could be taken off: if not, it is tried
// again later, and holds up nothing else.
func (w *Worker) settled(ctx context.Context, j *job, err error) {
	defer w.changed(j.id)
	if err == nil {
		j.settleAt, j.unsettle = time.Time{}, 0
		return
	}
	j.settleAt = time.Now().Add(backoff(j.unsettle))
	w.troubled(ctx, j.id, err, j.unsettle == 0)
	j.unsettle++
}

// releaseLimit is how long letting letters go may take.
const releaseLimit = 5 * time.Second

// halted lets letters go that are packed and not begun when the redrive was
// halted or the program ends. After any other error the next load takes them.
func halted(ctx context.Context, sender Sender, shipments []sources.Shipment, err error) error {
	halt := errors.Is(err, ErrHalted)
	if r, ok := sender.(Releaser); ok && len(shipments) > 0 && (halt || ctx.Err() != nil) {
		call, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
		defer stop()
		r.Release(call, shipments)
	}
	if halt {
		return nil
	}
	return err
}

// sendWave writes shipments down, sends them, and gives what is to be settled.
func (w *Worker) sendWave(ctx context.Context, j *job, sender Sender, source string, wave []sources.Shipment) ([]Dispatch, error) {
	failpoint.Hit("redrive-packed")
	numbers, err := w.Journal.BeginShipments(ctx, j.id, source, wave, nil)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("redrive-begun")
	out := make([]Dispatch, len(wave))
	for i, s := range wave {
		j.fresh[numbers[i]] = true
		out[i] = Dispatch{Number: numbers[i], Source: source, State: Sending, Shipment: s}
		j.pace.sent(len(s.Items))
	}
	next := w.readAhead(ctx, j, out)
	out, err = w.ship(ctx, j, sender, out)
	next.keep(j, out, err)
	return out, err
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
		errs = append(errs, w.carry(ctx, j, sender, list))
		unlock()
	}
	return errors.Join(errs...)
}

// carry sends what is to be sent, writes the receipts, then settles what was
// sent and writes that. Shipments that were out already are sent again only
// where the broker drops a second copy.
func (w *Worker) carry(ctx context.Context, j *job, sender Sender, out []Dispatch) error {
	out, err := w.ship(ctx, j, sender, out)
	if stuck := w.settleAll(ctx, j.id, sender, out); stuck != nil || err == nil {
		w.settled(ctx, j, stuck)
	}
	return err
}

// ship sends what is to be sent, writes the receipts, and gives what is to be
// settled: nothing when the receipts could not be written.
func (w *Worker) ship(ctx context.Context, j *job, sender Sender, out []Dispatch) ([]Dispatch, error) {
	defer w.changed(j.id)
	for i := range out {
		out[i].tries, out[i].again = j.tries[out[i].Number], !j.fresh[out[i].Number]
	}
	back, err := w.shipAll(ctx, j.id, sender, out)
	j.order.anew = j.order.anew || back
	for _, d := range out {
		j.tried(d)
	}
	if errors.Is(err, errNotWritten) {
		return nil, err
	}
	return out, err
}

// pack packs the parcels of a load, and adds what cannot be packed at all. On
// SQS that takes a while: a halt ends it.
func (w *Worker) pack(ctx context.Context, j *job, sender Sender, load Load) ([]sources.Shipment, map[string]error, error) {
	refused := map[string]error{}
	for item, err := range load.Lost {
		refused[item] = err
	}
	if len(load.Parcels) == 0 {
		return nil, refused, nil
	}
	call, stop := w.untilHalt(ctx, j)
	shipments, more, err := sender.Pack(call, load.Parcels)
	if stop() {
		err = ErrHalted
	} else if err != nil {
		err = fmt.Errorf("make letters ready for %s: %w", load.Source, err)
	}
	for item, err := range more {
		refused[item] = err
	}
	return shipments, refused, err
}

// untilHalt is a context that ends when the redrive may not send any more. The
// function that ends it in any case says whether that was so.
func (w *Worker) untilHalt(ctx context.Context, j *job) (context.Context, func() bool) {
	call, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			pause(call, j.wake, lookAgain)
			if call.Err() != nil {
				return
			}
			if s, err := w.Course.Standing(call, j.id); err == nil && !s.maySend() {
				cancel(ErrHalted)
			}
		}
	}()
	return call, func() bool {
		cancel(nil)
		<-watched
		return errors.Is(context.Cause(call), ErrHalted)
	}
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
