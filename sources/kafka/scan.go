package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// landsWithin is how long after a send ended its bytes may still reach the
// broker: what a process that was killed has left in a socket is sent by the
// kernel. What lands later is dropped by the broker all the same, unless in
// between it forgot the producer, which it does every ten minutes
// (producer.id.expiration.check.interval.ms).
const landsWithin = 30 * time.Second

var (
	// errNotThere is a shipment that was looked for on its target and is not there.
	errNotThere = errors.New("it is not on the target: redrive it again")
	// errUnseen is a target of which what would tell can be seen no more.
	errUnseen    = errors.New("the target cannot tell")
	errPassed    = fmt.Errorf("%w: retention has passed where it would be", errUnseen)
	errCompacted = fmt.Errorf("%w: compaction may have removed it", errUnseen)
)

// find looks on the target for a batch that the broker does not recognise any
// more: there, it was accepted; not there, it was not.
func (w *shipping) find(ctx context.Context, why error) ([]sources.Receipt, error) {
	first, err := w.look(ctx)
	switch {
	case err == nil:
		return w.arrived(first), nil
	case errors.Is(err, errNotThere):
		return w.all(fmt.Errorf("%w (%w)", errNotThere, why)), nil
	}
	return w.cannotTell(why, err)
}

// cannotTell is ambiguous for good when the target will not tell later either.
// Else it is an error that says that looking failed for now.
func (w *shipping) cannotTell(why, err error) ([]sources.Receipt, error) {
	if errors.Is(err, errUnseen) || final(err) {
		return w.all(fmt.Errorf("%w: %w, and %w", sources.ErrAmbiguous, why, err)), nil
	}
	return nil, fmt.Errorf("%w: %w: look for it on the target: %w", sources.ErrAmbiguous, why, err)
}

// lookFirst looks for a batch that may have been sent and that the broker may
// not recognise any more. Without receipts and error it may be sent: it is not
// there, and no earlier send of it can still land.
func (w *shipping) lookFirst(ctx context.Context) ([]sources.Receipt, error) {
	first, err := w.look(ctx)
	switch {
	case err == nil:
		return w.arrived(first), nil
	case !errors.Is(err, errNotThere):
		return w.cannotTell(errOld, err)
	}
	if left := w.s.quiet - w.s.now().Sub(w.s.sends.lastTry(w.attempt(), w.s.began)); left > 0 {
		return nil, fmt.Errorf("%w: %w: it is not on the target, and an earlier send may still land for %s", sources.ErrAmbiguous, errOld, left.Round(time.Second))
	}
	w.open = false
	return nil, nil
}

var errOld = errors.New("its timestamps are too old for the broker to recognise a second copy")

// look gives the offset at which the batch lies on the target. Errors:
// errNotThere, errUnseen, those of final; else looking failed for now.
func (w *shipping) look(ctx context.Context) (int64, error) {
	c, t, err := w.s.topic(ctx, w.tp.Topic)
	if err == nil && t.id.String() != w.cargo.TopicID {
		err = errMadeAgain
	}
	if err != nil {
		return 0, err
	}
	first, err := w.s.newRound(c).scan(ctx, w.tp, w.cargo)
	if errors.Is(err, errNotThere) && w.s.about(ctx, t).Compacted {
		err = errCompacted
	}
	return first, err
}

// scan reads the heads of the batches of a partition from the end that it had
// before the first send to its present one. Nothing is unpacked.
func (r *round) scan(ctx context.Context, tp sources.TopicPartition, c cargo) (int64, error) {
	leader, err := r.c.leader(tp)
	if err != nil {
		return 0, err
	}
	for next := c.End; ; {
		resp, err := askIn[*kmsg.FetchResponse](ctx, r, leader, r.c.fetchRequest([]at{{tp, next}}, recordLimits, readUncommitted))
		if err == nil {
			err = code(resp.ErrorCode)
		}
		if err != nil {
			return 0, err
		}
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
			return 0, errors.New("the broker answered without a result")
		}
		p := resp.Topics[0].Partitions[0]
		switch err := kerr.ErrorForCode(p.ErrorCode); {
		case outOfRange(err):
			return 0, errPassed
		case err != nil:
			return 0, readable(err)
		}
		first, after, found := findBatch(p.RecordBatches, next, c)
		if found {
			return first, nil
		}
		if after >= p.HighWatermark {
			return 0, errNotThere
		}
		if after == next {
			return 0, fmt.Errorf("partition %d of %s gave nothing at %d of %d", tp.Partition, tp.Topic, next, p.HighWatermark)
		}
		next = after
	}
}

func findBatch(raw []byte, from int64, c cargo) (first, after int64, found bool) {
	after = from
	for _, b := range batches(raw) {
		if b.producerID == c.ProducerID && b.epoch == c.Epoch && b.sequence == c.Sequence {
			return b.first, after, true
		}
		after = max(after, b.last+1)
	}
	return 0, after, false
}
