package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// backlogsEvery is how often work queues are looked at, at most: their counts
// are right about a minute after a change.
const backlogsEvery = 30 * time.Second

// BacklogReader counts what waits in the work queues of one source, without
// taking anything off them.
type BacklogReader interface {
	Backlogs(ctx context.Context) ([]sources.Backlog, error)
}

// QueueWatcher opens and resolves the incidents of the work queues of one
// source: of those that a rule with this source names.
type QueueWatcher struct {
	Source string
	Reader BacklogReader
	Rules  Rules
	Store  WatchStore
	To     []Recipient
	Log    *slog.Logger
	Clock  func() time.Time // our own
	// Changed is called with the ids of incidents that opened or resolved, after
	// they were written down.
	Changed func(ids ...string)

	watches map[string]*QueueWatch // nil: to be loaded
}

// queue is the rule of a work queue; false when none names its source. Group and
// topic of a rule are both held against the name of the queue.
func (r Rules) queue(source, name string) (Rule, bool) {
	for _, rule := range r.List {
		if rule.Source != "" && rule.matches(source, name, name) {
			return r.complete(rule), true
		}
	}
	return Rule{}, false
}

// Run watches until ctx ends.
func (q *QueueWatcher) Run(ctx context.Context) error {
	tick := time.NewTicker(max(q.Rules.PollEvery, backlogsEvery))
	defer tick.Stop()
	for {
		if err := q.Look(ctx); err != nil && ctx.Err() == nil {
			q.Log.Warn("the work queues of a source could not be looked at", "source", q.Source, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look reads the queues once and writes down what follows.
func (q *QueueWatcher) Look(ctx context.Context) error {
	if err := q.load(ctx); err != nil {
		return err
	}
	list, err := q.Reader.Backlogs(ctx)
	if err != nil {
		return err
	}
	t := Turn{Source: q.Source, At: q.Clock().Round(0).UTC(), Watches: map[string][]byte{}}
	var ids []string
	for _, b := range list {
		rule, asked := q.Rules.queue(q.Source, b.Queue)
		if !asked {
			continue
		}
		if in := q.watch(b.Queue).Next(q.Source, b, rule, t.At); in != nil {
			c := Change{Incident: *in, Tell: told(in, q.To)}
			if !in.ResolvedAt.IsZero() {
				c.Tell = nil
			}
			t.Incidents, ids = append(t.Incidents, c), append(ids, in.ID)
			q.Log.Info("incident of a queue", "incident", in.ID, "queue", b.Queue, "verdict", in.Verdict, "open", in.ResolvedAt.IsZero(), "pages", in.Pages)
		}
	}
	return q.save(ctx, t, ids)
}

func (q *QueueWatcher) watch(queue string) *QueueWatch {
	w := q.watches[queue]
	if w == nil {
		w = &QueueWatch{}
		q.watches[queue] = w
	}
	return w
}

func (q *QueueWatcher) load(ctx context.Context) error {
	if q.watches != nil {
		return nil
	}
	stored, err := q.Store.Watches(ctx, q.Source)
	if err != nil {
		return err
	}
	q.watches = map[string]*QueueWatch{}
	for queue, text := range stored {
		if err := json.Unmarshal(text, q.watch(queue)); err != nil {
			return fmt.Errorf("read what is remembered of queue %s: %w", queue, err)
		}
	}
	return nil
}

// save writes the turn. What could not be written is read again, and concluded
// again.
func (q *QueueWatcher) save(ctx context.Context, t Turn, ids []string) error {
	for queue, w := range q.watches {
		text, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("write down what is remembered of queue %s: %w", queue, err)
		}
		t.Watches[queue] = text
	}
	if err := q.Store.Turn(context.WithoutCancel(ctx), t); err != nil {
		q.watches = nil
		return err
	}
	if len(ids) > 0 {
		q.Changed(ids...)
	}
	return nil
}
