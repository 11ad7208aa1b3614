package alerts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// cluster is a fake source: six partitions that move, but for those that are
// stuck, read at whatever moment it is.
type cluster struct {
	mu      sync.Mutex
	name    string
	groups  []string
	stuck   map[int32]int64 // position of a partition that does not move
	err     error
	hangs   bool
	records func(context.Context) error // nil: records can be read
	looked  int                         // heads that were looked at
	stamp   time.Time                   // of the records
	born    time.Time
	state   string
	reads   int
	lines   int32
}

func newCluster(name string, groups ...string) *cluster {
	return &cluster{name: name, groups: groups, stuck: map[int32]int64{}, born: time.Now(), stamp: time.Now(), state: "Stable", lines: 6}
}

// moves is how many records each partition has had by now: ten a second.
func (c *cluster) moves() int64 { return 1000 + int64(time.Since(c.born)/(100*time.Millisecond)) }

func (c *cluster) Lag(ctx context.Context) ([]sources.Group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if c.hangs {
		c.mu.Unlock()
		<-ctx.Done()
		c.mu.Lock()
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	var out []sources.Group
	for _, name := range c.groups {
		out = append(out, c.group(name))
	}
	return out, nil
}

func (c *cluster) group(name string) sources.Group {
	g := sources.Group{Source: c.name, Name: name, Protocol: sources.Classic, State: c.state, MembersKnown: true, ReadAt: time.Now()}
	m := sources.Member{ID: "worker-1-7c9f", ClientID: "worker-1"}
	for n := range c.lines {
		l := sources.Lag{
			Partition: sources.Partition{Source: c.name, Group: name, Topic: "requests", Number: n},
			Position:  c.moves(), End: c.moves(), StableEnd: c.moves(), TopicID: "t1", Owner: m.ID,
		}
		if at, stuck := c.stuck[n]; stuck {
			l.Position = at
		}
		g.Lines = append(g.Lines, l)
		m.Assigned = append(m.Assigned, sources.TopicPartition{Topic: "requests", Partition: n})
	}
	g.Members = []sources.Member{m}
	return g
}

func (c *cluster) Heads(_ context.Context, lines []sources.Lag) (map[sources.Partition]sources.HeadLook, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked += len(lines)
	out := map[sources.Partition]sources.HeadLook{}
	for _, l := range lines {
		out[l.Partition] = sources.HeadLook{Head: sources.HeadRecord, Offset: l.Position, Timestamp: c.stamp}
	}
	return out, nil
}

func (c *cluster) Records(ctx context.Context, topic string, partition int32, from, to int64, most int) ([]sources.Record, error) {
	c.mu.Lock()
	wait, at := c.records, c.stuck[partition]
	c.mu.Unlock()
	if wait != nil {
		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
	var out []sources.Record
	for o := from; o < to && len(out) < most; o++ {
		currency := "INR"
		if o == at {
			currency = "INRR"
		}
		out = append(out, sources.Record{Topic: topic, Partition: partition, Offset: o, Body: fmt.Appendf(nil, `{"id":"pay_%06d","currency":%q}`, o, currency)})
	}
	return out, nil
}

func (c *cluster) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *cluster) wedge(n int32) { c.change(func() { c.stuck[n] = c.moves() }) }
func (c *cluster) free()         { c.change(func() { clear(c.stuck) }) }

// process is a running watcher and sender; kill ends them as a kill would, with
// whatever they had in memory gone.
type process struct {
	*Watcher
	sender *Sender
	kill   func()
}

var testRules = Rules{PollEvery: 15 * time.Second, StallAfter: 4 * time.Minute}

func start(m *memory, p *pager, clusters ...*cluster) *process {
	return startBy(testRules, m, p, clusters...)
}

func startBy(rules Rules, m *memory, p *pager, clusters ...*cluster) *process {
	log := slog.New(slog.DiscardHandler)
	to := Recipient{Name: "oncall", Notifier: p}
	var watched []Watched
	for _, c := range clusters {
		watched = append(watched, Watched{Name: c.name, Lag: c, Heads: c, Records: c})
	}
	w := NewWatcher(watched, rules, m, []Recipient{to}, log)
	s := NewSender(to, m, Wording{Waiting: w.Waiting}, log)
	w.Wake = s.Wake
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	done.Go(func() { _ = s.Run(ctx) })
	return &process{w, s, func() { stop(); done.Wait() }}
}

// bubble runs a test in fake time.
func bubble(t *testing.T, test func(t *testing.T, m *memory, p *pager, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		test(t, newMemory(), &pager{}, newCluster("payments", "retry"))
	})
}

// kinds are the accepted events without their ids.
func kinds(p *pager) []string {
	var out []string
	for _, what := range p.accepted() {
		_, kind, _ := strings.Cut(what, " ")
		out = append(out, kind)
	}
	return out
}

func lineOf(t *testing.T, b Board, n int32) LineView {
	t.Helper()
	for _, g := range b.Groups {
		for _, l := range g.Lines {
			if l.Number == n {
				return l
			}
		}
	}
	t.Fatalf("partition %d is not on the board", n)
	return LineView{}
}

func TestC40APoisonRecordIsOnePageWithItsOffset(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		stuckAt := c.stuck[3]
		pass(testRules.StallAfter + 2*testRules.PollEvery)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Fatalf("told %v", got)
		}
		page := p.heard[0].summary
		for _, want := range []string{"Partition 3 of requests", count(stuckAt), "group retry", "records wait", "5 partitions", `currency is "INRR"`, "500 records before"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page does not say %q: %s", want, page)
			}
		}
		in := m.all()[0]
		e := in.Evidence
		if e.Head == nil || e.Head.Offset != stuckAt || e.Suspects[0].Offset != stuckAt || e.Owner != "worker-1 (worker-1-7c9f)" || e.Sample != 500 {
			t.Errorf("evidence %+v", e)
		}
		pass(2 * time.Hour)
		c.free()
		pass(15 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
	})
}

func TestC84TenThousandPartitionsStalledAtOnceAreOnePage(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		c.lines = 10_000
		run := startBy(Rules{PollEvery: time.Minute, StallAfter: 4 * time.Minute}, m, p, c)
		defer run.kill()
		pass(time.Minute)
		for n := range c.lines {
			c.wedge(n)
		}
		pass(6 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Fatalf("told %v", got)
		}
		if in := m.all(); len(in) != 1 || len(in[0].Lines) != 10_000 || in[0].Verdict != GroupStall {
			t.Errorf("%d incidents, %s of %d lines", len(in), in[0].Verdict, len(in[0].Lines))
		}
		if s := p.heard[0].summary; len(s) > 1024 || !strings.Contains(s, "10,000 partitions") {
			t.Errorf("%s", s)
		}
	})
}

func TestC87ARestartNeitherPagesNorResolves(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		pass(10 * time.Minute)
		c.wedge(3)
		for range 40 { // killed over and over, also while the clock of the stall runs
			pass(20 * time.Second)
			run.kill()
			run = start(m, p, c)
		}
		pass(time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Errorf("told %v", got)
		}
		run.kill()
		c.change(func() { c.groups = append(c.groups, "refunds") })
		pass(time.Minute)
		run = start(m, p, c)
		pass(6 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "trigger"}) {
			t.Errorf("after a start that found one more: %v", got)
		}
		run.kill()
	})
}

func TestC89LostSightNeitherResolvesNorPagesAgain(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		pass(6 * time.Minute)
		seen := run.Board().Sources[0].ReadAt
		c.change(func() { c.err = errors.New("dial tcp: i/o timeout") })
		pass(2 * time.Hour)
		b := run.Board()
		if b.Sources[0].Err == "" || b.Sources[0].ReadAt.Sub(seen) > time.Minute {
			t.Errorf("the source is said to be read: %+v", b.Sources[0])
		}
		l := lineOf(t, b, 3)
		if b.Groups[0].Verdict != Unknown || l.Verdict != Unknown || l.Lag != sources.NotKnown || l.Behind >= 0 || l.Spark[len(l.Spark)-1] != sources.NotKnown {
			t.Errorf("what nobody can see is told: %+v", l)
		}
		if err := run.Ready(time.Now()); err != nil {
			t.Errorf("a source that is away is no fault of the loop: %v", err)
		}
		c.change(func() { c.err = nil })
		pass(10 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
		for _, in := range m.all() {
			if lost := in.Verdict == Unknown; lost == in.ResolvedAt.IsZero() {
				t.Errorf("%s of group %q: resolved at %v", in.Verdict, in.Group, in.ResolvedAt)
			}
		}
	})
}

func TestC118OneBadSourceHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		hole, refuses := newCluster("hole", "g"), newCluster("refuses", "g")
		hole.hangs, refuses.err = true, errors.New("SASL: authentication failed")
		run := start(m, p, hole, c, refuses)
		defer run.kill()
		pass(time.Second)
		if b := run.Board(); len(b.Groups) != 1 || b.Groups[0].Source != "payments" {
			t.Errorf("%+v", b.Groups)
		}
		pass(5 * time.Second)
		if err := run.Ready(time.Now()); err != nil {
			t.Errorf("not ready because of a source that is away: %v", err)
		}
		pass(10 * time.Minute)
		for _, s := range run.Board().Sources {
			switch {
			case s.Source == "payments" && s.Err != "":
				t.Errorf("%+v", s)
			case s.Source == "hole" && !strings.Contains(s.Err, "deadline"):
				t.Errorf("%+v", s)
			case s.Source == "refuses" && !strings.Contains(s.Err, "SASL"):
				t.Errorf("%+v", s)
			}
		}
		if hole.reads < 10 || refuses.reads < 10 {
			t.Errorf("read again %d and %d times", hole.reads, refuses.reads)
		}
	})
}

func TestC122GroupsAppearAndVanishWithoutARestart(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(5 * time.Minute)
		c.change(func() { c.groups = []string{"retry", "refunds"} })
		pass(16 * time.Second)
		if n := len(run.Board().Groups); n != 2 {
			t.Errorf("%d groups", n)
		}
		c.wedge(3)
		pass(6 * time.Minute)
		if got := kinds(p); len(got) != 2 {
			t.Fatalf("told %v", got)
		}
		c.change(func() { c.groups = []string{"retry"} })
		pass(16 * time.Second)
		if got := kinds(p); !slices.Equal(got, []string{"trigger", "trigger", "resolve"}) {
			t.Errorf("a group that was deleted: %v", got)
		}
		if in := m.all(); !strings.Contains(in[0].Resolution+in[1].Resolution, "deleted") {
			t.Errorf("%q %q", in[0].Resolution, in[1].Resolution)
		}
		pass(2 * time.Minute)
		if n := len(run.Board().Groups); n != 1 {
			t.Errorf("%d groups are shown", n)
		}
		pass(70 * time.Minute)
		if len(m.watches) != 1 {
			t.Errorf("%d groups are remembered for ever", len(m.watches))
		}
	})
}

// The store fails at the moment at which an incident opens: the reading is
// drawn again from what the store has, and the page comes.
func TestAPageIsNotLostToAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		pass(3 * time.Minute)
		m.failWith(errFull)
		pass(10 * time.Minute)
		if err := run.Board().Sources[0].Err; !strings.Contains(err, "disk full") {
			t.Errorf("nobody is told: %q", err)
		}
		m.failWith(nil)
		pass(6 * time.Minute)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Errorf("told %v", got)
		}
	})
}

func TestEvidenceNeverHoldsUpAPage(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.change(func() {
			c.records = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		})
		c.wedge(3)
		pass(testRules.StallAfter + 15*time.Second + evidenceFor + time.Second)
		if got := kinds(p); !slices.Equal(got, []string{"trigger"}) {
			t.Fatalf("told %v", got)
		}
		if e := m.all()[0].Evidence; e.Head != nil || e.Missing == "" || !strings.Contains(p.heard[0].summary, count(c.stuck[3])) {
			t.Errorf("%+v; %s", e, p.heard[0].summary)
		}
		c.change(func() { c.records = nil })
		pass(time.Minute)
		if e := m.all()[0].Evidence; e.Head == nil || e.Missing != "" {
			t.Errorf("the evidence did not follow: %+v", e)
		}
		if got := kinds(p); len(got) != 1 {
			t.Errorf("told %v", got)
		}
	})
}

func TestEvidenceFollowsTheLineAndNotItsRecovery(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		pass(6 * time.Minute)
		first := m.all()[0].Evidence.Head.Offset
		c.change(func() { c.stuck[3] += 7 }) // one was skipped by hand, another stands
		pass(15 * time.Minute)
		second := m.all()[0].Evidence.Head.Offset
		if second != first+7 || len(m.all()) != 1 {
			t.Errorf("the head was %d, is %d; %d incidents", first, second, len(m.all()))
		}
		c.free()
		pass(15 * time.Minute)
		if e := m.all()[0].Evidence; e.Head.Offset != second || m.all()[0].ResolvedAt.IsZero() {
			t.Errorf("a healthy record took the place of the one that blocked: %+v", e.Head)
		}
	})
}

func TestC35TheLagIsThatOfNow(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		was := int64(-1)
		for range 20 {
			pass(15 * time.Second)
			if l := lineOf(t, run.Board(), 3); l.Lag <= was && l.Lag > 0 {
				t.Fatalf("the lag was %d and is %d", was, l.Lag)
			} else {
				was = l.Lag
			}
		}
	})
}

func TestC35APageThatComesLateTellsTheLagOfNow(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		p.set(func(Event, int) error { return errors.New("answered 502") })
		pass(10 * time.Minute)
		c.wedge(3)
		pass(time.Hour)
		p.set(nil)
		pass(5 * time.Minute)
		last := p.heard[len(p.heard)-1]
		var waits int
		_, text, _ := strings.Cut(last.summary, "; ")
		if _, err := fmt.Sscanf(strings.ReplaceAll(text, ",", ""), "%d records wait", &waits); err != nil || last.err != nil || waits < 36_000 {
			t.Errorf("after an hour at ten a second: %s", last.summary)
		}
	})
}

func TestC30BehindIsNeverInvented(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		c.change(func() { c.stuck[0] = 0; c.stamp = time.Now().Add(-2 * time.Hour) })
		run := start(m, p, c)
		defer run.kill()
		pass(time.Second)
		if l := lineOf(t, run.Board(), 0); l.Behind < 2*time.Hour || l.Behind > 2*time.Hour+time.Minute {
			t.Errorf("a backlog whose first record is 2 h old is %s behind", l.Behind)
		}
		if l := lineOf(t, run.Board(), 1); l.Behind != 0 {
			t.Errorf("a line that is caught up is %s behind", l.Behind)
		}
		c.change(func() { c.stamp = time.Now().Add(48 * time.Hour); c.stuck[0]++ })
		pass(15 * time.Second)
		if l := lineOf(t, run.Board(), 0); l.Behind > time.Minute {
			t.Errorf("a record from the future is %s old", l.Behind)
		}
	})
}

func TestHeadsAreLookedAtOnceWhileNothingChanges(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		defer run.kill()
		pass(10 * time.Minute)
		c.wedge(3)
		pass(time.Minute)
		looked := c.looked
		pass(time.Hour)
		if c.looked != looked {
			t.Errorf("a record that stands was looked at %d times more", c.looked-looked)
		}
	})
}

func TestChangesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		var mu sync.Mutex
		told := map[string][]string{}
		w := NewWatcher([]Watched{{Name: "payments", Lag: c, Heads: c}}, testRules, m, nil, slog.New(slog.DiscardHandler))
		w.Changed = func(kind string, ids ...string) {
			mu.Lock()
			defer mu.Unlock()
			told[kind] = append(told[kind], ids...)
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.Run(ctx) }()
		pass(10 * time.Minute)
		c.wedge(3)
		pass(6 * time.Minute)
		stop()
		<-done
		if !slices.Contains(told["lag"], "payments/retry") || len(told["incident"]) != 1 || told["incident"][0] != m.all()[0].ID {
			t.Errorf("%v", told["incident"])
		}
	})
}

func TestTheWorstGroupIsFirst(t *testing.T) {
	groups := []GroupView{
		{Group: "b", Verdict: OK, Lag: 5},
		{Group: "a", Verdict: OK, Lag: 5},
		{Group: "slow", Verdict: Slow, Lag: 1},
		{Group: "stuck", Verdict: HeadOfLineStall},
		{Group: "busy", Verdict: OK, Lag: 900},
	}
	slices.SortFunc(groups, worstFirst)
	var order []string
	for _, g := range groups {
		order = append(order, g.Group)
	}
	if !slices.Equal(order, []string{"stuck", "slow", "busy", "a", "b"}) {
		t.Errorf("%v", order)
	}
}

func TestAGroupsLagIsOfWhatIsKnownAndStillRead(t *testing.T) {
	line := func(v Verdict, lag int64) LineView { return LineView{Judgement: Judgement{Verdict: v, Lag: lag}} }
	g := GroupView{Verdict: OK, Lines: []LineView{line(OK, 7), line(Orphaned, 1000), line(Unknown, sources.NotKnown)}}
	g.sum()
	if g.Lag != 7 || g.NotKnown != 1 || g.Verdict != Unknown {
		t.Errorf("%+v", g)
	}
	none := GroupView{Verdict: OK, Lines: []LineView{line(Unknown, sources.NotKnown)}}
	none.sum()
	if none.Lag != sources.NotKnown {
		t.Errorf("nothing is known, and the lag is %d", none.Lag)
	}
}
