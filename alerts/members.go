package alerts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// offsetsRetention is how long a broker keeps the commits of an unused group
// where nothing else is configured (KIP-186).
const offsetsRetention = 7 * 24 * time.Hour

// churn is how much of the time since any line of the group last rose was spent
// in rebalances.
type churn struct {
	Settled, Rebalancing time.Duration
	At                   time.Time // the last reading that counted; zero after one that failed
}

func (c *churn) pause() { c.At = time.Time{} }

func (c *churn) add(now time.Time, rebalancing, rose bool) {
	if rose {
		*c = churn{At: now}
		return
	}
	if !c.At.IsZero() {
		spent := max(0, now.Sub(c.At))
		if rebalancing {
			c.Rebalancing += spent
		} else {
			c.Settled += spent
		}
	}
	c.At = now
}

// endless tells whether the group did hardly anything but rebalance for so
// long: three quarters of it, for a glimpse of Stable between two rebalances is
// no work (twmb/franz-go issue 995). Members that crash on a record and come
// back show both states by turns, and are not that.
func (c churn) endless(stallAfter time.Duration) bool {
	all := c.Rebalancing + c.Settled
	return all >= stallAfter && 4*c.Rebalancing >= 3*all
}

// rebalancing tells whether the coordinator's state says that nobody works:
// those of classic groups, and of KIP-848.
func rebalancing(state string) bool {
	switch state {
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		return true
	}
	return false
}

// known tells whether the members of a reading are known. A coordinator that
// says Dead of a group with commits does not know its protocol (akhq issue
// 2720).
func known(g sources.Group) bool { return g.MembersKnown && g.State != "Dead" }

// gone tells whether the coordinator says that the group is no more: it is Dead,
// and no commit of it is left.
func gone(g sources.Group) bool {
	if g.State != "Dead" {
		return false
	}
	for _, l := range g.Lines {
		if l.PositionErr != nil || (l.Err == nil && l.Position != sources.NoCommit) {
			return false
		}
	}
	return true
}

// ownersOf finds the owner of a line: what its reading says, or else the member
// that it is assigned to.
func ownersOf(g sources.Group) func(sources.Lag) string {
	owners := map[sources.TopicPartition]string{}
	for _, m := range g.Members {
		for _, tp := range m.Assigned {
			owners[tp] = m.ID
		}
	}
	return func(l sources.Lag) string {
		return cmp.Or(l.Owner, owners[sources.TopicPartition{Topic: l.Topic, Partition: l.Number}])
	}
}

// see takes in what a reading that worked tells about the group as a whole.
func (w *GroupWatch) see(g sources.Group, now time.Time) {
	w.Memberless.resume(now)
	w.Returned.resume(now)
	w.Calm.resume(now)
	if w.FirstAt.IsZero() {
		w.FirstAt = now
		w.UsedAt = now
		w.AlreadySo = !w.Joined && known(g) && len(g.Members) == 0 && leftWaiting(g)
	}
	w.Source, w.Group = g.Source, g.Name
	w.ReadAt = now
	w.Retention = cmp.Or(g.OffsetsRetention, w.Retention)
	if !w.GoneAt.IsZero() {
		w.back(g)
	}
	for _, l := range g.Lines {
		if l.Err == nil && l.PositionErr == nil && l.Position > l.StableEnd && l.Position <= l.End {
			w.Uncommitted = true
		}
	}
}

// leftWaiting tells whether something waits in a group by its offsets: what was
// empty and caught up when we first looked may stop later, and that is news.
func leftWaiting(g sources.Group) bool {
	return slices.ContainsFunc(g.Lines, func(l sources.Lag) bool {
		return l.Err == nil && l.PositionErr == nil && l.Position != sources.NoCommit && max(l.Position, l.Start) < l.StableEnd
	})
}

// back is a group that is there again. A line that is where it was before goes
// on; one that is not belongs to a group that was made anew.
func (w *GroupWatch) back(g sources.Group) {
	w.GoneAt = time.Time{}
	for _, l := range g.Lines {
		if p := w.Lines[keyOf(l.Partition)]; p != nil && l.Err == nil && l.PositionErr == nil && l.Position < p.High {
			delete(w.Lines, keyOf(l.Partition))
		}
	}
}

// pulse notes signs of life, after the lines have moved.
func (w *GroupWatch) pulse(g sources.Group, lines []line, now time.Time) {
	rose, engine := false, false
	for _, l := range lines {
		rose = rose || l.p.RoseAt.Equal(now)
		engine = engine || l.p.MemberlessAt.Equal(now)
	}
	w.meet(known(g) && len(g.Members) == 0, now)
	if !w.Empty || engine {
		w.AlreadySo = false
	}
	if rose || len(g.Members) > 0 {
		w.UsedAt = now
	}
	w.Churn.add(now, rebalancing(g.State), rose)
}

// meet notes whether members are there. How long they were away is told by the
// last reading that saw none; before the first reading nothing tells.
func (w *GroupWatch) meet(empty bool, now time.Time) {
	switch {
	case empty:
		w.Memberless.keep(now)
		w.Absence = w.Memberless.elapsed(now)
		w.Returned.stop()
		if w.AlreadySo {
			w.Absence = math.MaxInt64
		}
	case w.Empty:
		w.Returned.start(now)
	}
	if !empty {
		w.Memberless.start(now)
	}
	w.Empty = empty
}

// facts is what the verdict on a line needs to know of its group.
func (w *GroupWatch) facts(g sources.Group, lines []line, now time.Time) group {
	f := group{
		name: g.Name, now: now, alreadySo: w.AlreadySo, churn: w.Churn, members: len(g.Members),
		settled:   known(g) && len(g.Members) > 0 && g.State == "Stable",
		memberful: !w.Empty, absence: w.Absence, returned: w.Returned, memberless: w.Memberless.elapsed(now), lastSeen: w.Memberless.Since,
		reads: map[string]bool{},
	}
	for _, m := range g.Members {
		for _, tp := range m.Assigned {
			f.reads[tp.Topic] = true
		}
	}
	for _, l := range lines {
		if l.owner != "" {
			f.reads[l.Topic] = true
		}
		at := l.p.MemberlessAt
		f.engine = f.engine || (!at.IsZero() && now.Sub(at) < l.threshold())
	}
	return f
}

// Gone is the watch after a reading of the source in which the group is
// missing.
func (w *GroupWatch) Gone(now time.Time, _ Rules) Step {
	now = now.Round(0).UTC()
	step := w.vanish(sources.Group{Source: w.Source, Name: w.Group}, now)
	step.Unread = w.Unread.next(nil, Incident{}, Rule{}, now)
	return step
}

// vanish is a group that is no more. Nobody tells why: sooner than the broker
// forgets the commits of an unused group it was deleted, and what stood there
// stands no longer; later its commits expired, and whoever should have read
// still has not.
func (w *GroupWatch) vanish(g sources.Group, now time.Time) Step {
	first := w.GoneAt.IsZero()
	if first {
		w.GoneAt = now
	}
	w.pause(now)
	unused, keeps := w.GoneAt.Sub(w.UsedAt), cmp.Or(w.Retention, offsetsRetention)
	deleted := unused < keeps
	how := fmt.Sprintf("its offsets expired, by inference: it vanished %s after its last use, and unused offsets are kept for %s", about(unused), about(keeps))
	if deleted {
		how = fmt.Sprintf("it was deleted, by inference: it vanished %s after its last use, sooner than the %s after which unused offsets expire", about(unused), about(keeps))
	}
	if w.UsedAt.IsZero() {
		how = "it was never seen at work"
	}
	step := Step{Judgements: w.unknown(g, now, "the group is gone: "+how)}
	switch {
	case w.Incident == nil:
	case deleted:
		step.Resolved = w.resolve(now, "the group is gone: "+how)
	case first:
		w.Incident.Reason += "; the group is gone: " + how
		w.Incident.UpdatedAt = now
		step.Updated = clone(w.Incident)
	}
	return step
}

// keys are the remembered lines in order.
func (w *GroupWatch) keys() []lineKey {
	return slices.SortedFunc(maps.Keys(w.Lines), func(a, b lineKey) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	})
}
