package alerts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// EventKind is what an event tells of its incident.
type EventKind string

// The kinds of events. An incident begins with a trigger and ends with a resolve;
// between them it may be acknowledged, change, and be triggered again.
const (
	Trigger     EventKind = "trigger"
	Acknowledge EventKind = "acknowledge"
	Update      EventKind = "update"
	Resolve     EventKind = "resolve"
)

// Event is what a notifier is told: one incident at one turn of it. It is made
// afresh from the incident for each attempt, so that a page that gets out late
// tells what is true by then.
type Event struct {
	ID       string // the same at every attempt; no two events share one
	Kind     EventKind
	At       time.Time // when what it tells of happened, not when it is sent
	Incident Incident
	Summary  string            // a sentence or two, plain text, as long as they have to be
	Link     string            // page of the incident; "" without a base_url
	Links    []sources.Address // outside, to what knows more of the record at the head
	Waiting  int64             // readable records that wait now; sources.NotKnown when not known
	Late     bool              // a trigger whose incident has ended before it could be sent
	Minimal  bool              // the whole was refused: send no more than must be there
	Repeat   bool              // a trigger of one that somebody closed in the pager while it still stood
	Key      string            // fingerprint of the key that its page went with; "" when there is none
}

// Notifier tells somebody of an event. An error that wraps ErrPermanent means
// that this body will never be taken; a RetryAfter says when to come again;
// any other error may be tried again. To be told of the same event twice must
// do no more than to be told once: after a crash nobody knows.
type Notifier interface {
	Notify(ctx context.Context, e Event) error
}

// Keyed is a notifier whose receiver takes the end of a page only with the key
// that its beginning had.
type Keyed interface {
	// Fingerprint is that of the key which a new page goes with. It does not give
	// the key away.
	Fingerprint() (string, error)
}

// ErrPermanent is the answer of a receiver that will not take this body however
// often it is sent.
var ErrPermanent = errors.New("refused for good")

// ErrServer is the answer of a receiver that has trouble of its own: a 5xx. It
// may be about this body nevertheless.
var ErrServer = errors.New("the receiver has trouble")

// RetryAfter is the answer of a receiver that said when it wants to be asked
// again.
type RetryAfter struct {
	After time.Duration
	Err   error
}

func (r *RetryAfter) Error() string { return r.Err.Error() }

// Unwrap is what went wrong.
func (r *RetryAfter) Unwrap() error { return r.Err }

// Recipient is a configured notifier.
type Recipient struct {
	Name string
	Notifier
	// Warnings: it is told of incidents that page nobody too, with the severity
	// warning. A pager is not: whatever reaches it may ring.
	Warnings bool
	// Updates: it is told when an incident changes. A pager is not: an event for
	// one that somebody has closed there would ring a second time.
	Updates bool
	// After: it is told of an incident only when nothing that came before it was
	// accepted for so long, or nobody acknowledged. 0: at once.
	After time.Duration
	// Before are the names of the notifiers that come before it.
	Before []string
}

// told are the recipients who hear of an incident. Of what was so already at
// the first reading nobody hears. A rule that names none that is configured
// tells all: a page to too many is better than one to nobody.
func told(in *Incident, all []Recipient) []string {
	if in.AlreadySo || in.Together != "" {
		return nil
	}
	var names []string
	for _, r := range all {
		if len(in.Notify) == 0 || slices.Contains(in.Notify, r.Name) {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		names = everyName(all)
	}
	if in.Pages {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(all, func(r Recipient) bool { return r.Name == name && r.Warnings })
	})
}

// updated are those of the told who hear of changes.
func updated(all []Recipient) []string {
	var names []string
	for _, r := range all {
		if r.Updates {
			names = append(names, r.Name)
		}
	}
	return names
}

func everyName(all []Recipient) []string {
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names
}

// Pending is an event in the outbox that is not settled yet.
type Pending struct {
	Incident string
	Notifier string
	Event    EventKind
	Step     int       // its place in its lane; FirstStep is the page
	Since    time.Time // when it was written, or when the silence that held it back was over
	Tried    time.Time // when the last attempt began; zero: never
	Attempts int       // so far
	Minimal  bool      // the whole was refused: send the least
	Held     bool      // it was held back
	Key      string    // fingerprint of the key that the page of its lane went with
}

// The places of an event in its lane: the page is the first, the end the last.
const (
	FirstStep = 1
	LastStep  = 1_000_000_000
)

// repeats tells whether it is a page again, of one that was closed by hand.
func (p Pending) repeats() bool { return p.Event == Trigger && p.Step > FirstStep }

// Mutes tells until when the page of an incident is not to go out; the zero time
// when it may go out now. Nothing else is ever held back: who was told of a
// beginning is told of the end.
type Mutes interface {
	Muted(ctx context.Context, incident string, now time.Time) (until time.Time, err error)
}

// Result is what became of one attempt.
type Result struct {
	At       time.Time
	Accepted bool
	GaveUp   bool      // refused for good, the least of it too
	Minimal  bool      // the next attempt sends the least
	NextAt   time.Time // of the next attempt, when there is one
	Held     bool      // no attempt was made: held back until NextAt
	Silenced bool      // it is a silence that holds it back
	Muted    bool      // nothing is to be told any more: of the page, nothing of the whole lane
	Err      string    // no secret and no address in it; why it is held back
}

// Backlog is what a notifier has not been told yet.
type Backlog struct {
	Notifier string
	Events   int
	Oldest   time.Time // when the oldest of them was written
	Err      string    // what the last attempt ended with
}

// Outbox has the events of incidents, a lane for each incident and notifier:
// the events of a lane are sent one by one in their order, and lanes do not
// wait for each other.
type Outbox interface {
	// Due is the first unsettled event of each lane of a notifier that may be
	// attempted now, the one that waits longest first, at most max; and when
	// the next one may be: the zero time when none waits.
	Due(ctx context.Context, notifier string, now time.Time, max int) ([]Pending, time.Time, error)
	// Attempt writes down that an attempt begins, before it begins, and reads
	// the incident as it is now. It is false when the event is settled or gone.
	// The key of p is kept, so that the end goes with the key of the page.
	Attempt(ctx context.Context, p Pending, now time.Time) (Incident, bool, error)
	// Incident reads an incident with its deliveries.
	Incident(ctx context.Context, id string) (Incident, error)
	// Settle writes down what became of an attempt.
	Settle(ctx context.Context, p Pending, r Result) error
	// Undelivered is what the notifiers that have any have not been told yet.
	Undelivered(ctx context.Context) ([]Backlog, error)
}
