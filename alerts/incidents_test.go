package alerts

import (
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// TestOneIncidentAGroup: a change of verdict or scope and more lines update it.
func TestOneIncidentAGroup(t *testing.T) {
	m := model{until: 3000, members: both, lines: []modelLine{wedged(300), wedged(900), owned("m2", wedged(1500))}}
	n := m.run(t)
	n.check(t, []want{{1200, 1, HeadOfLineStall, PartitionScope}, {3000, 0, GroupStall, GroupScope}})
	if got := n.pages(); !same(got, []int{570}) {
		t.Errorf("paged at %v", got)
	}
	in := n.watch.Incident
	if len(n.opened()) != 1 || in == nil || in.Verdict != GroupStall || len(in.Lines) != 3 || !in.Pages {
		t.Errorf("the incident: %+v", in)
	}
	updates := 0
	for _, at := range n.times {
		if n.steps[at].Updated != nil {
			updates++
		}
	}
	if updates != 2 {
		t.Errorf("%d updates, want 2: one for each line more", updates)
	}
}

func TestAnIncidentSaysWhatItIs(t *testing.T) {
	m := model{until: 600, lines: []modelLine{wedged(300), moving}, rules: Rules{List: []Rule{{Group: "g", Severity: "error", Owner: "payments", Runbook: "https://run", Notify: []string{"oncall"}}}}}
	in := m.run(t).opened()[0]
	if len(in.ID) != 36 || in.ID[14] != '7' {
		t.Errorf("id %q is no UUIDv7", in.ID)
	}
	if in.Title != "Partition 0 of A is wedged at or after offset 3,000" || in.Severity != "error" || in.Owner != "payments" || in.Runbook != "https://run" || !in.Pages || in.Notify[0] != "oncall" {
		t.Errorf("%+v", in)
	}
	e := in.Evidence
	if e.Line.Number != 0 || e.Position != 3000 || !e.Since.Equal(time.Unix(330, 0)) || e.Waiting != 2699 || e.Owner != "m1" || e.Peers != "the other partition moves" {
		t.Errorf("evidence: %+v", e)
	}
}

func TestItResolvesWhenItHasMovedOnForStallAfter(t *testing.T) {
	m := model{until: 1500, lines: []modelLine{{pos: from(700, stuck(busy, 300, never), func(t int) int64 { return min(busy(t), 3001+50*int64(t-700)) })}, moving}}
	n := m.run(t)
	if got := n.resolved(); len(got) != 1 || got[0] < 940 || got[0] > 1000 {
		t.Errorf("resolved at %v, want once, at about 970", got)
	}
}

func TestItResolvesAfterFiveMinutesAtMost(t *testing.T) {
	m := model{until: 9000, rules: Rules{StallAfter: 20 * time.Minute}, lines: []modelLine{{pos: from(3000, stuck(busy, 300, never), busy)}, moving}}
	if got := m.run(t).resolved(); len(got) != 1 || got[0] < 3300 || got[0] > 3360 {
		t.Errorf("resolved at %v, want about 3300", got)
	}
}

// TestAStallWithinThatTimeJoins: the record is skipped, and the next is bad too.
func TestAStallWithinThatTimeJoins(t *testing.T) {
	for _, c := range []struct {
		name string
		pos  func(int) int64
	}{
		{"the next record is bad too", from(700, stuck(busy, 300, never), fixed(3001))},
		{"a line moved on and stopped again", from(700, stuck(busy, 300, never), func(t int) int64 { return 3001 + 10*int64(min(t, 850)-700) })},
	} {
		m := model{until: 3000, lines: []modelLine{{pos: c.pos}, moving}}
		n := m.run(t)
		if got := n.pages(); !same(got, []int{570}) || len(n.opened()) != 1 || len(n.resolved()) != 0 {
			t.Errorf("%s: paged at %v, resolved at %v", c.name, got, n.resolved())
		}
	}
}

func TestAStallLongAfterIsAnother(t *testing.T) {
	pos := from(700, stuck(busy, 300, never), stuck(busy, 2000, never))
	m := model{until: 3000, lines: []modelLine{{pos: pos}, moving}}
	n := m.run(t)
	if got := n.pages(); len(got) != 2 || len(n.resolved()) != 1 {
		t.Errorf("paged at %v, resolved at %v", got, n.resolved())
	}
}

func TestALoopNeverPassesWhereItStood(t *testing.T) {
	pos := from(1200, stuck(busy, 300, never), func(t int) int64 { return 2900 + int64(t/30%2*100) })
	m := model{until: 3000, lines: []modelLine{{pos: pos}, moving}}
	if n := m.run(t); len(n.resolved()) != 0 || len(n.opened()) != 1 {
		t.Errorf("resolved at %v", n.resolved())
	}
}

func TestUnknownNeverResolves(t *testing.T) {
	m := model{until: 3000, lines: []modelLine{{pos: stuck(busy, 300, never), fails: func(t int) bool { return t > 600 }}, moving}}
	if n := m.run(t); len(n.resolved()) != 0 || n.watch.Incident == nil {
		t.Errorf("resolved at %v", n.resolved())
	}
}

func TestTimeOfFailedReadingsIsNoTimeOfCalm(t *testing.T) {
	m := model{
		until: 1500, fails: func(t int) bool { return t >= 780 && t < 900 },
		lines: []modelLine{{pos: from(700, stuck(busy, 300, never), busy)}, moving},
	}
	if got := m.run(t).resolved(); len(got) != 1 || got[0] < 1080 {
		t.Errorf("resolved at %v, want two minutes later than 960", got)
	}
}

func TestRulesOfPaging(t *testing.T) {
	for _, c := range []struct {
		page   Paging
		opened int
		pages  int
	}{{PageOn, 1, 1}, {PageWarn, 1, 0}, {PageOff, 0, 0}} {
		m := model{until: 900, lines: []modelLine{wedged(300), moving}, rules: Rules{List: []Rule{{Topic: "A", Page: c.page}}}}
		n := m.run(t)
		if len(n.opened()) != c.opened || len(n.pages()) != c.pages {
			t.Errorf("page %s: %d incidents, paged at %v", c.page, len(n.opened()), n.pages())
		}
		if c.page == PageWarn && n.opened()[0].Severity != "warning" {
			t.Errorf("severity %s", n.opened()[0].Severity)
		}
	}
}

func TestTheFirstRuleWins(t *testing.T) {
	rules := Rules{StallAfter: time.Minute, List: []Rule{{Source: "payments", Group: "nightly-*", StallAfter: time.Hour}, {Group: "nightly-*"}, {Topic: "x?", Page: PageOff}}}
	for _, c := range []struct {
		source, group, topic string
		after                time.Duration
		page                 Paging
	}{
		{"payments", "nightly-1", "t", time.Hour, PageOn},
		{"aws", "nightly-1", "t", time.Minute, PageOn},
		{"", "nightly-1", "t", time.Hour, PageOn},
		{"payments", "daily", "xy", time.Minute, PageOff},
		{"payments", "daily", "xyz", time.Minute, PageOn},
	} {
		if r := rules.For(c.source, c.group, c.topic); r.StallAfter != c.after || r.Page != c.page || r.Severity != "critical" {
			t.Errorf("%v: %+v", c, r)
		}
	}
	if (Rules{}).For("s", "g", "t").StallAfter != DefaultStallAfter {
		t.Error("no default")
	}
}

func TestBehindAfterPagesOnAge(t *testing.T) {
	m := model{until: 3000, rules: Rules{List: []Rule{{BehindAfter: 15 * time.Minute}}}, lines: []modelLine{{pos: at(5)}, moving}}
	n := m.run(t)
	if got := n.pages(); len(got) != 1 || got[0] < 1770 || got[0] > 1900 || n.opened()[0].Verdict != Slow {
		t.Errorf("paged at %v; half of it is read, so that the oldest is 15 min old after half an hour", got)
	}
}

// ahead is the end of a log that has records from the first reading on.
func ahead(t int) int64 { return busy(t) + 1000 }

// TestAStopThatWeSeeIsNews: a group that was empty and caught up when we first
// looked, or that came when its source had been read before, was not stopped
// already; nor is a loss that we watch, whatever the group was before.
func TestAStopThatWeSeeIsNews(t *testing.T) {
	nobody := func(int) []string { return nil }
	late := model{until: 900, state: always("Empty"), members: nobody, lines: []modelLine{{pos: fixed(0), end: func(t int) int64 { return int64(t / 300) }}}}
	if n := late.run(t); len(n.pages()) != 1 || n.opened()[0].AlreadySo {
		t.Errorf("records that came later: paged at %v", n.pages())
	}
	w := &GroupWatch{Joined: true}
	at, opened := time.Date(2026, 9, 10, 2, 0, 0, 0, time.UTC), 0
	for i := range 40 {
		g := sources.Group{Source: "payments", Name: "g", Protocol: sources.Classic, State: "Empty", MembersKnown: true, Lines: []sources.Lag{{Partition: sources.Partition{Source: "payments", Group: "g", Topic: "t"}, Position: 5, End: 50, StableEnd: 50, Head: sources.HeadRecord}}}
		if step := w.Next(g, Rules{}, at.Add(time.Duration(i)*15*time.Second)); step.Opened != nil && step.Opened.Pages && !step.Opened.AlreadySo {
			opened++
		}
	}
	if opened != 1 {
		t.Errorf("a group that came later and stands without members: %d pages", opened)
	}
	loss := model{until: 1200, state: always("Empty"), members: nobody, lines: []modelLine{{pos: fixed(10), end: ahead, start: func(t int) int64 { return map[bool]int64{true: 500}[t >= 900] }}}}
	n := loss.run(t)
	if len(n.pages()) != 1 || n.pages()[0] < 900 {
		t.Errorf("a loss in a group that was so already: paged at %v", n.pages())
	}
}

func TestWhatWasSoAlreadyIsListed(t *testing.T) {
	empty, members := emptyFrom(0, 900)
	m := model{until: 3600, state: empty, members: members, lines: []modelLine{{end: ahead, pos: from(900, fixed(10), func(t int) int64 { return min(ahead(t), 100*int64(t-900)) })}}}
	n := m.run(t)
	if len(n.opened()) != 1 || !n.opened()[0].AlreadySo || n.opened()[0].Pages || len(n.pages()) != 0 || len(n.resolved()) != 1 {
		t.Errorf("opened %+v, paged at %v, resolved at %v", n.opened(), n.pages(), n.resolved())
	}
	state2, members2 := emptyFrom(0, 300)
	again := model{until: 3600, state: func(t int) string {
		if t > 1200 {
			return "Empty"
		}
		return state2(t)
	}, members: func(t int) []string {
		if t > 1200 {
			return nil
		}
		return members2(t)
	}, lines: []modelLine{{end: ahead, pos: from(330, fixed(0), stuck(ahead, 1200, never))}}}
	if got := again.run(t).pages(); len(got) != 1 {
		t.Errorf("stopped after it was seen alive: paged at %v", got)
	}
}

func TestACommitThatVanishesKeepsItsIncident(t *testing.T) {
	m := model{until: 2400, lines: []modelLine{{pos: from(900, stuck(busy, 300, never), fixed(-1))}, moving}}
	n := m.run(t)
	in := n.watch.Incident
	if in == nil || len(n.resolved()) != 0 || !strings.Contains(in.Reason, "its offset expired at lag 5,700") {
		t.Errorf("%+v", in)
	}
	n.check(t, []want{{2400, 0, Unknown, ""}})
}

func TestALineThatIsShownNoMoreKeepsItsIncident(t *testing.T) {
	m := model{until: 1500, lines: []modelLine{moving, wedged(300)}}
	m.edit = func(t int, g *sources.Group) {
		if t >= 900 {
			g.Lines = g.Lines[:1]
		}
	}
	n := m.run(t)
	if in := n.watch.Incident; in == nil || len(n.resolved()) != 0 || !strings.Contains(in.Reason, "partition 1 of A: its offset expired at lag 5,700") {
		t.Errorf("%+v", in)
	}
}

func TestAGroupThatVanishes(t *testing.T) {
	dead := func(from int) func(int, *sources.Group) {
		return func(t int, g *sources.Group) {
			if t < from {
				return
			}
			g.State, g.Members = "Dead", nil
			for i := range g.Lines {
				g.Lines[i].Position, g.Lines[i].Owner = sources.NoCommit, ""
			}
		}
	}
	t.Run("soon after its last use it was deleted", func(t *testing.T) {
		m := model{until: 1200, lines: []modelLine{wedged(300), moving}, edit: dead(900)}
		n := m.run(t)
		n.check(t, []want{{1200, 0, Unknown, ""}, {1200, 1, Unknown, ""}})
		if got := n.resolved(); !same(got, []int{900}) || !strings.Contains(n.steps[900].Resolved.Resolution, "deleted, by inference") {
			t.Errorf("resolved at %v", got)
		}
	})
	t.Run("later its offsets expired, and what stood there stands", func(t *testing.T) {
		empty, members := emptyFrom(300, never)
		m := model{until: 1800, state: empty, members: members, lines: []modelLine{wedged(300)}}
		m.edit = func(at int, g *sources.Group) {
			g.OffsetsRetention = 10 * time.Minute
			dead(1500)(at, g)
		}
		n := m.run(t)
		if n.watch.Incident == nil || !strings.Contains(n.watch.Incident.Reason, "offsets expired, by inference") || len(n.resolved()) != 0 {
			t.Errorf("%+v", n.watch.Incident)
		}
	})
	t.Run("missing from the source's reading", func(t *testing.T) {
		m := model{until: 900, lines: []modelLine{wedged(300), moving}}
		n := m.run(t)
		step := n.watch.Gone(time.Unix(930, 0), Rules{})
		if step.Resolved == nil || len(step.Judgements) != 2 || step.Judgements[0].Verdict != Unknown || step.Judgements[0].Group != "g" || n.watch.Incident != nil {
			t.Errorf("%+v", step)
		}
	})
	t.Run("back for good, its clocks went on", func(t *testing.T) {
		m := model{until: 1200, lines: []modelLine{wedged(300), moving}}
		m.edit = func(at int, g *sources.Group) {
			if at == 420 {
				dead(0)(at, g)
			}
		}
		n := m.run(t)
		n.check(t, []want{{420, 0, Unknown, ""}, {450, 0, OK, ""}, {600, 0, HeadOfLineStall, ""}})
	})
}

func TestADroppedSubscriptionIsWarnedOfOnce(t *testing.T) {
	dropped := modelLine{topic: "B", pos: stuck(busy, 300, never), owner: func(t int) string { return []string{"m1", ""}[min(1, t/300)] }}
	never := modelLine{topic: "C", end: fixed(500), pos: fixed(100), owner: always("")}
	m := model{until: 2400, lines: []modelLine{dropped, never, moving}}
	n := m.run(t)
	if got := n.warnings(); len(got) != 1 || !strings.Contains(got[0], "reads B no more") {
		t.Errorf("warned of %q", got)
	}
	if len(n.opened()) != 0 {
		t.Error("it opened an incident")
	}
}

func TestRetentionClosingInIsWarnedOf(t *testing.T) {
	m := model{until: 900, lines: []modelLine{{pos: stuck(busy, 300, never), start: func(t int) int64 { return max(0, 3*int64(t-300)) }}, moving}}
	if got := m.run(t).warnings(); len(got) != 1 || !strings.Contains(got[0], "retention reaches offset 3,000") {
		t.Errorf("warned of %q", got)
	}
}

func TestStandingLinesAreLookedAt(t *testing.T) {
	m := model{lines: []modelLine{wedged(300), moving, {end: fixed(5)}, {pos: fixed(-1)}}, until: 330}
	n := m.run(t)
	got := n.watch.Standing(m.group(360))
	if len(got) != 2 || got[0].Number != 0 || got[0].Position != 3000 || got[1].Number != 3 || got[1].Position != 0 {
		t.Errorf("%+v", got)
	}
}
