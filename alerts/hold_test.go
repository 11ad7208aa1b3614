package alerts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// channel is a notifier of a team, with its own fake.
type channel struct {
	*pager
	after time.Duration
}

// team runs a sender for each channel, in this order, over one store.
func team(t *testing.T, list []channel, test func(m *memory, wake func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		m := newMemory()
		ctx, stop := context.WithCancel(t.Context())
		var all []*Sender
		var before []string
		done := make(chan struct{}, len(list))
		for i, c := range list {
			name := fmt.Sprint("n", i)
			s := NewSender(Recipient{Name: name, Notifier: c, After: c.after, Before: slices.Clone(before)}, m, Wording{}, slog.New(slog.DiscardHandler))
			s.Mutes, s.RepeatAfter = m, 30*time.Minute
			all, before = append(all, s), append(before, name)
			go func() { _ = s.Run(ctx); done <- struct{}{} }()
		}
		test(m, func() {
			for _, s := range all {
				s.Wake()
			}
		})
		stop()
		for range list {
			<-done
		}
	})
}

// happens writes an incident and tells both notifiers of a team.
func happens(m *memory, in Incident) {
	in.Pages, in.Title = true, "it stands"
	if in.OpenedAt.IsZero() {
		in.OpenedAt = time.Now()
	}
	_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in, Tell: []string{"n0", "n1"}}}})
}

func (m *memory) edit(id string, change func(*Incident)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.incidents[id])
}

var errDown = errors.New("answered 503")

func TestTheSecondChannelIsToldWhenNobodyIsReached(t *testing.T) {
	down := func(Event, int) error { return errDown }
	taken := func(m *memory) {
		m.edit("a", func(in *Incident) { in.AcknowledgedAt, in.AcknowledgedBy = time.Now(), "anna" })
	}
	for name, c := range map[string]struct {
		first        func(Event, int) error
		acknowledged bool
		want         bool
	}{
		"the first took it, and somebody acknowledged": {nil, true, false},
		"the first took it, and nobody acknowledged":   {nil, false, true},
		"the first is down":                            {down, false, true},
		"the first is down, and somebody saw it here":  {down, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := &pager{answer: c.first}, &pager{}
			team(t, []channel{{first, 0}, {second, 10 * time.Minute}}, func(m *memory, wake func()) {
				happens(m, Incident{ID: "a"})
				wake()
				pass(time.Minute)
				if c.acknowledged {
					taken(m)
				}
				pass(9*time.Minute - time.Second)
				if got := second.attempts("a"); len(got) > 0 {
					t.Fatalf("too early: %v", got)
				}
				pass(time.Minute)
				if got := second.accepted(); (len(got) == 1) != c.want {
					t.Errorf("told %v", got)
				}
			})
		})
	}
}

// The first channel must have had its time: a silence that held both back counts
// for neither.
func TestTheSecondChannelWaitsFromTheEndOfASilence(t *testing.T) {
	first, second := &pager{answer: func(Event, int) error { return errDown }}, &pager{}
	team(t, []channel{{first, 0}, {second, 10 * time.Minute}}, func(m *memory, wake func()) {
		m.silence(forAnHour())
		happens(m, Incident{ID: "a"})
		wake()
		pass(20 * time.Minute)
		m.silence()
		wake()
		pass(9 * time.Minute)
		if len(first.attempts("a")) == 0 || len(second.attempts("a")) > 0 {
			t.Fatalf("first %v, second %v", first.attempts("a"), second.attempts("a"))
		}
		pass(2 * time.Minute)
		if got := second.accepted(); len(got) != 1 {
			t.Errorf("second %v", got)
		}
	})
}

func TestWhatIsOverBeforeItsTurnIsToldToNoSecondChannel(t *testing.T) {
	first, second := &pager{}, &pager{}
	team(t, []channel{{first, 0}, {second, 10 * time.Minute}}, func(m *memory, wake func()) {
		happens(m, Incident{ID: "a"})
		wake()
		pass(5 * time.Minute)
		in := *m.incidents["a"]
		in.ResolvedAt, in.Resolution = time.Now(), "it moved on"
		_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in}}})
		wake()
		pass(time.Hour)
		if got := second.attempts("a"); len(got) > 0 {
			t.Errorf("attempts at %v", got)
		}
		if got := first.accepted(); !slices.Equal(got, []string{"a trigger", "a resolve"}) {
			t.Errorf("the first heard %v", got)
		}
	})
}

// closes is somebody closing the incident in the first notifier.
func closes(m *memory, id string) {
	m.edit(id, func(in *Incident) {
		in.ClosedAt, in.AcknowledgedAt, in.AcknowledgedBy = time.Now(), time.Now(), "anna in PagerDuty"
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later(id, "n0", Trigger, time.Now())
}

func TestWhatWasClosedByHandPagesAgainWhileItStands(t *testing.T) {
	p := &pager{}
	team(t, []channel{{p, 0}}, func(m *memory, wake func()) {
		happens(m, Incident{ID: "a"})
		wake()
		pass(5 * time.Minute)
		for range 3 {
			closes(m, "a")
			wake()
			pass(31 * time.Minute)
		}
		at := p.attempts("a trigger")
		if len(at) != 4 {
			t.Fatalf("paged at %v", at)
		}
		for i := range 3 {
			if want := 35*time.Minute + time.Duration(i)*31*time.Minute; at[i+1] != want {
				t.Errorf("page %d came after %s, want after %s", i+2, at[i+1], want)
			}
		}
		if !strings.Contains(p.heard[1].summary, "Still so") {
			t.Error(p.heard[1].summary)
		}
	})
}

func TestWhatWasClosedByHandAndEndsPagesNobodyAgain(t *testing.T) {
	p := &pager{}
	team(t, []channel{{p, 0}}, func(m *memory, wake func()) {
		happens(m, Incident{ID: "a"})
		wake()
		pass(5 * time.Minute)
		closes(m, "a")
		wake()
		pass(20 * time.Minute)
		in := *m.incidents["a"]
		in.ResolvedAt, in.Resolution = time.Now(), "it moved on"
		_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in}}})
		wake()
		pass(time.Hour)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger", "a resolve"}) {
			t.Errorf("told %v", got)
		}
	})
}

func TestAChangeIsToldOnceAndAsItIsByThen(t *testing.T) {
	p := &pager{answer: func(e Event, n int) error { return map[bool]error{true: errDown}[e.Kind == Update && n < 4] }}
	team(t, []channel{{p, 0}}, func(m *memory, wake func()) {
		changes := func(v Verdict, tell ...string) {
			in := *m.incidents["a"]
			in.Verdict, in.Title = v, string(v)
			_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in, Tell: tell, Update: []string{"n0"}}}})
			wake()
		}
		happens(m, Incident{ID: "a", Verdict: HeadOfLineStall})
		changes(Unassigned, "n0") // the page that is not out yet tells of it
		pass(time.Minute)
		changes(Stopped, "n0")
		changes(GroupStall, "n0")
		pass(time.Hour)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger", "a update"}) {
			t.Errorf("told %v", got)
		}
		if last := p.heard[len(p.heard)-1].summary; !strings.Contains(last, string(GroupStall)) {
			t.Error(last)
		}
	})
}

// PagerDuty, 23 April 2021: what was wrong with a body was answered with 500.
func TestABodyThatKeepsFailingWhileOthersAreTakenIsCutToTheLeast(t *testing.T) {
	p := &pager{answer: func(e Event, _ int) error {
		if e.Incident.ID == "bad" && !e.Minimal {
			return fmt.Errorf("%w: answered 500", ErrServer)
		}
		return nil
	}}
	team(t, []channel{{p, 0}}, func(m *memory, wake func()) {
		happens(m, Incident{ID: "bad"})
		for i := range 20 {
			happens(m, Incident{ID: fmt.Sprint("good", i)})
			wake()
			pass(15 * time.Second)
		}
		if got := p.accepted(); !slices.Contains(got, "bad trigger+minimal") || len(got) != 21 {
			t.Errorf("told %v", got)
		}
	})
}

// While the receiver takes nothing at all, no body is blamed: pages keep their
// details for when it is well again.
func TestAReceiverThatIsDownCostsNoDetails(t *testing.T) {
	p := &pager{answer: func(Event, int) error { return fmt.Errorf("%w: answered 502", ErrServer) }}
	team(t, []channel{{p, 0}}, func(m *memory, wake func()) {
		happens(m, Incident{ID: "a"})
		happens(m, Incident{ID: "b"})
		wake()
		pass(time.Hour)
		p.set(nil)
		pass(10 * time.Minute)
		if got := p.accepted(); len(got) != 2 || strings.Contains(fmt.Sprint(got), "minimal") {
			t.Errorf("told %v", got)
		}
	})
}

// Forty minutes without the pager: A stands, B comes and goes, C flaps.
func TestC88ThePagerIsDownForFortyMinutes(t *testing.T) {
	down := func(_ Event, n int) error {
		if n%2 == 0 {
			return errHang
		}
		return fmt.Errorf("%w: answered 502", ErrServer)
	}
	first, second := &pager{answer: down}, &pager{}
	team(t, []channel{{first, 0}, {second, 10 * time.Minute}}, func(m *memory, wake func()) {
		ends := func(id string) {
			in := *m.incidents[id]
			in.ResolvedAt, in.Resolution = time.Now(), "it moved on"
			_ = m.Turn(context.Background(), Turn{At: time.Now(), Incidents: []Change{{Incident: in}}})
			wake()
		}
		happens(m, Incident{ID: "A"})
		happens(m, Incident{ID: "B"})
		happens(m, Incident{ID: "C"}) // its flaps join one incident
		wake()
		pass(20 * time.Minute)
		ends("B")
		pass(20 * time.Minute)
		if list, _ := m.Undelivered(t.Context()); len(list) != 1 || list[0].Notifier != "n0" || !list[0].Oldest.Equal(began) {
			t.Errorf("the backlog is %+v", list)
		}
		if got := second.accepted(); !slices.Contains(got, "A trigger") || !slices.Contains(got, "C trigger") {
			t.Errorf("the second channel heard %v", got)
		}
		first.set(nil)
		pass(10 * time.Minute)
		got := first.accepted()
		slices.Sort(got)
		if !slices.Equal(got, []string{"A trigger", "B resolve", "B trigger+late", "C trigger"}) {
			t.Errorf("after it healed: %v", got)
		}
	})
}

func TestAnUpdateIsForWhoeverWantsThem(t *testing.T) {
	all := []Recipient{{Name: "oncall"}, {Name: "hook", Updates: true}}
	if got := updated(all); !slices.Equal(got, []string{"hook"}) {
		t.Errorf("%v", got)
	}
}
