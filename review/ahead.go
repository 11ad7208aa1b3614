package review

import (
	"context"
	"slices"
)

// Bulky is a sender that makes so many letters ready at a time, and holds none
// of them from others by it. What a load costs whatever its size, a sync of the
// disk above all, is then shared by more letters.
type Bulky interface {
	LoadMost() int
}

// bulk notes of which source the letters are that go now, and how many of it
// may go at a time.
func (j *job) bulk(source string, sender Sender) {
	j.source, j.bulky = source, 0
	if b, ok := sender.(Bulky); ok {
		j.bulky = b.LoadMost()
	}
}

// loadSize is how many letters of a redrive without canaries go next. A load is
// never larger than all that went before it, so that a redrive whose letters
// come back, or are refused, is stopped before much more went.
func (j *job) loadSize(sums Sums) int {
	return max(loadMost, min(j.bulky, sums.Tried))
}

// ahead is a load that was read while the one before it was out.
type ahead struct {
	load  Load
	after int64 // the place behind which it was read
	read  chan struct{}
	err   error
}

// readAhead begins to read what goes after the shipments that have just been
// begun; nil where loads are small.
func (w *Worker) readAhead(ctx context.Context, j *job, out []Dispatch) *ahead {
	if j.bulky == 0 || j.pace.perSecond > 0 {
		return nil
	}
	n := 0
	for _, d := range out {
		n += len(d.Items)
	}
	a := &ahead{after: j.after, read: make(chan struct{})}
	go func() {
		defer close(a.read)
		a.load, a.err = w.Ledger.NextLoad(ctx, j.id, a.after, max(loadMost, min(j.bulky, 2*n)))
	}()
	return a
}

// keep waits for the load, and keeps it for the next step if everything before
// it has arrived: what goes later after all stands before it in the order.
func (a *ahead) keep(j *job, out []Dispatch, err error) {
	if a == nil {
		return
	}
	<-a.read
	behind := func(d Dispatch) bool { return d.State != Sent || len(d.Receipts) != len(d.Items) }
	if err == nil && a.err == nil && !slices.ContainsFunc(out, behind) {
		j.ahead = a
	}
}

// takeAhead takes the load that was read ahead, if it is what goes next and is
// not too much.
func (j *job) takeAhead(most int) (Load, bool) {
	a := j.ahead
	j.ahead = nil
	if a == nil || a.after != j.after || a.load.weight() == 0 || a.load.weight() > most {
		return Load{}, false
	}
	return a.load, true
}
