package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

// More letters expire at once than one statement takes, and the first of them
// have another status than the last.
func TestManyLettersOfTwoStatusesExpire(t *testing.T) {
	s := newStore(t)
	letters := payments(0, 700)
	for i := range letters {
		letters[i].Place.Partition, letters[i].Place.Offset = 0, int64(i)
	}
	take(t, s, look(letters, time.Now(), oneCause))
	must(t, s.in(t.Context(), func(tx *sql.Tx) error {
		return move(t.Context(), tx, review.Snoozed, `place >= 600`)
	}))
	taken := take(t, s, review.Look{Source: "payments", Queue: "payment.events.dlq", At: time.Now(), Start: map[int32]int64{0: 700}})
	if len(taken.Changed) != 700 {
		t.Errorf("%d letters expired, want 700", len(taken.Changed))
	}
}
