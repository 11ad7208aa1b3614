package sqs

import (
	"fmt"
	"testing"
	"time"
)

// TestALookThatGoesRoundIsMadeLonger: a message that comes again before the sweep
// is through was hidden too shortly for the pace of the queue. Without a longer look
// it would go round among the first messages and never get to the others.
func TestALookThatGoesRoundIsMadeLonger(t *testing.T) {
	const letters, each = 3000, 100 * time.Millisecond // a slow queue: ten letters take a second
	w := &sweep{seen: map[string]bool{}, hide: 3}
	hidden := make([]time.Duration, letters) // until when
	now := time.Duration(0)
	for looks := 0; len(w.seen) < letters; looks++ {
		if looks > 10*letters {
			t.Fatalf("%d of %d letters were seen in %d looks", len(w.seen), letters, looks)
		}
		for i := range hidden {
			if hidden[i] <= now {
				hidden[i] = now + time.Duration(w.hide)*time.Second
				w.saw(fmt.Sprint(i))
				break
			}
		}
		now += each
	}
	if w.hide > int(hideMost/time.Second) {
		t.Errorf("letters are hidden for %d s", w.hide)
	}
	for range 40 {
		w.saw("0")
		w.saw(fmt.Sprint("new ", now))
		now++
	}
	if w.hide != int(hideMost/time.Second) {
		t.Errorf("letters are hidden for %d s, at most %s", w.hide, hideMost)
	}
}
