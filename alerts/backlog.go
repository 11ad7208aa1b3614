package alerts

import (
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// QueueWatch is all that is remembered of a work queue between two readings. All
// that is known of such a queue is how many messages wait and how many are taken:
// that one was deleted is only seen where the sum falls. The zero value is a queue
// that was never read.
type QueueWatch struct {
	Incident *Incident `json:",omitempty"`

	Total, InFlight int64     // as last read
	ReadAt          time.Time `json:",omitzero"` // the last reading that worked
	Stands          stopwatch // since the sum last fell, or something came into the empty queue
	Untaken         stopwatch // since the last reading that saw a message taken
	Calm            stopwatch // since the queue of the incident is well again
	Habit           cadence   // how long it stood before it moved
	Alive           bool      // it was seen to move, or to be worked on
}

// Next is the watch one reading later: pure but for the id of an incident that
// it opens. It gives the incident that this opened or resolved, nil when neither.
func (w *QueueWatch) Next(source string, b sources.Backlog, rule Rule, now time.Time) *Incident {
	now = now.Round(0).UTC()
	clocks := []*stopwatch{&w.Stands, &w.Untaken, &w.Calm}
	if b.Err != nil {
		for _, c := range clocks {
			c.pause(now)
		}
		return nil
	}
	for _, c := range clocks {
		c.resume(now)
	}
	w.move(b, now)
	verdict := w.verdict(b, rule, now)
	begun, active := rule.Active.Since(now)
	switch {
	case w.Incident != nil:
		return w.settle(verdict, rule, now)
	case verdict == OK || rule.Page == PageOff || !active || now.Sub(begun) < rule.StallAfter:
		return nil
	}
	w.Incident = w.open(source, b, verdict, rule, now)
	return clone(w.Incident)
}

// move takes in the counts. A sum that rises while messages are taken says
// nothing of those that were deleted: it has the benefit of the doubt.
func (w *QueueWatch) move(b sources.Backlog, now time.Time) {
	total, taken := b.Visible+b.InFlight, b.InFlight > 0 || w.InFlight > 0
	moved := total < w.Total || total > w.Total && taken
	if moved && !w.ReadAt.IsZero() {
		w.Habit.add(w.Stands.elapsed(now))
		w.Stands.stop()
	}
	if total == 0 {
		w.Stands.stop()
	} else {
		w.Stands.keep(now)
	}
	if taken || total == 0 {
		w.Untaken.start(now)
	} else {
		w.Untaken.keep(now)
	}
	w.Alive = w.Alive || taken || total < w.Total || total == 0
	w.Total, w.InFlight, w.ReadAt = total, b.InFlight, now
}

// verdict is stopped while nobody takes what waits, and a stall while messages
// are taken and none is ever done: of a FIFO queue a message group at least,
// which one nobody can tell without taking messages. A message that is taken may
// be worked on for its visibility timeout; a second one without an end is none.
func (w *QueueWatch) verdict(b sources.Backlog, rule Rule, now time.Time) Verdict {
	may := w.Habit.threshold(rule.StallAfter)
	untaken := w.Untaken.elapsed(now)
	switch stood := w.Stands.elapsed(now); {
	case w.Total == 0:
		return OK
	case b.InFlight == 0 && b.Visible > 0 && untaken >= may && stood >= may:
		return Stopped
	case untaken >= may || stood < max(may, 2*b.Visibility):
		return OK
	case b.FIFO:
		return HeadOfLineStall
	}
	return GroupStall
}

func (w *QueueWatch) open(source string, b sources.Backlog, v Verdict, rule Rule, now time.Time) *Incident {
	in := &Incident{
		ID: newID(), Source: source, Queue: b.Queue, Verdict: v, Scope: GroupScope, OpenedAt: now, UpdatedAt: now,
		Severity: rule.Severity, Owner: rule.Owner, Runbook: rule.Runbook, Notify: rule.Notify, AlreadySo: v == Stopped && !w.Alive,
	}
	in.Pages = rule.Page == PageOn && !in.AlreadySo
	if !in.Pages {
		in.Severity = "warning"
	}
	since := w.Stands.Since
	waits := fmt.Sprintf("about %s", several(w.Total, "message"))
	const ours = ", by our own observation of its counts"
	switch v {
	case Stopped:
		since = later(w.Untaken.Since, since)
		in.Title = "Queue " + b.Queue + ": messages wait, and nobody takes any"
		in.Reason = fmt.Sprintf("%s wait, and none was taken since %s%s", waits, clock(since), ours)
	case HeadOfLineStall:
		in.Title = "Queue " + b.Queue + ": a message group is blocked, or all are"
		in.Reason = fmt.Sprintf("%s are there, some are taken, and none was deleted since %s%s; a message that fails holds up its group, and which one SQS does not tell without taking messages", waits, clock(since), ours)
	default:
		in.Title = "Queue " + b.Queue + ": messages are taken, and none is done"
		in.Reason = fmt.Sprintf("%s are there, some are taken, and none was deleted since %s%s", waits, clock(since), ours)
	}
	in.Evidence.Since, in.Evidence.Waiting = since, w.Total
	return in
}

// settle resolves the incident once the queue has moved, or is empty, for
// stall_after, five minutes at most.
func (w *QueueWatch) settle(v Verdict, rule Rule, now time.Time) *Incident {
	if v != OK || w.Total > 0 && w.Stands.elapsed(now) >= rule.StallAfter {
		w.Calm.stop()
		return nil
	}
	if w.Calm.keep(now); w.Calm.elapsed(now) < min(rule.StallAfter, longCalm) {
		return nil
	}
	done := w.Incident
	done.ResolvedAt, done.UpdatedAt = now, now
	done.Resolution = "messages are taken and done again, or none is left, for " + about(w.Calm.elapsed(now))
	w.Incident = nil
	w.Calm.stop()
	return done
}
