package alerts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// groups are so many names.
func groups(n int) (names []string) {
	for i := range n {
		names = append(names, "group-"+string(rune('a'+i)))
	}
	return names
}

// bigBubble runs a test in fake time with a source of many groups.
func bigBubble(t *testing.T, n int, test func(t *testing.T, m *memory, p *pager, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		test(t, newMemory(), &pager{}, newCluster("payments", groups(n)...))
	})
}

// TestAClusterThatIsDownIsOnePage: each of twelve groups stands, is listed, and
// has its own incident; one page tells of all, once, through restarts, until the
// last of them is well.
func TestAClusterThatIsDownIsOnePage(t *testing.T) {
	bigBubble(t, 12, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		pass(10 * time.Minute)
		for n := range c.lines {
			c.wedge(n)
		}
		pass(6 * time.Minute)
		run.kill()
		run = start(m, p, c)
		defer func() { run.kill() }()
		pass(2 * time.Hour)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) || len(m.all()) != 13 {
			t.Fatalf("told %v of %d incidents", got, len(m.all()))
		}
		if s := p.heard[0].summary; !strings.Contains(s, "12 groups of payments") {
			t.Errorf("the page says %s", s)
		}
		c.free()
		pass(15 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
		for _, in := range m.all() {
			if in.ResolvedAt.IsZero() {
				t.Errorf("%s of %s stands", in.Verdict, in.Group)
			}
		}
	})
}

// TestFiveGroupsThatStandHaveAPageEach.
func TestFiveGroupsThatStandHaveAPageEach(t *testing.T) {
	bigBubble(t, 5, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(1)
		pass(6 * time.Minute)
		if got := kinds(p); len(got) != 5 {
			t.Errorf("told %v", got)
		}
	})
}

// TestASourceThatIsNotReadIsAnIncidentOfItsOwn: one for all of its groups, after
// ten minutes, resolved when it is read again; restarts neither lose nor double
// it. The stall that stood goes on standing.
func TestASourceThatIsNotReadIsAnIncidentOfItsOwn(t *testing.T) {
	bigBubble(t, 3, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		pass(10 * time.Minute)
		c.change(func() { c.err = errors.New("dial: connection refused") })
		pass(9 * time.Minute)
		if got := kinds(p); len(got) != 0 {
			t.Fatalf("told %v after nine minutes", got)
		}
		pass(2 * time.Minute)
		run.kill()
		run = start(m, p, c)
		defer func() { run.kill() }()
		pass(3 * time.Hour)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Fatalf("told %v", got)
		}
		in := m.all()[0]
		if in.Verdict != Unknown || in.Group != "" || !in.Pages || !strings.Contains(p.heard[0].summary, "Source payments cannot be read") {
			t.Errorf("%+v: %s", in, p.heard[0].summary)
		}
		c.change(func() { c.err = nil })
		pass(time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
	})
}

// TestAnUnreadGroupIsAnIncidentOfItsOwn beside the stall that stands.
func TestAnUnreadGroupIsAnIncidentOfItsOwn(t *testing.T) {
	denied := func(t int) bool { return t >= 1800 && t < 5400 }
	m := model{until: 3 * hour, fails: denied, lines: []modelLine{{pos: stuck(busy, 600, 7200)}, {}}}
	n := m.run(t)
	var unread []*Incident
	for _, t := range n.times {
		if in := n.steps[t].Unread; in != nil {
			unread = append(unread, in)
		}
	}
	if len(unread) != 2 || unread[0].ID != unread[1].ID || unread[0].Verdict != Unknown || unread[0].OpenedAt.Unix() != 2400 || unread[1].ResolvedAt.Unix() != 5400 {
		t.Errorf("unread: %+v", unread)
	}
	if opened, resolved := n.opened(), n.resolved(); len(opened) != 1 || len(resolved) != 1 || resolved[0] < 7200 {
		t.Errorf("the stall opened %d times and resolved at %v", len(opened), resolved)
	}
}
