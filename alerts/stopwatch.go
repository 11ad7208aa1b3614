package alerts

import "time"

// stopwatch measures how long something has been so, on our own clock and by
// readings. It stands still while readings fail. The zero value is stopped.
type stopwatch struct {
	Since    time.Time     `json:",omitzero"` // the reading that started it; zero: it does not run
	Blind    time.Duration `json:",omitzero"` // of the time since then, how much lay in failed readings
	PausedAt time.Time     `json:",omitzero"` // the failed reading that made it stand still; zero: it goes
}

func (s stopwatch) running() bool { return !s.Since.IsZero() }

// start starts it afresh.
func (s *stopwatch) start(now time.Time) { *s = stopwatch{Since: now} }

// keep starts it unless it runs already.
func (s *stopwatch) keep(now time.Time) {
	if !s.running() {
		s.start(now)
	}
}

func (s *stopwatch) stop() { *s = stopwatch{} }

// pause makes it stand still from a failed reading on.
func (s *stopwatch) pause(now time.Time) {
	if s.running() && s.PausedAt.IsZero() {
		s.PausedAt = now
	}
}

// resume lets it go on at a reading that worked.
func (s *stopwatch) resume(now time.Time) {
	if !s.PausedAt.IsZero() {
		s.Blind += max(0, now.Sub(s.PausedAt))
		s.PausedAt = time.Time{}
	}
}

// elapsed is what it shows: never negative, 0 when it does not run.
func (s stopwatch) elapsed(now time.Time) time.Duration {
	if !s.running() {
		return 0
	}
	if !s.PausedAt.IsZero() {
		now = s.PausedAt
	}
	return max(0, now.Sub(s.Since)-s.Blind)
}
