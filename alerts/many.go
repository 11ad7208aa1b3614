package alerts

import (
	"fmt"
	"slices"
	"strings"
)

// fewGroups is how many groups of a source may begin to stand at once, each with
// its own page. More are one page: a cluster that is down must not ring once for
// each of its groups.
const fewGroups = 5

// together makes one page of many: when more than fewGroups of the source began
// to stand within stall_after, those of this reading are told as one incident,
// and so are those that follow it within as long. It resolves when the last of
// them has.
func (l *loop) together(r *result) {
	fresh, recent := l.risen(r)
	window := l.w.rules.complete(Rule{}).StallAfter
	switch {
	case l.many == nil && len(fresh) > 0 && recent > fewGroups:
		l.many = &Incident{ID: newID(), Source: l.src.Name, Scope: GroupScope, OpenedAt: r.now, Pages: true, Severity: "critical"}
		l.join(r, fresh)
	case l.many != nil && len(fresh) > 0 && r.now.Sub(l.many.UpdatedAt) < window:
		l.join(r, fresh)
	case l.many != nil && !l.any():
		done := l.many
		done.ResolvedAt, done.UpdatedAt, done.Resolution = r.now, r.now, "all of these groups are well again"
		l.many = nil
		l.write(r, done)
	}
}

// risen are the changes of this reading that open an incident which pages
// because a group stands, and how many such incidents of the source opened
// within stall_after.
func (l *loop) risen(r *result) (fresh []*Change, recent int) {
	window := l.w.rules.complete(Rule{}).StallAfter
	for _, w := range l.watches {
		in := w.Incident
		if in == nil || !in.Pages || !in.Verdict.stands() || r.now.Sub(in.OpenedAt) > window {
			continue
		}
		recent++
		i := slices.IndexFunc(r.turn.Incidents, func(c Change) bool { return c.ID == in.ID })
		if i >= 0 && in.OpenedAt.Equal(r.now) {
			fresh = append(fresh, &r.turn.Incidents[i])
		}
	}
	slices.SortFunc(fresh, func(a, b *Change) int { return strings.Compare(a.Group, b.Group) })
	return fresh, recent
}

// stands tells whether work does not go on, whether or not somebody is there to
// do it.
func (v Verdict) stands() bool { return v.stalls() || v == Stopped }

// join has incidents told by the one of many.
func (l *loop) join(r *result, fresh []*Change) {
	in := clone(l.many)
	for _, c := range fresh {
		c.Tell = nil
		l.watches[c.Group].Incident.Together = in.ID
		if c.Verdict.Rank() > in.Verdict.Rank() {
			in.Verdict = c.Verdict
		}
		in.Lines = append(in.Lines, c.Lines...)
		in.Evidence.Waiting += c.Incident.Evidence.Waiting
	}
	groups := l.members(in.ID)
	in.Title = fmt.Sprintf("%s of %s stand still since the same moment", several(int64(len(groups)), "group"), in.Source)
	in.Reason = "they are told together, for more than " + count(fewGroups) + " at once have one reason as a rule: " + list(groups)
	in.Notify, in.UpdatedAt = l.whoHears(in.ID), r.now
	l.many = in
	l.write(r, clone(in))
}

// members are the groups whose incidents are told together, in order.
func (l *loop) members(id string) (groups []string) {
	for name, w := range l.watches {
		if w.Incident != nil && w.Incident.Together == id {
			groups = append(groups, name)
		}
	}
	slices.Sort(groups)
	return groups
}

func (l *loop) any() bool { return len(l.members(l.many.ID)) > 0 }

// whoHears are the notifiers that the rules of the groups name; all when the
// rule of one names none.
func (l *loop) whoHears(id string) (names []string) {
	for _, group := range l.members(id) {
		notify := l.watches[group].Incident.Notify
		if len(notify) == 0 {
			return nil
		}
		names = append(names, notify...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// write has an incident of the source itself written down, and its page.
func (l *loop) write(r *result, in *Incident) {
	c := Change{Incident: *in}
	if in.ResolvedAt.IsZero() {
		c.Tell = told(in, l.w.to)
	}
	r.turn.Incidents = append(r.turn.Incidents, c)
	r.incident = append(r.incident, in.ID)
	l.log.Info("incident of a source", "incident", in.ID, "verdict", in.Verdict, "open", in.ResolvedAt.IsZero(), "pages", in.Pages)
}

// outage takes in whether the source could be read, and resumes what stood when
// we were started.
func (l *loop) outage(r *result, err error) {
	rule := l.w.rules.For(l.src.Name, "", "")
	if in := l.unread.next(err, Incident{Source: l.src.Name}, rule, r.now); in != nil {
		l.write(r, in)
	}
}

// resume takes over the incidents of the source itself that stand in the store.
func (l *loop) resume(standing []Incident) {
	l.unread.Incident, l.many = nil, nil
	for _, in := range standing {
		if in.Verdict == Unknown {
			l.unread.Incident = clone(&in)
		} else {
			l.many = clone(&in)
		}
	}
}
