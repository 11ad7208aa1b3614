package alerts

import (
	"testing"
	"time"
)

func TestASchedule(t *testing.T) {
	const form = "2006-01-02 15:04"
	for _, c := range []struct{ text, zone, now, since string }{
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-02 19:59", ""}, // a Monday
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-02 20:00", "2026-03-02 20:00"},
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-03 03:59", "2026-03-02 20:00"},
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-03 04:00", ""},
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-07 03:00", "2026-03-06 20:00"}, // Friday's go on into Saturday
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-07 20:00", ""},
		{"Mon-Fri 20:00-04:00", "UTC", "2026-03-02 03:00", ""}, // nothing began on Sunday
		{"sat-mon 08:00-09:00", "UTC", "2026-03-01 08:30", "2026-03-01 08:00"},
		{"Mon,Wednesday 08:00-09:00", "UTC", "2026-03-04 08:30", "2026-03-04 08:00"},
		{"Mon,Wednesday 08:00-09:00", "UTC", "2026-03-03 08:30", ""},
		{"08:00-09:00", "UTC", "2026-03-03 08:30", "2026-03-03 08:00"},
		{"Tue-Thu 00:00-24:00", "UTC", "2026-03-05 12:00", "2026-03-03 00:00"}, // days that follow on each other are one
		{"20:00-04:00", "Asia/Kolkata", "2026-03-03 14:29", ""},
		{"20:00-04:00", "Asia/Kolkata", "2026-03-03 14:30", "2026-03-03 14:30"},
		{"22:00-04:00", "Europe/Berlin", "2026-03-29 01:59", "2026-03-28 21:00"}, // the clock goes forward in this night
		{"22:00-04:00", "Europe/Berlin", "2026-03-29 02:00", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSchedule(c.text, zone)
		if err != nil {
			t.Fatal(err)
		}
		now, _ := time.Parse(form, c.now)
		since, within := s.Since(now)
		if said := since.UTC().Format(form); within != (c.since != "") || within && said != c.since {
			t.Errorf("%q at %s: %v since %s, want %q", c.text, c.now, within, said, c.since)
		}
	}
}

func TestAScheduleThatIsNone(t *testing.T) {
	for _, text := range []string{"Mon", "Mon-Fri", "Mon-Foo 08:00-09:00", "Mon 8-9", "Mon 08:00", "Mon 08:00-08:00", "Mon 24:00-08:00", "Mon 08:00-25:00", "Mon Tue 08:00-09:00", ", 08:00-09:00"} {
		if _, err := ParseSchedule(text, time.UTC); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
