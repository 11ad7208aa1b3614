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
	Of     string // id of another plan: its letters, but for those of Without
	// Without names the letters of that plan to leave out: LeaveRefused, or the
	// code of a warning; "" for none.
	Without string
}

// LeaveRefused leaves out the letters of a plan that cannot be sent.
const LeaveRefused = "refused"

// Request asks for a plan or a redrive.
type Request struct {
	Selection
	Plan string // start exactly this plan; its options hold unless Pace has others
	Options
	// OtherPace is what a start may choose although its plan is fixed; nil: as the
	// plan has it.
	OtherPace *Pace
	Confirm   []string // codes of warnings that were accepted
	By        string
}

// Options are how letters are redriven, besides which. They are fixed with the
// plan.
type Options struct {
	To             string // a queue of the same source; "" for each letter's own way back
	Edit           *Edit  // nil: as they are
	KeepTimestamps bool   // send with the timestamp of the original record (Kafka)
	Pace
}

// Pace is how fast a redrive goes, and what it waits for.
type Pace struct {
	RatePerSecond float64 // letters; 0: as fast as the target takes them
	Canary        bool    // 1, then 5, then 50, then the rest; each waits for what comes of those before
	// StopAbove is the share of letters that came back, of those sent, above which
	// the redrive pauses itself; 0: DefaultStopAbove.
	StopAbove float64
}

// DefaultStopAbove is a share of one in twenty.
const DefaultStopAbove = 0.05

// Plan is what a redrive would do, letter by letter. Nothing is received or
// sent to make it.
type Plan struct {
	ID        string
	CreatedAt time.Time
	Total     int
	Options
	Letters   []Planned // the first 1,000
	Refused   int       // of all its letters, those that cannot be sent
	Targets   []PlanTarget
	Receivers []sources.Receiver
	Warnings  []Warning
	// NotKnown says, in a sentence each, what the plan could not find out.
	NotKnown []string
	Redrive  string // the redrive that it was started as; "" while it was not
	// Newer is how many letters that came later would be selected too, and are
	// not in the plan (C105). It is counted when the plan is read.
	Newer int
}

// PlanTarget is a queue that letters of a plan go to, as it was when planned.
type PlanTarget struct {
	Source, Queue string
	TopicID       string // Kafka
	Partitions    int    // 0 on SQS
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
	Because  string   // why it is refused, in words; "" when the code says it all
}

// Warning is something to know, or to confirm, before a plan is started.
type Warning struct {
	Code        string
	Message     string
	LetterIDs   []string // the first 1,000
	Count       int      // of all its letters
	Evidence    []string // what was seen, a line each, the first twenty
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
	ID        string
	State     JobState
	Reason    string // why it is in this state: who paused it, what stopped it; "" when nothing is to be said
	By        string
	CreatedAt time.Time
	EndedAt   time.Time // zero while it runs
	Total     int
	Options
	Counts     map[ItemState]int
	Verdict    string // "37 redriven: 35 passed, 2 came back"; "" while it runs
	Trouble    string // why it does not get on just now; "" when it does
	Cancelling bool   // nothing more is sent; it ends when what is out is settled
	Incident   string // id of the incident at a record that it sent; "" when there is none

	ReturnsIn   time.Duration // how long its letters take to come back, if they do
	ReturnsWhy  string        // how that was found, in words
	FollowUntil time.Time     // until when letters that came back are waited for; zero: not known yet
	Followed    bool          // that time is over: the verdict is final
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
