package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// errNotThere is a shipment that was looked for on its target and is not there.
var errNotThere = errors.New("it is not on the target: redrive it again")

// find looks on the target for a batch that the broker does not recognise any
// more: there, it was accepted; not there, it was not. What cannot be looked
// through is ambiguous. An error says that looking failed for now.
func (w *shipping) find(ctx context.Context, why error) ([]sources.Receipt, error) {
	c, t, err := w.s.topic(ctx, w.tp.Topic)
	if err == nil && t.id.String() != w.cargo.TopicID {
		err = errMadeAgain
	}
	if err != nil {
		if final(err) {
			return w.all(fmt.Errorf("%w: %w, and %w", sources.ErrAmbiguous, why, err)), nil
		}
		return nil, fmt.Errorf("%w: %w", sources.ErrAmbiguous, err)
	}
	first, err := w.s.newRound(c).scan(ctx, w.tp, w.cargo)
	switch {
	case err == nil:
		return w.arrived(first), nil
	case errors.Is(err, errNotThere):
		if w.s.about(ctx, t).Compacted {
			return w.all(fmt.Errorf("%w: %w, and compaction may have removed it", sources.ErrAmbiguous, why)), nil
		}
		return w.all(fmt.Errorf("%w (%w)", errNotThere, why)), nil
	case errors.Is(err, errPassed):
		return w.all(fmt.Errorf("%w: %w, and %w", sources.ErrAmbiguous, why, err)), nil
	}
	return nil, fmt.Errorf("%w: look for it on the target: %w", sources.ErrAmbiguous, err)
}

var errPassed = errors.New("retention has passed where it would be")

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
