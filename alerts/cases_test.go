package alerts

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// say fails unless the reason or the note of a line says a text.
func (n *night) say(t *testing.T, second, line int, text string) {
	t.Helper()
	if j := n.said(second, line); !strings.Contains(j.Reason+"; "+j.Note, text) {
		t.Errorf("at %d, line %d: %q, %q do not say %q", second, line, j.Reason, j.Note, text)
	}
}

func (n *night) lag(t *testing.T, second, line int, want int64) {
	t.Helper()
	if got := n.said(second, line).Lag; got != want {
		t.Errorf("at %d, line %d: lag %d, want %d", second, line, got, want)
	}
}

func quiet(t *testing.T, n *night) {
	t.Helper()
	if len(n.opened()) != 0 {
		t.Errorf("an incident opened: %+v", n.opened()[0])
	}
}

func TestC16MarkersAreNotLag(t *testing.T) {
	n := (&model{until: 600, lines: []modelLine{{end: fixed(101), pos: fixed(100), head: func(int) sources.Head { return sources.HeadNone }}, moving}}).run(t)
	n.check(t, []want{{600, 0, OK, NoScope}})
	n.lag(t, 600, 0, 0)
	n.say(t, 600, 0, "1 control record after the last message")
	quiet(t, n)
}

func TestC18LagIsNeverNegative(t *testing.T) {
	n := (&model{until: 600, lines: []modelLine{{end: fixed(1000), pos: fixed(1007)}, {end: fixed(1000), pos: fixed(960)}}}).run(t)
	n.lag(t, 30, 0, 0)
	n.lag(t, 30, 1, 40)
	n.check(t, []want{{600, 0, OK, NoScope}})
}

func TestC19RecordsThatExpiredAreNotLag(t *testing.T) {
	n := (&model{until: 120, lines: []modelLine{
		{pos: fixed(1_000_000), start: fixed(5_000_000), end: fixed(5_000_000)},
		{pos: fixed(1000), start: fixed(4000), end: fixed(4500)},
	}}).run(t)
	n.lag(t, 0, 0, 0)
	n.lag(t, 0, 1, 500)
	n.say(t, 0, 0, "records expired before they were read: up to 4,000,000")
	n.say(t, 0, 1, "records expired before they were read: up to 3,000")
	n.check(t, []want{{120, 0, OK, NoScope}, {120, 1, OK, NoScope}})
	if len(n.warnings()) != 2 {
		t.Errorf("warned of %q", n.warnings())
	}
	quiet(t, n)
}

func TestC20NoCommitIsNotOffsetZero(t *testing.T) {
	n := (&model{until: 1200, lines: []modelLine{{pos: fixed(-1), start: fixed(1_200_000), end: fixed(1_234_234)}, {end: fixed(70)}}}).run(t)
	n.lag(t, 1200, 0, sources.NotKnown)
	n.lag(t, 1200, 1, 0)
	n.say(t, 1200, 0, "no commit yet")
	quiet(t, n)
}

func TestC21AnEmptyPartitionCountsZero(t *testing.T) {
	n := (&model{until: 60, lines: []modelLine{{end: fixed(42), pos: fixed(0)}, {end: fixed(0), pos: fixed(-1)}}}).run(t)
	n.lag(t, 60, 0, 42)
	n.lag(t, 60, 1, 0)
	n.say(t, 60, 1, "empty, no commit")
}

func TestC23WhoIsCaughtUpHasNoLag(t *testing.T) {
	m := model{until: 60}
	for _, end := range []int64{0, 0, 0, 0, 4, 2, 3, 1} {
		m.lines = append(m.lines, modelLine{end: fixed(end), pos: fixed(end)})
	}
	m.lines[0].pos, m.lines[1].pos = fixed(sources.NoCommit), fixed(sources.NoCommit)
	n := m.run(t)
	for line := range m.lines {
		n.lag(t, 60, line, 0)
	}
	quiet(t, n)
}

// TestC29AShareGroupIsListed with the broker's own count of what waits, or what
// lies past its start where the broker does not count; and it is said that
// nobody judges it.
func TestC29AShareGroupIsListed(t *testing.T) {
	counted := int64(31)
	for waits, count := range map[int64]*int64{40: nil, 31: &counted} {
		m := model{until: 60, lines: []modelLine{{end: fixed(90), pos: fixed(50)}}, edit: func(_ int, g *sources.Group) {
			g.Protocol, g.Lines[0].Counted = sources.Share, count
		}}
		n := m.run(t)
		n.check(t, []want{{60, 0, Unknown, GroupScope}})
		n.lag(t, 60, 0, waits)
		if why := n.said(60, 0).Reason; !strings.Contains(why, "share group") {
			t.Errorf("it is said: %s", why)
		}
		quiet(t, n)
	}
}

func TestC32AnIdleTopicIsNotStopped(t *testing.T) {
	n := (&model{until: 2 * 86400, poll: 600, lines: []modelLine{{end: fixed(645_853)}}}).run(t)
	n.check(t, []want{{2 * 86400, 0, OK, NoScope}})
	n.say(t, 2*86400, 0, "idle, caught up")
	quiet(t, n)
}

func TestC35LagIsThatOfThisReading(t *testing.T) {
	end := from(300, fixed(500), func(t int) int64 { return 500 + 70*int64(t-300) })
	state, members := emptyFrom(300, never)
	n := (&model{until: 1302, poll: 1, state: state, members: members, lines: []modelLine{{end: end, pos: fixed(500)}}}).run(t)
	for _, second := range []int{400, 401, 700, 1301} {
		n.lag(t, second, 0, 70*int64(second-300))
	}
	if !strings.Contains(n.opened()[0].Reason, "records behind it") || n.opened()[0].Evidence.Waiting < 70*239-1 {
		t.Errorf("the page carries an old number: %+v", n.opened()[0])
	}
}

func TestC37ATinyLagIsHealthy(t *testing.T) {
	n := (&model{until: 1080, poll: 120, lines: []modelLine{{
		pos: func(t int) int64 { return 112_878_341 + int64(4500*float64(t)/1080) },
		end: func(t int) int64 { return 112_878_352 + int64(4634*float64(t)/1080) },
	}}}).run(t)
	for second := 0; second <= 1080; second += 120 {
		n.check(t, []want{{second, 0, OK, NoScope}})
	}
	quiet(t, n)
}

func TestC38FallingBehindInSpiteOfADip(t *testing.T) {
	n := (&model{until: 1740, poll: 60, lines: []modelLine{{end: at(1000), pos: func(t int) int64 {
		dip := int64(0)
		if t == 7*60 || t == 19*60 {
			dip = 60_000
		}
		return 700*int64(t) + dip
	}}}}).run(t)
	n.check(t, []want{{600, 0, Slow, PartitionScope}, {1740, 0, Slow, PartitionScope}})
	n.say(t, 600, 0, "falling behind by 300/s")
	quiet(t, n)
}

func TestC40APoisonRecordThatCrashesItsConsumers(t *testing.T) {
	id := func(t int) string { return fmt.Sprintf("m-%d", t/20) }
	m := model{
		until: 1200, poll: 15, members: func(t int) []string { return []string{id(t), "m2"} },
		state: func(t int) string { return []string{"Stable", "PreparingRebalance"}[t/10%2] },
		lines: []modelLine{{end: func(t int) int64 { return 359 + int64(t) }, pos: fixed(358), owner: id}, owned("m2", moving)},
	}
	n := m.run(t)
	n.check(t, []want{{1200, 0, HeadOfLineStall, PartitionScope}})
	n.say(t, 1200, 0, "offset 358")
	n.say(t, 1200, 0, "its owner changed")
	if got := n.pages(); !same(got, []int{240}) {
		t.Errorf("paged at %v", got)
	}
}

func TestC41AnEndlessRebalance(t *testing.T) {
	m := model{
		until: 900, poll: 30, members: both,
		state: func(t int) string {
			if t < 300 || t/30%10 == 0 {
				return "Stable"
			}
			return "PreparingRebalance"
		},
		lines: []modelLine{wedged(300), owned("m2", wedged(300)), {end: fixed(10)}},
	}
	n := m.run(t)
	n.check(t, []want{{330, 0, OK, NoScope}, {900, 0, GroupStall, GroupScope}, {900, 1, GroupStall, GroupScope}})
	n.say(t, 900, 0, "rebalancing for")
	if got := n.pages(); len(got) != 1 {
		t.Errorf("paged at %v", got)
	}
	deploy := model{until: 900, state: func(t int) string {
		return map[bool]string{true: "PreparingRebalance", false: "Stable"}[t >= 300 && t < 320]
	}, poll: 10, lines: []modelLine{{pos: func(t int) int64 { return stuck(busy, 300, 330)(t) }}}}
	quiet(t, deploy.run(t))
}

func TestC42ThePositionJumpsBack(t *testing.T) {
	steps := func(n ...int64) func(int) int64 { return func(t int) int64 { return n[min(t/60, len(n)-1)] } }
	n := (&model{until: 240, poll: 60, lines: []modelLine{{pos: steps(10, 20, 30, 20, 30), end: steps(10, 20, 30, 40, 45)}}}).run(t)
	n.check(t, []want{{120, 0, OK, ""}, {180, 0, Rewind, PartitionScope}, {240, 0, OK, ""}})
	n.say(t, 180, 0, "rewound by 10")
	n.lag(t, 180, 0, 20)
	quiet(t, n)
}

func TestC43ABrokerThatLoadsItsOffsets(t *testing.T) {
	m := model{until: 900, lines: []modelLine{{end: fixed(100)}, moving}}
	m.edit = func(t int, g *sources.Group) {
		switch t {
		case 300:
			g.Lines[0].PositionErr = errors.New("COORDINATOR_LOAD_IN_PROGRESS")
		case 330:
			g.Lines[0].Position = sources.NoCommit
		}
	}
	n := m.run(t)
	n.check(t, []want{{300, 0, Unknown, ""}, {330, 0, Unknown, ""}, {360, 0, OK, NoScope}, {900, 0, OK, NoScope}})
	n.say(t, 330, 0, "the last was 100")
	quiet(t, n)
}

func TestC44AConsumerThatCommitsRarely(t *testing.T) {
	const cycle = 28 * 60
	commits := func(t int) int64 { return 3 * int64(t/cycle*cycle) }
	m := model{until: 6 * 3600, poll: 60, lines: []modelLine{{end: at(3), pos: commits}}}
	n := m.run(t)
	for second := 2 * cycle; second <= 6*3600; second += 60 {
		n.check(t, []want{{second, 0, OK, NoScope}})
	}
	late := model{until: 6 * 3600, poll: 60, lines: []modelLine{{end: at(3), pos: stuck(commits, 4*cycle, never)}}}
	night := late.run(t)
	night.check(t, []want{{4*cycle + 27*60, 0, OK, ""}, {6*cycle + 120, 0, HeadOfLineStall, ""}})
	for _, page := range night.pages() {
		if page > 2*cycle && math.Abs(float64(page-6*cycle)) > 180 {
			t.Errorf("paged at %d, want about twice its habit after %d", page, 4*cycle)
		}
	}
}

func TestC45AReplayFromTheBeginning(t *testing.T) {
	n := (&model{until: 1200, poll: 15, lines: []modelLine{{end: func(t int) int64 { return 10_000_000 + 100*int64(t) }, pos: at(3800)}}}).run(t)
	n.check(t, []want{{300, 0, OK, NoScope}, {1200, 0, OK, NoScope}})
	n.say(t, 300, 0, "catching up, about 40 min left")
	quiet(t, n)
}

// TestC93NothingIsToldBeforeThereIsAHistory: a small lag right after the start is
// not called anything yet, and what is told names a partition and numbers.
func TestC93NothingIsToldBeforeThereIsAHistory(t *testing.T) {
	n := (&model{until: 230, lines: []modelLine{{pos: stuck(func(t int) int64 { return busy(t) }, 30, never)}, {}}}).run(t)
	quiet(t, n)
	n = (&model{until: 600, lines: []modelLine{{pos: stuck(busy, 30, never)}, {}}}).run(t)
	in := n.opened()[0]
	if len(in.Lines) != 1 || !strings.Contains(in.Title, "Partition 0 of A") || !strings.Contains(in.Reason, "records behind it") {
		t.Errorf("%s: %s", in.Title, in.Reason)
	}
}

// TestC95HoveringAroundTheLimitIsOnePage: the age goes over behind_after and
// under it every half minute, then is nothing, then is far over it.
func TestC95HoveringAroundTheLimitIsOnePage(t *testing.T) {
	late := func(t int) int { // seconds behind
		switch {
		case t < 1800:
			return 0
		case t < 3000:
			return 890 + 20*(t/30%2)
		case t < 4200:
			return 0
		}
		return 1800
	}
	high := int64(0)
	m := model{until: 6000, through: true, rules: Rules{List: []Rule{{BehindAfter: 15 * time.Minute}}}, lines: []modelLine{{pos: func(t int) int64 {
		high = max(high, busy(t-late(t)))
		return high
	}}, {}}}
	n := m.run(t)
	if pages, resolved := n.pages(), n.resolved(); len(pages) != 2 || pages[1] < 4200 || len(resolved) != 1 || resolved[0] < 3000 || resolved[0] > 4200 {
		t.Errorf("paged at %v, resolved at %v", pages, resolved)
	}
}
