package review

import (
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// TestALetterIsAsOldAsIsKnown: when it died, else when it was sent, else when
// we found it; and never from the future.
func TestALetterIsAsOldAsIsKnown(t *testing.T) {
	found := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	died, sent, future := found.Add(-time.Hour), found.Add(-72*time.Hour), found.Add(time.Hour)
	for _, c := range []struct {
		died, sent, want time.Time
	}{
		{died, sent, died},
		{time.Time{}, sent, sent},
		{time.Time{}, future, found},
		{time.Time{}, time.Time{}, found},
	} {
		l := Letter{FoundAt: found, DeadLetter: sources.DeadLetter{DeadAt: c.died, Timestamp: c.sent}}
		if got := l.ListedAt(); !got.Equal(c.want) {
			t.Errorf("died %v, sent %v: %v, want %v", c.died, c.sent, got, c.want)
		}
	}
}
