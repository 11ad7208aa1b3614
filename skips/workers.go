package skips

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/unwedge/unwedge/sources"
)

// Workers stops and starts the workers of groups. To be asked for the same with
// the same id again must do no more than to be asked once: after a crash nobody
// knows.
type Workers interface {
	// Stoppable tells whether it knows the workers of a group.
	Stoppable(p sources.Partition) bool
	Stop(ctx context.Context, p sources.Partition, id string) error
	Start(ctx context.Context, p sources.Partition, id string) error
}

// Alarm pages of workers that were stopped for a skip and do not come back. The
// same id is the same page.
type Alarm interface {
	Raise(ctx context.Context, s Skip, at time.Time) error
	Over(ctx context.Context, s Skip, at time.Time) error
}

const (
	// backWithin is how long workers that were told to start may take until a
	// member is seen, before that is a page of its own.
	backWithin = 3 * time.Minute
	// startsUnheard is how long a start may fail before that is one.
	startsUnheard = time.Minute
)

// ToStart tells whether workers that were stopped for the skip are still to come
// back.
func (s Skip) ToStart() bool { return s.State != Armed && !s.StoppedAt.IsZero() && s.BackAt.IsZero() }

// stopped has the workers of a skip stopped that asks for it, once. It is false
// while that has not been taken.
func (w *Watchman) stopped(ctx context.Context, s *Skip, now time.Time) (bool, error) {
	if !s.Stop || !s.StoppedAt.IsZero() {
		return true, nil
	}
	if err := w.Workers.Stop(ctx, s.Line, s.ID); err != nil {
		return false, w.wait(ctx, *s, fmt.Sprintf("Its workers could not be told to stop; trying again: %s", err), now)
	}
	s.StoppedAt, s.WaitsFor = now, "Its workers were told to stop; waiting until the group is empty."
	return false, w.save(ctx, *s, Armed, now, Deed{s.By, "skip.stop", name(s.Line)})
}

// start has the workers started again that were stopped for a skip, and sees
// that they come back.
func (w *Watchman) start(ctx context.Context, s Skip, group sources.Group, now time.Time) error {
	if !s.StartedAt.IsZero() && group.Err == nil && len(group.Members) > 0 {
		s.BackAt = now
		return w.back(ctx, s, now)
	}
	why := "no worker came back"
	if s.StartedAt.IsZero() {
		err := w.Workers.Start(ctx, s.Line, s.ID)
		if err == nil {
			s.StartedAt = now
			return w.save(ctx, s, s.State, now, Deed{s.By, "skip.start", name(s.Line)})
		}
		why = "the call to start them fails: " + err.Error()
		if now.Sub(s.EndedAt) < startsUnheard {
			return fmt.Errorf("start the workers of group %s: %w", s.Line.Group, err)
		}
	} else if now.Sub(s.StartedAt) < backWithin {
		return nil
	}
	return w.raise(ctx, s, why, now)
}

// raise pages once of workers that do not come back. The id of the page is
// written down first.
func (w *Watchman) raise(ctx context.Context, s Skip, why string, now time.Time) error {
	if w.Alarm == nil || s.Raised {
		return nil
	}
	if s.AlarmID == "" {
		s.AlarmID, s.AlarmWhy = uuid.Must(uuid.NewV7()).String(), why
		if err := w.save(ctx, s, s.State, now); err != nil {
			return err
		}
	}
	if err := w.Alarm.Raise(ctx, s, now); err != nil {
		return fmt.Errorf("page that group %s does not come back: %w", s.Line.Group, err)
	}
	s.Raised = true
	return w.save(ctx, s, s.State, now, Deed{"", "skip.not_started", name(s.Line) + ": " + why})
}

func (w *Watchman) back(ctx context.Context, s Skip, now time.Time) error {
	if s.AlarmID != "" {
		if err := w.Alarm.Over(ctx, s, now); err != nil {
			return fmt.Errorf("end the page of group %s: %w", s.Line.Group, err)
		}
	}
	return w.save(ctx, s, s.State, now)
}
