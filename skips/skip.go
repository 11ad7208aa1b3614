// Package skips parks records that block a line and moves its group's position
// past them: the record first, the position after it, never the other way round.
package skips

import (
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// State is where a skip stands.
type State string

// The states of a skip. Armed is the only one that may change by itself.
const (
	Armed    State = "armed" // it waits until the group is empty
	Done     State = "done"
	Failed   State = "failed" // the position is where it was
	Disarmed State = "disarmed"
	Undone   State = "undone"
)

// Step is how far an armed skip has come. Each is written down before what
// follows it begins, so that after a crash nothing is done twice.
type Step string

// The steps of an armed skip.
const (
	Waiting Step = ""       // nothing was written
	Copying Step = "copy"   // the copies are packed: the same bytes may be sent again
	Copied  Step = "copied" // they lie in the dead-letter queue, and were read back
	Moving  Step = "move"   // the position may have been moved
	Undoing Step = "undo"   // of one that is done: it may have been moved back
)

// Outcome is what a skip led to; "" while that is not known.
type Outcome string

// The outcomes of a skip that is done.
const (
	Freed      Outcome = "freed"
	DidNotHelp Outcome = "did_not_help"
)

// Skip is one park and skip: the records from From to To of a line are parked,
// and the position of its group is moved from From to To.
type Skip struct {
	ID        string
	Line      sources.Partition
	From, To  int64 // To is exclusive
	Stop      bool  // stop and start the group's workers
	State     State
	Step      Step
	Parked    []Parked
	Queue     string             // the dead-letter queue; "": the records are kept in our store only
	TopicID   string             // of the line's topic
	Shipments []sources.Shipment // what is sent to the queue, exactly
	WaitsFor  string             // a sentence; "" when it waits for nothing
	By        string
	ArmedAt   time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // zero while it is armed
	LivelyAt  time.Time // since when the group has members again, after it was done
	Outcome   Outcome
	Error     string

	StoppedAt time.Time // when its workers were told to stop; zero: they were not
	StartedAt time.Time // and to start again
	BackAt    time.Time // when the group had members again after that
	AlarmID   string    // of the page that they do not come back; "" for none
	AlarmWhy  string
	Raised    bool
}

// Parked is one record, and where its copy lies.
type Parked struct {
	Record    sources.Record // as it was shown, and is kept
	Queue     string         // "" while it is not copied, or where there is none
	Partition int32
	AtOffset  int64 // sources.NotKnown while it is not copied
}

// where is where its records are parked, in a sentence.
func (s Skip) where() string {
	if s.Queue == "" {
		return "our store"
	}
	return s.Queue
}

// Copied tells whether the copy of a record was accepted.
func (p Parked) Copied() bool { return p.Queue != "" && p.AtOffset >= 0 }

var (
	// ErrNotFound is a skip that is not there.
	ErrNotFound = errors.New("no such skip")
	// ErrInvalid is a request that makes no sense whatever the state of the line.
	ErrInvalid = errors.New("the request is not valid")
	// ErrUnavailable is a source that does not answer just now.
	ErrUnavailable = errors.New("the source does not answer")
	// ErrCursor is a cursor that no list of ours has given out.
	ErrCursor = errors.New("the cursor is not one that this list gave out")
)

// StateError is a line or a skip in another state than an order needs. Nothing
// was done.
type StateError struct{ Why string }

func (e *StateError) Error() string { return e.Why }

func conflict(format string, args ...any) error {
	return &StateError{Why: fmt.Sprintf(format, args...)}
}

const (
	// ExpiresIn is how long a skip stays armed where nobody says.
	ExpiresIn = 30 * time.Minute
	// longestArmed bounds how long somebody may say: a group that stops days later
	// stops for another reason.
	longestArmed = 24 * time.Hour
	// RecordsMost is how many records one skip parks: what a consumer takes in one
	// poll by default (max.poll.records).
	RecordsMost = 500
	// aloneFor is how long an advance without members keeps a line from being
	// skipped: an engine that commits without joining looks like a stopped group.
	aloneFor = 24 * time.Hour
)
