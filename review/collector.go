package review

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	// batchMax is how many letters one transaction takes in.
	batchMax = 1000
	// looksAtOnce is how many queues of a source are read at the same time: an
	// SQS queue that has nothing answers after the wait of a long poll.
	looksAtOnce = 4
	// refreshMost is the longest time that a new queue stays unseen.
	refreshMost = 45 * time.Second
	// refreshLeast keeps sources that are polled every second from being asked
	// for their queues as often.
	refreshLeast = 15 * time.Second
	// retryAfter is how long a queue or source that could not be read is left
	// alone, at least.
	retryAfter = 5 * time.Second
	// callLimit ends a call to a source that hangs.
	callLimit = 2 * time.Minute
	// lateAfter is how long a loop may be silent before it counts as stuck.
	lateAfter = 2*callLimit + refreshMost
)

// Keeper keeps what the collector finds.
type Keeper interface {
	// Cursor is where to go on in a queue; nil when it was never read.
	Cursor(ctx context.Context, source, queue string) ([]byte, error)
	// Take keeps a look, all of it or nothing. The same letter taken twice is one
	// letter.
	Take(ctx context.Context, look Look) (Taken, error)
	// KeepInventory replaces what is known of a source's queues.
	KeepInventory(ctx context.Context, inv Inventory) error
}

// Feed is a source to collect from, and how often.
type Feed struct {
	Reader
	Every time.Duration // between two looks at a queue
}

// SourceStatus says when a source was last read, and why it was not.
type SourceStatus struct {
	Source string
	ReadAt time.Time // of the last reading that worked; zero: never
	Err    string    // of the last reading; "" when it worked
}

// Collector brings dead letters into the store, one loop for each source. What
// cannot be read carries its own error and holds up nothing else.
type Collector struct {
	Feeds       []Feed
	Keeper      Keeper
	Fingerprint Fingerprinter
	Log         *slog.Logger
	// Changed is called with the ids of letters that came or changed; Redriven
	// with those of redrives of which letters came back. Both may be nil.
	Changed, Redriven func(ids []string)

	mu    sync.Mutex
	loops map[string]*loopState
}

type loopState struct {
	SourceStatus
	ranAt time.Time
}

// Run collects until the context ends.
func (c *Collector) Run(ctx context.Context) error {
	c.mu.Lock()
	c.loops = map[string]*loopState{}
	for _, f := range c.Feeds {
		c.loops[f.Name()] = &loopState{SourceStatus{Source: f.Name()}, time.Now()}
	}
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, f := range c.Feeds {
		all.Go(func() { c.loop(ctx, f) })
	}
	all.Wait()
	return ctx.Err()
}

// Status says how each source was last read, in the order of the configuration.
func (c *Collector) Status() []SourceStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]SourceStatus, 0, len(c.Feeds))
	for _, f := range c.Feeds {
		s := SourceStatus{Source: f.Name()}
		if l := c.loops[f.Name()]; l != nil {
			s = l.SourceStatus
		}
		all = append(all, s)
	}
	return all
}

// Ready is an error that names a source whose loop is stuck. A source that
// cannot be read is not stuck.
func (c *Collector) Ready(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, l := range c.loops {
		if silent := now.Sub(l.ranAt); silent > lateAfter {
			return fmt.Errorf("the letters of source %s were last looked for %s ago", name, silent.Round(time.Second))
		}
	}
	return nil
}

func (c *Collector) tell(t Taken) {
	if ids := slices.Concat(t.New, t.Changed); len(ids) > 0 && c.Changed != nil {
		c.Changed(ids)
	}
	if len(t.Redrives) > 0 && c.Redriven != nil {
		c.Redriven(t.Redrives)
	}
}

// read notes how a reading of a source went. An error is logged once, not at
// each poll.
func (c *Collector) read(source string, at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.loops[source]
	if text := problem(err); text != "" && text != l.Err {
		c.Log.Warn("a source could not be read", "source", source, "error", err)
	}
	l.Err = problem(err)
	if err == nil {
		l.ReadAt = at
	}
}

func (c *Collector) ran(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loops[source].ranAt = time.Now()
}

// wait waits, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
