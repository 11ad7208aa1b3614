package review

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Selection is what an action is asked to touch: exactly one of its fields.
// It is frozen into ids before anything happens.
type Selection struct {
	IDs    []string
	Cause  string
	Filter *Filter
}

// Request asks for a plan or a redrive.
type Request struct {
	Selection
	Plan          string // start exactly this plan
	To            string // a queue of the same source; "" for each letter's own way back
	RatePerSecond float64
	Confirm       []string // codes of warnings that were accepted
	By            string
	Reason        string
}

// Plan is what a redrive would do, letter by letter. Nothing is received or
// sent to make it.
type Plan struct {
	ID        string
	CreatedAt time.Time
	Total     int
	To        string    // the queue that was asked for; "" for each letter's own way back
	Letters   []Planned // the first 1,000
	Receivers []sources.Receiver
	Warnings  []Warning
	Redrive   string // the redrive that it was started as; "" while it was not
}

// Planned is what a plan says of one letter.
type Planned struct {
	LetterID string
	Target   *sources.Target // nil when there is none
	Why      string          // why this target, in words
	Kept     []string        // header names, in wire order
	Dropped  []string
	Added    []string
	Warnings []string // codes
	Refused  string   // code; "" when it may be sent
}

// Warning is something to know, or to confirm, before a plan is started.
type Warning struct {
	Code        string
	Message     string
	LetterIDs   []string // the first 1,000
	Count       int      // of all its letters
	MustConfirm bool
}

// JobState is where a redrive stands.
type JobState string

// The states of a redrive.
const (
	JobRunning   JobState = "running"
	JobWaiting   JobState = "waiting"
	JobPaused    JobState = "paused"
	JobCancelled JobState = "cancelled"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
)

// ItemState is where one letter of a redrive stands. Every letter is in
// exactly one.
type ItemState string

// The states of an item, in the order in which they follow.
const (
	Planning      ItemState = "planned"
	Sending       ItemState = "sending" // its shipment is in the ledger, and may be out
	Sent          ItemState = "sent"    // accepted by the target, not yet settled at its source
	Confirmed     ItemState = "confirmed"
	ItemConsumed  ItemState = "consumed"
	ItemReturned  ItemState = "returned"
	ItemFailed    ItemState = "failed"
	ItemUnknown   ItemState = "unknown"
	ItemCancelled ItemState = "cancelled"
)

// Redrive is a job that sends letters back.
type Redrive struct {
	ID            string
	State         JobState
	Reason        string
	By            string
	CreatedAt     time.Time
	EndedAt       time.Time // zero while it runs
	Total         int
	RatePerSecond float64 // 0: as fast as the target takes them
	Counts        map[ItemState]int
	Verdict       string // "37 redriven: 35 passed, 2 came back"; "" while it runs
	Trouble       string // why it does not get on just now; "" when it does
}

// Item is one letter of a redrive: a row of the ledger.
type Item struct {
	ID       string
	Redrive  string
	LetterID string
	State    ItemState
	Target   sources.Target
	Receipt  sources.Receipt // where it lies now, once sent
	CameBack string          // id of the letter that it came back as; "" when it did not
	Error    string
}

// Redrives is one page of a list of redrives, newest first.
type Redrives struct {
	Redrives []Redrive
	Next     string
	Total    int64
}

// Items is one page of the letters of a redrive, in the order in which they
// are sent.
type Items struct {
	Items []Item
	Next  string
	Total int64
}

// PlannedLetters is one page of the letters of a plan.
type PlannedLetters struct {
	Letters []Planned
	Next    string
	Total   int64
}
