package kafka

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// About tells what a topic takes. sources.ErrNoSuchQueue: it is not there.
// Beside any other error stands what is known all the same.
func (s *Source) About(ctx context.Context, queue string) (sources.Destination, error) {
	_, t, err := s.target(ctx, queue)
	if err != nil {
		return sources.Destination{}, err
	}
	return s.about(ctx, t), s.ofTopics(ctx, []string{t.name})[t.name].err
}

func (s *Source) about(ctx context.Context, t *topic) sources.Destination {
	config := s.ofTopics(ctx, []string{t.name})[t.name]
	most, _ := config.integer("max.message.bytes")
	return sources.Destination{
		TopicID: t.id.String(), Partitions: len(t.parts), MaxBytes: int(most), Compacted: config.compacted(),
		Retention: config.forgets(), OldestTaken: config.oldestTaken(), StampsItself: config.values["message.timestamp.type"] == "LogAppendTime",
	}
}

// forgets is after how long records go by their timestamps at the latest:
// negative when they do not go by them, zero when that is not known.
func (s settings) forgets() time.Duration {
	if len(s.values) == 0 {
		return 0
	}
	ms, ok := s.integer("retention.ms")
	switch {
	case !slices.Contains(s.policies(), "delete"), ok && ms < 0:
		return -1
	case !ok:
		return 0
	}
	return millis(ms)
}

// oldestTaken is how far behind the broker's clock a timestamp may be (KIP-937;
// before Kafka 3.6 one setting was for both directions); zero for no limit.
func (s settings) oldestTaken() time.Duration {
	for _, name := range []string{"message.timestamp.before.max.ms", "message.timestamp.difference.max.ms"} {
		if ms, ok := s.integer(name); ok && ms >= 0 && ms < math.MaxInt64/int64(time.Millisecond) {
			return millis(ms)
		}
	}
	return 0
}

// millis is a length of time, the longest there is where it is longer.
func millis(ms int64) time.Duration {
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}
