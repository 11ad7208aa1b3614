package review

import "time"

const (
	// paceStep is how much of a limited redrive goes at a time.
	paceStep = 100 * time.Millisecond
	// paceDebt is how much of what was not sent in time is made up for: a slow
	// step must not make the redrive slower, nor a long halt make it burst.
	paceDebt = 500 * time.Millisecond
)

// pacer spreads letters over time: at most so many a second, in small steps.
// The zero pacer has no limit.
type pacer struct {
	perSecond float64   // 0: no limit
	next      time.Time // when the letters after those that went are due
}

// limit sets the rate, which holds from now on.
func (p *pacer) limit(perSecond float64) {
	if perSecond == p.perSecond {
		return
	}
	p.perSecond = perSecond
	if soon := time.Now().Add(p.takes(1)); perSecond > 0 && p.next.After(soon) {
		p.next = soon
	}
}

// takes is how long so many letters take.
func (p *pacer) takes(letters int) time.Duration {
	if p.perSecond == 0 {
		return 0
	}
	return time.Duration(float64(letters) / p.perSecond * float64(time.Second))
}

// left is how long the next letters are to wait; 0 when they may go.
func (p *pacer) left() time.Duration {
	if p.perSecond == 0 {
		return 0
	}
	return max(0, time.Until(p.next))
}

// most is how many letters may go now.
func (p *pacer) most() int {
	if p.perSecond == 0 {
		return loadMost
	}
	due := min(time.Since(p.next), paceDebt) + paceStep
	return max(1, min(loadMost, int(p.perSecond*due.Seconds())))
}

// sent counts letters that went.
func (p *pacer) sent(letters int) {
	if p.perSecond == 0 {
		return
	}
	if late := time.Now().Add(-paceDebt); p.next.Before(late) {
		p.next = late
	}
	p.next = p.next.Add(p.takes(letters))
}
