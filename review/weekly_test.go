package review

import (
	"testing"
	"time"
)

func TestWeekly(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	kolkata := Weekly{Day: time.Monday, At: 9 * time.Hour, Zone: zone("Asia/Kolkata")}
	berlin := Weekly{Day: time.Sunday, At: 2*time.Hour + 30*time.Minute, Zone: zone("Europe/Berlin")}
	for _, c := range []struct {
		w               Weekly
		now, last, next string
	}{
		{kolkata, "2026-09-14T03:30:00Z", "2026-09-14T03:30:00Z", "2026-09-21T03:30:00Z"},
		{kolkata, "2026-09-14T03:29:59Z", "2026-09-07T03:30:00Z", "2026-09-14T03:30:00Z"},
		{kolkata, "2026-09-13T20:00:00Z", "2026-09-07T03:30:00Z", "2026-09-14T03:30:00Z"}, // Monday there already
		{kolkata, "2026-09-20T18:29:59Z", "2026-09-14T03:30:00Z", "2026-09-21T03:30:00Z"},
		{Weekly{Day: time.Wednesday}, "2026-01-01T00:00:00Z", "2025-12-31T00:00:00Z", "2026-01-07T00:00:00Z"},
		{berlin, "2026-03-28T12:00:00Z", "2026-03-22T01:30:00Z", "2026-03-29T01:30:00Z"}, // 02:30 is not there that day
		{berlin, "2026-03-29T12:00:00Z", "2026-03-29T01:30:00Z", "2026-04-05T00:30:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		last, next := c.w.Last(now).UTC().Format(time.RFC3339), c.w.Next(now).UTC().Format(time.RFC3339)
		if last != c.last || next != c.next {
			t.Errorf("%v at %s: %s and %s, want %s and %s", c.w, c.now, last, next, c.last, c.next)
		}
	}
}

// TestWeeksFollowOnOneAnother through three years and every change of clocks.
func TestWeeksFollowOnOneAnother(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"} {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Duration{0, 2*time.Hour + 15*time.Minute, 23*time.Hour + 59*time.Minute} {
			w := Weekly{Day: time.Sunday, At: at, Zone: z}
			begin := w.Last(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
			for range 160 {
				next := w.Next(begin)
				if !w.Last(begin).Equal(begin) || !w.Last(next.Add(-time.Second)).Equal(begin) || !w.Last(next).Equal(next) {
					t.Fatalf("%s %s: the week of %s", name, at, begin)
				}
				begin = next
			}
		}
	}
}
