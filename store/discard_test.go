package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

// takers takes letters off queues of SQS, and fails when it is told to.
type takers struct {
	mu    sync.Mutex
	off   []string
	fails error
}

func (k *takers) Remove(_ context.Context, queue string, ids []string) (map[string]error, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails != nil {
		return nil, k.fails
	}
	answer := map[string]error{}
	for _, id := range ids {
		k.off = append(k.off, queue+" "+id)
		answer[id] = nil
	}
	return answer, nil
}

func (o *office) clerk(now *time.Time) *review.Clerk {
	return &review.Clerk{Bin: o, Now: func() time.Time { return *now }}
}

// removed takes off what is due at a time, and counts it.
func (o *office) removed(t *testing.T, k *takers, now time.Time) int {
	t.Helper()
	before := len(k.off)
	for {
		due, err := o.BeginRemovals(t.Context(), now, 100)
		must(t, err)
		if len(due) == 0 {
			return len(k.off) - before
		}
		ids := make([]string, len(due))
		for i, d := range due {
			ids[i] = d.MessageID
		}
		_, err = k.Remove(t.Context(), due[0].Queue, ids)
		if left := map[int64]error{}; err != nil {
			for _, d := range due {
				left[d.Letter] = err
			}
			must(t, o.EndRemovals(t.Context(), now, nil, left))
			continue
		}
		must(t, o.EndRemovals(t.Context(), now, due, nil))
	}
}

func TestDiscardedLettersAreDeletedWhenTheUndoHasRunOut(t *testing.T) {
	o := newOffice(t, false)
	now := time.Now()
	ids := take(t, o.Store, look(o.messages(3), now, oneCause)).New
	clerk, k := o.clerk(&now), &takers{}
	d, err := clerk.Discard(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids}, Reason: " test data ", By: "asha"})
	must(t, err)
	if d.State != review.DiscardOpen || d.Reason != "test data" || d.Counts[review.ItemDiscarded] != 3 || d.Messages != 3 || !d.UndoUntil.Equal(now.Add(10*time.Minute).Truncate(time.Microsecond)) {
		t.Errorf("%+v", d)
	}
	if got := o.statuses(t, ids); got != "map[discarded:3]" {
		t.Error(got)
	}
	if n := o.removed(t, k, now.Add(10*time.Minute-time.Second)); n != 0 {
		t.Errorf("%d were deleted while it can be undone", n)
	}
	k.fails = errors.New("the queue does not answer")
	must(t, o.tryRemoval(t, k, now.Add(10*time.Minute)))
	page, err := o.DiscardItems(t.Context(), d.ID, 10, "")
	must(t, err)
	if page.Total != 3 || page.Items[0].Error != "the queue does not answer" {
		t.Errorf("%+v", page)
	}
	k.fails = nil
	if n := o.removed(t, k, now.Add(11*time.Minute)); n != 3 {
		t.Errorf("%d of 3 were deleted", n)
	}
	now = now.Add(12 * time.Minute)
	var late *review.StateError
	if _, err := clerk.Undo(t.Context(), d.ID, "ben"); !errors.As(err, &late) {
		t.Errorf("an undo of what is deleted: %v", err)
	}
	if d, err = o.DiscardByID(t.Context(), d.ID); err != nil || d.State != review.DiscardDone || d.Left != 0 || d.CanUndo(now) {
		t.Errorf("%+v, %v", d, err)
	}
}

// tryRemoval begins what is due once, and notes how it went.
func (o *office) tryRemoval(t *testing.T, k *takers, now time.Time) error {
	t.Helper()
	due, err := o.BeginRemovals(t.Context(), now, 100)
	must(t, err)
	left := map[int64]error{}
	for _, d := range due {
		left[d.Letter] = k.fails
	}
	return o.EndRemovals(t.Context(), now, nil, left)
}

// TestC80HandledOnKafkaIsAMarkThatCanAlwaysBeUndone: nothing is deleted there,
// and the others stay.
func TestC80HandledOnKafkaIsAMarkThatCanAlwaysBeUndone(t *testing.T) {
	o := newOffice(t, true)
	now := time.Now()
	ids := take(t, o.Store, look(payments(0, 100), now, oneCause)).New
	clerk, k := o.clerk(&now), &takers{}
	d, err := clerk.Discard(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids[42:43]}, Reason: "handled", By: "asha"})
	must(t, err)
	o.work(t, o.Store)
	o.restart(t)
	clerk = o.clerk(&now)
	if got := o.statuses(t, ids); got != "map[discarded:1 open:99]" {
		t.Error(got)
	}
	now = now.Add(24 * time.Hour)
	if n := o.removed(t, k, now); n != 0 {
		t.Errorf("%d deletes", n)
	}
	if d, err = clerk.Undo(t.Context(), d.ID, "ben"); err != nil || d.State != review.DiscardUndone || d.Counts[review.DiscardItemBack] != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if got := o.statuses(t, ids); got != "map[open:100]" {
		t.Error(got)
	}
	job := o.ended(t, o.start(t, ids[42:43]).ID)
	if job.Counts[review.Confirmed] != 1 {
		t.Errorf("after the undo: %+v", job)
	}
}

// TestADiscardTouchesExactlyWhatWasShown: later arrivals stay, and when one of
// the letters was taken meanwhile nothing is discarded.
func TestADiscardTouchesExactlyWhatWasShown(t *testing.T) {
	o := newOffice(t, true)
	now := time.Now()
	ids := take(t, o.Store, look(payments(0, 5), now, oneCause)).New
	clerk := o.clerk(&now)
	draft, err := clerk.Draft(t.Context(), review.DiscardRequest{Selection: review.Selection{Cause: "ca_one"}, By: "asha"})
	must(t, err)
	later := take(t, o.Store, look(payments(5, 2), now, oneCause)).New
	messages, err := clerk.Draft(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: take(t, o.Store, look(o.messages(2), now, oneCause)).New}})
	must(t, err)
	if d, err := o.DiscardByID(t.Context(), messages.ID); err != nil || d.Messages != 2 || d.State != review.DiscardDraft {
		t.Errorf("a draft of messages: %+v, %v", d, err)
	}
	if got := o.statuses(t, ids); got != "map[open:5]" {
		t.Errorf("a draft has decided something: %s", got)
	}
	other, err := clerk.Draft(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids[:1]}, By: "ben"})
	must(t, err)
	_, err = clerk.Decide(t.Context(), draft.ID, "", "asha")
	if !errors.Is(err, review.ErrInvalid) {
		t.Errorf("without a reason: %v", err)
	}
	_, err = clerk.Decide(t.Context(), draft.ID, "test data", "asha")
	must(t, err)
	if a, b := o.statuses(t, ids), o.statuses(t, later); a != "map[discarded:5]" || b != "map[open:2]" {
		t.Error(a, b)
	}
	var taken *review.ConflictError
	if _, err := clerk.Decide(t.Context(), other.ID, "me too", "ben"); !errors.As(err, &taken) || taken.IDs[0] != ids[0] {
		t.Errorf("a letter that is discarded already: %v", err)
	}
	if _, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids[:1]}}); !errors.As(err, &taken) {
		t.Errorf("a redrive of a discarded letter: %v", err)
	}
	var state *review.StateError
	if _, err := clerk.Decide(t.Context(), draft.ID, "again", "asha"); !errors.As(err, &state) {
		t.Errorf("decided twice: %v", err)
	}
}

// TestEachEffectOfADiscardIsAuditedOnce: the decision, each letter, the undo.
func TestEachEffectOfADiscardIsAuditedOnce(t *testing.T) {
	o := newOffice(t, false)
	now := time.Now()
	ids := take(t, o.Store, look(o.messages(2), now, oneCause)).New
	clerk := o.clerk(&now)
	d, err := clerk.Discard(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids}, Reason: "why", By: "asha"})
	must(t, err)
	_, err = clerk.Undo(t.Context(), d.ID, "ben")
	must(t, err)
	for _, subject := range append(ids, d.ID) {
		got, err := column[string](t.Context(), o.read, `SELECT who || ' ' || action FROM audit WHERE subject = ? ORDER BY number`, subject)
		must(t, err)
		if fmt.Sprint(got) != "[asha discard ben undo]" {
			t.Errorf("%s: %v", subject, got)
		}
	}
}

// TestTheRemoverTakesOffWhatIsDue through its loop, and once.
func TestTheRemoverTakesOffWhatIsDue(t *testing.T) {
	o := newOffice(t, false)
	past := time.Now().Add(-time.Hour)
	ids := take(t, o.Store, look(o.messages(3), past, oneCause)).New
	_, err := o.clerk(&past).Discard(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids}, Reason: "old"})
	must(t, err)
	k := &takers{}
	ctx, stop := context.WithCancel(t.Context())
	r := &review.Remover{Removals: o, Takers: map[string]review.Taker{"aws": k}, Log: slog.New(slog.DiscardHandler)}
	var done sync.WaitGroup
	done.Go(func() { _ = r.Run(ctx) })
	eventually(t, "all are off", func() bool {
		left, err := column[int64](t.Context(), o.read, `SELECT letter FROM removals WHERE done_at = 0`)
		return err == nil && len(left) == 0
	})
	stop()
	done.Wait()
	if len(k.off) != 3 {
		t.Errorf("taken off: %q", k.off)
	}
}
