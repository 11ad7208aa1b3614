package alerts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// DefaultPollEvery is how often a source is read where nothing else is
// configured.
const DefaultPollEvery = 15 * time.Second

const (
	// leastTimeout and mostTimeout bound how long one reading may take: twice
	// the time between two, within these.
	leastTimeout = 10 * time.Second
	mostTimeout  = time.Minute
	// firstReading is how long a source may take for its first reading before
	// those who wait for all to be ready go on without it: one that is
	// unreachable must not keep the others from being watched.
	firstReading = 5 * time.Second
)

// LagReader reads every group of one source, each with its own error; an error
// of its own means that nothing could be read. It joins no group and commits
// nothing.
type LagReader interface {
	Lag(ctx context.Context) ([]sources.Group, error)
}

// Watched is a source that is watched. Heads and Records may be nil: then
// nobody looks at records.
type Watched struct {
	Name    string
	Lag     LagReader
	Heads   HeadReader
	Records RecordReader
	// Transactions may be nil: then nobody asks what holds a stable end.
	Transactions TransactionReader
}

// Watcher is the lag loop: for each source it reads, judges, opens and resolves
// incidents, and writes the pages that they lead to, over and over. A source
// that cannot be read holds up no other.
type Watcher struct {
	// Changed is told what changed after each reading: "lag" with groups as
	// "source/group", "incident" with ids. It may be nil.
	Changed func(kind string, ids ...string)
	// Wake is called when there is something in the outbox. It may be nil.
	Wake func()
	// History is given each reading. It may be nil.
	History *Recorder
	// Clock is our own clock; time.Now unless set.
	Clock func() time.Time

	rules Rules
	store WatchStore
	to    []Recipient
	log   *slog.Logger
	loops []*loop
	board atomic.Pointer[Board]
	swap  sync.Mutex // one loop at a time publishes
}

// NewWatcher watches sources by rules, and tells recipients of what it finds.
func NewWatcher(watched []Watched, rules Rules, store WatchStore, to []Recipient, log *slog.Logger) *Watcher {
	rules.PollEvery = cmp.Or(rules.PollEvery, DefaultPollEvery)
	w := &Watcher{Clock: time.Now, rules: rules, store: store, to: to, log: log}
	for _, one := range watched {
		w.loops = append(w.loops, newLoop(w, one))
	}
	w.publish(func() {})
	return w
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range w.loops {
		all.Go(func() { l.run(ctx) })
	}
	all.Wait()
	return nil
}

// Board is what was last seen of everything. Nobody may change it.
func (w *Watcher) Board() Board { return *w.board.Load() }

// Ready is nil while every loop runs on time, whether or not its source can be
// read: that is told by the board.
func (w *Watcher) Ready(now time.Time) error {
	var all []error
	for _, l := range w.loops {
		all = append(all, l.ready(now))
	}
	return errors.Join(all...)
}

// Waiting is how many records wait in the lines of an incident by the last
// reading; sources.NotKnown when that is not known.
func (w *Watcher) Waiting(in Incident) int64 {
	for _, g := range w.Board().Groups {
		if g.Source == in.Source && g.Group == in.Group {
			return waitingIn(g, in.Lines)
		}
	}
	return sources.NotKnown
}

// publish has one loop change its part, and shows all parts as one board.
func (w *Watcher) publish(change func()) {
	w.swap.Lock()
	defer w.swap.Unlock()
	change()
	board := &Board{}
	for _, l := range w.loops {
		board.Sources = append(board.Sources, l.shown.read)
		for _, g := range l.shown.groups {
			board.Groups = append(board.Groups, *g)
		}
	}
	slices.SortFunc(board.Groups, worstFirst)
	w.board.Store(board)
}

func (w *Watcher) changed(kind string, ids []string) {
	if w.Changed != nil && len(ids) > 0 {
		w.Changed(kind, ids...)
	}
}

func (w *Watcher) wake() {
	if w.Wake != nil {
		w.Wake()
	}
}

// timeout is how long one reading may take.
func (w *Watcher) timeout() time.Duration {
	return min(max(2*w.rules.PollEvery, leastTimeout), mostTimeout)
}

// ready tells whether the loop began its last reading when it should have.
func (l *loop) ready(now time.Time) error {
	l.w.swap.Lock()
	started, last := l.started, l.finished
	l.w.swap.Unlock()
	switch {
	case started.IsZero():
		return fmt.Errorf("source %s: its loop does not run", l.src.Name)
	case last.IsZero() && now.Sub(started) < firstReading:
		return fmt.Errorf("source %s: not read yet", l.src.Name)
	}
	late := now.Sub(later(started, last)) - 2*l.w.rules.PollEvery - l.w.timeout() - evidenceFor - lookFor
	if late > 0 {
		return fmt.Errorf("source %s: its reading is late by %s", l.src.Name, about(late))
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
