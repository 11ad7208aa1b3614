package alerts

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/unwedge/unwedge/sources"
)

// longCalm is the most that an incident waits for before it resolves.
const longCalm = 5 * time.Minute

// stood is where a line of the incident stands, or stood.
type stood struct {
	At       int64     // the position that must be passed
	FirstAt  time.Time // of the line's progress: another one when it started afresh
	PassedAt time.Time // the first reading that saw it passed; zero: not yet
	Moved    bool      // it rose again after that
	Expired  bool      // it was said that its commit vanished
}

// trouble is a line that an incident is about.
type trouble struct {
	line   line
	said   *Judgement
	pages  bool
	isNews bool // it was not so already at the first reading of its source
}

// episode opens, keeps or resolves the group's incident. There is never more
// than one: a change of verdict or scope and more lines update it.
func (w *GroupWatch) episode(step *Step, g sources.Group, lines []line, now time.Time) {
	ill := w.troubles(lines, step.Judgements, now)
	switch {
	case w.Incident == nil && len(ill) > 0:
		step.Opened = w.open(g, ill, lines, step.Judgements, now)
	case w.Incident != nil:
		w.count(ill, lines, step.Judgements, now)
		step.Updated = w.update(ill, lines, step.Judgements, now)
		step.Resolved = w.settle(ill, lines, step.Judgements, now)
		if step.Resolved != nil {
			step.Updated = nil
		}
	}
}

// troubles are the lines that an incident is made of.
func (w *GroupWatch) troubles(lines []line, js []Judgement, now time.Time) []trouble {
	var ill []trouble
	for i := range lines {
		l, j := lines[i], &js[i]
		begun, active := l.rule.Active.Since(now)
		switch {
		case l.rule.Page == PageOff || !l.trouble(j.Verdict, now):
		case active && !l.given(j.Verdict, begun, now):
		case active:
			news := !w.already(l, j.Verdict, begun)
			ill = append(ill, trouble{line: l, said: j, pages: l.rule.Page == PageOn && news, isNews: news})
		case w.Stood[keyOf(l.Partition)] != nil:
			ill = append(ill, trouble{line: l, said: j}) // its hours are over, and it stands still
		}
	}
	return ill
}

// given tells whether the line has had its time since the hours of its rule
// began: workers that start with them find a group that has stood since the day
// before. A stall needs none, for somebody was at work on it.
func (l line) given(v Verdict, begun, now time.Time) bool {
	switch v {
	case Stopped, Unassigned:
		return now.Sub(begun) >= l.rule.StallAfter
	case Slow:
		return now.Sub(begun) >= l.rule.BehindAfter
	}
	return true
}

// already tells whether a line was so at the first reading of its source. That
// holds for what was stopped, unless its hours began later; a loss that we
// watched is news.
func (w *GroupWatch) already(l line, v Verdict, begun time.Time) bool {
	return w.AlreadySo && v == Stopped && !(!l.rule.Active.Always() && begun.After(w.FirstAt))
}

// trouble tells whether a verdict on this line makes an incident. A partition
// without an owner does once something has waited there for stall_after: a
// rebalance in steps leaves some without one for a moment. An open transaction
// does once it is older than its own time-out.
func (l line) trouble(v Verdict, now time.Time) bool {
	switch v {
	case HeadOfLineStall, GroupStall, Stopped, DataLoss:
		return true
	case Unassigned:
		after := l.rule.StallAfter
		return l.p.Unowned.elapsed(now) >= after && l.p.Wait.elapsed(now) >= after && l.p.Waits == recordWaits
	case Slow:
		return l.late()
	case OpenTransaction:
		return l.overdue(now)
	}
	return false
}

// open opens an incident about these lines.
func (w *GroupWatch) open(g sources.Group, ill []trouble, lines []line, js []Judgement, now time.Time) *Incident {
	w.Incident = &Incident{ID: newID(), Source: g.Source, Group: g.Name, OpenedAt: now, AlreadySo: true}
	w.Stood = map[lineKey]*stood{}
	w.Calm.stop()
	w.take(ill, lines, js, now)
	w.count(ill, lines, js, now)
	return clone(w.Incident)
}

// update takes in what changed; nil when nothing did.
func (w *GroupWatch) update(ill []trouble, lines []line, js []Judgement, now time.Time) *Incident {
	in := w.Incident
	expired := w.expire(now)
	if len(ill) == 0 && !expired {
		return nil
	}
	verdict, scope, had, paged := in.Verdict, in.Scope, len(in.Lines), in.Pages
	if len(ill) > 0 {
		w.take(ill, lines, js, now)
	}
	if in.Verdict == verdict && in.Scope == scope && len(in.Lines) == had && in.Pages == paged && !expired {
		return nil
	}
	in.UpdatedAt = now
	return clone(in)
}

// take makes the incident one about these lines too. The worst of them names
// it; its words change only with its verdict, scope or lines.
func (w *GroupWatch) take(ill []trouble, lines []line, js []Judgement, now time.Time) {
	in := w.Incident
	worst := slices.MaxFunc(ill, func(a, b trouble) int { return a.said.Verdict.Rank() - b.said.Verdict.Rank() })
	changed := in.Verdict != worst.said.Verdict || in.Scope != worst.said.Scope
	for _, t := range ill {
		changed = w.add(t) || changed
	}
	if in.AlreadySo && slices.ContainsFunc(ill, func(t trouble) bool { return t.isNews }) {
		in.AlreadySo, changed = false, true
	}
	pages := slices.ContainsFunc(ill, func(t trouble) bool { return t.pages })
	if pages && !in.Pages {
		in.Pages, changed = true, true
		for _, t := range ill {
			t.said.Page = true
		}
	}
	if !changed {
		return
	}
	in.Verdict, in.Scope, in.UpdatedAt = worst.said.Verdict, worst.said.Scope, now
	in.Severity, in.Owner, in.Runbook, in.Notify = worst.line.rule.Severity, worst.line.rule.Owner, worst.line.rule.Runbook, worst.line.rule.Notify
	if !in.Pages {
		in.Severity = "warning"
	}
	in.Title = title(in, ill, worst)
	in.Reason = worst.said.Reason
	g := group{now: now}
	in.Evidence.Line, in.Evidence.Position, in.Evidence.Since = worst.line.Partition, worst.line.p.Position, worst.said.Since
	in.Evidence.Owner, in.Evidence.Peers = worst.line.p.Owner, g.peers(worst.line, worst.said.Verdict, g.count(lines, js))
	if in.Scope == GroupScope {
		in.Evidence.Peers = "" // all of them are in it
	}
	in.Evidence.Waiting = 0
	for _, t := range ill {
		in.Evidence.Waiting += max(0, t.said.Lag-1)
	}
}

// add makes a line one of the incident's, and tells whether it is new. One that
// stands again must pass where it stands now.
func (w *GroupWatch) add(t trouble) (isNew bool) {
	key := keyOf(t.line.Partition)
	s := w.Stood[key]
	if s == nil {
		s = &stood{}
		w.Stood[key] = s
		w.Incident.Lines = append(w.Incident.Lines, t.line.Partition)
		isNew = true
	}
	*s = stood{At: t.line.p.High, FirstAt: t.line.p.FirstAt, Expired: s.Expired}
	return isNew
}

// settle resolves the incident once every line of it is well for stall_after,
// five minutes at most. A line that nobody could read makes it wait.
func (w *GroupWatch) settle(ill []trouble, lines []line, js []Judgement, now time.Time) *Incident {
	hold, well, read := time.Duration(0), len(ill) == 0, len(w.Stood)
	for i, l := range lines {
		s := w.Stood[keyOf(l.Partition)]
		if s == nil {
			continue
		}
		hold = max(hold, l.rule.StallAfter)
		if l.unread() {
			continue
		}
		read--
		well = (js[i].Verdict == Orphaned || s.well(l, now)) && well
	}
	switch {
	case !well:
		w.Calm.stop()
	case read > 0:
		w.Calm.pause(now)
	default:
		w.Calm.keep(now)
	}
	if !w.Calm.running() || !w.Calm.PausedAt.IsZero() || w.Calm.elapsed(now) < min(hold, longCalm) {
		return nil
	}
	return w.resolve(now, recovery(len(w.Stood), about(w.Calm.elapsed(now))))
}

// well tells whether a line has nothing to read, or passed where it stood and
// moves on: it rose again after that, and does not stand now for longer than is
// usual. A line that nobody reads any more has nothing to wait for.
func (s *stood) well(l line, now time.Time) bool {
	if l.p.Waits == nothingWaits {
		return true
	}
	if !l.p.FirstAt.Equal(s.FirstAt) {
		s.At, s.FirstAt = sources.NoCommit, l.p.FirstAt
	}
	switch {
	case l.p.High <= s.At:
		s.PassedAt, s.Moved = time.Time{}, false
		return false
	case s.PassedAt.IsZero():
		s.PassedAt = now
	case l.p.RoseAt.After(s.PassedAt):
		s.Moved = true
	}
	return s.Moved && (l.p.Waits != recordWaits || l.p.Wait.elapsed(now) < l.threshold()/2)
}

func (w *GroupWatch) resolve(now time.Time, resolution string) *Incident {
	done := w.Incident
	done.ResolvedAt, done.UpdatedAt, done.Resolution = now, now, resolution
	w.Incident, w.Stood = nil, nil
	w.Calm.stop()
	return done
}

func recovery(lines int, held string) string {
	if lines == 1 {
		return fmt.Sprintf("the line passed where it stood and moved on, or has nothing left to read, for %s", held)
	}
	return fmt.Sprintf("all %d lines passed where they stood and moved on, or have nothing left to read, for %s", lines, held)
}

// expire says once of each line of the incident that its commit is no longer
// there. The incident stays: nobody has read what waited.
func (w *GroupWatch) expire(now time.Time) (said bool) {
	for key, s := range w.Stood {
		p := w.Lines[key]
		if p == nil || s.Expired || p.Lost.IsZero() || now.Sub(p.Lost) < longCalm {
			continue
		}
		s.Expired, said = true, true
		w.Incident.Reason += fmt.Sprintf("; partition %d of %s: its offset expired at lag %s", key.Number, key.Topic, count(max(0, p.limitBefore()-max(p.Position, p.Start))))
	}
	return said
}

func clone(in *Incident) *Incident {
	c := *in
	c.Lines = slices.Clone(in.Lines)
	return &c
}

// newID is unique across installations and restored stores, and sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
