package alerts

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// TestTheRecordedLagOfLinesAndTheirPeers: gaps and failed readings are not
// known, and never 0.
func TestTheRecordedLagOfLinesAndTheirPeers(t *testing.T) {
	began := time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC)
	kept := &shelf{}
	r := recorder(kept)
	line := func(n int32, position, end int64) sources.Lag {
		return sources.Lag{Partition: sources.Partition{Source: "payments", Group: "retry", Topic: "requests", Number: n}, Position: position, End: end, StableEnd: end}
	}
	for i := range 100 {
		g := sources.Group{Source: "payments", Name: "retry", State: "Stable", Lines: []sources.Lag{line(3, 100, 100+int64(i)), line(1, int64(i), int64(i)+2), line(2, 50, 51)}}
		switch {
		case i >= 20 && i < 30:
			continue // we were not running
		case i == 40:
			g.Lines[0].Err = errors.New("no leader")
		}
		r.Record(t.Context(), []sources.Group{g}, began.Add(time.Duration(i)*r.Every))
	}
	q := LagQuery{Source: "payments", Group: "retry", Lines: []sources.Partition{line(3, 0, 0).Partition}, From: began, To: began.Add(99 * r.Every), Points: 240}
	s, err := r.Lag(t.Context(), q)
	if err != nil || len(s.Ours) != 100 || len(s.Others) != 100 {
		t.Fatalf("%d and %d points, %v", len(s.Ours), len(s.Others), err)
	}
	for i, got := range s.Ours {
		want, others := int64(i), int64(3)
		if i >= 20 && i < 30 {
			want, others = sources.NotKnown, sources.NotKnown
		}
		if i == 40 {
			want = sources.NotKnown
		}
		if got != want || s.Others[i] != others {
			t.Errorf("at %d: %d and %d, want %d and %d", i, got, s.Others[i], want, others)
		}
	}
	q.Points = 12
	if s, err = r.Lag(t.Context(), q); err != nil || len(s.Ours) > 12 || !slices.IsSorted(slices.DeleteFunc(s.Ours, func(n int64) bool { return n < 0 })) {
		t.Errorf("thinned out: %v, %v", s.Ours, err)
	}
	q.Group = "another"
	if s, err = r.Lag(t.Context(), q); err != nil || slices.Max(s.Ours) != sources.NotKnown {
		t.Errorf("of a group that was never recorded: %v, %v", s.Ours, err)
	}
	q.To = q.From
	if s, err = r.Lag(t.Context(), q); err != nil || len(s.Ours) != 0 {
		t.Errorf("of no time: %v, %v", s.Ours, err)
	}
}

func TestHowFastALagGrows(t *testing.T) {
	for _, c := range []struct {
		spark []int64
		want  int64
	}{
		{[]int64{0, 10, 20, 30, 40}, 40},
		{[]int64{40, 30, 20, 10}, 0},
		{[]int64{5, 5, 5, 5, 5}, 0},
		{[]int64{0, 10, 20}, 0}, // too few to tell
		{[]int64{-1, 0, 10, 20, 30}, 40},
		{[]int64{0, 10, 20, -1}, 0},
		{nil, 0},
	} {
		if got := grows(c.spark, 15*time.Second); got != c.want {
			t.Errorf("%v grows by %d a minute, want %d", c.spark, got, c.want)
		}
	}
	long := make([]int64, 60)
	for i := range long {
		long[i] = int64(max(0, i-50)) * 10
	}
	if got := grows(long, 15*time.Second); got < 15 || got > 25 {
		t.Errorf("the last twenty readings decide: %d", got)
	}
	if s := fmt.Sprint(grows([]int64{1, 2, 3, 4}, 0)); s != "0" {
		t.Errorf("without a pace: %s", s)
	}
}
