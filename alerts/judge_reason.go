package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// tell fills in what a judgement says besides its verdict: since when, how many
// wait, and one sentence with the numbers that it rests on.
func (l line) tell(j *Judgement, g group, c census) {
	j.Lag, j.Behind = sources.NotKnown, -1
	if !l.unread() {
		j.Lag, j.Behind = l.p.lag(l.Lag), l.p.behind(l.Lag, g.now)
	}
	if left, ok := l.p.timeLeft(g.now); ok && j.Lag > 0 {
		j.RetentionAt = g.now.Add(left).Truncate(time.Minute)
	}
	if l.Err == nil && l.PositionErr == nil && !l.p.FirstAt.IsZero() {
		j.Note = l.p.note(l.Lag)
	}
	switch j.Verdict {
	case HeadOfLineStall, GroupStall, Stopped:
		j.Since = l.p.Wait.Since
	case Unassigned, Orphaned:
		j.Since = l.p.Unowned.Since
	case OpenTransaction:
		j.Since = l.p.Hanging.Watch.Since
	case DataLoss:
		j.Since = l.p.Loss.At
	case Rewind:
		j.Since = l.p.Rewound.At
	}
	j.Reason = l.reason(*j, g, c)
}

func (l line) reason(j Judgement, g group, c census) string {
	p := l.p
	switch j.Verdict {
	case Unknown:
		return l.whyUnknown(g)
	case HeadOfLineStall:
		return l.waits(g) + l.restarts() + "; " + g.peers(l, j.Verdict, c) + l.closing(g)
	case GroupStall:
		return l.waits(g) + g.whyAll(c) + l.closing(g)
	case Stopped:
		return fmt.Sprintf("no members since %s, and %s%s", clock(g.lastSeen), l.waits(g), l.closing(g)) + alreadySo(g)
	case Unassigned:
		return fmt.Sprintf("the group is stable with %s, and nobody has owned this partition for %s; %s", several(int64(g.members), "member"), about(p.Unowned.elapsed(g.now)), l.unreadCount())
	case Orphaned:
		return fmt.Sprintf("nobody in the group reads %s any more; the position %s is left over", l.Topic, position(l.Position))
	case OpenTransaction:
		return fmt.Sprintf("all that is stable is read: a transaction that has been open since %s holds the stable end at %s, and %s lie past it", clock(p.Hanging.Watch.Since), count(l.StableEnd), several(p.Hanging.Behind, "offset")) + l.holder(g.now)
	case DataLoss:
		return fmt.Sprintf("retention passed the position: %s from offset %s on were deleted before they were read; the log starts at %s now", several(p.Loss.To-p.Loss.From, "offset"), count(p.Loss.From), count(l.Start))
	case Rewind:
		return fmt.Sprintf("rewound by %s: the position went back from %s to %s at %s; %s", count(p.Rewound.From-p.Rewound.To), count(p.Rewound.From), count(p.Rewound.To), clock(p.Rewound.At), l.unreadCount())
	case Slow:
		return l.whySlow(g)
	}
	return l.whyOK(g)
}

// waits is the heart of every stall: which offset has waited since when.
func (l line) waits(g group) string {
	at := "offset " + count(l.p.from(l.Lag))
	if l.Position == sources.NoCommit {
		at = "its first record, " + at + ","
	}
	s := fmt.Sprintf("%s has waited since %s (%s)", at, clock(l.p.Wait.Since), about(l.p.Wait.elapsed(g.now)))
	if more := l.p.raw(l.Lag) - 1; more > 0 {
		s += fmt.Sprintf(" with %s behind it", several(more, "record"))
	}
	if usual := l.p.Habit.usual(); 2*usual > l.rule.StallAfter {
		s += fmt.Sprintf(", where %s is usual", about(usual))
	}
	return s
}

func (l line) restarts() string {
	if n := l.p.OwnerChanges; n > 1 {
		return fmt.Sprintf("; its owner changed %d times while the position stood", n)
	}
	return ""
}

// closing says when retention will reach the position.
func (l line) closing(g group) string {
	if left, ok := l.p.timeLeft(g.now); ok {
		return fmt.Sprintf("; retention reaches it in about %s", about(left))
	}
	return ""
}

func alreadySo(g group) string {
	if g.alreadySo {
		return "; it was already so when this group was first looked at"
	}
	return ""
}

func (l line) unreadCount() string {
	if l.p.Waits == nothingWaits {
		return "nothing waits there"
	}
	if n := l.p.lag(l.Lag); n != sources.NotKnown {
		if n == 1 {
			return "1 record waits"
		}
		return several(n, "record") + " wait"
	}
	return "how many records wait is not known"
}

// doing is how a line does, as its peers are told of it.
type doing int

const (
	leftOut doing = iota // orphaned: no peer
	moves
	idles
	stands
	untold
	doings
)

// census counts the lines of a group by how they do.
type census [doings]int

func (g group) doing(l line, v Verdict) doing {
	switch {
	case v == Orphaned:
		return leftOut
	case v.stalls() || l.frozen(g):
		return stands
	case l.unread() || v == Unknown || v == Unassigned:
		return untold
	case l.p.Waits == nothingWaits && g.now.Sub(l.p.RoseAt) > l.threshold():
		return idles
	}
	return moves
}

func (g group) count(lines []line, all []Judgement) (c census) {
	for i, l := range lines {
		c[g.doing(l, all[i].Verdict)]++
	}
	return c
}

// peers says how the lines beside this one do.
func (g group) peers(l line, v Verdict, c census) string {
	c[g.doing(l, v)]--
	var parts []string
	others := 0
	for _, said := range []struct {
		n         int
		one, more string
	}{
		{c[moves], "moves", "move"},
		{c[idles], "has nothing to read", "have nothing to read"},
		{c[stands], "stands too", "stand too"},
		{c[untold], "is not known", "are not known"},
	} {
		others += said.n
		switch {
		case said.n == 1:
			parts = append(parts, "1 "+said.one)
		case said.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", said.n, said.more))
		}
	}
	return othersSay(others, parts)
}

func othersSay(others int, parts []string) string {
	switch {
	case others == 0:
		return "it is the group's only partition"
	case others == 1:
		return "the other partition " + strings.TrimPrefix(parts[0], "1 ")
	case len(parts) == 1:
		return strings.Replace("the other "+parts[0], fmt.Sprintf("the other %d ", others), fmt.Sprintf("the other %d partitions ", others), 1)
	}
	return fmt.Sprintf("of the other %d partitions %s", others, list(parts))
}

// whyAll says what it rests on that the whole group is said to stand.
func (g group) whyAll(c census) string {
	if spent := g.churn.Rebalancing + g.churn.Settled; g.churn.Rebalancing > 0 && 4*g.churn.Rebalancing >= 3*spent {
		return fmt.Sprintf("; the group has been rebalancing for %s of the last %s", about(g.churn.Rebalancing), about(spent))
	}
	return fmt.Sprintf("; so have all %d partitions with something to read, with %s alive", c[stands], several(int64(g.members), "member"))
}

func (l line) whyUnknown(g group) string {
	p := l.p
	switch {
	case l.Err != nil:
		return fmt.Sprintf("the partition could not be read: %v", l.Err)
	case l.PositionErr != nil:
		return fmt.Sprintf("the commit could not be read: %v", l.PositionErr)
	case !p.Lost.IsZero():
		return fmt.Sprintf("its commit vanished at %s; the last was %s", clock(p.Lost), position(p.Position))
	case p.Beyond:
		return fmt.Sprintf("the topic was created again, and the position %s lies beyond its end %s until the consumer starts over", count(l.Position), count(l.End))
	case l.ownerless(g):
		return fmt.Sprintf("no commit yet and no owner for %s; consumers may take %s to notice a new partition", about(p.Unowned.elapsed(g.now)), about(newLine))
	case p.Waits == maybeWaits:
		return fmt.Sprintf("%s after the position for %s, and nobody looked whether a record is among them", several(p.raw(l.Lag), "offset"), about(p.Wait.elapsed(g.now)))
	}
	return "no commit yet: where it will start is not known"
}

func (l line) whySlow(g group) string {
	p := l.p
	late := p.late(l.Lag, g.now)
	if l.late() {
		return fmt.Sprintf("it moves, and %s; the oldest has waited for %s, longer than behind_after (%s)", l.unreadCount(), about(late), about(l.rule.BehindAfter))
	}
	reads, arrives, ok := p.speeds()
	if !ok || arrives <= reads {
		return fmt.Sprintf("it moves, and %s; the oldest is %s old", l.unreadCount(), about(late))
	}
	s := fmt.Sprintf("falling behind by %s: it reads %s while %s arrive; %s, the oldest for %s", rate(arrives-reads), rate(reads), rate(arrives), l.unreadCount(), about(late))
	if reads > 0 {
		s += fmt.Sprintf("; with nothing new it would catch up in about %s", about(inSeconds(float64(p.lag(l.Lag))/reads)))
	}
	return s
}

func (l line) whyOK(g group) string {
	p := l.p
	waits, waited := p.lag(l.Lag), p.Wait.elapsed(g.now)
	switch {
	case p.Waits == nothingWaits && l.StableEnd < l.End && !p.Uncommitted:
		return fmt.Sprintf("caught up with the stable end %s; %s belong to an open transaction", count(l.StableEnd), several(l.End-l.StableEnd, "offset"))
	case p.Waits == nothingWaits && l.Position == sources.NoCommit:
		return "nothing to read, and no commit yet"
	case p.Waits == nothingWaits && g.now.Sub(p.RoseAt) > l.threshold():
		return "idle, caught up"
	case p.Waits == nothingWaits:
		return "caught up"
	case !p.HeldAt.IsZero() && g.now.Sub(p.HeldAt) <= l.threshold():
		return fmt.Sprintf("one record held at offset %s, and work goes on past it: the commit's metadata changes", count(l.Position))
	case l.justTaken(g) && waited >= l.threshold():
		return fmt.Sprintf("taken up again a moment ago; offset %s has waited for %s", count(p.from(l.Lag)), about(waited))
	case !g.alive(l):
		return fmt.Sprintf("no members since %s; offset %s has waited for %s", clock(g.lastSeen), count(p.from(l.Lag)), about(waited))
	}
	if reads, arrives, ok := p.speeds(); ok && reads > arrives && waits > 0 && p.late(l.Lag, g.now) > noLateness {
		return fmt.Sprintf("catching up, about %s left: %s, %s fewer", about(inSeconds(float64(waits)/(reads-arrives))), l.unreadCount(), rate(reads-arrives))
	}
	if l.Position == sources.NoCommit {
		return fmt.Sprintf("no commit yet; %s for %s, and it may take %s", several(p.raw(l.Lag), "offset"), about(waited), about(l.threshold()))
	}
	if p.FirstAt.Equal(g.now) {
		return l.unreadCount() + " at the first reading; the next one tells whether it moves"
	}
	if waited == 0 {
		return "moving; " + l.unreadCount()
	}
	return fmt.Sprintf("%s, for %s; it may take %s", l.unreadCount(), about(waited), about(l.threshold()))
}

func position(at int64) string {
	if at == sources.NoCommit {
		return "that it never committed"
	}
	return count(at)
}

// inSeconds is a duration that does not overflow.
func inSeconds(s float64) time.Duration {
	const most = 1000 * 24 * 3600
	return time.Duration(min(s, most) * float64(time.Second))
}
