package review

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/unwedge/unwedge/internal/failpoint"
)

const (
	// removeEvery is how often it is looked whether letters are due.
	removeEvery = time.Second
	// removeMost is how many letters are taken off at a time.
	removeMost = 500
)

// Removal is a letter that is to be taken off its SQS queue.
type Removal struct {
	Letter    int64 // in the store
	Source    string
	Queue     string
	MessageID string
}

// Removals are the letters that are to be taken off.
type Removals interface {
	// BeginRemovals gives letters that are due, of one queue. From then on they
	// cannot be called off.
	BeginRemovals(ctx context.Context, now time.Time, max int) ([]Removal, error)
	// EndRemovals writes which are off, with the audit, and why the others are not:
	// those are due again later.
	EndRemovals(ctx context.Context, now time.Time, off []Removal, left map[int64]error) error
}

// Taker takes letters off a queue by their message ids: it takes hold of each
// and deletes it. In the answer a letter has nil when it is off, also when
// somebody else took it; one that is in no answer is to be asked for again.
type Taker interface {
	Remove(ctx context.Context, queue string, messageIDs []string) (map[string]error, error)
}

// Remover takes letters off their SQS queues: discarded ones once that cannot
// be undone, and those that a person says were sent.
type Remover struct {
	Removals Removals
	Takers   map[string]Taker // by source
	Log      *slog.Logger
}

// Run removes until the context ends.
func (r *Remover) Run(ctx context.Context) error {
	for failing := false; ctx.Err() == nil; {
		more, err := r.round(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			r.Log.Error("letters could not be taken off their queues", "error", err)
		}
		if failing = err != nil; !more || failing {
			wait(ctx, removeEvery)
		}
	}
	return ctx.Err()
}

// round takes the letters of one queue that are due. It tells whether there
// were any.
func (r *Remover) round(ctx context.Context) (more bool, err error) {
	due, err := r.Removals.BeginRemovals(ctx, time.Now(), removeMost)
	if err != nil || len(due) == 0 {
		return false, err
	}
	failpoint.Hit("removal-begun")
	off, left := r.take(ctx, due)
	failpoint.Hit("removal-taken-off")
	err = r.Removals.EndRemovals(context.WithoutCancel(ctx), time.Now(), off, left)
	failpoint.Hit("removal-ended")
	return true, err
}

// take takes letters of one queue.
func (r *Remover) take(ctx context.Context, due []Removal) (off []Removal, left map[int64]error) {
	left = map[int64]error{}
	taker := r.Takers[due[0].Source]
	ids := make([]string, len(due))
	for i, d := range due {
		ids[i] = d.MessageID
	}
	var answer map[string]error
	err := errNoTaker
	if taker != nil {
		call, stop := outlive(ctx)
		defer stop()
		answer, err = taker.Remove(call, due[0].Queue, ids)
	}
	for _, d := range due {
		why, known := answer[d.MessageID]
		switch {
		case known && why == nil:
			off = append(off, d)
		case known:
			left[d.Letter] = why
		case err != nil:
			left[d.Letter] = err
		default:
			left[d.Letter] = errNotFoundYet
		}
	}
	return off, left
}

// Why a letter is not off its queue yet, where no broker has said so.
var (
	errNoTaker     = errors.New("its source is not configured any more")
	errNotFoundYet = errors.New("it could not be received yet: others hold messages of the queue")
)
