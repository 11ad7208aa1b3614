package alerts

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Attention keeps what people decide about incidents.
type Attention interface {
	// Acknowledge writes down who takes an open incident, with the events that
	// tell of it. Errors: ErrNotFound, *StateError.
	Acknowledge(ctx context.Context, id, by string, now time.Time) (Incident, error)
	SetSilence(ctx context.Context, s Silence) error
	// EndSilence ends one that is not over, and lets the pages go that it held
	// back. Errors: ErrNoSilence.
	EndSilence(ctx context.Context, id, by string, now time.Time) error
}

// ErrNoSilence is a silence that is not there, or over.
var ErrNoSilence = errors.New("no such silence, or it is over")

// StateError is an incident in another state than an order needs.
type StateError struct {
	Incident string
	Why      string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("incident %s cannot be acknowledged: %s", e.Incident, e.Why)
}

// Responder takes the word of people about incidents: that somebody looks after
// one, and that some are to page nobody for a while.
type Responder struct {
	Attention Attention
	Ear       Ear
	Now       func() time.Time
	// Changed is called with the ids of incidents after a change, and without any
	// when it may concern all: senders then look at their outbox.
	Changed func(ids ...string)
}

// Acknowledge says that somebody looks after an open incident; who was told of
// it is told that, too. Errors: ErrNotFound, *StateError.
func (r *Responder) Acknowledge(ctx context.Context, id, by string) (Incident, error) {
	in, err := r.Attention.Acknowledge(ctx, id, by, r.Now())
	if err != nil {
		return in, err
	}
	r.Changed(id)
	return in, nil
}

// Silence sets a silence. Errors: ErrSilence.
func (r *Responder) Silence(ctx context.Context, s Silence) (Silence, error) {
	now := r.Now()
	s, err := s.Valid(now)
	if err != nil {
		return s, err
	}
	s.ID, s.SetAt = "si_"+newID(), now
	if err := r.Attention.SetSilence(ctx, s); err != nil {
		return s, fmt.Errorf("set a silence: %w", err)
	}
	r.Changed()
	return s, nil
}

// EndSilence ends a silence before its time. Errors: ErrNoSilence.
func (r *Responder) EndSilence(ctx context.Context, id, by string) error {
	if err := r.Attention.EndSilence(ctx, id, by, r.Now()); err != nil {
		return err
	}
	r.Changed()
	return nil
}
