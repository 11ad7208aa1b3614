package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/internal/failpoint"
	"github.com/unwedge/unwedge/sources"
)

// lanes is how many shipments are out at the same time. Those of one line go
// one after the other, in their order.
const lanes = 8

// doubtsMost is how often a shipment is sent again because the answer leaves
// open whether some of it arrived. A second copy tells as a rule; what stays
// open then is unknown.
const doubtsMost = 3

// errNotWritten is an outcome that the ledger does not have: nothing that rests
// on it may happen.
var errNotWritten = errors.New("what became of a send could not be written down")

// shipAll ships what is in state sending and writes the receipts. Shipments
// whose outcome is open stay as they are, to be sent again. It tells whether some
// letters are planned again.
func (w *Worker) shipAll(ctx context.Context, id string, sender Sender, out []Dispatch) (back bool, err error) {
	call, stop := outlive(ctx)
	defer stop()
	got := outcomes{full: make(chan struct{}, 1)}
	written := make(chan error, 1)
	go func() {
		var errs []error
		for range got.full {
			errs = append(errs, w.record(ctx, id, got.take()))
		}
		written <- errors.Join(errs...)
	}()
	var all errgroup.Group
	all.SetLimit(lanes)
	for _, line := range byLine(out) {
		all.Go(func() error {
			got.shipLine(call, sender, line)
			return nil
		})
	}
	_ = all.Wait() // errors are among the outcomes
	close(got.full)
	err = <-written
	failpoint.Hit("redrive-sent")
	if err = errors.Join(err, w.record(ctx, id, got.take())); err != nil {
		return got.back, errors.Join(errNotWritten, err)
	}
	failpoint.Hit("redrive-received")
	return got.back, errors.Join(got.errs...)
}

// record writes receipts, if there are any.
func (w *Worker) record(ctx context.Context, id string, results []Result) error {
	if len(results) == 0 {
		return nil
	}
	return w.Journal.RecordReceipts(context.WithoutCancel(ctx), id, results)
}

// recordMost is how many receipts wait for the last shipment of a load before
// they are written down while the others are out.
const recordMost = 1000

// outcomes are what became of shipments that were out at the same time.
type outcomes struct {
	mu      sync.Mutex
	results []Result // that are not written yet
	pending int      // receipts in them
	full    chan struct{}
	errs    []error
	back    bool // some letters are planned again
}

// take gives what is to be written, once.
func (o *outcomes) take() []Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	results := o.results
	o.results, o.pending = nil, 0
	return results
}

// shipLine ships the shipments of a line in their order, until one of them is
// open: what follows waits for it. When letters of one go later, or nobody can
// tell whether they arrived, what follows is planned again behind them, as far as
// it cannot have been sent yet.
func (o *outcomes) shipLine(ctx context.Context, sender Sender, line []*Dispatch) {
	for i, d := range line {
		receipts, err := shipOne(ctx, sender, *d)
		d.again = true
		failpoint.Hit("redrive-sent-one")
		if err == nil {
			d.State, d.Receipts = Sent, accepted(receipts)
			err = notSent(receipts)
		}
		o.add(d.Number, receipts, err)
		back := slices.ContainsFunc(receipts, goesLater)
		if back || err == nil && inDoubt(receipts) {
			o.holdBack(line[i+1:])
		}
		if back || err != nil {
			return
		}
	}
}

// holdBack plans shipments again that have not been sent yet: what stands before
// them on their line goes later, and they go behind it.
func (o *outcomes) holdBack(line []*Dispatch) {
	for _, d := range line {
		if d.again {
			continue
		}
		d.State = Sent
		o.add(d.Number, failed(d.Items, ErrNotSent), nil)
	}
}

func (o *outcomes) add(shipment int64, receipts []sources.Receipt, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.back = o.back || slices.ContainsFunc(receipts, goesLater)
	if receipts != nil {
		o.results = append(o.results, Result{shipment, receipts})
		if o.pending += len(receipts); o.full != nil && o.pending >= recordMost {
			poke(o.full)
		}
	}
	if err != nil {
		o.errs = append(o.errs, err)
	}
}

// outlive is a context that goes on for a while after another has ended, so
// that a send that is under way can hear its answer.
func outlive(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendLimit)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(sendGrace, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// byLine groups shipments that are to be sent by the partition that they go to,
// in their order. Where the broker recognises no second copy it keeps no order
// either, and each goes by itself.
func byLine(out []Dispatch) map[string][]*Dispatch {
	lines := map[string][]*Dispatch{}
	for i := range out {
		d := &out[i]
		if d.State != Sending {
			continue
		}
		name := d.Target.Queue
		switch {
		case !sure(d.Shipment):
			name = fmt.Sprintf("%s #%d", name, d.Number)
		case d.Target.Partition != nil:
			name = fmt.Sprintf("%s/%d", name, *d.Target.Partition)
		}
		lines[name] = append(lines[name], d)
	}
	return lines
}

// sure tells whether a shipment may be sent again after a crash.
func sure(s sources.Shipment) bool { return s.Traceable || !s.RepeatUntil.IsZero() }

// waves are shipments that are written down together before the first of them
// is sent. Those that could not be sent again after a crash are few at a time:
// each of them would then be unknown.
func waves(shipments []sources.Shipment) [][]sources.Shipment {
	var all [][]sources.Shipment
	var together, unsure []sources.Shipment
	for _, s := range shipments {
		if !sure(s) {
			unsure = append(unsure, s)
		} else {
			together = append(together, s)
		}
	}
	if len(together) > 0 {
		all = append(all, together)
	}
	return slices.AppendSeq(all, slices.Chunk(unsure, lanes))
}

// shipOne ships one shipment. An error means that its outcome is open and that
// the same bytes are to be sent again; receipts are final.
func shipOne(ctx context.Context, sender Sender, d Dispatch) ([]sources.Receipt, error) {
	if d.again && d.RepeatUntil.IsZero() && !d.Traceable {
		return unknown(d.Items, sources.ErrAmbiguous), nil
	}
	d.Repeated = d.again
	repeatable := d.Traceable || time.Now().Before(d.RepeatUntil)
	receipts, err := sender.Ship(ctx, d.Shipment)
	if err == nil && repeatable && d.tries < doubtsMost && inDoubt(receipts) {
		err = sources.ErrAmbiguous
	}
	if err == nil {
		return complete(d.Items, receipts), nil
	}
	doubt := d.again || errors.Is(err, sources.ErrAmbiguous) || ctx.Err() != nil
	switch {
	case final(err) && !doubt:
		return failed(d.Items, err), nil
	case final(err):
		return unknown(d.Items, err), nil
	case repeatable, !d.RepeatUntil.IsZero() && !errors.Is(err, sources.ErrAmbiguous):
		return nil, fmt.Errorf("send letters to %s: %w", d.Target.Queue, err)
	case doubt:
		return unknown(d.Items, err), nil
	}
	return failed(d.Items, fmt.Errorf("%w: %w", ErrNotSent, err)), nil
}

// ErrNotSent marks the receipt of an item of which nothing went out: it is
// planned again, and goes when its source is well.
var ErrNotSent = sources.ErrNotSent

// final tells whether sending the same again would not help.
func final(err error) bool {
	return errors.Is(err, sources.ErrNoSuchQueue) || errors.Is(err, sources.ErrNotAuthorised) || errors.Is(err, sources.ErrTooLarge)
}

func inDoubt(receipts []sources.Receipt) bool {
	return slices.ContainsFunc(receipts, func(r sources.Receipt) bool { return errors.Is(r.Err, sources.ErrAmbiguous) })
}

// complete has a receipt for every item: one that the source forgot is unknown.
func complete(items []string, receipts []sources.Receipt) []sources.Receipt {
	for _, item := range items {
		if !slices.ContainsFunc(receipts, func(r sources.Receipt) bool { return r.Item == item }) {
			receipts = append(receipts, sources.Receipt{Item: item, Err: sources.ErrAmbiguous})
		}
	}
	return receipts
}

func unknown(items []string, err error) []sources.Receipt {
	if !errors.Is(err, sources.ErrAmbiguous) {
		err = fmt.Errorf("%w: %w", sources.ErrAmbiguous, err)
	}
	return failed(items, err)
}

func failed(items []string, err error) []sources.Receipt {
	receipts := make([]sources.Receipt, len(items))
	for i, item := range items {
		receipts[i] = sources.Receipt{Item: item, Err: err}
	}
	return receipts
}

func goesLater(r sources.Receipt) bool { return errors.Is(r.Err, ErrNotSent) }

// notSent is the error of receipts of which nothing went out because the source
// is not well.
func notSent(receipts []sources.Receipt) error {
	for _, r := range receipts {
		if goesLater(r) && !errors.Is(r.Err, sources.ErrRepack) {
			return r.Err
		}
	}
	return nil
}

func accepted(receipts []sources.Receipt) []sources.Receipt {
	var all []sources.Receipt
	for _, r := range receipts {
		if r.Err == nil {
			all = append(all, r)
		}
	}
	return all
}

// settleAll takes what was sent off the queues that it lay in. What could not
// be taken off yet stays sent, and is tried again.
func (w *Worker) settleAll(ctx context.Context, id string, sender Sender, out []Dispatch) error {
	call, stop := outlive(ctx)
	defer stop()
	var got outcomes
	var all errgroup.Group
	all.SetLimit(lanes)
	for _, d := range out {
		if d.State == Sent && len(d.Receipts) > 0 {
			all.Go(func() error {
				got.settleOne(call, sender, d)
				return nil
			})
		}
	}
	_ = all.Wait() // errors are among the outcomes
	results, errs := got.results, got.errs
	failpoint.Hit("redrive-taken-off")
	if len(results) > 0 {
		if err := w.Journal.RecordSettled(context.WithoutCancel(ctx), id, results); err != nil {
			errs = append(errs, err)
		}
	}
	failpoint.Hit("redrive-confirmed")
	return errors.Join(errs...)
}

// settleOne takes what was sent of a shipment off its queue.
func (o *outcomes) settleOne(ctx context.Context, sender Sender, d Dispatch) {
	settled, err := sender.Settle(ctx, d.Shipment, d.Receipts)
	if err != nil {
		o.add(d.Number, nil, fmt.Errorf("take letters that were sent to %s off their queue: %w", d.Target.Queue, err))
		return
	}
	o.add(d.Number, settled, nil)
	for _, r := range settled {
		if r.Err != nil && !errors.Is(r.Err, sources.ErrGone) {
			o.add(d.Number, nil, fmt.Errorf("a letter was sent to %s and is still in its queue: %w", d.Target.Queue, r.Err))
		}
	}
}
