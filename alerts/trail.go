package alerts

import (
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	keptMarks   = 18          // how many advances of a line are remembered
	keptEnds    = 24          // how many readings of its end
	noLateness  = time.Minute // a line that is late by less is not slow, or a quarter of stall_after
	fewestMarks = 4           // fewer show no trend
)

// mark is how a line stood right after an advance, when what waits is at its
// lowest: comparing these, a consumer that commits rarely is not taken for a
// slow one. Kept small: it is stored with every reading.
type mark struct {
	At       int64 `json:"t"` // Unix milliseconds
	Position int64 `json:"p"`
	Lag      int64 `json:"l"`
	Late     int64 `json:"b"` // age of the oldest unread record in milliseconds, at least
}

// logEnd is the end of a line's log at a reading.
type logEnd struct {
	At     int64 `json:"t"` // Unix milliseconds
	Offset int64 `json:"o"`
}

// spacing is how far apart marks are kept, so that they reach back twice
// stall_after however fast the poll.
func spacing(stallAfter time.Duration) time.Duration { return stallAfter / 8 }

// unmark forgets the marks: from here on the line is another one.
func (p *progress) unmark(position int64) { p.Marks, p.First = nil, position }

// mark remembers an advance. The newest is always kept; one that is closer to
// the one before it than the spacing is replaced by the next, so that the marks
// reach equally far back whatever the poll.
func (p *progress) mark(l sources.Lag, now time.Time, stallAfter time.Duration) {
	m := mark{At: now.UnixMilli(), Position: l.Position, Lag: p.lag(l), Late: p.late(l, now).Milliseconds()}
	n := len(p.Marks)
	if n >= 2 && p.Marks[n-1].At-p.Marks[n-2].At < spacing(stallAfter).Milliseconds() {
		p.Marks[n-1] = m
		return
	}
	p.Marks = append(p.Marks, m)
	if len(p.Marks) > keptMarks {
		p.Marks = slices.Delete(p.Marks, 0, 1)
	}
}

// stoodAt is the position that the line had at a moment, as far back as the
// marks go.
func (p *progress) stoodAt(at time.Time) int64 {
	stood := p.First
	for _, m := range p.Marks {
		if m.At > at.UnixMilli() {
			break
		}
		stood = m.Position
	}
	return stood
}

// watchEnd remembers where the log ended. What lies wholly before the position
// is forgotten but for the last; when too many are kept, the one that tells
// least goes.
func (p *progress) watchEnd(l sources.Lag, now time.Time) {
	e := logEnd{At: now.UnixMilli(), Offset: limit(l, p.Uncommitted)}
	if n := len(p.Ends); n == 0 || p.Ends[n-1].Offset != e.Offset {
		p.Ends = append(p.Ends, e)
	}
	for len(p.Ends) > 1 && p.Ends[1].Offset <= p.from(l) {
		p.Ends = slices.Delete(p.Ends, 0, 1)
	}
	if len(p.Ends) <= keptEnds {
		return
	}
	least := 1
	for i := 1; i < len(p.Ends)-1; i++ {
		if p.Ends[i+1].At-p.Ends[i-1].At < p.Ends[least+1].At-p.Ends[least-1].At {
			least = i
		}
	}
	p.Ends = slices.Delete(p.Ends, least, least+1)
}

// behind is the age of the oldest unread record by our own history of the end;
// negative when that does not reach back.
func (p *progress) behind(l sources.Lag, now time.Time) time.Duration {
	if p.Waits == nothingWaits {
		return 0
	}
	if len(p.Ends) == 0 || p.Ends[0].Offset > p.from(l) {
		return -1
	}
	return p.late(l, now)
}

// late is how long at least the oldest unread record has waited.
func (p *progress) late(l sources.Lag, now time.Time) time.Duration {
	if p.Waits == nothingWaits {
		return 0
	}
	for _, e := range p.Ends {
		if e.Offset > p.from(l) {
			return max(0, now.Sub(time.UnixMilli(e.At)))
		}
	}
	return 0
}

// slow tells whether the line falls behind although it advances: over the
// window of its marks what waits after an advance has grown, it has not begun
// to shrink, and the oldest of it is late by more than noise (linkedin/Burrow
// issues 223 and 738).
func (p *progress) slow(stallAfter time.Duration) bool {
	n := len(p.Marks)
	if n < fewestMarks || p.Marks[n-1].Lag <= 0 {
		return false
	}
	floor := max(min(noLateness, stallAfter/4), p.Every)
	return time.Duration(p.Marks[n-1].Late)*time.Millisecond > floor && p.grows() && !p.shrinks()
}

// grows compares each mark of the newer half with each of the older half: four
// pairs of five must have grown, so that one dip hides nothing.
func (p *progress) grows() bool {
	half := len(p.Marks) / 2
	older, newer := p.Marks[:half], p.Marks[len(p.Marks)-half:]
	grown := 0
	for _, a := range older {
		for _, b := range newer {
			if b.Lag > a.Lag {
				grown++
			}
		}
	}
	return 5*grown >= 4*half*half
}

// shrinks tells whether the newest mark lies below the highest by more than a
// tenth of it and more than what arrives between two readings.
func (p *progress) shrinks() bool {
	var most int64
	for _, m := range p.Marks {
		most = max(most, m.Lag)
	}
	return p.Marks[len(p.Marks)-1].Lag < most-max(most/10, p.Arrived)
}

// speeds are what the line reads and what arrives, in records per second over
// the window of its marks; false when there are too few.
func (p *progress) speeds() (reads, arrives float64, ok bool) {
	n := len(p.Marks)
	if n < 2 || p.Marks[n-1].At <= p.Marks[0].At {
		return 0, 0, false
	}
	first, last := p.Marks[0], p.Marks[n-1]
	seconds := float64(last.At-first.At) / 1000
	reads = float64(last.Position-first.Position) / seconds
	return reads, reads + float64(last.Lag-first.Lag)/seconds, true
}
