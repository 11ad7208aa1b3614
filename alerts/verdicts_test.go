package alerts

import (
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// moving is a line that is read as it is written.
var moving = modelLine{}

func wedged(at int) modelLine { return modelLine{pos: stuck(busy, at, never)} }

func owned(by string, l modelLine) modelLine {
	l.owner = always(by)
	return l
}

func both(int) []string { return []string{"m1", "m2"} }

func from(second int, before, after func(int) int64) func(int) int64 {
	return func(t int) int64 {
		if t < second {
			return before(t)
		}
		return after(t)
	}
}

func emptyFrom(from, to int) (func(int) string, func(int) []string) {
	gone := func(t int) bool { return t >= from && t < to }
	return func(t int) string {
			if gone(t) {
				return "Empty"
			}
			return "Stable"
		}, func(t int) []string {
			if gone(t) {
				return nil
			}
			return []string{"m1"}
		}
}

// TestVerdicts is the specification: each row is one rule of product.md.
func TestVerdicts(t *testing.T) {
	emptyState, emptyMembers := emptyFrom(300, never)
	stopState, stopMembers := emptyFrom(300, 1000)
	loopState := func(t int) string { return []string{"Stable", "Empty"}[t/30%2] }
	loopMembers := func(t int) []string { return [][]string{{"m1"}, nil}[t/30%2] }
	for _, c := range []struct {
		name  string
		m     model
		want  []want
		pages []int
	}{
		{"a line that moves is ok", model{until: 900, lines: []modelLine{moving, moving}}, []want{{900, 0, OK, NoScope}}, nil},
		{
			"something readable waits for stall_after and the peers move: head of line",
			model{until: 900, lines: []modelLine{wedged(300), moving, moving}},
			[]want{{330, 0, OK, NoScope}, {540, 0, OK, NoScope}, {570, 0, HeadOfLineStall, PartitionScope}, {900, 1, OK, NoScope}},
			[]int{570},
		},
		{
			"peers with nothing to read are healthy",
			model{until: 900, lines: []modelLine{wedged(300), {end: fixed(5)}}},
			[]want{{900, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"the group's only line",
			model{until: 900, lines: []modelLine{wedged(300)}},
			[]want{{900, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"all lines of one member froze together",
			model{until: 900, members: both, lines: []modelLine{wedged(300), wedged(310), owned("m2", moving)}},
			[]want{{570, 0, HeadOfLineStall, MemberScope}, {570, 1, HeadOfLineStall, MemberScope}, {570, 2, OK, NoScope}},
			[]int{570},
		},
		{
			"a line of the member has nothing to read: the others still tell",
			model{until: 900, members: both, lines: []modelLine{wedged(300), wedged(300), {end: fixed(5)}, owned("m2", moving)}},
			[]want{{900, 0, HeadOfLineStall, MemberScope}, {900, 2, OK, NoScope}},
			[]int{570},
		},
		{
			"one of the member's lines moves: it does not hang",
			model{until: 900, members: both, lines: []modelLine{wedged(300), wedged(300), {pos: func(t int) int64 { return max(0, busy(t)-5) }}, owned("m2", moving)}},
			[]want{{900, 0, HeadOfLineStall, PartitionScope}, {900, 1, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"two lines of one member that froze at different times are two bad records",
			model{until: 1800, members: both, lines: []modelLine{wedged(300), wedged(900), owned("m2", moving)}},
			[]want{{1800, 0, HeadOfLineStall, PartitionScope}, {1800, 1, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"no line is healthy",
			model{until: 900, members: both, lines: []modelLine{wedged(300), owned("m2", wedged(300))}},
			[]want{{540, 0, OK, NoScope}, {570, 0, GroupStall, GroupScope}, {570, 1, GroupStall, GroupScope}},
			[]int{570},
		},
		{
			"no line is healthy, and they stopped some readings apart: the page names its scope at once",
			model{until: 900, lines: []modelLine{wedged(300), wedged(340), wedged(370)}},
			[]want{{570, 0, GroupStall, GroupScope}, {570, 2, GroupStall, GroupScope}},
			[]int{570},
		},
		{
			"a rebalance that never ends, whatever the peers have to read",
			model{
				until: 900, lines: []modelLine{wedged(300), {end: fixed(5)}},
				state:   func(t int) string { return []string{"Stable", "PreparingRebalance"}[min(1, t/300)] },
				members: both,
			},
			[]want{{900, 0, GroupStall, GroupScope}, {900, 1, OK, NoScope}},
			[]int{570},
		},
		{
			"no members for stall_after: stopped",
			model{until: 900, state: emptyState, members: emptyMembers, lines: []modelLine{wedged(300), wedged(300), {end: fixed(5)}}},
			[]want{{540, 0, OK, NoScope}, {570, 0, Stopped, GroupScope}, {900, 2, OK, NoScope}},
			[]int{570},
		},
		{
			"a line that stalled, and then its members left: still one incident",
			model{until: 1800, state: func(t int) string { return emptyState(t - 600) }, members: func(t int) []string { return emptyMembers(t - 600) }, lines: []modelLine{wedged(300), wedged(900)}},
			[]want{{900, 0, HeadOfLineStall, ""}, {1080, 0, HeadOfLineStall, ""}, {1110, 0, Stopped, GroupScope}},
			[]int{570},
		},
		{
			"a crash loop shows empty and stable by turns: a stall",
			model{until: 1800, state: loopState, members: loopMembers, lines: []modelLine{wedged(300), moving}},
			[]want{{1800, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"an engine that commits without joining is not stopped while it advances",
			model{until: 1800, state: always("Empty"), members: func(int) []string { return nil }, lines: []modelLine{{pos: func(t int) int64 { return busy(t / 60 * 60) }}}},
			[]want{{1800, 0, OK, NoScope}},
			nil,
		},
		{
			"and one that stops advancing is, by its own habit",
			model{until: 3600, state: always("Empty"), members: func(int) []string { return nil }, lines: []modelLine{{pos: func(t int) int64 { return busy(min(t, 1200) / 200 * 200) }}}},
			[]want{{1620, 0, OK, NoScope}, {1650, 0, Stopped, GroupScope}},
			[]int{1650},
		},
		{
			"one line of such an engine is wedged",
			model{until: 1800, state: always("Empty"), members: func(int) []string { return nil }, lines: []modelLine{wedged(300), moving}},
			[]want{{1800, 0, HeadOfLineStall, PartitionScope}, {1800, 1, OK, NoScope}},
			[]int{570},
		},
		{
			"what had no members at the first reading is already so",
			model{until: 900, state: always("Empty"), members: func(int) []string { return nil }, lines: []modelLine{{pos: fixed(100), end: ahead}}},
			[]want{{900, 0, Stopped, GroupScope}},
			nil,
		},
		{
			"members that cannot be read: never stopped",
			model{until: 900, state: emptyState, members: func(int) []string { return nil }, lines: []modelLine{wedged(300), {end: fixed(5)}}, edit: func(_ int, g *sources.Group) { g.MembersKnown = false }},
			[]want{{900, 0, HeadOfLineStall, ""}},
			[]int{570},
		},
		{
			"a stable group, a partition without an owner: told at once, paged when something has waited there",
			model{until: 900, lines: []modelLine{{pos: stuck(busy, 300, never), owner: func(t int) string { return []string{"m1", ""}[min(1, t/300)] }}, moving}},
			[]want{{330, 0, Unassigned, PartitionScope}, {900, 0, Unassigned, PartitionScope}},
			[]int{570},
		},
		{
			"without an owner and nothing to read: shown, and nobody is woken",
			model{until: 900, lines: []modelLine{{end: fixed(5), owner: always("")}, moving}},
			[]want{{900, 0, Unassigned, PartitionScope}},
			nil,
		},
		{
			"a group that had stopped is back: it has stall_after to move",
			model{until: 2400, state: stopState, members: stopMembers, lines: []modelLine{{pos: from(1100, stuck(busy, 300, never), func(t int) int64 { return min(busy(t), 3000+60*int64(t-1100)) })}, {end: fixed(5)}}},
			[]want{{960, 0, Stopped, ""}, {1020, 0, OK, NoScope}, {1080, 0, OK, NoScope}, {2400, 0, OK, NoScope}},
			[]int{570},
		},
		{
			"and is a stall when it does not",
			model{until: 1800, state: stopState, members: stopMembers, lines: []modelLine{wedged(300), {end: fixed(5)}}},
			[]want{{960, 0, Stopped, ""}, {1200, 0, OK, NoScope}, {1260, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"a line that was without an owner got one: the same",
			model{until: 1800, lines: []modelLine{{pos: stuck(busy, 300, never), owner: func(t int) string { return map[bool]string{true: "m1"}[t < 300 || t >= 900] }}, moving}},
			[]want{{870, 0, Unassigned, ""}, {900, 0, OK, NoScope}, {1110, 0, OK, NoScope}, {1140, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"never committed and without an owner: unknown for six minutes",
			model{until: 900, lines: []modelLine{{pos: fixed(-1), owner: always("")}, moving}},
			[]want{{330, 0, Unknown, ""}, {360, 0, Unassigned, PartitionScope}},
			[]int{360},
		},
		{
			"never committed, and its first owner comes late: he has his whole time",
			model{until: 1200, lines: []modelLine{{owner: func(t int) string { return []string{"", "m1"}[min(1, t/300)] }, pos: from(510, fixed(-1), busy)}, moving}},
			[]want{{270, 0, Unknown, ""}, {480, 0, OK, NoScope}, {1200, 0, OK, NoScope}},
			nil,
		},
		{
			"a topic that nobody in the group reads any more",
			model{until: 900, lines: []modelLine{{topic: "B", pos: stuck(busy, 300, never), owner: func(t int) string { return []string{"m1", ""}[min(1, t/300)] }}, moving}},
			[]want{{270, 0, OK, NoScope}, {330, 0, Orphaned, TopicScope}, {900, 0, Orphaned, TopicScope}},
			nil,
		},
		{
			"the stable end stands and the end moves on: an open transaction",
			model{until: 900, lines: []modelLine{{stab: stuck(busy, 300, never), pos: stuck(busy, 300, never)}, moving}},
			[]want{{330, 0, OK, NoScope}, {570, 0, OpenTransaction, PartitionScope}},
			nil,
		},
		{
			"transactions that end in time are none",
			model{until: 900, lines: []modelLine{{stab: func(t int) int64 { return busy(t / 60 * 60) }, pos: func(t int) int64 { return busy(t / 60 * 60) }}, moving}},
			[]want{{570, 0, OK, NoScope}, {900, 0, OK, NoScope}},
			nil,
		},
		{
			"wedged before the stable end: the consumer's fault",
			model{until: 900, lines: []modelLine{{stab: stuck(busy, 330, never), pos: stuck(busy, 300, never)}, moving}},
			[]want{{900, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"a group that reads past the stable end is measured to the end",
			model{until: 900, lines: []modelLine{{stab: stuck(busy, 100, never), pos: stuck(busy, 300, never), head: func(int) sources.Head { return sources.HeadNone }}, moving}},
			[]want{{270, 0, OK, NoScope}, {900, 0, HeadOfLineStall, PartitionScope}},
			[]int{570},
		},
		{
			"the start passed a position with something unread before it",
			model{until: 900, lines: []modelLine{{pos: stuck(busy, 300, never), start: from(600, fixed(0), fixed(4000))}, moving}},
			[]want{{570, 0, HeadOfLineStall, ""}, {600, 0, DataLoss, PartitionScope}, {900, 0, DataLoss, PartitionScope}},
			[]int{570},
		},
		{
			"the group started over at the start before we looked again",
			model{until: 1200, poll: 60, lines: []modelLine{{end: at(20), pos: from(610, at(6), func(t int) int64 { return 9000 + 6*int64(t-610) }), start: from(605, fixed(0), fixed(9000))}, moving}},
			[]want{{600, 0, Slow, ""}, {660, 0, DataLoss, ""}, {780, 0, DataLoss, ""}, {1200, 0, Slow, ""}},
			[]int{660},
		},
		{
			"a consumer that keeps just ahead of a short retention loses nothing",
			model{until: 1800, lines: []modelLine{{pos: func(t int) int64 { return max(0, busy(t)-50) }, start: func(t int) int64 { return max(0, busy(t)-100) }}, moving}},
			[]want{{900, 0, OK, NoScope}, {1800, 0, OK, NoScope}},
			nil,
		},
		{
			"retention that removes the last marker loses nothing",
			model{until: 900, lines: []modelLine{{end: fixed(101), pos: fixed(100), start: from(300, fixed(0), fixed(101)), head: func(int) sources.Head { return sources.HeadNone }}, moving}},
			[]want{{330, 0, OK, NoScope}, {900, 0, OK, NoScope}},
			nil,
		},
		{
			"set back on purpose: an event, and the line works again",
			model{until: 2400, lines: []modelLine{{pos: from(600, busy, func(t int) int64 { return min(busy(t), 20*int64(t-600)) })}, moving}},
			[]want{{600, 0, Rewind, PartitionScope}, {780, 0, Rewind, PartitionScope}, {1020, 0, OK, NoScope}, {2400, 0, OK, NoScope}},
			nil,
		},
		{
			"a loop that takes the same records again is a stall",
			model{until: 1800, poll: 10, lines: []modelLine{{pos: func(t int) int64 {
				if t < 300 {
					return busy(t)
				}
				return 3000 - 100*int64(t/20%2)
			}}, moving}},
			[]want{{560, 0, HeadOfLineStall, PartitionScope}, {1790, 0, HeadOfLineStall, PartitionScope}},
			[]int{560},
		},
		{
			"so is one that is slower than stall_after",
			model{until: 7200, poll: 60, lines: []modelLine{{end: at(1.0 / 60), pos: func(t int) int64 {
				if t <= 1800 {
					return int64(t / 60)
				}
				return 20 + int64(min(10, t/60%15))
			}}, moving}},
			[]want{{7200, 0, HeadOfLineStall, PartitionScope}},
			[]int{2640},
		},
		{
			"falling behind",
			model{until: 1200, lines: []modelLine{{pos: at(6)}, moving}},
			[]want{{1200, 0, Slow, PartitionScope}},
			nil,
		},
		{
			"catching up is not slow",
			model{until: 1200, lines: []modelLine{{end: func(t int) int64 { return 100_000 + busy(t) }, pos: at(60)}, moving}},
			[]want{{600, 0, OK, NoScope}, {1200, 0, OK, NoScope}},
			nil,
		},
		{
			"one that fell behind and reads faster now is not slow any more",
			model{until: 1290, lines: []modelLine{{pos: func(t int) int64 { return at(6)(min(t, 1200)) + 30*int64(max(0, t-1200)) }}, moving}},
			[]want{{1200, 0, Slow, ""}, {1290, 0, OK, NoScope}},
			nil,
		},
		{
			"late by a fixed delay, as on a retry topic, is not slow",
			model{until: 3600, lines: []modelLine{{pos: func(t int) int64 { return busy(max(0, t-600)) + int64(t%7*min(1, t/600)) }}, moving}},
			[]want{{1800, 0, OK, NoScope}, {3600, 0, OK, NoScope}},
			[]int{270}, // the first wait is as long as a stall
		},
		{
			"metadata that changes at a standing position is progress",
			model{until: 1800, lines: []modelLine{{pos: stuck(busy, 300, never), meta: func(t int) string { return time.Duration(t).String() }}, moving}},
			[]want{{1800, 0, OK, NoScope}},
			nil,
		},
		{
			"metadata that changes with the owner is not",
			model{until: 1800, members: func(t int) []string { return []string{"m" + time.Duration(t/90).String()} }, lines: []modelLine{{
				pos: stuck(busy, 300, never), owner: func(t int) string { return "m" + time.Duration(t/90).String() }, meta: func(t int) string { return time.Duration((t - 30) / 90).String() },
			}}},
			[]want{{1800, 0, HeadOfLineStall, ""}},
			[]int{570},
		},
		{
			"a position beyond the end of a topic that was created again",
			model{until: 1200, lines: []modelLine{{end: from(300, busy, func(t int) int64 { return busy(t - 300) }), pos: func(t int) int64 {
				switch {
				case t < 300:
					return busy(t)
				case t < 420:
					return 2990
				}
				return busy(t - 300)
			}}, moving}},
			[]want{{300, 0, Unknown, ""}, {390, 0, Unknown, ""}, {450, 0, OK, NoScope}, {1200, 0, OK, NoScope}},
			nil,
		},
		{
			"another topic id starts the clock afresh",
			model{until: 900, lines: []modelLine{{pos: stuck(busy, 300, never), id: func(t int) string { return []string{"a", "b"}[min(1, t/540)] }}, moving}},
			[]want{{570, 0, OK, NoScope}, {750, 0, OK, NoScope}, {780, 0, HeadOfLineStall, ""}},
			[]int{780},
		},
		{
			"readings that fail stop the clock",
			model{until: 1200, fails: func(t int) bool { return t >= 420 && t < 540 }, lines: []modelLine{wedged(300), moving}},
			[]want{{420, 0, Unknown, GroupScope}, {540, 0, OK, NoScope}, {660, 0, OK, NoScope}, {690, 0, HeadOfLineStall, ""}},
			[]int{690},
		},
		{
			"and so do those of one line",
			model{until: 1200, lines: []modelLine{{pos: stuck(busy, 300, never), fails: func(t int) bool { return t >= 420 && t < 540 }}, moving}},
			[]want{{420, 0, Unknown, PartitionScope}, {420, 1, OK, NoScope}, {660, 0, OK, NoScope}, {690, 0, HeadOfLineStall, ""}},
			[]int{690},
		},
		{
			"what stood at the first reading counts from there, and pages",
			model{until: 900, lines: []modelLine{{pos: fixed(0), end: func(t int) int64 { return 4000 + busy(t) }}, moving}},
			[]want{{210, 0, OK, NoScope}, {240, 0, HeadOfLineStall, ""}},
			[]int{240},
		},
		{
			"without a look, a tail that does not grow may be a marker",
			model{until: 1200, lines: []modelLine{{end: fixed(101), pos: fixed(100), head: func(int) sources.Head { return "" }}, moving}},
			[]want{{210, 0, OK, NoScope}, {1200, 0, Unknown, ""}},
			nil,
		},
		{
			"without a look, a log that grows holds records",
			model{until: 1200, lines: []modelLine{{pos: stuck(busy, 300, never), head: func(int) sources.Head { return "" }}, moving}},
			[]want{{570, 0, HeadOfLineStall, ""}},
			[]int{570},
		},
		{
			"one look is remembered while the line stands",
			model{until: 1200, lines: []modelLine{{end: fixed(101), pos: fixed(100), head: func(t int) sources.Head { return map[bool]sources.Head{true: sources.HeadRecord}[t == 60] }}, moving}},
			[]want{{240, 0, HeadOfLineStall, ""}},
			[]int{240},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.m.run(t)
			n.check(t, c.want)
			if got := n.pages(); !same(got, c.pages) {
				t.Errorf("paged at %v, want %v", got, c.pages)
			}
			if opened := n.opened(); len(opened) > len(c.pages)+1 {
				t.Errorf("%d incidents opened", len(opened))
			}
		})
	}
}

func TestReasonsHaveTheNumbers(t *testing.T) {
	m := model{until: 900, lines: []modelLine{wedged(300), moving, moving, {end: fixed(5)}}}
	got := m.run(t).said(600, 0).Reason
	for _, part := range []string{"offset 3,000", "since 00:05:30 UTC", "2,999 records behind it", "of the other 3 partitions 2 move and 1 has nothing to read"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q does not say %q", got, part)
		}
	}
}
