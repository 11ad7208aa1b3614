package sqs

const (
	// aheadFrom is how many letters a redrive asks for at least at a time for a
	// look ahead to be worth it.
	aheadFrom = 100
	// aheadMost is how many messages are looked at ahead of time.
	aheadMost = 500
)

// myTurn waits until nobody else looks at the queue.
func (l *line) myTurn() {
	l.mu.Lock()
	l.waiting++
	l.mu.Unlock()
	l.turn.Lock()
	l.mu.Lock()
	l.waiting--
	l.mu.Unlock()
}

// lookAhead looks at the next messages while those that were taken are being
// sent, when a redrive takes the queue as it comes: it got all that it asked for,
// and most of what it looked at was asked for. If it comes back for them they are
// held already; else they are released soon.
func (l *line) lookAhead(wanted, got int, w *sweep) {
	if l.fifo || l.sweep != nil || wanted < aheadFrom || got < wanted || 2*l.strangers(w) > len(w.seen) {
		return
	}
	l.s.inBackground(func() {
		for looked := 0; looked < aheadMost; {
			n := l.lookOnce(w.hide)
			if n == 0 {
				return
			}
			looked += n
		}
	})
}

// strangers is how many of the messages that a redrive looked at it did not ask
// for.
func (l *line) strangers(w *sweep) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range w.seen {
		if _, ours := l.kept[id]; !ours {
			n++
		}
	}
	return n
}

// lookOnce looks at messages unless a redrive waits for its turn, and gives how
// many it saw.
func (l *line) lookOnce(hide int) int {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	stop := l.waiting > 0 || l.sweep != nil
	l.mu.Unlock()
	if stop {
		return 0
	}
	got, err := l.receiveWide(l.s.ending, callsAtOnce/4, hide, nil)
	l.see(&sweep{seen: map[string]bool{}}, got, nil)
	if err != nil {
		return 0 // the redrive will meet it too
	}
	return len(got)
}
