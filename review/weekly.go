package review

import "time"

// Weekly is when the review is: a day and a time of the week, in a zone.
type Weekly struct {
	Day  time.Weekday
	At   time.Duration // since midnight, under 24 h, in whole minutes
	Zone *time.Location
}

// Last is the latest review at or before now. Where the clocks are put forward
// over its time, it is as much later.
func (w Weekly) Last(now time.Time) time.Time {
	day := now.In(w.zone())
	for back := (int(day.Weekday()) - int(w.Day) + 7) % 7; ; back += 7 {
		if t := w.on(day, -back); !t.After(now) {
			return t
		}
	}
}

// Next is the first review after now.
func (w Weekly) Next(now time.Time) time.Time {
	last := w.Last(now).In(w.zone())
	return w.on(last, 7)
}

// on is the time of the review on the day that is some days after another.
func (w Weekly) on(day time.Time, after int) time.Time {
	y, m, d := day.Date()
	hour, minute := int(w.At/time.Hour), int(w.At%time.Hour/time.Minute)
	return time.Date(y, m, d+after, hour, minute, 0, 0, w.zone())
}

func (w Weekly) zone() *time.Location {
	if w.Zone == nil {
		return time.UTC
	}
	return w.Zone
}
