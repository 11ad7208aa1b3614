package review

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// within waits at most so long, in the time of the test, until a condition
// holds, and says how long that was.
func within(t *testing.T, limit time.Duration, what string, met func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !met() {
		if time.Since(begin) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(begin)
}

func (s *shop) is(state JobState) func() bool {
	return func() bool {
		now, _, _ := s.now()
		return now == state
	}
}

func (s *shop) has(sent int) func() bool {
	return func() bool {
		_, _, n := s.now()
		return n >= sent
	}
}

func TestC128ARedriveKeepsItsRateAndTakesAnotherAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 10_000, Pace{RatePerSecond: 200})
		w, stop := s.run(true)
		defer stop()
		for _, rate := range []float64{200, 20, 0.5, 200} {
			s.order(w, func(st *Standing) { st.RatePerSecond = rate })
			time.Sleep(time.Second) // what was packed has gone
			_, _, before := s.now()
			time.Sleep(20 * time.Second)
			_, _, after := s.now()
			if got := float64(after-before) / 20; got < 0.9*rate || got > 1.1*rate {
				t.Errorf("%g letters a second went, %g were asked for", got, rate)
			}
		}
	})
}

func TestAPausedRedriveBeginsNothingWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 5000, Pace{})
		w, stop := s.run(true)
		defer stop()
		within(t, 10*time.Second, "some are sent", s.has(160))
		s.order(w, func(st *Standing) { st.State = JobPaused })
		time.Sleep(2 * time.Second)
		_, _, n := s.now()
		time.Sleep(time.Minute)
		_, _, later := s.now()
		if later != n || n >= 5000 {
			t.Errorf("%d were sent two seconds after it was paused, %d a minute later", n, later)
		}
		counts := s.counts()
		if counts[Confirmed] != n || counts[Planning] != 5000-n || s.atWork {
			t.Errorf("%v, at work: %t", counts, s.atWork)
		}
		if len(s.released) == 0 || len(s.released)%10 != 0 {
			t.Errorf("%d letters were let go that were packed and not begun", len(s.released))
		}
		s.order(w, func(st *Standing) { st.State = JobRunning })
		within(t, 2*time.Second, "it goes on", s.has(n+1))
		within(t, time.Minute, "it ends", s.is(JobDone))
	})
}

// TestAPauseEndsAPackThatTakesLong is one that on SQS waits for letters.
func TestAPauseEndsAPackThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 100, Pace{})
		s.packing = time.Hour
		w, stop := s.run(true)
		defer stop()
		time.Sleep(5 * time.Second)
		s.order(w, func(st *Standing) { st.State = JobPaused })
		time.Sleep(2 * time.Second)
		if s.look(func() {}); s.atWork {
			t.Error("it still packs")
		}
	})
}

func TestAPausedRedriveStillSettlesWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 40, Pace{})
		s.settling = errors.New("InternalError")
		w, stop := s.run(true)
		defer stop()
		within(t, 10*time.Second, "all are sent", s.has(40))
		s.order(w, func(st *Standing) { st.State = JobPaused })
		time.Sleep(5 * time.Second)
		s.look(func() { s.settling = nil })
		within(t, time.Minute, "all are settled", func() bool { n, _ := s.Counts(t.Context(), ""); return n[Confirmed] == 40 })
	})
}

// TestWhatCannotBeSettledStopsTheRestBeforeItPilesUp reads a bounded number.
func TestWhatCannotBeSettledStopsTheRestBeforeItPilesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 20_000, Pace{})
		s.settling = errors.New("AccessDenied")
		_, stop := s.run(true)
		defer stop()
		time.Sleep(10 * time.Minute)
		if _, _, n := s.now(); n >= 2*10*openMost || s.inFlight > openMost {
			t.Errorf("%d were sent, %d shipments were read at once", n, s.inFlight)
		}
	})
}

func TestLettersThatOthersHoldDelayNoneBehindThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 1500, Pace{})
		for i := range 700 {
			s.held[fmt.Sprint(i+1)] = true
		}
		_, stop := s.run(true)
		defer stop()
		within(t, 10*time.Second, "those behind are sent", s.has(800))
		time.Sleep(time.Minute)
		s.look(func() { clear(s.held) })
		within(t, time.Minute, "the others follow", s.is(JobDone))
		if _, _, n := s.now(); n != 1500 {
			t.Errorf("%d were sent", n)
		}
	})
}

func TestCanariesGoInStagesThatWaitForThoseBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 500, Pace{Canary: true})
		s.consumes = true
		_, stop := s.run(true)
		defer stop()
		for _, stage := range []struct {
			sent   int
			waits  string
			passed string
		}{
			{1, "1 canary: waits until billing has passed it", "1 canary: waits 10s whether it comes back"},
			{6, "5 canaries: wait until billing has passed them", "5 canaries: wait 10s whether they come back"},
			{56, "50 canaries: wait until billing has passed them", "50 canaries: wait 10s whether they come back"},
		} {
			reason := func(want string) func() bool {
				return func() bool { state, why, n := s.now(); return state == JobWaiting && why == want && n == stage.sent }
			}
			within(t, 3*time.Second, stage.waits, reason(stage.waits))
			within(t, 3*time.Second, stage.passed, reason(stage.passed))
			time.Sleep(8 * time.Second)
			if _, _, n := s.now(); n != stage.sent {
				t.Errorf("%d were sent before the %d had time to come back", n, stage.sent)
			}
		}
		within(t, 15*time.Second, "the rest goes", s.is(JobDone))
	})
}

func TestCanariesWhereNobodyCanTellWhoReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 60, Pace{Canary: true})
		_, stop := s.run(false)
		defer stop()
		within(t, 3*time.Second, "it waits whether it comes back", func() bool { _, why, n := s.now(); return n == 1 && why == "1 canary: waits 10s whether it comes back" })
		if took := within(t, time.Minute, "it ends", s.is(JobDone)); took < 28*time.Second {
			t.Errorf("three stages took %s", took)
		}
	})
}

func TestACanaryThatIsNotConsumedPausesTheRedrive(t *testing.T) {
	for _, c := range []struct{ readers []string }{{[]string{"billing"}}, {nil}} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, 60, Pace{Canary: true})
			s.readers = c.readers
			w, stop := s.run(true)
			defer stop()
			time.Sleep(canaryLimit - 5*time.Second)
			if state, why, _ := s.now(); state != JobWaiting || c.readers == nil && why != "1 canary: waits until somebody reads orders" {
				t.Errorf("%s: %s", state, why)
			}
			within(t, 10*time.Second, "it pauses", s.is(JobPaused))
			const want = "its canary was not consumed within 15m: nobody moves on orders"
			if _, why, n := s.now(); why != want || n != 1 {
				t.Errorf("%q after %d were sent", why, n)
			}
			s.order(w, func(st *Standing) { st.State, st.Caution = JobRunning, st.LetOn(SumsOf(s.counts())) })
			time.Sleep(time.Minute)
			if state, _, n := s.now(); state != JobWaiting || n != 1 {
				t.Errorf("resumed: %s, and %d were sent: the same canary is waited for", state, n)
			}
		})
	}
}

func TestACanaryThatComesBackPausesTheRedrive(t *testing.T) {
	for _, c := range []struct {
		back []int
		sent int // until it pauses; 0: it does not
		why  string
	}{
		{[]int{1}, 1, "its canary came back"},
		{[]int{2, 6}, 6, "of 5 canaries came back"}, // one or both, by when it is looked
		{[]int{10, 20, 30}, 56, "3 of 50 canaries came back"},
		{[]int{10, 20}, 0, ""},
	} {
		t.Run(fmt.Sprint(c.back), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(t, 90, Pace{Canary: true})
				s.consumes = true
				for _, n := range c.back {
					s.back[n] = 2 * time.Second
				}
				w, stop := s.run(true)
				defer stop()
				if c.sent == 0 {
					within(t, 5*time.Minute, "it ends", s.is(JobDone))
					return
				}
				within(t, 5*time.Minute, "it pauses", s.is(JobPaused))
				if _, why, n := s.now(); !strings.HasSuffix(why, c.why) || n != c.sent {
					t.Errorf("%q after %d were sent, want %q after %d", why, n, c.why, c.sent)
				}
				stage := s.standing.Stage
				s.order(w, func(st *Standing) { st.State, st.Caution = JobRunning, st.LetOn(SumsOf(s.counts())) })
				within(t, 5*time.Second, "the stage begins anew", s.has(min(90, c.sent+canaries[stage])))
				within(t, 5*time.Minute, "it ends", s.is(JobDone))
			})
		})
	}
}

// TestACanaryStandsAfterARestartWhereItStood in its stage and in its time.
func TestACanaryStandsAfterARestartWhereItStood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 60, Pace{Canary: true})
		_, stop := s.run(true)
		for range 3 {
			time.Sleep(4 * time.Minute)
			stop()
			_, stop = s.run(true)
		}
		defer func() { stop() }()
		if state, _, n := s.now(); state != JobWaiting || n != 1 {
			t.Fatalf("%s, %d were sent", state, n)
		}
		within(t, 4*time.Minute, "it pauses fifteen minutes after it was sent", s.is(JobPaused))
	})
}

func TestALetterThatWedgedBeforeGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 500, Pace{})
		s.standing.Wary, s.consumes = true, true
		_, stop := s.run(true)
		defer stop()
		time.Sleep(10 * time.Second)
		if state, _, n := s.now(); state != JobWaiting || n != 1 {
			t.Errorf("%s, %d were sent", state, n)
		}
		within(t, 5*time.Second, "the rest goes at once", s.has(500))
	})
}

// TestC128TooManyThatComeBackPauseTheRedriveOnce, and a person that lets it go on
// has those before counted no more.
func TestC128TooManyThatComeBackPauseTheRedriveOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 1000, Pace{RatePerSecond: 20})
		for i := range 30 {
			s.back[3*i+1] = 200 * time.Second // before they count, a hundred are sent
		}
		w, stop := s.run(true)
		defer stop()
		within(t, time.Minute, "a hundred are sent", s.has(100))
		s.order(w, func(st *Standing) { st.State = JobPaused })
		time.Sleep(200 * time.Second)
		s.order(w, func(st *Standing) { st.State = JobRunning })
		within(t, 2*time.Second, "it pauses itself", func() bool { _, why, _ := s.now(); return why != "" })
		if state, why, n := s.now(); state != JobPaused || n > 102 || why != fmt.Sprintf("30 of %d came back", n) {
			t.Errorf("%s: %q after %d were sent", state, why, n)
		}
		s.order(w, func(st *Standing) { st.State, st.Reason, st.Caution = JobRunning, "", st.LetOn(SumsOf(s.counts())) })
		within(t, 2*time.Minute, "it is let go on, and ends", s.is(JobDone))
	})
}

func TestFewerThanAHundredAreNoSample(t *testing.T) {
	all := Sums{Tried: 99, Arrived: 99, Returned: 99}
	if why := (Caution{}).tooMany(all, Pace{}); why != "" {
		t.Error(why)
	}
	all = Sums{Tried: 2400, Arrived: 2400, Returned: 120}
	if why := (Caution{}).tooMany(all, Pace{}); why != "" {
		t.Errorf("a share of exactly one in twenty: %s", why)
	}
	all.Returned++
	if why := (Caution{}).tooMany(all, Pace{}); why != "121 of 2,400 came back" {
		t.Error(why)
	}
	if why := (Caution{}).tooMany(all, Pace{StopAbove: 0.5}); why != "" {
		t.Error(why)
	}
}

// TestAShiftIsMarkedWhileItLasts so that a run that dies at it is known, and ten
// minutes of work make up for the crashes before.
func TestAShiftIsMarkedWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, 1000, Pace{RatePerSecond: 1})
		s.standing.Crashes = 2
		_, stop := s.run(true)
		time.Sleep(9 * time.Minute)
		if s.look(func() {}); !s.atWork || s.standing.Crashes != 2 {
			t.Errorf("at work: %t, %d crashes", s.atWork, s.standing.Crashes)
		}
		time.Sleep(2 * time.Minute)
		if stop(); s.atWork || s.standing.Crashes != 0 {
			t.Errorf("after a clean end: at work %t, %d crashes", s.atWork, s.standing.Crashes)
		}
		sent := make([]string, 0, 1000)
		for _, a := range s.arrived {
			sent = append(sent, a.item)
		}
		if slices.Sort(sent); len(slices.Compact(sent)) != len(s.arrived) {
			t.Error("a letter went twice")
		}
	})
}
