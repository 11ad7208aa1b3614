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
)

// pager is a fake notifier: it keeps what it is told, and answers as it should.
type pager struct {
	mu     sync.Mutex
	heard  []heard
	answer func(e Event, n int) error // n counts the attempts at this event; nil accepts
}

type heard struct {
	at      time.Duration // since the pager began
	what    string        // "incident event", "+minimal", "+late"
	summary string
	err     error
}

var began time.Time

func (p *pager) Notify(ctx context.Context, e Event) error {
	p.mu.Lock()
	n := 1
	for _, h := range p.heard {
		if strings.HasPrefix(h.what, e.Incident.ID+" "+string(e.Kind)) {
			n++
		}
	}
	answer := p.answer
	p.mu.Unlock()
	var err error
	if answer != nil {
		err = answer(e, n)
	}
	if errors.Is(err, errHang) {
		<-ctx.Done()
		err = ctx.Err()
	}
	what := e.Incident.ID + " " + string(e.Kind)
	if e.Minimal {
		what += "+minimal"
	}
	if e.Late {
		what += "+late"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, heard{time.Since(began).Round(time.Millisecond), what, e.Summary, err})
	return err
}

var errHang = errors.New("hang until the time-out")

func (p *pager) set(answer func(Event, int) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// accepted is what the pager took, in order.
func (p *pager) accepted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, h := range p.heard {
		if h.err == nil {
			out = append(out, h.what)
		}
	}
	return out
}

func (p *pager) attempts(what string) []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []time.Duration
	for _, h := range p.heard {
		if strings.HasPrefix(h.what, what) {
			out = append(out, h.at)
		}
	}
	return out
}

// sending runs a sender over a memory store in a bubble of fake time.
func sending(t *testing.T, p *pager, test func(m *memory, s *Sender)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		m := newMemory()
		s := NewSender(Recipient{Name: "oncall", Notifier: p}, m, Wording{}, slog.New(slog.DiscardHandler))
		s.Mutes = m
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = s.Run(ctx) }()
		test(m, s)
		stop()
		<-done
	})
}

// opens writes incidents as a reading would.
func opens(m *memory, s *Sender, ids ...string) {
	for _, id := range ids {
		in := Incident{ID: id, Group: "retry", Verdict: HeadOfLineStall, Title: "it stands", Pages: true, OpenedAt: time.Now()}
		_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in, Tell: []string{"oncall"}}}})
	}
	s.Wake()
}

func resolves(m *memory, s *Sender, id string) {
	in := *m.incidents[id]
	in.ResolvedAt, in.Resolution = time.Now(), "it moved on"
	_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in}}})
	s.Wake()
}

// pass lets time pass, and waits until everybody is done with it.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAPageLeavesAtOnceAndOnce(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		pass(time.Minute)
		opens(m, s, "a")
		synctest.Wait()
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger"}) {
			t.Fatalf("at once: %v", got)
		}
		pass(24 * time.Hour)
		resolves(m, s, "a")
		pass(24 * time.Hour)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger", "a resolve"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestRetriesBackOffAndNeverEndWhileTheIncidentStands(t *testing.T) {
	p := &pager{answer: func(Event, int) error { return errors.New("answered 503") }}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a")
		pass(7 * time.Hour)
		at := p.attempts("a trigger")
		for i, most := range backoff {
			if gap := at[i+1] - at[i]; gap > most || gap < most*3/4-time.Millisecond {
				t.Errorf("wait %d was %s, want %s or a quarter less", i+1, gap, most)
			}
		}
		if last := at[len(at)-1]; 7*time.Hour-last > 5*time.Minute {
			t.Errorf("the last attempt was after %s", last)
		}
		if s.Ready(context.Background(), time.Now()) == nil {
			t.Error("ready, although a page has waited for hours")
		}
		p.set(nil)
		pass(5 * time.Minute)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger"}) {
			t.Errorf("after it healed: %v", got)
		}
		if err := s.Ready(context.Background(), time.Now()); err != nil {
			t.Error(err)
		}
	})
}

func TestC85RetryAfterIsHonoured(t *testing.T) {
	p := &pager{answer: func(_ Event, n int) error {
		if n <= 2 {
			return &RetryAfter{After: 3 * time.Second, Err: errors.New("answered 429")}
		}
		return nil
	}}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a")
		pass(time.Minute)
		at := p.attempts("a trigger")
		if len(at) != 3 || at[1] < 3*time.Second || at[2]-at[1] < 3*time.Second {
			t.Errorf("attempts at %v", at)
		}
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger"}) {
			t.Errorf("%v", got)
		}
	})
}

// The condition clears while the receiver asks to wait: a pair with the same
// key, in order, that says it is late; never a lone open incident.
func TestC85ClearedDuringTheWait(t *testing.T) {
	p := &pager{answer: func(_ Event, n int) error {
		if n == 1 {
			return &RetryAfter{After: 30 * time.Second, Err: errors.New("answered 429")}
		}
		return nil
	}}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a")
		pass(10 * time.Second)
		resolves(m, s, "a")
		pass(time.Second)
		if n := len(p.attempts("a resolve")); n > 0 {
			t.Fatalf("the resolve overtook its trigger")
		}
		pass(2 * time.Minute)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger+late", "a resolve"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestOnePoisonedEventBlocksOnlyItsLane(t *testing.T) {
	p := &pager{answer: func(e Event, _ int) error {
		switch e.Incident.ID {
		case "bad":
			return errors.New("answered 500")
		case "slow":
			return errHang
		}
		return nil
	}}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "bad", "slow")
		pass(time.Minute)
		opens(m, s, "good")
		pass(time.Second)
		if got := p.accepted(); !slices.Equal(got, []string{"good trigger"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestManyPagesGoOutSideBySide(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		for i := range 100 {
			opens(m, s, fmt.Sprint("i", i))
		}
		pass(time.Second)
		if got := p.accepted(); len(got) != 100 {
			t.Errorf("%d of 100 pages went out", len(got))
		}
	})
}

func TestARefusedBodyIsSentOnceMoreAtItsLeastThenGivenUp(t *testing.T) {
	p := &pager{answer: func(Event, int) error { return fmt.Errorf("%w: answered 400", ErrPermanent) }}
	sending(t, p, func(m *memory, s *Sender) {
		var counted []string
		s.Counted = func(_ string, e EventKind, outcome string) { counted = append(counted, string(e)+" "+outcome) }
		opens(m, s, "a")
		pass(time.Hour)
		if n := len(p.attempts("a trigger")); n != 2 || len(p.attempts("a trigger+minimal")) != 1 {
			t.Errorf("%d attempts: %+v", n, p.heard)
		}
		if !slices.Equal(counted, []string{"trigger failed", "trigger gave_up"}) {
			t.Errorf("counted %v", counted)
		}
		if r := m.rows[0]; !r.gaveUp || !strings.Contains(r.err, "400") {
			t.Errorf("%+v", r)
		}
	})
}

func TestAResultIsWrittenDownHoweverLongTheDiskIsFull(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a")
		m.failWith(errFull)
		pass(10 * time.Minute)
		m.failWith(nil)
		pass(time.Minute)
		if n := len(p.attempts("a trigger")); n != 1 {
			t.Errorf("an accepted page was sent %d times", n)
		}
	})
}

func TestC87ARestartSendsNothingAgain(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a", "b", "c")
		pass(time.Minute)
		again := NewSender(Recipient{Name: "oncall", Notifier: p}, m, Wording{}, slog.New(slog.DiscardHandler))
		s.Mutes = m
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = again.Run(ctx) }()
		pass(time.Hour)
		if got := p.accepted(); len(got) != 3 {
			t.Errorf("%v", got)
		}
		opens(m, again, "d")
		pass(time.Minute)
		if got := p.accepted(); len(got) != 4 {
			t.Errorf("the fourth, which came meanwhile: %v", got)
		}
		stop()
		synctest.Wait()
	})
}

func TestAStoppingSenderFinishesWhatIsUnderWay(t *testing.T) {
	p := &pager{}
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		m := newMemory()
		p.set(func(Event, int) error { time.Sleep(2 * time.Second); return nil })
		s := NewSender(Recipient{Name: "oncall", Notifier: p}, m, Wording{}, slog.New(slog.DiscardHandler))
		s.Mutes = m
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = s.Run(ctx) }()
		opens(m, s, "a")
		pass(time.Second)
		stop()
		<-done
		if !m.rows[0].settled || len(p.accepted()) != 1 {
			t.Errorf("%+v", m.rows[0])
		}
	})
}

func TestWhoIsTold(t *testing.T) {
	all := []Recipient{{Name: "oncall"}, {Name: "hook", Warnings: true}}
	for _, c := range []struct {
		name string
		in   Incident
		want []string
	}{
		{"everybody", Incident{Pages: true}, []string{"oncall", "hook"}},
		{"whom the rule names", Incident{Pages: true, Notify: []string{"oncall"}}, []string{"oncall"}},
		{"a rule that names nobody who is there", Incident{Pages: true, Notify: []string{"gone"}}, []string{"oncall", "hook"}},
		{"a warning rings no pager", Incident{}, []string{"hook"}},
		{"what was so already", Incident{AlreadySo: true, Pages: true}, nil},
	} {
		if got := told(&c.in, all); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
