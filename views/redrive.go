package views

import "time"

// RedrivesPage lists the redrives, newest first.
type RedrivesPage struct {
	Frame
	Jobs  []JobRow
	Pager Pager
}

// JobRow is one redrive.
type JobRow struct {
	ID        string
	Of        string // what was redriven: "InvalidCurrencyException, GatewayTimeout"
	State     string
	By        string
	CreatedAt time.Time
	EndedAt   time.Time // zero while it runs
	Total     int
	Counts    Counts
}

// Counts is how many letters of a redrive are in each state. They add up to
// its total.
type Counts struct {
	Planned, Sending, Sent, Confirmed, Consumed, Returned, Failed, Unknown, Cancelled int
}

// RedrivePage is one redrive with its ledger.
type RedrivePage struct {
	Frame
	Job     JobRow
	Reason  string  // why it was started, or why it stands in its state
	Rate    float64 // letters per second; 0: as fast as the target takes them
	Verdict string  // what came of it, in a sentence; "" while it runs
	Items   []ItemRow
	Filters []Filter // by state
	Pager   Pager
	Notices []Notice
}

// ItemRow is one letter of a redrive.
type ItemRow struct {
	ID       string
	LetterID string
	Key      Bytes
	State    string
	Target   string
	Place    string // where it lies now: "partition 1, offset 90,331"; "" while not known
	Error    string
	What     string // what happened, in words; "" where the state says it
	CameBack string // id of the letter that it came back as
}
