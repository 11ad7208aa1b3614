package alerts

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Schedule is when a group is meant to work: on some days of the week, from one
// time of day to another, which may be past midnight. The zero value is always.
type Schedule struct {
	days     [7]bool       // on which it begins, by time.Weekday
	from, to time.Duration // since midnight; to is later than from, and may lie in the next day
	zone     *time.Location
}

// ErrSchedule is a text that is no schedule.
var ErrSchedule = errors.New("no schedule such as \"Mon-Fri 20:00-04:00\"")

const day = 24 * time.Hour

// ParseSchedule reads "Mon-Fri 20:00-04:00": days, as a list of days and ranges
// of days, on which it begins, and two times of day in a zone. Without days it
// begins every day; "" is always. Errors: ErrSchedule.
func ParseSchedule(text string, zone *time.Location) (Schedule, error) {
	s := Schedule{zone: zone}
	parts := strings.Fields(text)
	switch len(parts) {
	case 0:
		return Schedule{}, nil
	case 1:
		parts = []string{"Mon-Sun", parts[0]}
	case 2:
	default:
		return Schedule{}, fmt.Errorf("%q: %w: it has more than days and hours", text, ErrSchedule)
	}
	for one := range strings.SplitSeq(parts[0], ",") {
		if !s.add(one) {
			return Schedule{}, fmt.Errorf("%q: %w: %q is no day of the week and no range of them", text, ErrSchedule, one)
		}
	}
	from, to, _ := strings.Cut(parts[1], "-")
	var ok1, ok2 bool
	s.from, ok1 = timeOfDay(from)
	s.to, ok2 = timeOfDay(to)
	if !ok1 || !ok2 || s.from == day || s.from == s.to {
		return Schedule{}, fmt.Errorf("%q: %w: %q are no hours such as 20:00-04:00", text, ErrSchedule, parts[1])
	}
	if s.to < s.from {
		s.to += day
	}
	return s, nil
}

// add has the schedule begin on a day, or on each day of a range, which may go
// over the end of the week.
func (s *Schedule) add(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	from, ok := dayOf(first)
	to := from
	if isRange && ok {
		to, ok = dayOf(last)
	}
	if !ok {
		return false
	}
	for d := from; ; d = (d + 1) % 7 {
		s.days[d] = true
		if d == to {
			return true
		}
	}
}

// dayOf reads the English name of a day, in full or by its first three letters.
func dayOf(name string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(name, d.String()) || strings.EqualFold(name, d.String()[:3]) {
			return d, true
		}
	}
	return 0, false
}

// timeOfDay reads 20:00, and 24:00 for the end of a day.
func timeOfDay(text string) (time.Duration, bool) {
	if text == "24:00" {
		return day, true
	}
	t, err := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err == nil
}

// Always tells whether there is no time outside the schedule.
func (s Schedule) Always() bool { return s.zone == nil }

// Since is when the hours began that now lies in: days whose hours follow on
// each other without a gap are one. It is false outside them, and the zero time
// of a schedule that is always.
func (s Schedule) Since(now time.Time) (time.Time, bool) {
	if s.Always() {
		return time.Time{}, true
	}
	begin, within := s.begun(now)
	for range 7 { // a schedule without a gap has begun long ago
		before, follows := s.begun(begin.Add(-time.Nanosecond))
		if !within || !follows {
			break
		}
		begin = before
	}
	return begin, within
}

// begun is when the hours of one day began that now lies in. They end and begin
// by the clock on the wall, also on the day on which that is set.
func (s Schedule) begun(now time.Time) (time.Time, bool) {
	at := now.In(s.zone)
	for back := range 2 { // those of today, or of yesterday past midnight
		y, m, d := at.Date()
		begin := onTheWall(y, m, d-back, s.from, s.zone)
		end := onTheWall(y, m, d-back, s.to, s.zone)
		if s.days[begin.Weekday()] && !now.Before(begin) && now.Before(end) {
			return begin, true
		}
	}
	return time.Time{}, false
}

func onTheWall(y int, m time.Month, d int, sinceMidnight time.Duration, zone *time.Location) time.Time {
	return time.Date(y, m, d, int(sinceMidnight/time.Hour), int(sinceMidnight%time.Hour/time.Minute), 0, 0, zone)
}
