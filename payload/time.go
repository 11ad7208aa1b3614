package payload

import "time"

// PlausibleTime reads a timestamp in milliseconds since 1970, and says in a
// few words what is odd about it: a negative one is no timestamp (formats
// before Kafka 0.10 give -1), a small one was probably written in seconds (C98).
// The time is zero only when there is none.
func PlausibleTime(ms int64, now time.Time) (at time.Time, note string) {
	if ms < 0 {
		return time.Time{}, "no timestamp"
	}
	at = time.UnixMilli(ms).UTC()
	switch ahead := at.Sub(now); {
	case ms == 0:
		note = "the beginning of 1970: unusual"
	case plausible(time.Unix(ms, 0), now) && ms < 1e11:
		note = "looks like seconds"
	case ms >= 1e17:
		note = "looks like nanoseconds"
	case ms >= 1e14:
		note = "looks like microseconds"
	case ahead > 24*time.Hour:
		note = "in the future"
	case at.Year() < 2000:
		note = "before 2000: unusual"
	}
	return at, note
}

// plausible tells whether a message may well have been written then.
func plausible(at, now time.Time) bool {
	return at.Year() >= 2000 && at.Before(now.Add(10*365*24*time.Hour))
}
