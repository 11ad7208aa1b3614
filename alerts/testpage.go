package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// TestBook keeps who sent which test page, and what came of it.
type TestBook interface {
	Tested(ctx context.Context, notifier, by, outcome string, now time.Time) error
}

// Tester sends test pages through the configured notifiers.
type Tester struct {
	To   []Recipient
	Book TestBook
	Now  func() time.Time
}

// TestError is a test page that a notifier did not take.
type TestError struct {
	Notifier string
	Err      error
}

func (e *TestError) Error() string { return e.Notifier + ": " + e.Err.Error() }

// Unwrap is what went wrong.
func (e *TestError) Unwrap() error { return e.Err }

// SendTest sends a test page through a notifier by its name, and resolves it.
// Errors: ErrNoNotifier, *TestError.
func (t *Tester) SendTest(ctx context.Context, name, by string) error {
	at := slices.IndexFunc(t.To, func(r Recipient) bool { return r.Name == name })
	if at < 0 {
		return fmt.Errorf("%w: %q", ErrNoNotifier, name)
	}
	outcome := "accepted, and its resolve"
	sent := SendTest(ctx, t.To[at])
	if sent != nil {
		outcome = "not accepted: " + sent.Error()
		sent = &TestError{Notifier: name, Err: sent}
	}
	if err := t.Book.Tested(context.WithoutCancel(ctx), name, by, outcome, t.Now()); err != nil {
		return errors.Join(sent, err)
	}
	return sent
}

// SendTest sends a test page through a notifier and resolves it, with one
// attempt each: whoever asks for it wants to hear what goes wrong.
func SendTest(ctx context.Context, n Notifier) error {
	now := time.Now().UTC()
	in := Incident{
		ID: newID(), Source: "unwedge", Group: "test", Severity: "info", Pages: true, Title: "A test page from Unwedge: nothing is wrong",
		Reason: "somebody asked for a test page; it is resolved at once", OpenedAt: now,
	}
	if err := attemptTest(ctx, n, in, Trigger); err != nil {
		return fmt.Errorf("send a test page: %w", err)
	}
	in.ResolvedAt, in.Resolution = now, "it was a test"
	if err := attemptTest(ctx, n, in, Resolve); err != nil {
		return fmt.Errorf("the test page was taken; resolve it by hand: %w", err)
	}
	return nil
}

func attemptTest(ctx context.Context, n Notifier, in Incident, kind EventKind) error {
	ctx, cancel := context.WithTimeout(ctx, attemptFor)
	defer cancel()
	return n.Notify(ctx, Wording{}.Event(in, kind, false))
}
