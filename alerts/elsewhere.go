package alerts

import (
	"context"
	"errors"
	"time"
)

// Turned is what somebody did about an incident in a pager.
type Turned string

// What can be done there. Reopened takes a Closed back, Unacknowledged an
// Acknowledged.
const (
	TurnedAcknowledged   Turned = "acknowledged"
	TurnedUnacknowledged Turned = "unacknowledged"
	TurnedClosed         Turned = "closed"
	TurnedReopened       Turned = "reopened"
)

// Elsewhere is what a pager tells of one of our incidents.
type Elsewhere struct {
	Incident string // our id of it
	Notifier string // where it was said
	What     Turned
	By       string // who did it, and where: "Anna in PagerDuty"
	Ref      string // what the pager calls what it was done to
}

var (
	// ErrNoNotifier is a name that no notifier has.
	ErrNoNotifier = errors.New("no notifier has this name")
	// ErrSignature is a message whose signature is missing or wrong: nobody knows
	// whom it is from.
	ErrSignature = errors.New("the signature is missing or wrong")
	// ErrMessage is a message that is signed and cannot be read.
	ErrMessage = errors.New("the message cannot be read")
)

// Ear keeps what pagers tell.
type Ear interface {
	// Hear takes it over, and is false where it changes nothing: of an incident
	// that is over or none of ours, and what was said before.
	Hear(ctx context.Context, e Elsewhere, now time.Time) (changed bool, err error)
}

// Hear takes over what somebody did in a pager. An incident that was closed there
// while it stands counts as acknowledged, and pages again after repeat_after.
func (r *Responder) Hear(ctx context.Context, e Elsewhere) error {
	changed, err := r.Ear.Hear(ctx, e, r.Now())
	if err == nil && changed {
		r.Changed(e.Incident)
	}
	return err
}
