package skips

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// shift are the workers of the yard.
type shift struct {
	y     *yard
	calls []string // "stop sk_…"
	fail  error
	away  bool // started, they do not come
}

func (s *shift) Stoppable(p sources.Partition) bool { return p.Group == line.Group }

func (s *shift) Stop(_ context.Context, _ sources.Partition, id string) error {
	s.calls = append(s.calls, "stop "+id)
	if s.fail == nil {
		s.y.members = nil
	}
	return s.fail
}

func (s *shift) Start(_ context.Context, _ sources.Partition, id string) error {
	s.calls = append(s.calls, "start "+id)
	if s.fail == nil && !s.away {
		s.y.members = []sources.Member{{ID: "m-7", ClientID: "retry-7"}}
	}
	return s.fail
}

// bell keeps the pages that are raised, by id.
type bell struct {
	raised, over []string
	fail         error
}

func (b *bell) Raise(_ context.Context, s Skip, _ time.Time) error {
	b.raised = append(b.raised, s.AlarmID)
	return b.fail
}

func (b *bell) Over(_ context.Context, s Skip, _ time.Time) error {
	b.over = append(b.over, s.AlarmID)
	return nil
}

// stopping arms a skip that stops its workers; look looks at it at a moment.
func stopping(t *testing.T) (y *yard, w *shift, b *bell, look func(after time.Duration) Skip) {
	t.Helper()
	y = newYard()
	w, b = &shift{y: y}, &bell{}
	desk := y.desk()
	desk.Workers = w
	r := head()
	r.Stop = true
	s, err := desk.Arm(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	man := y.watchman()
	man.Workers, man.Alarm = w, b
	return y, w, b, func(after time.Duration) Skip {
		t.Helper()
		now, err := y.Skip(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		_ = man.one(t.Context(), now, night.Add(after)) // what failed is tried again
		now, _ = y.Skip(t.Context(), s.ID)
		return now
	}
}

func TestOneButtonStopsParksMovesAndStarts(t *testing.T) {
	y, w, b, look := stopping(t)
	var s Skip
	for i := range 4 {
		s = look(time.Duration(i) * 2 * time.Second)
	}
	if s.State != Done || y.position != 101 || len(y.parked) != 1 || s.BackAt.IsZero() || len(b.raised) > 0 {
		t.Fatalf("%+v, at %d, %d copies", s, y.position, len(y.parked))
	}
	if want := []string{"stop " + s.ID, "start " + s.ID}; !slices.Equal(w.calls, want) {
		t.Errorf("called %v, want %v", w.calls, want)
	}
	if want := []string{"skip.arm", "skip.stop", "skip.park", "skip.move", "skip.start"}; !slices.Equal(y.deeds, want) {
		t.Errorf("the audit has %v, want %v", y.deeds, want)
	}
}

func TestWorkersAreStartedAgainAlsoWhenTheSkipFails(t *testing.T) {
	y, w, _, look := stopping(t)
	look(0)
	y.position = 105
	look(2 * time.Second)
	if s := look(4 * time.Second); s.State != Failed || s.StartedAt.IsZero() {
		t.Errorf("%s, started at %s, calls %v", s.State, s.StartedAt, w.calls)
	}
}

func TestWorkersAreStartedAgainWhenItIsDisarmed(t *testing.T) {
	y, w, _, look := stopping(t)
	s := look(0)
	y.members = []sources.Member{{ID: "late", ClientID: "late"}} // one that does not stop
	desk := y.desk()
	if _, err := desk.Disarm(t.Context(), s.ID, "ops-1"); err != nil {
		t.Fatal(err)
	}
	if s := look(2 * time.Second); s.StartedAt.IsZero() || len(y.commits) > 0 {
		t.Errorf("started at %s, calls %v, moved %v", s.StartedAt, w.calls, y.commits)
	}
}

func TestAStopThatIsNotTakenMovesNothing(t *testing.T) {
	y, w, _, look := stopping(t)
	w.fail = errors.New("answered 503")
	if s := look(0); s.State != Armed || !s.StoppedAt.IsZero() || len(y.commits) > 0 {
		t.Fatalf("%+v", s)
	}
	w.fail = nil
	for i := range 4 {
		look(time.Duration(i+1) * 2 * time.Second)
	}
	if y.position != 101 {
		t.Errorf("at %d", y.position)
	}
}

func TestWorkersThatDoNotComeBackAreAPageOfTheirOwn(t *testing.T) {
	for name, c := range map[string]func(w *shift){
		"the call fails":    func(w *shift) { w.fail = errors.New("answered 500") },
		"nobody comes":      func(w *shift) { w.away = true },
		"nobody answers it": func(w *shift) { w.fail = errors.New("connection refused") },
	} {
		y, w, b, look := stopping(t)
		look(0)
		c(w)
		for i := range 200 {
			look(time.Duration(i+1) * 2 * time.Second)
		}
		if len(b.raised) != 1 || b.raised[0] == "" {
			t.Errorf("%s: pages %v", name, b.raised)
			continue
		}
		w.fail, w.away = nil, false
		y.members = []sources.Member{{ID: "m", ClientID: "c"}}
		look(10 * time.Minute)
		if s := look(11 * time.Minute); s.BackAt.IsZero() || !slices.Equal(b.over, b.raised) {
			t.Errorf("%s: over %v, raised %v", name, b.over, b.raised)
		}
	}
}

// A crash between the page and the note of it raises the same page again.
func TestThePageOfAStartHasOneIDThroughFailures(t *testing.T) {
	_, w, b, look := stopping(t)
	look(0)
	w.away = true
	b.fail = errFull
	for i := range 120 {
		look(time.Duration(i+1) * 2 * time.Second)
	}
	b.fail = nil
	look(5 * time.Minute)
	if ids := slices.Compact(b.raised); len(ids) != 1 {
		t.Errorf("%d ids", len(ids))
	}
}
