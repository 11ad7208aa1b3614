package review

import (
	"context"
	"time"
)

// paceStep is how much of a limited redrive goes at a time.
const paceStep = 200 * time.Millisecond

// pacer spreads letters over time: at most so many a second, in small steps,
// and what was not sent in time is not made up for.
type pacer struct {
	perSecond float64 // 0: no limit
	next      time.Time
}

// ready waits until the next letters may go. It tells whether they may: a long
// wait is cut short, so that the redrive is looked at again.
func (p *pacer) ready(ctx context.Context) bool {
	left := time.Until(p.next)
	if p.perSecond == 0 || left <= 0 {
		return true
	}
	wait(ctx, min(left, time.Second))
	return ctx.Err() == nil && time.Until(p.next) <= 0
}

// most is how many letters may go now.
func (p *pacer) most() int {
	if p.perSecond == 0 {
		return loadMost
	}
	return max(1, min(loadMost, int(p.perSecond*paceStep.Seconds())))
}

func (p *pacer) sent(letters int) {
	if p.perSecond == 0 {
		return
	}
	if late := time.Now().Add(-paceStep); p.next.Before(late) {
		p.next = late
	}
	p.next = p.next.Add(time.Duration(float64(letters) / p.perSecond * float64(time.Second)))
}
