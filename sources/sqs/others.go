package sqs

import (
	"context"
	"errors"
	"fmt"

	"github.com/unwedge/unwedge/sources"
)

// OtherReaders says who else takes letters off a dead-letter queue: a move task
// that runs at SQS, and whoever holds messages that we do not hold. Nothing is
// received. SQS counts messages in flight approximately, and ours for a while
// after we have let them go: two counts must agree, one of them the last that the
// inventory took.
func (s *Source) OtherReaders(ctx context.Context, queue string) ([]string, error) {
	f, _, err := s.queue(ctx, queue)
	if err != nil {
		if errors.Is(err, sources.ErrNoSuchQueue) { // its letters may be rescued all the same
			return nil, nil
		}
		return nil, err
	}
	before := f.counts.inFlight
	var out []string
	if s.readMove(ctx, &f); f.moving != "" {
		out = append(out, f.moving)
	}
	now, err := s.askCounts(ctx, f.url, f.name)
	if err != nil {
		return out, err
	}
	if theirs := min(before, now.inFlight) - s.line(f).live(); theirs > 0 {
		out = append(out, fmt.Sprintf("about %d messages of %s are in flight: somebody else has received them", theirs, queue))
	}
	return out, nil
}
