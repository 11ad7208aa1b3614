package alerts

import (
	"context"
	"errors"
	"slices"
	"time"
)

// EventKind is what an event tells of its incident.
type EventKind string

// The kinds of events, in the order in which an incident has them.
const (
	Trigger     EventKind = "trigger"
	Acknowledge EventKind = "acknowledge"
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
	Summary  string // a sentence or two, plain text, as long as they have to be
	Link     string // page of the incident; "" without a base_url
	Waiting  int64  // readable records that wait now; sources.NotKnown when not known
	Late     bool   // a trigger whose incident has ended before it could be sent
	Minimal  bool   // the whole was refused: send no more than must be there
}

// Notifier tells somebody of an event. An error that wraps ErrPermanent means
// that this body will never be taken; a RetryAfter says when to come again;
// any other error may be tried again. To be told of the same event twice must
// do no more than to be told once: after a crash nobody knows.
type Notifier interface {
	Notify(ctx context.Context, e Event) error
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
}

// told are the recipients who hear of an incident. Of what was so already at
// the first reading nobody hears. A rule that names none that is configured
// tells all: a page to too many is better than one to nobody.
func told(in *Incident, all []Recipient) []string {
	if in.AlreadySo {
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
	Attempts int  // so far
	Minimal  bool // the whole was refused: send the least
	Held     bool // it was held back
}

// Mutes tells whether the page of an incident may go out now. Nothing else is
// ever held back: who was told of a beginning is told of the end.
type Mutes interface {
	Muted(ctx context.Context, incident string, now time.Time) (Mute, error)
}

// Mute is what holds a page back.
type Mute struct {
	Until time.Time // zero: nothing does
	Over  bool      // the incident has ended
}

// Result is what became of one attempt.
type Result struct {
	At       time.Time
	Accepted bool
	GaveUp   bool      // refused for good, the least of it too
	Minimal  bool      // the next attempt sends the least
	NextAt   time.Time // of the next attempt, when there is one
	Held     bool      // no attempt was made: held back until NextAt
	Muted    bool      // it ended while it was held back: nobody is told
	Err      string    // no secret and no address in it
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
	Attempt(ctx context.Context, p Pending, now time.Time) (Incident, bool, error)
	// Settle writes down what became of an attempt.
	Settle(ctx context.Context, p Pending, r Result) error
	// Undelivered is what the notifiers that have any have not been told yet.
	Undelivered(ctx context.Context) ([]Backlog, error)
}
