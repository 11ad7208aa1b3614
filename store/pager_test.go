package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// groupBroker is a fake source: groups whose lines move, but for those of one
// partition that stand once it is wedged.
type groupBroker struct {
	groups, lines int
	mu            sync.Mutex
	wedgedAt      int64 // of partition 0; 0: it moves
	end           int64
}

func (b *groupBroker) Lag(context.Context) ([]sources.Group, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end += 100
	var out []sources.Group
	for i := range b.groups {
		out = append(out, b.group(fmt.Sprintf("group-%04d", i)))
	}
	return out, nil
}

func (b *groupBroker) group(name string) sources.Group {
	g := sources.Group{Source: "payments", Name: name, Protocol: sources.Classic, State: "Stable", MembersKnown: true}
	m := sources.Member{ID: "m-1", ClientID: "worker"}
	for n := range b.lines {
		l := sources.Lag{
			Partition: sources.Partition{Source: "payments", Group: name, Topic: "requests", Number: int32(n)},
			Position:  b.end, End: b.end, StableEnd: b.end, TopicID: "t", Owner: m.ID,
		}
		if n == 0 && b.wedgedAt > 0 {
			l.Position = b.wedgedAt
		}
		g.Lines = append(g.Lines, l)
		m.Assigned = append(m.Assigned, sources.TopicPartition{Topic: "requests", Partition: int32(n)})
	}
	g.Members = []sources.Member{m}
	return g
}

func (b *groupBroker) Heads(_ context.Context, lines []sources.Lag) (map[sources.Partition]sources.HeadLook, error) {
	out := map[sources.Partition]sources.HeadLook{}
	for _, l := range lines {
		out[l.Partition] = sources.HeadLook{Head: sources.HeadRecord, Offset: l.Position}
	}
	return out, nil
}

func (b *groupBroker) wedge(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wedgedAt = 0; on {
		b.wedgedAt = b.end
	}
}

// pagers is a fake pager that takes everything, or nothing.
type pagers struct {
	mu   sync.Mutex
	down bool
	took []string
}

func (p *pagers) Notify(_ context.Context, e alerts.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return fmt.Errorf("answered 503")
	}
	p.took = append(p.took, string(e.Kind))
	return nil
}

func (p *pagers) fail(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// watch runs watcher and sender over a store until the kill.
func watch(t *testing.T, path string, b *groupBroker, p *pagers) (kill func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	log, to := slog.New(slog.DiscardHandler), alerts.Recipient{Name: "oncall", Notifier: p}
	rules := alerts.Rules{PollEvery: 15 * time.Second, StallAfter: 4 * time.Minute}
	w := alerts.NewWatcher([]alerts.Watched{{Name: "payments", Lag: b, Heads: b}}, rules, s, []alerts.Recipient{to}, log)
	send := alerts.NewSender(to, s, alerts.Wording{Waiting: w.Waiting}, log)
	w.Wake = send.Wake
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	done.Go(func() { _ = send.Run(ctx) })
	return func() {
		stop()
		done.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The story on the real store: killed every minute, with a pager that is down
// for most of it, it is one page and one resolve.
func TestC87OnePageAndOneResolveThroughRestartsAndAnOutage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u.db")
	synctest.Test(t, func(t *testing.T) {
		b, p := &groupBroker{groups: 3, lines: 4}, &pagers{down: true}
		live := func(minutes int) {
			for range minutes {
				kill := watch(t, path, b, p)
				time.Sleep(time.Minute)
				kill()
			}
		}
		live(10)
		b.wedge(true)
		live(20)
		p.fail(false)
		live(6)
		if want := []string{"trigger", "trigger", "trigger"}; !slices.Equal(p.took, want) {
			t.Fatalf("told %v, want %v", p.took, want)
		}
		b.wedge(false)
		live(20)
		if got := p.took[3:]; !slices.Equal(got, []string{"resolve", "resolve", "resolve"}) {
			t.Errorf("then told %v", got)
		}
	})
}

func encodeWatch(b *testing.B, w *alerts.GroupWatch) []byte {
	text, err := json.Marshal(w)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkTurn is one reading of 2,000 groups, judged and written down.
func BenchmarkTurn(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "u.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	source := &groupBroker{groups: 2000, lines: 6}
	groups, watches := []sources.Group{}, map[string]*alerts.GroupWatch{}
	rules := alerts.Rules{PollEvery: 15 * time.Second, StallAfter: 4 * time.Minute}
	now := time.Now()
	for b.Loop() {
		groups, _ = source.Lag(b.Context())
		now = now.Add(rules.PollEvery)
		t := alerts.Turn{Source: "payments", At: now, Watches: map[string][]byte{}}
		for _, g := range groups {
			if watches[g.Name] == nil {
				watches[g.Name] = &alerts.GroupWatch{}
			}
			watches[g.Name].Next(g, rules, now)
			t.Watches[g.Name] = encodeWatch(b, watches[g.Name])
		}
		if err := s.Turn(b.Context(), t); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(groups)), "groups/op")
}
