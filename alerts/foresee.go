package alerts

import (
	"fmt"
	"time"
)

// soon is how much time a warning must leave to somebody who is woken by
// nothing else.
const soon = time.Hour

// warn tells once what pages nobody: a topic that the group dropped, retention
// that is about to reach a position, and records that were gone before anyone
// looked.
func (w *GroupWatch) warn(step *Step, lines []line, now time.Time) {
	for i, l := range lines {
		v, p := step.Judgements[i].Verdict, l.p
		if v != Orphaned {
			p.Told.Orphaned = false
		}
		switch {
		case l.unread():
		case v == Orphaned && !p.Told.Orphaned && p.Habit != nil && p.Unowned.elapsed(now) >= l.rule.StallAfter:
			p.Told.Orphaned = true
			step.Warnings = append(step.Warnings, fmt.Sprintf("Group %s reads %s no more: partition %d stands at offset %s and nobody owns it; %s", w.Group, l.Topic, l.Number, position(p.Position), l.unreadCount()))
		case v == Orphaned:
		case !p.Told.Loss && p.Loss == nil && p.Position >= 0 && p.Position < l.Start:
			p.Told.Loss = true
			step.Warnings = append(step.Warnings, fmt.Sprintf("Group %s, partition %d of %s: records expired before they were read: up to %s", w.Group, l.Number, l.Topic, count(l.Start-p.Position)))
		case !p.Told.Retention && p.Waits == recordWaits:
			if left, ok := p.timeLeft(now); ok && left < soon && p.Wait.elapsed(now) >= l.threshold()/2 {
				p.Told.Retention = true
				step.Warnings = append(step.Warnings, fmt.Sprintf("Group %s, partition %d of %s: retention reaches offset %s in about %s, and it is not read yet", w.Group, l.Number, l.Topic, count(p.Position), about(left)))
			}
		}
	}
}
