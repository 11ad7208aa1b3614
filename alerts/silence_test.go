package alerts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/sources"
)

var planned = time.Date(2026, 9, 10, 9, 0, 0, 0, time.UTC)

func TestWhatASilenceHoldsBack(t *testing.T) {
	stall := Incident{Source: "payments", Group: "payment-retry", Lines: []sources.Partition{{Topic: "payment.retry", Number: 3}, {Topic: "payment.events", Number: 0}}}
	burst := Incident{Source: "payments", Queue: "payment.events.dlq"}
	for name, c := range map[string]struct {
		s    Silence
		in   Incident
		want bool
	}{
		"everything":                              {Silence{}, stall, true},
		"its group":                               {Silence{Group: "payment-*"}, stall, true},
		"another group":                           {Silence{Group: "nightly-*"}, stall, false},
		"another source":                          {Silence{Source: "ledger"}, stall, false},
		"one of its topics: the other is told":    {Silence{Topic: "payment.retry"}, stall, false},
		"both of its topics":                      {Silence{Topic: "payment.*"}, stall, true},
		"a dead-letter queue is a topic":          {Silence{Topic: "*.dlq"}, burst, true},
		"another dead-letter queue":               {Silence{Topic: "orders.dlq"}, burst, false},
		"a group that a queue does not have":      {Silence{Group: "payment-*"}, burst, false},
		"a window that has not begun":             {Silence{From: planned.Add(time.Minute)}, stall, false},
		"a silence that ended a moment ago":       {Silence{From: planned.Add(-time.Hour), Until: planned}, stall, false},
		"a name with another that begins so (27)": {Silence{Group: "payment"}, stall, false},
	} {
		s := c.s
		if s.Until.IsZero() {
			s.Until = planned.Add(time.Hour)
		}
		s, err := s.Valid(planned.Add(-2 * time.Hour))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.From = c.s.From; s.Holds(c.in, planned) != c.want {
			t.Errorf("%s: held back is %v, want %v", name, !c.want, c.want)
		}
	}
}

func TestASilenceThatCannotBeSetSaysWhy(t *testing.T) {
	for want, s := range map[string]Silence{
		"until is missing":      {},
		"until is over already": {Until: planned.Add(-time.Second)},
		"ends before it begins": {From: planned.Add(2 * time.Hour), Until: planned.Add(time.Hour)},
		"longer than 1000":      {Until: planned.Add(time.Hour), Reason: strings.Repeat("é", 1001)},
	} {
		if _, err := s.Valid(planned); !errors.Is(err, ErrSilence) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestSilencesFollowOnOneAnother(t *testing.T) {
	in := Incident{Source: "payments", Group: "g"}
	one := Silence{Source: "*", Group: "*", Topic: "*", Until: planned.Add(time.Hour)}
	next := Silence{Source: "*", Group: "g", Topic: "*", From: planned.Add(30 * time.Minute), Until: planned.Add(3 * time.Hour)}
	if got := HeldUntil(in, []Silence{next, one}, planned); !got.Equal(next.Until) {
		t.Errorf("held until %s, want until the second ends, %s", got, next.Until)
	}
	if got := HeldUntil(in, nil, planned); !got.IsZero() {
		t.Errorf("nothing holds it, and it is held until %s", got)
	}
}

func forAnHour() Silence {
	return Silence{Source: "*", Group: "*", Topic: "*", From: time.Now(), Until: time.Now().Add(time.Hour)}
}

func TestWhatStandsWhenASilenceIsOverIsPagedThen(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		m.silence(forAnHour())
		opens(m, s, "a")
		pass(59 * time.Minute)
		if got := p.attempts("a"); len(got) != 0 {
			t.Fatalf("in the silence: attempts at %v", got)
		}
		pass(time.Minute)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger"}) {
			t.Errorf("after it: %v", got)
		}
	})
}

func TestASilenceEndedByHandLetsThePageGo(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		m.silence(forAnHour())
		opens(m, s, "a")
		pass(time.Minute)
		m.silence()
		s.Wake()
		pass(time.Second)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger"}) {
			t.Errorf("%v", got)
		}
	})
}

// prometheus/alertmanager issues 3664 and 226: a resolve that a silence swallows
// leaves its page open for ever.
func TestASilenceNeverHoldsBackTheEndOfWhatWasTold(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		opens(m, s, "a")
		pass(time.Second)
		m.silence(forAnHour())
		resolves(m, s, "a")
		pass(time.Minute)
		if got := p.accepted(); !slices.Equal(got, []string{"a trigger", "a resolve"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestOfWhatBeganAndEndedInASilenceNobodyHears(t *testing.T) {
	p := &pager{}
	sending(t, p, func(m *memory, s *Sender) {
		m.silence(forAnHour())
		opens(m, s, "a")
		pass(time.Minute)
		resolves(m, s, "a")
		pass(24 * time.Hour)
		if got := p.attempts("a"); len(got) != 0 {
			t.Errorf("attempts at %v", got)
		}
		if err := s.Ready(t.Context(), time.Now()); err != nil {
			t.Errorf("not ready: %v", err)
		}
	})
}

// A page of which an attempt was made may have got out: a silence keeps it from
// being tried again, and its end is told in any case.
func TestASilenceAfterAFailedAttempt(t *testing.T) {
	reset := func(_ Event, n int) error {
		if n == 1 {
			return errors.New("connection reset after the body was sent")
		}
		return nil
	}
	for name, c := range map[string]struct {
		stands bool
		want   []string
	}{
		"it stands when the silence is over": {true, []string{"a trigger"}},
		"it is over in the silence":          {false, []string{"a resolve"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pager{answer: reset}
			if !c.stands {
				p.set(func(e Event, n int) error {
					if e.Kind == Trigger {
						return reset(e, n)
					}
					return nil
				})
			}
			sending(t, p, func(m *memory, s *Sender) {
				opens(m, s, "a")
				synctest.Wait()
				m.silence(forAnHour())
				pass(30 * time.Minute)
				if got := p.accepted(); len(got) > 0 {
					t.Errorf("in the silence: %v", got)
				}
				if !c.stands {
					resolves(m, s, "a")
				}
				pass(31 * time.Minute)
				if got := p.accepted(); !slices.Equal(got, c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
			})
		})
	}
}
