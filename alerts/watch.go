package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// GroupWatch is all that is remembered of one group between two readings: the
// progress of each line, when members were last seen, and the incident that
// stands. It is stored as JSON after each reading, so that a restart forgets
// nothing.
type GroupWatch struct {
	// To be designed by the detector: exported fields, so that it can be stored.
	Incident *Incident
}

// Step is what one reading led to.
type Step struct {
	Judgements []Judgement // one a line
	Opened     *Incident   // an incident that this reading opened
	Updated    *Incident   // one that stood already, and whose verdict, scope or lines changed
	Resolved   *Incident   // one that this reading resolved
	Warnings   []string    // told once: a dropped subscription, retention closing in
}

// Next is the watch one reading later: pure, with the time passed in.
func (w *GroupWatch) Next(g sources.Group, rules Rules, now time.Time) Step {
	panic("detector")
}
