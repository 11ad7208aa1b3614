package alerts

import (
	"strings"
	"testing"
	"time"
)

const hour = 3600

// working are rules of which one has hours; second 0 is a Thursday's midnight.
func working(t *testing.T, hours string) Rules {
	t.Helper()
	s, err := ParseSchedule(hours, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return Rules{List: []Rule{{Active: s}}}
}

// TestOutsideItsHoursNothingPages, nor is anything told as a warning; what it is
// said to do is said all the same.
func TestOutsideItsHoursNothingPages(t *testing.T) {
	m := model{until: 3 * hour, rules: working(t, "20:00-23:00"), lines: []modelLine{{end: busy, pos: stuck(busy, hour, never)}}}
	n := m.run(t)
	n.check(t, []want{{2 * hour, 0, HeadOfLineStall, PartitionScope}})
	if opened := n.opened(); len(opened) != 0 {
		t.Errorf("opened: %v", opened[0])
	}
}

// TestAStallThatStandsWhenItsHoursBeginIsPagedThen.
func TestAStallThatStandsWhenItsHoursBeginIsPagedThen(t *testing.T) {
	m := model{until: 3 * hour, rules: working(t, "02:00-04:00"), lines: []modelLine{{end: busy, pos: stuck(busy, hour, never)}}}
	if pages := m.run(t).pages(); !same(pages, []int{2 * hour}) {
		t.Errorf("paged at %v", pages)
	}
}

// TestWorkersThatStartWithTheirHoursPageNobody: the group was stopped the whole
// day, and half a minute of it lies in its hours. One whose workers do not come
// is paged, also when it stood so at our own first reading.
func TestWorkersThatStartWithTheirHoursPageNobody(t *testing.T) {
	batch := func(back int) model {
		gone := func(t int) bool { return t < back }
		return model{
			until: 4 * hour, rules: working(t, "02:00-05:00"),
			members: func(t int) []string { return map[bool][]string{false: {"m1"}}[gone(t)] },
			state:   func(t int) string { return map[bool]string{true: "Empty", false: "Stable"}[gone(t)] },
			lines:   []modelLine{{end: func(t int) int64 { return 100 + busy(t) }, pos: func(t int) int64 { return map[bool]int64{false: 100 + busy(t)}[gone(t)] }}},
		}
	}
	in, late := batch(2*hour+30), batch(never)
	if opened := in.run(t).opened(); len(opened) != 0 {
		t.Errorf("opened: %+v", opened[0])
	}
	n := late.run(t)
	if pages := n.pages(); !same(pages, []int{2*hour + 240}) {
		t.Errorf("paged at %v", pages)
	}
	if opened := n.opened(); len(opened) != 1 || opened[0].AlreadySo {
		t.Errorf("opened: %+v", opened)
	}
}

// TestHoursThatEndResolveNothing: the stall still stands.
func TestHoursThatEndResolveNothing(t *testing.T) {
	m := model{until: 10 * hour, rules: working(t, "00:00-02:00"), lines: []modelLine{{end: busy, pos: stuck(busy, hour, 8*hour)}}}
	n := m.run(t)
	if pages, resolved := n.pages(), n.resolved(); !same(pages, []int{hour + 270}) || len(resolved) != 1 || resolved[0] < 8*hour {
		t.Errorf("paged at %v, resolved at %v", pages, resolved)
	}
}

// TestARulePagesOnAge: the line moves all the time, and is called slow.
func TestARulePagesOnAge(t *testing.T) {
	lagging := func(t int) int64 { // half as fast as what arrives, up to 2 h; then it catches up
		return min(busy(t), busy(min(t, 2*hour))/2+30*int64(max(0, t-2*hour)))
	}
	m := model{until: 6 * hour, rules: Rules{List: []Rule{{BehindAfter: 15 * time.Minute, Severity: "error", Owner: "payments", Runbook: "https://r", Notify: []string{"oncall"}}}}, lines: []modelLine{{end: busy, pos: lagging}, {}}}
	n := m.run(t)
	opened := n.opened()
	if len(opened) != 1 || !same(n.pages(), []int{int(opened[0].OpenedAt.Unix())}) {
		t.Fatalf("opened %v, paged at %v", opened, n.pages())
	}
	in := opened[0]
	if at := in.OpenedAt.Unix(); at < 1800 || at > 1800+120 { // half as fast: as old as half of the time that has passed
		t.Errorf("opened at %d", at)
	}
	if in.Verdict != Slow || in.Scope != PartitionScope || !strings.Contains(in.Reason, "longer than behind_after (15 min)") {
		t.Errorf("%s %s: %s", in.Verdict, in.Scope, in.Reason)
	}
	if in.Severity != "error" || in.Owner != "payments" || in.Runbook != "https://r" || len(in.Notify) != 1 {
		t.Errorf("of the rule it has %+v", in)
	}
	if resolved := n.resolved(); len(resolved) != 1 || resolved[0] < 2*hour || resolved[0] > 3*hour {
		t.Errorf("resolved at %v", resolved)
	}
	n.check(t, []want{{hour, 0, Slow, PartitionScope}, {6 * hour, 0, OK, NoScope}})
}

// TestARuleThatDoesNotPage warns, or says nothing.
func TestARuleThatDoesNotPage(t *testing.T) {
	for page, opens := range map[Paging]int{PageWarn: 1, PageOff: 0} {
		m := model{until: hour, rules: Rules{List: []Rule{{Page: page}}}, lines: []modelLine{{pos: stuck(busy, 600, never)}, {}}}
		n := m.run(t)
		opened := n.opened()
		if len(opened) != opens || len(n.pages()) != 0 || opens == 1 && (opened[0].Pages || opened[0].Severity != "warning") {
			t.Errorf("page: %s opened %v, paged at %v", page, opened, n.pages())
		}
	}
}

// TestFlappingIsOneIncident: a line that works for two minutes and stands for
// ten, over and over, for hours.
func TestFlappingIsOneIncident(t *testing.T) {
	flaps := func(t int) int64 { return busy(t/720*720 + min(t%720, 120)) }
	m := model{until: 8 * hour, lines: []modelLine{{pos: flaps}, {}}}
	n := m.run(t)
	if opened := n.opened(); len(opened) != 1 || len(n.resolved()) != 0 {
		t.Errorf("opened %d, resolved at %v", len(opened), n.resolved())
	}
}
