package store

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// receiver is a fake notifier: it keeps what it takes.
type receiver struct {
	mu   sync.Mutex
	down bool
	took []string
}

func (r *receiver) Notify(_ context.Context, e alerts.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return errors.New("answered 503")
	}
	r.took = append(r.took, string(e.Kind))
	return nil
}

func (r *receiver) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.took)
}

// onDuty runs a pager and a second channel over a real store, in fake time.
func onDuty(t *testing.T, test func(t *testing.T, s *Store, first, second *receiver, wake func())) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "u.db")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s, err := Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		first, second := &receiver{}, &receiver{}
		var all []*alerts.Sender
		var done sync.WaitGroup
		for _, to := range []alerts.Recipient{
			{Name: "oncall", Notifier: first},
			{Name: "second", Notifier: second, Updates: true, After: 10 * time.Minute, Before: []string{"oncall"}},
		} {
			one := alerts.NewSender(to, s, alerts.Wording{}, slog.New(slog.DiscardHandler))
			one.Mutes, one.RepeatAfter = s, 30*time.Minute
			all = append(all, one)
			done.Go(func() { _ = one.Run(ctx) })
		}
		test(t, s, first, second, func() {
			for _, one := range all {
				one.Wake()
			}
		})
		stop()
		done.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// goOn lets time pass, and waits until the senders are done with it.
func goOn(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// begins opens an incident now; ends resolves it.
func begins(t *testing.T, s *Store) alerts.Incident {
	in := wedge("a")
	in.OpenedAt, in.UpdatedAt = time.Now(), time.Now()
	write := alerts.Turn{Source: "payments", At: time.Now(), Incidents: []alerts.Change{{Incident: in, Tell: []string{"oncall", "second"}}}}
	if err := s.Turn(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	return in
}

func ends(t *testing.T, s *Store, in alerts.Incident) {
	in.ResolvedAt, in.Resolution = time.Now(), "it moved on"
	if err := s.Turn(t.Context(), alerts.Turn{Source: "payments", At: time.Now(), Incidents: []alerts.Change{{Incident: in}}}); err != nil {
		t.Fatal(err)
	}
}

// nothingWaits fails when something is counted as late.
func nothingWaits(t *testing.T, s *Store) {
	t.Helper()
	if list, err := s.Undelivered(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("not delivered: %+v, %v", list, err)
	}
}

func TestClosedByHandItPagesAgainAndEndsOnce(t *testing.T) {
	onDuty(t, func(t *testing.T, s *Store, first, _ *receiver, wake func()) {
		in := begins(t, s)
		wake()
		goOn(time.Minute)
		for _, ref := range []string{"P1", "P2"} {
			if _, err := s.Hear(t.Context(), alerts.Elsewhere{Incident: "a", Notifier: "oncall", What: alerts.TurnedClosed, By: "anna in PagerDuty", Ref: ref}, time.Now()); err != nil {
				t.Fatal(err)
			}
			wake()
			before := len(first.told())
			goOn(29 * time.Minute)
			nothingWaits(t, s)
			if got := first.told(); len(got) != before {
				t.Fatalf("too early: %v", got)
			}
			goOn(2 * time.Minute)
		}
		ends(t, s, in)
		wake()
		goOn(time.Minute)
		if got := first.told(); !slices.Equal(got, []string{"trigger", "trigger", "trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
		nothingWaits(t, s)
	})
}

// What waits on purpose is not late: neither a page in a silence nor a second
// channel's, nor the acknowledgement behind them.
func TestWhatIsMeantToWaitIsNotLate(t *testing.T) {
	onDuty(t, func(t *testing.T, s *Store, first, second *receiver, wake func()) {
		in := begins(t, s)
		wake()
		goOn(time.Minute)
		if _, err := s.Acknowledge(t.Context(), "a", "ops-1", time.Now()); err != nil {
			t.Fatal(err)
		}
		wake()
		for range 3 {
			goOn(10 * time.Minute)
			nothingWaits(t, s)
		}
		ends(t, s, in)
		wake()
		goOn(time.Minute)
		nothingWaits(t, s)
		if got := first.told(); !slices.Equal(got, []string{"trigger", "acknowledge", "resolve"}) || len(second.told()) > 0 {
			t.Errorf("told %v and %v", got, second.told())
		}
	})
}

func TestASecondChannelTakesOverFromADeadPager(t *testing.T) {
	onDuty(t, func(t *testing.T, s *Store, first, second *receiver, wake func()) {
		first.down = true
		in := begins(t, s)
		wake()
		goOn(11 * time.Minute)
		ends(t, s, in)
		wake()
		goOn(time.Minute)
		if got := second.told(); !slices.Equal(got, []string{"trigger", "resolve"}) {
			t.Errorf("told %v", got)
		}
	})
}
