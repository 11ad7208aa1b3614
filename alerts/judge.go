package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// newLine is how long a line that the group never committed may be without an
// owner before that means anything: consumers look for new partitions every
// metadata.max.age.ms, five minutes by default.
const newLine = 6 * time.Minute

// line is one line of a reading with all that is known of it.
type line struct {
	sources.Lag
	p     *progress
	rule  Rule
	owner string
}

// group is what the verdict on a line needs to know of its group.
type group struct {
	name       string
	now        time.Time
	settled    bool            // stable, and its members are known: who owns what is decided
	reads      map[string]bool // topics of which some member owns a partition
	members    int
	memberful  bool          // members are there now, or nobody can tell
	memberless time.Duration // since members were last seen
	lastSeen   time.Time     // when members were last seen, or the first reading
	absence    time.Duration // how long there were no members the last time
	returned   stopwatch     // since they are back from that
	engine     bool          // positions advance without members, as Flink's do
	alreadySo  bool
	churn      churn
}

// judge gives the verdict on each line. It takes the whole group at once: head
// of line, member and group are told apart by the peers.
func judge(lines []line, g group) []Judgement {
	out := make([]Judgement, len(lines))
	for i, l := range lines {
		v := l.alone(g)
		out[i] = Judgement{Partition: l.Partition, Verdict: v, Scope: scopeOf(v)}
	}
	g.scopes(lines, out)
	c := g.count(lines, out)
	for i, l := range lines {
		l.tell(&out[i], g, c)
	}
	return out
}

// alone is the verdict as far as the line itself tells; a stall is called
// head_of_line_stall until its peers were looked at. The first that holds wins.
func (l line) alone(g group) Verdict {
	switch {
	case l.unread():
		return Unknown
	case l.ownerless(g) && l.newcomer(g):
		return Unknown
	case l.ownerless(g) && !g.reads[l.Topic]:
		return Orphaned
	case l.losing(g):
		return DataLoss
	case l.ownerless(g):
		return Unassigned
	case !g.alive(l) && l.stands(g, l.stopAfter()):
		return Stopped
	case l.hanging(g):
		return OpenTransaction
	case l.frozen(g):
		return HeadOfLineStall
	case l.p.Waits == maybeWaits && l.p.Wait.elapsed(g.now) >= l.threshold():
		return Unknown // nobody looked at the head: a record or a marker
	case l.p.Rewound != nil:
		return Rewind
	case l.Position == sources.NoCommit && l.p.Waits == nothingWaits && l.p.lag(l.Lag) == sources.NotKnown:
		return Unknown // it may start anywhere
	case l.late() || l.p.slow(l.rule.StallAfter):
		return Slow
	}
	return OK
}

// unread tells whether there is no fresh reading of the line.
func (l line) unread() bool {
	return l.Err != nil || l.PositionErr != nil || !l.p.Lost.IsZero() || l.p.Beyond
}

// threshold is how long the line may stand.
func (l line) threshold() time.Duration { return l.p.Habit.threshold(l.rule.StallAfter) }

// stands tells whether a record has waited for so long and the position has
// not risen.
func (l line) stands(g group, so time.Duration) bool {
	return !l.unread() && l.p.Waits == recordWaits && l.p.Wait.elapsed(g.now) >= so
}

func (l line) frozen(g group) bool { return l.stands(g, l.threshold()) && !l.justTaken(g) }

// justTaken tells whether somebody works on the line again only since a moment:
// a group that had stopped is back, or a line without an owner got one. Its
// clock runs on, but whoever is new has stall_after to move it.
func (l line) justTaken(g group) bool {
	after := l.rule.StallAfter
	if l.p.Taken.running() && l.p.Taken.elapsed(g.now) < after {
		return true
	}
	return g.absence >= after && g.returned.running() && g.returned.elapsed(g.now) < after
}

// stopAfter is how long a line of a group without members may stand. Its habit
// counts only where positions advance without members.
func (l line) stopAfter() time.Duration {
	if l.p.MemberlessAt.IsZero() {
		return l.rule.StallAfter
	}
	return l.threshold()
}

// ownerless tells whether the group has settled and nobody owns the line. One
// that advances all the same is read by somebody.
func (l line) ownerless(g group) bool {
	return g.settled && l.owner == "" && l.p.Unowned.running() && !l.p.RoseAt.Equal(g.now)
}

// newcomer is a line without a commit whose consumers may not have noticed it
// yet.
func (l line) newcomer(g group) bool {
	return l.Position == sources.NoCommit && l.p.Unowned.elapsed(g.now) < newLine
}

// losing tells whether records were deleted unread: as long as the line stands
// before the log start with something left to read, and for stall_after as
// news.
func (l line) losing(g group) bool {
	loss := l.p.Loss
	if loss == nil {
		return false
	}
	return g.now.Sub(loss.At) < l.rule.StallAfter || (l.Position < l.Start && l.p.Waits != nothingWaits)
}

// hanging tells whether an open transaction holds the line up: all that is
// stable is read, and the end moves on past a stable end that has stood for
// stall_after.
func (l line) hanging(g group) bool {
	h := l.p.Hanging
	return h.Watch.elapsed(g.now) >= l.rule.StallAfter && l.End > h.End
}

// late tells whether a rule asks to page on age, and the oldest unread record
// is that old.
func (l line) late() bool {
	return l.rule.BehindAfter > 0 && l.p.late(l.Lag, l.p.ReadAt) >= l.rule.BehindAfter
}

// alive tells whether somebody is there to do the line's work: a member was
// seen within stall_after, so that a crash loop, which shows an empty and a
// stable group by turns, is not taken for a stop.
func (g group) alive(l line) bool {
	return g.memberful || g.engine || g.memberless < l.rule.StallAfter
}

func scopeOf(v Verdict) Scope {
	switch v {
	case OK:
		return NoScope
	case Orphaned:
		return TopicScope
	case Stopped, GroupStall:
		return GroupScope
	}
	return PartitionScope
}
