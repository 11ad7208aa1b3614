package review

import (
	"testing"
	"testing/synctest"
	"time"
)

// pour sends letters as the pacer lets them go, each step taking a while, and
// says how many have gone in the time.
func (p *pacer) pour(during, step time.Duration) int {
	sent := 0
	for begin := time.Now(); time.Since(begin) < during; {
		if left := p.left(); left > 0 {
			time.Sleep(left)
			continue
		}
		n := p.most()
		time.Sleep(step)
		p.sent(n)
		sent += n
	}
	return sent
}

// TestC128PaceIsKept within a tenth, whether a step takes no time or nearly as
// long as the debt that is made up for.
func TestC128PaceIsKept(t *testing.T) {
	for _, rate := range []float64{0.5, 3, 10, 200, 5000} {
		for _, step := range []time.Duration{0, 30 * time.Millisecond, 250 * time.Millisecond} {
			if rate == 5000 && step > 100*time.Millisecond {
				continue // not even without a limit
			}
			synctest.Test(t, func(t *testing.T) {
				p := pacer{perSecond: rate, next: time.Now()}
				const during = 100 * time.Second
				if got, want := float64(p.pour(during, step)), rate*during.Seconds(); got < 0.9*want || got > 1.1*want {
					t.Errorf("%g a second with steps of %s: %g letters in %s", rate, step, got, during)
				}
			})
		}
	}
}

func TestWhatWasNotSentInTimeIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer{perSecond: 10, next: time.Now()}
		time.Sleep(time.Hour)
		if got := p.pour(2*time.Second, 0); got > 26 {
			t.Errorf("%d letters went in 2 s at 10 a second after a halt", got)
		}
	})
}

func TestC128ARateHoldsFromWhenItIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer{perSecond: 0.01, next: time.Now()}
		if got := p.pour(time.Second, 0); got != 1 {
			t.Errorf("%d letters went at once", got)
		}
		p.limit(200)
		if left := p.left(); left > 5*time.Millisecond {
			t.Errorf("the next waits %s although 200 a second may go now", left)
		}
		if got := p.pour(10*time.Second, 0); got < 1800 || got > 2200 {
			t.Errorf("%d letters in 10 s at 200 a second", got)
		}
		if p.limit(0); p.left() != 0 || p.most() != loadMost {
			t.Errorf("without a limit it waits %s for %d", p.left(), p.most())
		}
	})
}
