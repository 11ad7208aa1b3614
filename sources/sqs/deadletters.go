package sqs

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// mostPerStep is how many letters a step looks at: so many looks are in doubt
// when the program dies in the middle of one.
const mostPerStep = 100

// patience is how long a call waits for letters that an earlier run still
// hides.
const patience = 10 * time.Second

// DeadLetters looks at a dead-letter queue, one step of a sweep at a time. A
// sweep begins when ScanEvery has passed since the last one; before that there
// is nothing. The cursor must be stored before the next call, in the
// transaction that stores the letters. A call with a cursor for which this run
// of the program has looked already gives the same letters again.
//
// Letters that come the first time have Attempts without our own looks; later
// the receive count says nothing about attempts.
func (s *Source) DeadLetters(ctx context.Context, queue string, text []byte, most int) (sources.Batch, error) {
	f, deadLetters, err := s.queue(ctx, queue)
	if err != nil {
		return sources.Batch{}, err
	}
	if !deadLetters {
		return sources.Batch{}, fmt.Errorf("%s: %w", queue, ErrNotDeadLetters)
	}
	if why := s.notScanned(f); why != "" {
		return sources.Batch{Next: text, Note: why}, nil
	}
	c := decodeCursor(text)
	now := s.now()
	if c.idle() && c.resting(s.run, s.cfg.ScanEvery, now) {
		return rest(ctx, text, c, now), nil
	}
	l := s.line(f)
	l.turn.Lock()
	defer l.turn.Unlock()
	switch {
	case c.idle(), c.foreign(s.run), l.sweep == nil, l.sweep.number != c.Sweep:
		return l.begin(ctx, c, now), nil
	}
	return l.step(ctx, text, c, min(most, mostPerStep))
}

// notScanned says why a dead-letter queue is not received from, "" when it is.
func (s *Source) notScanned(f facts) string {
	switch {
	case s.cfg.excluded(f.name):
		return "not scanned: an exclude of dead_letters matches it"
	case f.policy.target != "" && !s.cfg.named(f.name):
		return fmt.Sprintf("not scanned: it has a redrive policy of its own, and viewing counts as a receive: %d of %d left. "+
			"It is scanned when an include of dead_letters names it", max(f.policy.maxReceives-1, 0), f.policy.maxReceives)
	}
	return ""
}

// rest waits a little where letters are about to turn visible, and brings
// nothing.
func rest(ctx context.Context, text []byte, c cursor, now time.Time) sources.Batch {
	if c.Due.IsZero() {
		return sources.Batch{Next: text, Note: c.Note}
	}
	timer := time.NewTimer(min(patience, c.Due.Sub(now)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return sources.Batch{Next: text, Note: c.Note, More: true}
}

// begin writes down that a sweep begins. Nothing is received yet.
func (l *line) begin(ctx context.Context, c cursor, now time.Time) sources.Batch {
	l.release(ctx) // of a sweep that was broken off, and of a redrive: else this one does not see it
	hide := hideSeconds(l.facts().counts.all())
	next := cursor{Run: l.s.run, Sweep: c.Sweep + 1, Step: 1, At: now, Hide: hide, Note: c.Note, Lost: c.Lost}
	switch {
	case !c.idle() && c.foreign(l.s.run):
		next.Lost = c.Lost.add(c.At.Add(time.Duration(c.Hide)*time.Second), true)
	case c.foreign(l.s.run):
		next.Lost = c.Lost.add(now, false)
	}
	l.sweep = &sweep{number: next.Sweep, started: now, hide: hide, seen: map[string]bool{}}
	return sources.Batch{Next: next.encode(), Note: c.Note, More: true}
}

// step runs the step that the cursor names, or gives its result again: the
// caller could not store it.
func (l *line) step(ctx context.Context, text []byte, c cursor, most int) (sources.Batch, error) {
	w := l.sweep
	if w.cursor == string(text) {
		return w.result, nil
	}
	if w.done { // a step of its own, so that no letters hang on it
		return l.finish(ctx, c, l.s.now()), nil
	}
	messages, failure := l.look(ctx, w, most)
	now := l.s.now()
	next := c
	next.Step, next.At = c.Step+1, now
	batch := sources.Batch{More: true, Note: l.soFar(w, now)}
	for _, m := range messages {
		batch.Letters = append(batch.Letters, l.letter(m, c, now))
	}
	if failure != nil {
		batch.More, batch.Note, batch.Next = false, c.Note, l.broken(ctx, c, failure, now).encode()
		return batch, readable("ReceiveMessage", l.name, failure)
	}
	batch.Next = next.encode()
	w.cursor, w.result = string(text), batch
	return batch, nil
}

// soFar says how far a sweep is, and until when it hides what it has seen.
func (l *line) soFar(w *sweep, now time.Time) string {
	seen := int64(len(w.seen))
	return fmt.Sprintf("%d received so far of about %d; they are hidden from other readers until the scan ends, at the latest until %s UTC",
		seen, max(seen, l.facts().counts.all()), now.Add(time.Duration(w.hide)*time.Second).UTC().Format(time.TimeOnly))
}

// finish ends a sweep: says what was seen and what could not be, and lets go.
func (l *line) finish(ctx context.Context, c cursor, now time.Time) sources.Batch {
	w := l.sweep
	next := cursor{Run: l.s.run, Sweep: c.Sweep, At: now, Note: l.hidden(w)}
	batch := sources.Batch{Note: next.Note}
	if l.complete(w) && w.counts.visible == 0 { // of a FIFO queue the deeper letters are visible, and are not handed out
		batch.Present = l.present(w)
	}
	if c.Lost != nil && w.started.Before(c.Lost.Until) {
		// What an earlier run looked at is hidden still: it is looked for when it
		// turns visible.
		next.Lost, next.Due, batch.More = c.Lost, c.Lost.Until, true
	}
	batch.Next = next.encode()
	l.release(ctx)
	l.sweep = nil
	return batch
}

// present are the messages that are there when a sweep has seen all: also those
// that a redrive has looked at between two steps, which hid them from the sweep.
// Looks at others need not be remembered.
func (l *line) present(w *sweep) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	present := maps.Clone(w.seen)
	for _, holds := range []map[string]hold{l.kept, l.held} {
		for id := range holds {
			present[id] = true
		}
	}
	maps.DeleteFunc(l.extra, func(id string, _ int) bool { return !present[id] })
	return present
}

// hidden says what a sweep could not see, "" when that was nothing.
func (l *line) hidden(w *sweep) string {
	unseen := w.counts.visible
	others := max(0, w.counts.inFlight-l.live())
	about := int64(len(w.seen)) + unseen + others
	switch {
	case l.fifo && unseen > 0:
		return fmt.Sprintf("%d of about %d: a FIFO group hands out at most ten messages until they are deleted", len(w.seen), about)
	case unseen > 0:
		return fmt.Sprintf("%d received of about %d: SQS handed out no more", len(w.seen), about)
	case others > 0:
		return fmt.Sprintf("%d of about %d: somebody else holds the others", len(w.seen), about)
	}
	return ""
}

// broken ends a sweep that failed. An answer that was lost may have brought
// messages, which are hidden now.
func (l *line) broken(ctx context.Context, c cursor, failure error, now time.Time) cursor {
	next := cursor{Run: l.s.run, Sweep: c.Sweep, At: now.Add(-l.s.cfg.ScanEvery), Note: c.Note, Lost: c.Lost}
	if !refused(failure) && !nothingSent(failure) {
		next.Lost = c.Lost.add(now.Add(time.Duration(c.Hide)*time.Second), true)
	}
	l.release(ctx)
	l.sweep = nil
	return next
}
