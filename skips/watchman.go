package skips

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/unwedge/unwedge/internal/failpoint"
	"github.com/unwedge/unwedge/sources"
)

const (
	// lookEvery is how often a line with an armed skip is looked at.
	lookEvery = 2 * time.Second
	// watchFor is how long it is watched what a skip led to.
	watchFor = 24 * time.Hour
)

// Watchman carries out armed skips when their group is empty, and finds out
// what they led to.
type Watchman struct {
	Sources map[string]Source
	Book    Book
	Log     *slog.Logger
	// Patience is how long a line may stand after a skip, with members there,
	// before the skip is said not to have helped.
	Patience time.Duration
	Workers  Workers         // of skips that stop them; may be nil
	Alarm    Alarm           // may be nil
	Shelter  Shelter         // of skips without a dead-letter topic; may be nil
	Changed  func(id string) // may be nil

	wake chan struct{}
}

// NewWatchman is a watchman that nobody has woken.
func NewWatchman(list map[string]Source, book Book, patience time.Duration, log *slog.Logger) *Watchman {
	return &Watchman{Sources: list, Book: book, Patience: patience, Log: log, wake: make(chan struct{}, 1)}
}

// Wake has the watchman look now. It never blocks.
func (w *Watchman) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run looks until ctx ends.
func (w *Watchman) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		w.look(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-w.wake:
		}
	}
	return nil
}

func (w *Watchman) look(ctx context.Context) {
	list, err := w.Book.Unfinished(ctx)
	if err != nil && ctx.Err() == nil {
		w.Log.Error("the armed skips cannot be read; trying again", "err", err)
	}
	for _, s := range list {
		if err := w.one(ctx, s, time.Now()); err != nil && ctx.Err() == nil {
			w.Log.Warn("a skip could not be looked after; trying again", "skip", s.ID, "err", err)
		}
	}
}

// one goes on with a skip as far as it goes now.
func (w *Watchman) one(ctx context.Context, s Skip, now time.Time) error {
	source := w.Sources[s.Line.Source]
	if source == nil {
		return w.overdue(ctx, s, now, fmt.Errorf("source %s is not configured any more", s.Line.Source))
	}
	group, line, err := source.Line(ctx, s.Line)
	if err == nil {
		err = errors.Join(group.Err, line.Err, line.PositionErr)
	}
	if err != nil {
		return w.overdue(ctx, s, now, err)
	}
	if s.ToStart() {
		if err := w.start(ctx, s, group, now); err != nil {
			return err
		}
		if s, err = w.Book.Skip(ctx, s.ID); err != nil {
			return err
		}
	}
	switch s.State {
	case Armed:
		return w.armed(ctx, source, s, group, line, now)
	case Done:
		return w.follow(ctx, s, group, line, now)
	}
	return nil
}

// overdue gives up a skip whose time is over without its line having been read.
func (w *Watchman) overdue(ctx context.Context, s Skip, now time.Time, err error) error {
	if s.State == Armed && s.Step != Moving && now.After(s.ExpiresAt) {
		return w.fail(ctx, s, now, fmt.Sprintf("Its time is over, and the line cannot be read: %s", err))
	}
	return err
}

func (w *Watchman) armed(ctx context.Context, source Source, s Skip, group sources.Group, line sources.Lag, now time.Time) error {
	switch {
	case s.Step == Moving && line.Position >= s.To:
		return w.done(ctx, s, now) // we were killed right after we moved it
	case s.TopicID != "" && line.TopicID != "" && s.TopicID != line.TopicID:
		return w.fail(ctx, s, now, "The topic was deleted and made again.")
	case line.Position != s.From:
		return w.fail(ctx, s, now, fmt.Sprintf("The position is %d by now, and was %d.", line.Position, s.From))
	case now.After(s.ExpiresAt):
		return w.fail(ctx, s, now, strings.TrimSpace("Its time is over. "+waitsFor(group)))
	}
	if there, err := w.stopped(ctx, &s, now); !there || err != nil {
		return err
	}
	if !empty(group) {
		return w.wait(ctx, s, s.waits(group), now)
	}
	err := w.fire(ctx, source, &s, now)
	var once *final
	if errors.As(err, &once) {
		return w.fail(ctx, s, now, capital(once.Error())+".")
	}
	if errors.Is(err, sources.ErrHasMembers) {
		return w.wait(ctx, s, "The group has members again: stop it.", now)
	}
	return err
}

// waits says what an armed skip waits for.
func (s Skip) waits(g sources.Group) string {
	if s.StoppedAt.IsZero() {
		return waitsFor(g)
	}
	return "Its workers were told to stop at " + s.StoppedAt.UTC().Format("15:04:05 UTC") + ". " + waitsFor(g)
}

// wait notes what a skip waits for, when that is news.
func (w *Watchman) wait(ctx context.Context, s Skip, what string, now time.Time) error {
	if s.WaitsFor == what {
		return nil
	}
	s.WaitsFor = what
	return w.save(ctx, s, Armed, now)
}

// fire parks the records and moves the position. Each step is written down
// before the next begins.
func (w *Watchman) fire(ctx context.Context, source Source, s *Skip, now time.Time) error {
	if s.Step == Waiting {
		if err := s.unchanged(ctx, source); err != nil {
			return err
		}
		if s.Queue == "" {
			return w.keep(ctx, source, s, now)
		}
		if err := s.pack(ctx, source); err != nil {
			return err
		}
		if err := w.step(ctx, s, Copying, now); err != nil {
			return err
		}
		failpoint.Hit("skip-packed")
	}
	if s.Step == Copying {
		if err := s.ship(ctx, source); err != nil {
			return err
		}
		failpoint.Hit("skip-copied")
		if err := s.verify(ctx, source); err != nil {
			return err
		}
		deed := Deed{s.By, "skip.park", fmt.Sprintf("%s of %s copied to %s", records(len(s.Parked)), name(s.Line), s.Queue)}
		if err := w.step(ctx, s, Copied, now, deed); err != nil {
			return err
		}
	}
	return w.move(ctx, source, s, now)
}

// keep has the records kept by us alone, and moves the position.
func (w *Watchman) keep(ctx context.Context, source Source, s *Skip, now time.Time) error {
	if err := w.Shelter.Keep(ctx, *s, now); err != nil {
		return err
	}
	failpoint.Hit("skip-kept")
	deed := Deed{s.By, "skip.park", fmt.Sprintf("%s of %s kept here: it has no dead-letter topic", records(len(s.Parked)), name(s.Line))}
	if err := w.step(ctx, s, Copied, now, deed); err != nil {
		return err
	}
	return w.move(ctx, source, s, now)
}

// move looks once more, and moves the position.
func (w *Watchman) move(ctx context.Context, source Source, s *Skip, now time.Time) error {
	group, line, err := source.Line(ctx, s.Line)
	switch {
	case err != nil:
		return err
	case !empty(group):
		return sources.ErrHasMembers
	case line.Position != s.From:
		return &final{fmt.Errorf("the position is %d by now, and was %d", line.Position, s.From)}
	}
	if err := w.step(ctx, s, Moving, now); err != nil {
		return err
	}
	failpoint.Hit("skip-moving")
	if err := source.Commit(ctx, s.Line, s.To); err != nil {
		if errors.Is(err, sources.ErrHasMembers) {
			if err := w.step(ctx, s, Copied, now); err != nil {
				return err
			}
		}
		return fmt.Errorf("move %s to %d: %w", name(s.Line), s.To, err)
	}
	failpoint.Hit("skip-moved")
	return w.done(ctx, *s, now)
}

func (w *Watchman) step(ctx context.Context, s *Skip, to Step, now time.Time, deeds ...Deed) error {
	s.Step = to
	return w.save(ctx, *s, Armed, now, deeds...)
}

func (w *Watchman) done(ctx context.Context, s Skip, now time.Time) error {
	s.State, s.Step, s.EndedAt, s.WaitsFor, s.Shipments = Done, Waiting, now, "", nil
	w.Log.Info("a line was skipped", "skip", s.ID, "group", s.Line.Group, "topic", s.Line.Topic, "partition", s.Line.Number, "from", s.From, "to", s.To)
	return w.save(ctx, s, Armed, now, Deed{s.By, "skip.move", fmt.Sprintf("%s: from %d to %d", name(s.Line), s.From, s.To)})
}

// fail gives a skip up. The position is where it was; what was copied stays.
func (w *Watchman) fail(ctx context.Context, s Skip, now time.Time, why string) error {
	switch s.Step {
	case Copying: // one that was sent may not have been answered for
		why += " Copies may lie in " + s.where() + "."
	case Copied, Moving:
		why += " The copies stay in " + s.where() + "."
	}
	s.State, s.EndedAt, s.Error, s.WaitsFor, s.Shipments = Failed, now, why, "", nil
	w.Log.Error("a skip was given up", "skip", s.ID, "group", s.Line.Group, "topic", s.Line.Topic, "partition", s.Line.Number, "why", why)
	return w.save(ctx, s, Armed, now, Deed{"", "skip.failed", name(s.Line) + ": " + why})
}

// follow finds out what a skip led to: freed when the line moved on, or has
// nothing more to read; did not help when it stands there with members.
func (w *Watchman) follow(ctx context.Context, s Skip, group sources.Group, line sources.Lag, now time.Time) error {
	before := s
	if s.Step == Undoing && line.Position == s.From { // we were killed right after we moved it back
		deed := s.undo(s.By, now)
		return w.save(ctx, s, Done, now, deed)
	}
	switch {
	case line.Position > s.To:
		s.Outcome = Freed
	case line.Position < s.To: // somebody set it back
		s.Outcome = DidNotHelp
	case empty(group):
		s.LivelyAt = time.Time{}
	case line.StableEnd <= s.To:
		s.Outcome = Freed
	case s.LivelyAt.IsZero():
		s.LivelyAt = now
	case now.Sub(s.LivelyAt) >= w.Patience:
		s.Outcome = DidNotHelp
	}
	if now.Sub(s.EndedAt) > watchFor && s.Outcome == "" {
		s.Outcome = DidNotHelp
	}
	if s.Outcome == before.Outcome && s.LivelyAt.Equal(before.LivelyAt) {
		return nil
	}
	return w.save(ctx, s, Done, now)
}

func (w *Watchman) save(ctx context.Context, s Skip, before State, now time.Time, deeds ...Deed) error {
	if err := w.Book.Save(context.WithoutCancel(ctx), s, before, now, deeds...); err != nil {
		return err
	}
	if w.Changed != nil {
		w.Changed(s.ID)
	}
	return nil
}

func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
