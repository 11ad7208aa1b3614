package views

import "time"

// QueuesPage shows every queue that holds dead letters, and the risks in how
// they are set up.
type QueuesPage struct {
	Frame
	Queues   []QueueRow
	Letters  int // open ones in all of them
	Findings []FindingRow
	Pager    Pager
	// Empty says why no queue is listed, and what to do if that is a surprise.
	Empty string
}

// QueueRow is one queue.
type QueueRow struct {
	Source       string
	Name         string
	Kind         string // dead_letter, retry, work
	Count        int64  // what the broker says; Unknown when not known
	CountIsExact bool
	AtMost       bool  // the count may have holes: it is "at most"
	Open         int64 // letters of it that are still to be decided
	OldestAt     time.Time
	Retention    time.Duration // 0: not known; negative: for ever
	FeedsFrom    []string
	RedriveTo    string
	ScannedAt    time.Time // zero: never
	Older        int64     // letters before the configured start, counted and not read
	Note         string    // what could not be seen: "10 of about 400"
	Redriving    string    // a move that runs at the broker
	Findings     []string  // a few words each
	Error        string
}

// FindingRow is a risk in the set-up of a queue.
type FindingRow struct {
	ID       string
	Kind     string
	Source   string
	Queue    string
	Message  string
	Advice   string
	Evidence []Fact
	Hue      Hue
}
