package review

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// trail stands for a store with letters on one queue that are waited for.
type trail struct {
	awaited []Awaited
	takes   int // transactions until all is written down
	passed  []sources.Passed
	closed  []time.Time
	linked  int
	err     error
}

func (t *trail) Awaited(_ context.Context, names []string) ([]Awaited, error) {
	if !slices.Equal(names, []string{"payments"}) {
		return nil, errors.New("asked for other sources")
	}
	return t.awaited, t.err
}

func (t *trail) Pass(_ context.Context, _ Awaited, p sources.Passed) (Followed, error) {
	t.passed = append(t.passed, p)
	t.takes--
	return Followed{Redrives: []string{"rd_1"}, Letters: []string{"dl_1"}, More: t.takes > 0}, nil
}

func (t *trail) CloseVerdicts(_ context.Context, now time.Time) (Followed, error) {
	t.closed = append(t.closed, now)
	return Followed{}, nil
}

func (t *trail) LinkStalls(context.Context, time.Time) (Followed, error) {
	t.linked++
	return Followed{Redrives: []string{"rd_2"}}, nil
}

// gauge is what was read of a queue, or why nothing was.
type gauge struct {
	says  sources.Passed
	err   error
	asked int
}

func (g *gauge) Passed(context.Context, string) (sources.Passed, error) {
	g.asked++
	return g.says, g.err
}

// follows runs a follower for a while.
func follows(t *testing.T, tr *trail, g *gauge, d time.Duration) (told []Followed) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), d)
		defer stop()
		f := &Follower{
			Tracks: tr, Passed: map[string]Passer{"payments": g}, Log: slog.New(slog.DiscardHandler),
			Changed: func(f Followed) { told = append(told, f) },
		}
		if err := f.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	return told
}

var read = sources.Passed{TopicID: "t", Groups: []string{"g"}, Below: map[int32]int64{0: 7}}

func TestFollowingCostsNothingWhileNothingWasRedriven(t *testing.T) {
	tr, g := &trail{}, &gauge{says: read}
	follows(t, tr, g, 10*time.Second)
	if g.asked > 0 || len(tr.passed) > 0 {
		t.Errorf("asked %d times, %d transactions", g.asked, len(tr.passed))
	}
}

func TestWhatWasReadIsWrittenDownUntilNothingIsLeft(t *testing.T) {
	tr, g := &trail{awaited: []Awaited{{"payments", "orders"}}, takes: 3}, &gauge{says: read}
	told := follows(t, tr, g, followEvery/2)
	if len(tr.passed) != 3 || g.asked != 1 || len(told) != 4 || !slices.Equal(told[0].Letters, []string{"dl_1"}) || !slices.Equal(told[3].Redrives, []string{"rd_2"}) {
		t.Errorf("%d transactions for %d readings; told %+v", len(tr.passed), g.asked, told)
	}
	if len(tr.closed) != 1 || tr.linked != 1 {
		t.Errorf("verdicts were looked at %d times, stalls %d times", len(tr.closed), tr.linked)
	}
}

func TestAQueueThatCannotBeReadPassesNothing(t *testing.T) {
	for name, g := range map[string]*gauge{
		"an error": {says: read, err: errors.New("away")},
		"no group": {says: sources.Passed{}},
	} {
		tr := &trail{awaited: []Awaited{{"payments", "orders"}}}
		follows(t, tr, g, followEvery*5/2)
		if len(tr.passed) > 0 || g.asked != 3 || len(tr.closed) != 3 {
			t.Errorf("%s: %d transactions, asked %d times, verdicts looked at %d times", name, len(tr.passed), g.asked, len(tr.closed))
		}
	}
}

func TestTheFollowerOutlivesAStoreThatFails(t *testing.T) {
	tr, g := &trail{err: errors.New("disk full")}, &gauge{says: read}
	follows(t, tr, g, followEvery*3/2)
	if g.asked > 0 || len(tr.closed) > 0 {
		t.Errorf("%+v", tr)
	}
}
