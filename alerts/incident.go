package alerts

import (
	"errors"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Incident is one stall, stop or loss of a group, from opening to resolving.
// It has one page, never two.
type Incident struct {
	ID         string // UUIDv7; the dedup key of its page
	Number     int64  // short, for people; unique in this store only
	Source     string
	Group      string
	Queue      string // of a dead-letter incident; "" otherwise
	Verdict    Verdict
	Scope      Scope
	Lines      []sources.Partition
	Severity   string // critical, error, warning, info
	Owner      string // who looks after the group, from the rule; may be ""
	Runbook    string
	Notify     []string // notifiers that the rule names; empty: all
	Pages      bool     // false: shown and told as a warning
	AlreadySo  bool     // it was so at the first reading of its source: listed, nobody is told
	Together   string   // the incident that tells of this one and others at once; "": it is told itself
	Title      string
	Reason     string
	Evidence   Evidence
	Toll       Toll
	OpenedAt   time.Time
	UpdatedAt  time.Time
	ResolvedAt time.Time // zero while it is open
	Resolution string

	AcknowledgedAt time.Time
	AcknowledgedBy string
	ClosedAt       time.Time // when somebody closed it in the pager while it stood; zero: nobody did
	Deliveries     []Delivery
}

// Evidence is what was seen at the head of a stalled line. Records are kept
// whole in the store; what leaves for a pager is masked.
type Evidence struct {
	Head     *sources.Record // the record at the position: the first suspect
	Suspects []Suspect
	Waiting  int64  // readable records behind the head
	Peers    string // how the other lines of the group do, in a sentence
	Owner    string // who owns the line: "client id (member id)"
	Sample   int    // how many records before the position were compared

	Line     sources.Partition // the line that all this is of
	Position int64             // where it stood; sources.NoCommit or sources.NotKnown
	Since    time.Time         // when the line began to stand, on our clock
	Missing  string            // what could not be read, in a sentence; "" when nothing

	Grows       int64     // records a minute by which what waits there grows; 0: it does not, or nobody knows
	RetentionAt time.Time // when retention reaches the position at the speed at which it came closer; zero: not known
}

// Suspect is a record at or after the position that may be the one that
// blocks, with what sets it apart.
type Suspect struct {
	Offset int64
	Apart  []Apart
}

// Apart is one thing that sets a record apart from those before it.
type Apart struct {
	Field string // path of the field in the decoded body, or "header:name"
	Value string // as it may leave for a pager: masked where the field had many values
	Usual string // what the records before had there
}

// Delivery is what became of one event of an incident at one notifier.
type Delivery struct {
	Notifier   string
	Event      string // trigger, acknowledge, update, resolve
	State      DeliveryState
	AcceptedAt time.Time
	Attempts   int
	Err        string // of the last attempt, or why it is held back, or needless
}

// DeliveryState is how an event stands at its notifier.
type DeliveryState string

// The states of a delivery.
const (
	Waiting  DeliveryState = "pending" // tried until it is accepted
	HeldBack DeliveryState = "held"    // not tried: silenced, or for later
	Accepted DeliveryState = "accepted"
	GaveUp   DeliveryState = "gave_up"  // refused for good
	Needless DeliveryState = "needless" // it need not be told any more, and never was
)

var (
	// ErrNotFound is an incident that is not there.
	ErrNotFound = errors.New("no such incident")
	// ErrCursor is a cursor that no list of ours has given out.
	ErrCursor = errors.New("the cursor is not one that this list gave out")
)

// IncidentFilter selects incidents. The zero value selects all.
type IncidentFilter struct {
	Status  Status
	Sources []string // exact names; empty: all
	Groups  []string // exact names; empty: all
}

// Status is whether an incident still stands.
type Status string

// The states to filter by. An acknowledged incident is open.
const (
	AnyStatus Status = ""
	Open      Status = "open"
	Resolved  Status = "resolved"
)

// Subject is the record at the head, or where the line stands when it was not
// read, as the configured links take it.
func (in Incident) Subject() sources.Subject {
	e := in.Evidence
	switch {
	case e.Head != nil:
		return e.Head.Subject(in.Group)
	case e.Line.Topic != "":
		return sources.Subject{Topic: e.Line.Topic, Partition: int64(e.Line.Number), Offset: e.Position, Group: in.Group}
	}
	return sources.Subject{Partition: -1, Offset: -1, Group: in.Group}
}

// NotToAcknowledge is why the incident cannot be acknowledged; "" when it can.
func (in Incident) NotToAcknowledge() string {
	switch {
	case !in.ResolvedAt.IsZero():
		return "it is over since " + in.ResolvedAt.UTC().Format(time.RFC3339)
	case !in.AcknowledgedAt.IsZero():
		return in.AcknowledgedBy + " acknowledged it at " + in.AcknowledgedAt.UTC().Format(time.RFC3339)
	}
	return ""
}
