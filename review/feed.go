package review

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/sources"
)

// feedLoop is the state of one source's loop.
type feedLoop struct {
	Feed
	c         *Collector
	queues    map[string]*queueLoop // dead-letter queues, by name
	refreshAt time.Time

	mu      sync.Mutex
	scanned map[string]time.Time // looks without news, since the last refresh
}

// queueLoop is the state of one queue. It belongs to one look at a time.
type queueLoop struct {
	name    string
	due     time.Time
	kept    bool // the store knows the outcome of the last look
	cursor  []byte
	known   bool // cursor is that of the store
	starts  map[int32]int64
	older   int64
	note    string
	problem string
	failed  int // looks that failed in a row
}

func (c *Collector) loop(ctx context.Context, f Feed) {
	l := &feedLoop{Feed: f, c: c, queues: map[string]*queueLoop{}, scanned: map[string]time.Time{}}
	for ctx.Err() == nil {
		now := time.Now()
		if !now.Before(l.refreshAt) {
			l.refresh(ctx, now)
		}
		more := l.round(ctx)
		c.ran(f.Name())
		if more {
			continue
		}
		wait(ctx, time.Until(l.nextAt()))
	}
}

// nextAt is when something is due next.
func (l *feedLoop) nextAt() time.Time {
	next := l.refreshAt
	for _, q := range l.queues {
		if q.due.Before(next) {
			next = q.due
		}
	}
	return next
}

// refresh reads the list of queues: new ones are read at once, deleted ones no
// more.
func (l *feedLoop) refresh(ctx context.Context, now time.Time) {
	l.refreshAt = now.Add(min(refreshMost, max(refreshLeast, l.Every)))
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	queues, err := l.Queues(call)
	if err != nil {
		l.refreshAt = now.Add(retryAfter)
		l.c.read(l.Name(), now, fmt.Errorf("list the queues: %w", err))
		return
	}
	l.c.read(l.Name(), now, nil)
	inv := Inventory{Source: l.Name(), ReadAt: now, Queues: queues, Scanned: l.scannedSince()}
	if f, ok := l.Reader.(Finder); ok {
		if inv.Findings, err = f.Findings(call); err != nil {
			l.c.Log.Warn("findings could not be read", "source", l.Name(), "error", err)
			inv.Findings = nil
		} else if inv.Findings == nil {
			inv.Findings = []sources.Finding{}
		}
	}
	if err := l.c.Keeper.KeepInventory(ctx, inv); err != nil && ctx.Err() == nil {
		l.c.Log.Error("the queues could not be stored", "source", l.Name(), "error", err)
	}
	l.follow(queues, now)
}

func (l *feedLoop) scannedSince() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.scanned
	l.scanned = map[string]time.Time{}
	return since
}

func (l *feedLoop) follow(queues []sources.Queue, now time.Time) {
	listed := map[string]bool{}
	for _, q := range queues {
		if q.Kind != sources.DeadLetterQueue {
			continue
		}
		listed[q.Name] = true
		if l.queues[q.Name] == nil {
			l.queues[q.Name] = &queueLoop{name: q.Name, due: now}
		}
	}
	maps.DeleteFunc(l.queues, func(name string, _ *queueLoop) bool { return !listed[name] })
}

// round takes one batch of each queue that is due, so that a queue with a
// million letters does not keep the others waiting. It tells whether there is
// more to be had at once.
func (l *feedLoop) round(ctx context.Context) (more bool) {
	due := l.due(ctx, time.Now())
	var all errgroup.Group
	all.SetLimit(looksAtOnce)
	for _, q := range due {
		all.Go(func() error {
			l.look(ctx, q)
			return nil
		})
	}
	_ = all.Wait() // a look keeps its own error
	for _, q := range due {
		more = more || !q.due.After(time.Now())
	}
	return more && ctx.Err() == nil
}

// due are the queues whose time has come and, where the source can tell, that
// have news.
func (l *feedLoop) due(ctx context.Context, now time.Time) []*queueLoop {
	var due []*queueLoop
	var names []string
	for name, q := range l.queues {
		if !q.due.After(now) {
			due = append(due, q)
			names = append(names, name)
		}
	}
	source, ok := l.Reader.(Changer)
	if !ok || len(due) == 0 {
		return due
	}
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	news, err := source.Changed(call, names)
	if err != nil {
		l.failed(ctx, due, err)
		return nil
	}
	l.c.read(l.Name(), now, nil)
	return l.withNews(due, news, now)
}

// failed puts all queues off when the source cannot tell which have news.
func (l *feedLoop) failed(ctx context.Context, due []*queueLoop, err error) {
	if ctx.Err() != nil {
		return
	}
	l.c.read(l.Name(), time.Now(), fmt.Errorf("ask which queues have news: %w", err))
	for _, q := range due {
		q.due = time.Now().Add(retryAfter)
	}
}

// withNews keeps the queues that have news, or whose last look is not over.
func (l *feedLoop) withNews(due []*queueLoop, news []string, now time.Time) []*queueLoop {
	changed := map[string]bool{}
	for _, name := range news {
		changed[name] = true
	}
	read := due[:0]
	for _, q := range due {
		if changed[q.name] || !q.kept {
			q.kept = false
			read = append(read, q)
			continue
		}
		q.due = now.Add(max(l.Every, time.Second))
		l.quiet(q.name, now)
	}
	return read
}

func (l *feedLoop) quiet(queue string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scanned[queue] = now
}

// look reads one batch of a queue and keeps it.
func (l *feedLoop) look(ctx context.Context, q *queueLoop) {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	batch, err := l.batch(call, q)
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	look := newLook(l.Name(), q.name, batch, now, l.c.Fingerprint)
	look.Err, look.Start = err, q.moved(batch.Start)
	_, polled := l.Reader.(Changer) // a look of the others may have been none
	look.Scanned = err == nil && (polled || len(batch.Letters) > 0 || batch.Present != nil || q.moves(batch.Next))
	q.plan(now, l.Every, batch.More, err)
	if q.sameAsBefore(look) {
		q.kept = err == nil && !batch.More
		if look.Scanned {
			l.quiet(q.name, now)
		}
		return
	}
	l.keep(ctx, q, look, batch)
}

// plan says when a queue is looked at next.
func (q *queueLoop) plan(now time.Time, every time.Duration, more bool, err error) {
	switch {
	case err != nil:
		q.due, q.known = now.Add(max(retryAfter, backoff(q.failed))), false
		q.failed++
		return
	case more:
		q.due = now
	default:
		q.due = now.Add(max(every, time.Second))
	}
	q.failed = 0
}

func (l *feedLoop) batch(ctx context.Context, q *queueLoop) (sources.Batch, error) {
	if !q.known {
		cursor, err := l.c.Keeper.Cursor(ctx, l.Name(), q.name)
		if err != nil {
			return sources.Batch{}, fmt.Errorf("find the cursor of %s: %w", q.name, err)
		}
		q.cursor, q.known = cursor, true
	}
	return l.DeadLetters(ctx, q.name, q.cursor, batchMax)
}

// keep stores a look. When that fails the same letters are read again.
func (l *feedLoop) keep(ctx context.Context, q *queueLoop, look Look, batch sources.Batch) {
	taken, err := l.c.Keeper.Take(ctx, look)
	if err != nil {
		if ctx.Err() == nil {
			l.c.Log.Error("letters could not be stored", "source", l.Name(), "queue", q.name, "error", err)
		}
		q.known, q.starts, q.due = false, nil, time.Now().Add(retryAfter)
		return
	}
	q.keptLook(look, batch)
	if look.Err != nil {
		l.c.Log.Warn("a queue could not be read", "source", l.Name(), "queue", q.name, "error", look.Err)
	}
	l.c.tell(taken)
}

// sameAsBefore tells whether the store would learn nothing from a look but
// when it was.
func (q *queueLoop) sameAsBefore(look Look) bool {
	return len(look.Letters) == 0 && look.Present == nil && look.Start == nil &&
		!q.moves(look.Cursor) &&
		look.Older == q.older && look.Note == q.note && problem(look.Err) == q.problem
}

// moves tells whether a cursor is another one than that of the store.
func (q *queueLoop) moves(cursor []byte) bool {
	return cursor != nil && !bytes.Equal(cursor, q.cursor)
}

func (q *queueLoop) keptLook(look Look, batch sources.Batch) {
	if look.Cursor != nil {
		q.cursor = look.Cursor
	}
	if batch.Start != nil {
		q.starts = batch.Start
	}
	q.older, q.note, q.problem = look.Older, look.Note, problem(look.Err)
	q.kept = look.Err == nil && !batch.More
}

// moved are the log starts that are not where they were.
func (q *queueLoop) moved(starts map[int32]int64) map[int32]int64 {
	if starts == nil || maps.Equal(starts, q.starts) {
		return nil
	}
	return starts
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
