package review

import (
	"context"
	"fmt"
	"math"

	"github.com/unwedge/unwedge/internal/failpoint"
)

// StateError is an order to something that is in another state than the order
// needs. Nothing was changed.
type StateError struct {
	Subject string // "redrive rd_1"
	State   string // "done", or a few words
	Allowed string // what can be done instead, a sentence; "" when nothing can
}

// Error says in which state it is, and what can be done.
func (e *StateError) Error() string {
	text := e.Subject + " is " + e.State
	if e.Allowed != "" {
		text += ": " + e.Allowed
	}
	return text
}

// SettledAs is what a person decides about a letter of which nobody can tell
// whether it arrived.
type SettledAs string

// The decisions.
const (
	// SettledSent means that it arrived: its letter is redriven, and comes off its queue.
	SettledSent SettledAs = "sent"
	// SettledNotSent means that it did not: its letter can be redriven again.
	SettledNotSent SettledAs = "not_sent"
)

// Orders are what a person can order of a redrive. Each is one transaction with
// its audit row, and returns the redrive as it is then. From the moment that one
// has returned no shipment is begun that it forbids. Errors: ErrNotFound,
// *StateError.
type Orders interface {
	// PauseRedrive lets nothing new be begun.
	PauseRedrive(ctx context.Context, id, by string) (Redrive, error)
	// ResumeRedrive lets it go on. What came back, failed or crashed before counts
	// no more.
	ResumeRedrive(ctx context.Context, id, by string) (Redrive, error)
	// CancelRedrive cancels all that is planned, whose letters are what they were.
	CancelRedrive(ctx context.Context, id, by string) (Redrive, error)
	// SetRedriveRate sets how many letters go in a second; 0: no limit.
	SetRedriveRate(ctx context.Context, id string, perSecond float64, by string) (Redrive, error)
}

// Decider writes a person's decision about an unknown item, in one transaction
// with its letter and the audit. Errors: ErrNotFound, *StateError.
type Decider interface {
	SettleItem(ctx context.Context, item string, as SettledAs, by string) (Item, error)
}

// Control gives people's orders to redrives that are under way.
type Control struct {
	Orders  Orders
	Decider Decider
	// Ordered is called with the id of each redrive that got an order, so that the
	// worker heeds it at once and pages show it; may be nil.
	Ordered func(id string)
}

// Pause lets nothing new be begun; what is under way is settled. Errors:
// ErrNotFound, *StateError.
func (c *Control) Pause(ctx context.Context, id, by string) (Redrive, error) {
	r, err := c.Orders.PauseRedrive(ctx, id, by)
	failpoint.Hit("redrive-paused")
	return c.ordered(r, err)
}

// Resume lets a paused redrive go on. Errors: ErrNotFound, *StateError.
func (c *Control) Resume(ctx context.Context, id, by string) (Redrive, error) {
	r, err := c.Orders.ResumeRedrive(ctx, id, by)
	failpoint.Hit("redrive-resumed")
	return c.ordered(r, err)
}

// Cancel cancels all that is not begun. The redrive ends when what is under way
// is settled. Errors: ErrNotFound, *StateError.
func (c *Control) Cancel(ctx context.Context, id, by string) (Redrive, error) {
	r, err := c.Orders.CancelRedrive(ctx, id, by)
	failpoint.Hit("redrive-cancelled")
	return c.ordered(r, err)
}

// SetRate sets how many letters of a redrive go in a second, at once; 0: no
// limit. Errors: ErrInvalid, ErrNotFound, *StateError.
func (c *Control) SetRate(ctx context.Context, id string, perSecond float64, by string) (Redrive, error) {
	if perSecond < 0 || math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return Redrive{}, fmt.Errorf("%w: a rate is a number of letters a second, 0 for no limit", ErrInvalid)
	}
	r, err := c.Orders.SetRedriveRate(ctx, id, perSecond, by)
	return c.ordered(r, err)
}

// SettleItem decides an unknown item. Errors: ErrInvalid, ErrNotFound,
// *StateError.
func (c *Control) SettleItem(ctx context.Context, item string, as SettledAs, by string) (Item, error) {
	if as != SettledSent && as != SettledNotSent {
		return Item{}, fmt.Errorf("%w: an item is settled as %s or as %s", ErrInvalid, SettledSent, SettledNotSent)
	}
	i, err := c.Decider.SettleItem(ctx, item, as, by)
	failpoint.Hit("redrive-decided")
	if err == nil && c.Ordered != nil {
		c.Ordered(i.Redrive)
	}
	return i, err
}

func (c *Control) ordered(r Redrive, err error) (Redrive, error) {
	if err == nil && c.Ordered != nil {
		c.Ordered(r.ID)
	}
	return r, err
}
