package sources

import "time"

// Backlog is one reading of a work queue whose messages nobody can look at
// without taking them: counts only, which are right about a minute after the
// last change.
type Backlog struct {
	Queue      string
	Visible    int64         // wait to be taken
	InFlight   int64         // taken, and neither deleted nor given back
	Visibility time.Duration // for how long a message stays taken; 0: not known
	FIFO       bool
	ReadAt     time.Time
	Err        error // the queue could not be read; the counts then mean nothing
}
