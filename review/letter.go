// Package review is the Monday queue: the letters that were found, the causes
// that they share, and what was decided about them.
package review

import (
	"errors"
	"time"

	"github.com/unwedge/unwedge/sources"
)

var (
	// ErrNotFound is an id that is not there.
	ErrNotFound = errors.New("not found")
	// ErrBadCursor is a cursor that no list has given out.
	ErrBadCursor = errors.New("the cursor is not one of this list")
)

// Status is where a letter stands between arrival and decision.
type Status string

// The statuses of a letter.
const (
	Open      Status = "open"
	Snoozed   Status = "snoozed"
	Redriving Status = "redriving"
	Redriven  Status = "redriven"
	Discarded Status = "discarded"
	Uncertain Status = "unknown" // as its redrive item: nobody can tell whether it was sent
	Expired   Status = "expired" // the broker forgot it; still to be decided
)

// Outcome is what became of a redriven letter.
type Outcome string

// The outcomes. NoOutcome: not known yet.
const (
	NoOutcome Outcome = ""
	Consumed  Outcome = "consumed"
	Returned  Outcome = "returned"
)

// Letter is a dead letter in the store.
type Letter struct {
	ID string // outlives receives and our restarts
	sources.DeadLetter
	CauseID      string
	Status       Status
	Outcome      Outcome
	ReturnedFrom string // id of the letter that was redriven and came back as this one
	FoundAt      time.Time
	BodyKept     bool  // false once the store has forgotten the body
	Returns      int   // how often it had come back before: its earlier lives
	Size         int64 // of the body in bytes; sources.NotKnown for null
	Cut          bool  // the body is the beginning of a larger one: lists have no more of it
}

// ListedAt is when a letter died, as well as it is known: where it stands in a
// list, and how old it is. SQS does not tell when it died: then it is when it
// was sent, which is what its expiry counts from. It never changes.
func (l Letter) ListedAt() time.Time {
	switch {
	case !l.DeadAt.IsZero():
		return l.DeadAt
	case !l.Timestamp.IsZero() && l.Timestamp.Before(l.FoundAt):
		return l.Timestamp
	}
	return l.FoundAt
}

// Filter selects letters. An empty field selects all; an empty Status selects
// open and expired ones.
type Filter struct {
	Sources []string
	Queues  []string
	Status  []Status
	Causes  []string
	Text    string // these words in a row, the last one as a beginning, case ignored: see Words
}

// Letters is one page of a list of letters.
type Letters struct {
	Letters []Letter
	Next    string // cursor of the next page; "" at the end
	Total   int64  // of the whole list
}

// Cause is a group of dead letters that failed the same way.
type Cause struct {
	ID           string
	Title        string // what a person would call it: class and message, or shape
	Why          string // why these letters are together, in a sentence
	Count        int    // open ones
	New          int    // of these, came since the last review
	Returned     int    // of these, came back after a redrive
	FirstSeen    time.Time
	LastSeen     time.Time
	Oldest       time.Time // of the open ones
	ExpiresFirst time.Time // zero: none expires or none is known to
	Expiring     int       // open ones that expire before the next review
	Sources      []string
	Origins      []string // queues that they came from
	Queues       []string // dead-letter queues that they lie in
	Weeks        [4]int   // arrivals in each of the last four weeks, oldest first
}

// Causes is one page of a list of causes.
type Causes struct {
	Causes []Cause
	Next   string
	Total  int64 // causes in the whole list
}

// Summary is the review in a line: what is open, and what of it is urgent.
type Summary struct {
	Causes     int
	Letters    int // open ones
	New        int // of these, came since the last review
	Returned   int // of these, came back after a redrive
	Expiring   int // of these, expire before the next review
	LastReview time.Time
	NextReview time.Time
}

// Finding is a risk in the set-up of a queue, with when it was first seen.
type Finding struct {
	sources.Finding
	Since time.Time
}

// LetterCount is how many letters of a queue have a status.
type LetterCount struct {
	Source, Queue string
	Status        Status
	Count         int64
}

// Queue is a queue as last read, with what the store knows of its letters.
type Queue struct {
	sources.Queue
	OldestAt  time.Time // of its open letters
	ScannedAt time.Time // when its letters were last read; zero: never
	Older     int64     // letters before the configured start, counted and not read
	Note      string    // what could not be seen
	Counts    map[Status]int64
}
