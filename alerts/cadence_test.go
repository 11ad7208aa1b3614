package alerts

import (
	"testing"
	"time"
)

// TestTheUsualGap: the third quartile of the last twenty waits, an hour at most
// each, and the threshold is the longer of stall_after and twice of it.
func TestTheUsualGap(t *testing.T) {
	const m = time.Minute
	for _, c := range []struct {
		waits            []time.Duration
		usual, threshold time.Duration
	}{
		{nil, 0, 4 * m},
		{[]time.Duration{m}, m, 4 * m},
		{[]time.Duration{16 * m}, 16 * m, 32 * m},
		{[]time.Duration{0, 16 * m}, 16 * m, 32 * m},
		{[]time.Duration{0, 0, 0, 16 * m}, 0, 4 * m},
		{[]time.Duration{4 * m, m, 3 * m, 2 * m}, 3 * m, 6 * m},
		{[]time.Duration{5 * time.Hour}, time.Hour, 2 * time.Hour},
	} {
		var habit cadence
		for _, w := range c.waits {
			habit.add(w)
		}
		if habit.usual() != c.usual || habit.threshold(4*m) != c.threshold {
			t.Errorf("%v: usual %v, threshold %v, want %v, %v", c.waits, habit.usual(), habit.threshold(4*m), c.usual, c.threshold)
		}
	}
	var habit cadence
	for range 6 {
		habit.add(30 * m)
	}
	for range keptWaits - 5 {
		habit.add(m)
	}
	if len(habit) != keptWaits || habit.usual() != m {
		t.Errorf("%d waits are remembered, and %v is usual", len(habit), habit.usual())
	}
}
