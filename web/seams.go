package web

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// What this package asks of others, in pieces as small as they are used.

// Board is what the lag loop last saw of everything.
type Board interface {
	Board() alerts.Board
}

// Collector says how each source was last looked through for letters.
type Collector interface {
	Status() []review.SourceStatus
}

// Letters are the dead letters in the store.
type Letters interface {
	// Letters is a page of the letters that a filter selects, newest first. A
	// cursor of another list is review.ErrBadCursor.
	Letters(ctx context.Context, f review.Filter, limit int, cursor string) (review.Letters, error)
	// Letter is one of them, or review.ErrNotFound.
	Letter(ctx context.Context, id string) (review.Letter, error)
	// LettersByID gives letters in the order of the ids.
	LettersByID(ctx context.Context, ids []string) ([]review.Letter, error)
}

// Causes are the causes that the letters share.
type Causes interface {
	Causes(ctx context.Context, f review.Filter, limit int, cursor string) (review.Causes, error)
	Cause(ctx context.Context, id string) (review.Cause, error)
	Summary(ctx context.Context) (review.Summary, error)
}

// Queues are the queues as last read, and the risks in how they are set up.
type Queues interface {
	Queues(ctx context.Context) ([]review.Queue, error)
	Findings(ctx context.Context) ([]review.Finding, error)
	LetterCounts(ctx context.Context) ([]review.LetterCount, error)
}

// Redrives are the jobs that send letters back, with their ledger.
type Redrives interface {
	Redrives(ctx context.Context, limit int, cursor string) (review.Redrives, error)
	Redrive(ctx context.Context, id string) (review.Redrive, error)
	Items(ctx context.Context, redrive string, states []review.ItemState, limit int, cursor string) (review.Items, error)
}

// Plans are redrives before they start.
type Plans interface {
	// Plan is a plan with the first thousand of its letters.
	Plan(ctx context.Context, id string) (review.Plan, error)
	PlanLetters(ctx context.Context, id string, limit int, cursor string) (review.PlannedLetters, error)
}

// Desk makes plans and starts redrives.
type Desk interface {
	Plan(ctx context.Context, r review.Request) (review.Plan, error)
	Start(ctx context.Context, r review.Request) (review.Redrive, error)
	// Choices are the queues that the letters of a plan could go to.
	Choices(ctx context.Context, plan review.Plan) ([]review.Choice, error)
}

// Control changes redrives that are not over. A redrive that is in another
// state than the order needs is a *review.StateError.
type Control interface {
	Pause(ctx context.Context, id, by string) (review.Redrive, error)
	Resume(ctx context.Context, id, by string) (review.Redrive, error)
	Cancel(ctx context.Context, id, by string) (review.Redrive, error)
	// SetRate sets how many letters go in a second; 0: no limit.
	SetRate(ctx context.Context, id string, perSecond float64, by string) (review.Redrive, error)
}

// Clerk discards letters, and takes discards back.
type Clerk interface {
	// Draft freezes a selection that is still to be decided.
	Draft(ctx context.Context, r review.DiscardRequest) (review.Discard, error)
	Decide(ctx context.Context, draft, reason, by string) (review.Discard, error)
	Discard(ctx context.Context, r review.DiscardRequest) (review.Discard, error)
	Undo(ctx context.Context, id, by string) (review.Discard, error)
}

// Discards are the discards with their letters.
type Discards interface {
	Discards(ctx context.Context, limit int, cursor string) (review.Discards, error)
	DiscardByID(ctx context.Context, id string) (review.Discard, error)
	DiscardItems(ctx context.Context, id string, limit int, cursor string) (review.DiscardItems, error)
}

// Audit is what was done, by whom.
type Audit interface {
	Audit(ctx context.Context, f review.AuditFilter, limit int, cursor string) (review.Audit, error)
}

// Settler takes a person's word for letters of which nobody can tell whether
// they arrived.
type Settler interface {
	SettleItem(ctx context.Context, item string, as review.SettledAs, by string) (review.Item, error)
}

// Incidents are the incidents in the store, newest first.
type Incidents interface {
	// Incidents is a page of them and the cursor of the next; a cursor of
	// another list is alerts.ErrCursor.
	Incidents(ctx context.Context, f alerts.IncidentFilter, limit int, cursor string) (page []alerts.Incident, next string, err error)
	// Incident is one of them, or alerts.ErrNotFound.
	Incident(ctx context.Context, id string) (alerts.Incident, error)
	// OpenIncidents counts the open ones by verdict.
	OpenIncidents(ctx context.Context) (map[alerts.Verdict]int, error)
}

// Deeds are what was done about an incident, from the audit.
type Deeds interface {
	// Deeds are the oldest of them, at most so many; cut says that there are more.
	Deeds(ctx context.Context, incident string, most int) (deeds []alerts.Deed, cut bool, err error)
}

// Responder takes the word of people about incidents. An incident in another
// state than the order needs is a *alerts.StateError.
type Responder interface {
	Acknowledge(ctx context.Context, id, by string) (alerts.Incident, error)
	// Silence sets a silence; one that cannot be set is alerts.ErrSilence.
	Silence(ctx context.Context, s alerts.Silence) (alerts.Silence, error)
	// EndSilence ends one before its time; one that is not there, or over, is
	// alerts.ErrNoSilence.
	EndSilence(ctx context.Context, id, by string) error
}

// Tester sends test pages. A name that no notifier has is alerts.ErrNoNotifier; a
// page that was not taken is an *alerts.TestError.
type Tester interface {
	SendTest(ctx context.Context, notifier, by string) error
}

// Outbox says which events notifiers have not been told yet.
type Outbox interface {
	Undelivered(ctx context.Context) ([]alerts.Backlog, error)
}

// Inbox takes what pagers tell of our incidents, by the signature of each message:
// alerts.ErrSignature when it is not right, alerts.ErrNoNotifier when nobody of
// that name listens, alerts.ErrMessage when it cannot be read.
type Inbox interface {
	Receive(ctx context.Context, notifier string, header http.Header, body []byte) error
}

// Silences are the silences in the store, newest first.
type Silences interface {
	// Silences is a page of those that are not over at now, or of all.
	Silences(ctx context.Context, all bool, now time.Time, limit int, cursor string) (page []alerts.Silence, next string, err error)
}

// Skipper parks and skips. What is in another state than an order needs is a
// *skips.StateError.
type Skipper interface {
	// Stoppable tells whether the workers of a group can be stopped and started.
	Stoppable(p sources.Partition) bool
	// Plan says what a skip would park.
	Plan(ctx context.Context, r skips.Request) (skips.Skip, error)
	Arm(ctx context.Context, r skips.Request) (skips.Skip, error)
	Disarm(ctx context.Context, id, by string) (skips.Skip, error)
	Undo(ctx context.Context, id, by string) (skips.Skip, error)
}

// Skips are the skips in the store, newest first.
type Skips interface {
	// Skips is a page of those in some states, or of all; a cursor of another list
	// is skips.ErrCursor.
	Skips(ctx context.Context, states []skips.State, limit int, cursor string) (page []skips.Skip, next string, err error)
	// Skip is one of them, or skips.ErrNotFound.
	Skip(ctx context.Context, id string) (skips.Skip, error)
	// SkipsOf are those of a group's lines that ended since an instant, or have
	// not, oldest first.
	SkipsOf(ctx context.Context, source, group string, since time.Time) ([]skips.Skip, error)
}

// History is what the lag loop has recorded.
type History interface {
	// History writes one group's as JSON lines; alerts.ErrNoHistory, before it has
	// written any, when there is none.
	History(ctx context.Context, q alerts.HistoryQuery, w io.Writer) error
	// Lag is the lag of some of its lines over time.
	Lag(ctx context.Context, q alerts.LagQuery) (alerts.LagSeries, error)
}

// Keys remembers the answers to requests that carried an Idempotency-Key, per
// user and path.
type Keys interface {
	// Claim takes a key for a request with the hash of its body, or finds what
	// became of the request that has it. A key is free again 24 hours after it
	// was taken.
	Claim(ctx context.Context, who, path, key, body string, now time.Time) (Claimed, error)
	// Keep stores the answer to the request that has the key.
	Keep(ctx context.Context, who, path, key string, status int, answer []byte) error
	// Free gives a key back: its request came to nothing.
	Free(ctx context.Context, who, path, key string) error
}

// Claimed is what became of a claim.
type Claimed struct {
	Ours      bool   // the key was free and is ours now
	OtherBody bool   // a request with another body has it
	Status    int    // of the answer; 0 while there is none
	Answer    []byte // as it was sent
}
