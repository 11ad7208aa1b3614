package review

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// followEvery is how often the positions of readers are held against what was
// sent. They are those of the last reading of the lag loop: nothing is asked of
// a broker for it.
const followEvery = time.Second

// Awaited is a queue of which it is not known yet whether its readers have
// passed all that was sent there.
type Awaited struct{ Source, Queue string }

// Followed are the redrives and the letters of which something new is known.
type Followed struct {
	Redrives, Letters []string
	// More is true when there was more to be written down than one transaction
	// takes.
	More bool
}

// Tracks are where letters that were sent lie, and what came of them.
type Tracks interface {
	// Awaited lists the queues of some sources that have letters nobody is known
	// to have passed.
	Awaited(ctx context.Context, sources []string) ([]Awaited, error)
	// Pass notes what the readers of a queue have passed: those letters are
	// consumed.
	Pass(ctx context.Context, at Awaited, p sources.Passed) (Followed, error)
	// CloseVerdicts makes the verdicts final of redrives whose letters have had the
	// time to come back.
	CloseVerdicts(ctx context.Context, now time.Time) (Followed, error)
	// LinkStalls pauses redrives that sent a record at which a group stands still
	// now, and notes at which incident.
	LinkStalls(ctx context.Context, now time.Time) (Followed, error)
}

// Passer is a source that can tell how far its queues were read.
type Passer interface {
	Passed(ctx context.Context, queue string) (sources.Passed, error)
}

// Follower follows letters that were sent until it is known what came of them.
// That one came back the collector finds.
type Follower struct {
	Tracks Tracks
	Passed map[string]Passer // by source; one that is not there cannot tell
	Log    *slog.Logger
	// Changed is called with what has changed; may be nil.
	Changed func(Followed)
}

// Run follows until the context ends.
func (f *Follower) Run(ctx context.Context) error {
	for failing := false; ctx.Err() == nil; {
		err := f.round(ctx, time.Now())
		if err != nil && ctx.Err() == nil && !failing {
			f.Log.Error("what came of redriven letters could not be followed", "error", err)
		}
		failing = err != nil
		wait(ctx, followEvery)
	}
	return ctx.Err()
}

func (f *Follower) round(ctx context.Context, now time.Time) error {
	all, err := f.Tracks.Awaited(ctx, slices.Sorted(maps.Keys(f.Passed)))
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := f.follow(ctx, a); err != nil {
			return err
		}
	}
	for _, look := range []func(context.Context, time.Time) (Followed, error){f.Tracks.LinkStalls, f.Tracks.CloseVerdicts} {
		if err := f.tell(look(ctx, now)); err != nil {
			return err
		}
	}
	return nil
}

// follow writes down how far a queue was read. A source that cannot tell just
// now is asked again: the lag loop says why.
func (f *Follower) follow(ctx context.Context, a Awaited) error {
	p, err := f.Passed[a.Source].Passed(ctx, a.Queue)
	if err != nil || len(p.Below) == 0 {
		return nil //nolint:nilerr // nothing is known, so nothing has passed
	}
	for more := true; more && ctx.Err() == nil; {
		done, err := f.Tracks.Pass(ctx, a, p)
		if err := f.tell(done, err); err != nil {
			return err
		}
		more = done.More
	}
	return nil
}

func (f *Follower) tell(done Followed, err error) error {
	if err == nil && f.Changed != nil && len(done.Redrives)+len(done.Letters) > 0 {
		f.Changed(done)
	}
	return err
}
