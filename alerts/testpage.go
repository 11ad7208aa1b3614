package alerts

import (
	"context"
	"fmt"
	"time"
)

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
