package review

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/internal/failpoint"
)

const (
	// UndoFor is how long a discard can be undone for sure: letters are deleted
	// from an SQS queue no earlier.
	UndoFor = 10 * time.Minute
	// DraftKept is how long a discard waits for somebody to decide it.
	DraftKept = 24 * time.Hour
	// reasonMost is how long a reason may be, in characters.
	reasonMost = 1000
)

// DiscardState is where a discard stands.
type DiscardState string

// The states of a discard.
const (
	DiscardDraft  DiscardState = "draft"     // its letters are listed, and nothing is decided
	DiscardOpen   DiscardState = "discarded" // it can be undone
	DiscardDone   DiscardState = "done"      // its time is over, and what was to be deleted is
	DiscardUndone DiscardState = "undone"
)

// Discard is a decision that letters will not be processed. Nothing is ever
// deleted from Kafka for it; from an SQS queue they are deleted when the undo has
// run out.
type Discard struct {
	ID        string
	State     DiscardState
	Reason    string
	By        string
	CreatedAt time.Time
	UndoUntil time.Time // zero while it is a draft
	UndoneAt  time.Time // zero: it was not
	UndoneBy  string
	Total     int
	Counts    map[DiscardItemState]int
	Messages  int // of its letters, those that lie in an SQS queue
	Left      int // of those, are still to be deleted
}

// CanUndo tells whether an undo would be taken: while nothing was deleted, which
// on Kafka is for ever.
func (d Discard) CanUndo(now time.Time) bool {
	switch d.State {
	case DiscardOpen, DiscardDone:
		return d.Messages == 0 || now.Before(d.UndoUntil)
	}
	return false
}

// DiscardItemState is where one letter of a discard stands.
type DiscardItemState string

// The states of a letter of a discard. Every one is in exactly one.
const (
	DiscardPlanned  DiscardItemState = "planned" // in a draft
	ItemDiscarded   DiscardItemState = "discarded"
	DiscardFailed   DiscardItemState = "failed" // it could not be deleted: open again
	DiscardItemBack DiscardItemState = "undone"
)

// DiscardItem is one letter of a discard.
type DiscardItem struct {
	ID       string
	LetterID string
	State    DiscardItemState
	Error    string // why it is not deleted yet; "" when nothing hinders it
}

// Discards is one page of a list of discards, newest first.
type Discards struct {
	Discards []Discard
	Next     string
	Total    int64
}

// DiscardItems is one page of the letters of a discard.
type DiscardItems struct {
	Items []DiscardItem
	Next  string
	Total int64
}

// Bin keeps discards. Each call is one transaction with the letters and the
// audit in it.
type Bin interface {
	// DraftDiscard freezes a selection. Errors: ErrNotFound, ErrInvalid when it
	// selects nothing.
	DraftDiscard(ctx context.Context, d Discard, what Selection) error
	// Discard decides a draft: all of it or nothing. Errors: ErrNotFound,
	// *ConflictError, *StateError.
	Discard(ctx context.Context, id, reason, by string, now, undoUntil time.Time) (Discard, error)
	// UndoDiscard makes the letters what they were. Errors: ErrNotFound,
	// *StateError.
	UndoDiscard(ctx context.Context, id, by string, now time.Time) (Discard, error)
}

// DiscardRequest asks for a discard.
type DiscardRequest struct {
	Selection
	Reason string
	By     string
}

// Clerk discards letters and takes discards back.
type Clerk struct {
	Bin Bin
	Now func() time.Time
	// Changed is called after each decision; may be nil.
	Changed func()
}

// Draft freezes a selection into a discard that somebody is to decide. Errors:
// ErrInvalid, ErrNotFound.
func (c *Clerk) Draft(ctx context.Context, r DiscardRequest) (Discard, error) {
	if err := r.valid(); err != nil {
		return Discard{}, err
	}
	d := Discard{ID: newID("di_"), State: DiscardDraft, By: r.By, CreatedAt: c.Now()}
	return d, c.Bin.DraftDiscard(ctx, d, r.Selection)
}

// Decide discards the letters of a draft. Errors: ErrInvalid, ErrNotFound,
// *ConflictError, *StateError; nothing is discarded then.
func (c *Clerk) Decide(ctx context.Context, draft, reason, by string) (Discard, error) {
	reason = strings.TrimSpace(reason)
	if err := validReason(reason); err != nil {
		return Discard{}, err
	}
	now := c.Now()
	d, err := c.Bin.Discard(ctx, draft, reason, by, now, now.Add(UndoFor))
	failpoint.Hit("discard-decided")
	return c.done(d, err)
}

// Discard discards letters: those of a selection, which is frozen on arrival.
// Errors: those of Draft and Decide.
func (c *Clerk) Discard(ctx context.Context, r DiscardRequest) (Discard, error) {
	if err := validReason(strings.TrimSpace(r.Reason)); err != nil {
		return Discard{}, err
	}
	draft, err := c.Draft(ctx, r)
	if err != nil {
		return Discard{}, err
	}
	return c.Decide(ctx, draft.ID, r.Reason, r.By)
}

// Undo makes letters what they were before they were discarded. Errors:
// ErrNotFound, *StateError.
func (c *Clerk) Undo(ctx context.Context, id, by string) (Discard, error) {
	d, err := c.Bin.UndoDiscard(ctx, id, by, c.Now())
	failpoint.Hit("discard-undone")
	return c.done(d, err)
}

func (c *Clerk) done(d Discard, err error) (Discard, error) {
	if err == nil && c.Changed != nil {
		c.Changed()
	}
	return d, err
}

func (r DiscardRequest) valid() error {
	if (Request{Selection: r.Selection}).ways() != 1 {
		return fmt.Errorf("%w: name the letters by exactly one of ids, cause and filter", ErrInvalid)
	}
	return nil
}

func validReason(reason string) error {
	switch n := utf8.RuneCountInString(reason); {
	case n == 0:
		return fmt.Errorf("%w: a reason is needed: why will these letters not be processed?", ErrInvalid)
	case n > reasonMost:
		return fmt.Errorf("%w: a reason has at most %d characters", ErrInvalid, reasonMost)
	case !utf8.ValidString(reason):
		return fmt.Errorf("%w: the reason is not UTF-8", ErrInvalid)
	}
	return nil
}
