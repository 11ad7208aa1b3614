package views

import (
	"fmt"
	"time"
)

// shape is how an instant is written. The script knows the same shapes and
// writes them again in the zone of the browser.
type shape string

const (
	clock  shape = "clock"  // 02:36, with the day where it is not today's
	second shape = "second" // 02:36:42, with the day where it is not today's
	zoned  shape = "zoned"  // clock with the zone
	day    shape = "day"    // Thu 10 Sep
	long   shape = "long"   // Thursday 10 September, 02:49 IST
	exact  shape = "exact"  // 2023-01-02 00:15:00.792 -08:00
	age    shape = "age"    // 4 d 6 h
	ago    shape = "ago"    // 6 s ago
	until  shape = "until"  // in 3 d 8 h
)

// write is an instant in a shape. Hours run from 00 to 23.
func (f Frame) write(t time.Time, as shape) string {
	local, now := t.In(f.zone()), f.Now.In(f.zone())
	switch as {
	case age:
		return Age(f.Now.Sub(t))
	case ago:
		return Age(f.Now.Sub(t)) + " ago"
	case until:
		return f.untilText(t)
	case exact:
		return local.Format("2006-01-02 15:04:05.000 -07:00")
	case long:
		return local.Format("Monday 2 January"+year(local, now)+", 15:04 ") + zoneName(local)
	case day:
		return local.Format("Mon 2 Jan" + year(local, now))
	case zoned:
		return local.Format(dated(local, now)+"15:04 ") + zoneName(local)
	case second:
		return local.Format(dated(local, now)+"15:04:05") + elsewhere(local, now)
	default:
		return local.Format(dated(local, now)+"15:04") + elsewhere(local, now)
	}
}

func (f Frame) untilText(t time.Time) string {
	if t.Before(f.Now) {
		return Age(f.Now.Sub(t)) + " ago"
	}
	return "in " + Age(t.Sub(f.Now))
}

func (f Frame) zone() *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}

// zoneName is the zone of an instant, for sentences and the heads of tables.
func zoneName(t time.Time) string {
	name, _ := t.Zone()
	if name == "" || name[0] == '+' || name[0] == '-' { // zones without a name of their own
		return "UTC" + t.Format("-07:00")
	}
	return name
}

// label is the zone at the moment of the page, as it stands once in the head
// of a table.
func (f Frame) label() string { return zoneName(f.Now.In(f.zone())) }

// zoneLong names the zone and its offset.
func (f Frame) zoneLong() string {
	now := f.Now.In(f.zone())
	name, offset := zoneName(now), "UTC"+now.Format("-07:00")
	if name == offset || name == "UTC" {
		return name
	}
	return name + " (" + offset + ")"
}

// elsewhere is the offset of an instant where it is not the page's: across a
// change of summer time the zone in the head of the table is not its zone.
func elsewhere(t, now time.Time) string {
	_, a := t.Zone()
	_, b := now.Zone()
	if a == b {
		return ""
	}
	return t.Format(" -07:00")
}

func dated(t, now time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return ""
	}
	return "Mon 2 Jan" + year(t, now) + " "
}

func year(t, now time.Time) string {
	if t.Year() == now.Year() {
		return ""
	}
	return " 2006"
}

// utc is the exact instant for the title of a time.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999999Z") + " (UTC)" }

func machine(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// odd says what is strange about a timestamp that somebody else wrote; "" for
// an ordinary one.
func (f Frame) odd(t time.Time) string {
	ms := t.UnixMilli()
	switch {
	case ms == 0:
		return "unusual: the very beginning of 1970"
	case ms > 0 && plausible(ms):
		return fmt.Sprintf("looks like seconds: as seconds it is %s", time.Unix(ms, 0).UTC().Format(time.DateOnly))
	case ms < 0:
		return "unusual: before 1970"
	case t.Sub(f.Now) > time.Hour:
		return "in the future"
	default:
		return ""
	}
}

// plausible tells whether a number, taken as seconds, is a time between 2001
// and 2100, which taken as milliseconds would be in January or February 1970.
func plausible(n int64) bool { return n >= 978_307_200 && n < 4_102_444_800 }
