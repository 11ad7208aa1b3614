package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// targetFor is how old a picture of a target topic may be.
const targetFor = 5 * time.Second

// target finds a topic that a redrive may write to.
func (s *Source) target(ctx context.Context, queue string) (*cluster, *topic, error) {
	if internal(queue) {
		return nil, nil, fmt.Errorf("%w: %s is an internal topic of Kafka, nothing is redriven into it", sources.ErrNotAuthorised, queue)
	}
	if !s.cfg.RedriveTo.Match(queue) {
		return nil, nil, fmt.Errorf("%w: redrive_to of source %s does not allow %s", sources.ErrNotAuthorised, s.cfg.Name, queue)
	}
	return s.topicNow(ctx, queue)
}

// topicNow finds a topic in a picture that is fresh, or is made so.
func (s *Source) topicNow(ctx context.Context, queue string) (*cluster, *topic, error) {
	for _, age := range []time.Duration{targetFor, 0} {
		c, err := s.cluster(ctx, age)
		if err != nil {
			return nil, nil, err
		}
		if t := c.topics[queue]; t != nil {
			return c, t, t.err
		}
	}
	return nil, nil, fmt.Errorf("topic %s: %w", queue, sources.ErrNoSuchQueue)
}

// Aim says which partition of a topic a letter would go to, and why: the one
// that it came from, when the topic is the one it came from and has it; else
// the one of its key, by the murmur2 hash of the Java client; without a key
// any. Nothing is sent.
func (s *Source) Aim(ctx context.Context, queue string, l sources.DeadLetter) (sources.Target, string, error) {
	_, t, err := s.target(ctx, queue)
	if err != nil {
		return sources.Target{Queue: queue}, "", err
	}
	d := s.about(ctx, t)
	target, why := aimAt(t, l)
	if size := roughSize(l); d.MaxBytes > 0 && size > d.MaxBytes {
		return target, why, fmt.Errorf("%w: the letter needs %d bytes, %s takes %d (max.message.bytes)", sources.ErrTooLarge, size, queue, d.MaxBytes)
	}
	return target, why, nil
}

func aimAt(t *topic, l sources.DeadLetter) (sources.Target, string) {
	target := sources.Target{Queue: t.name, TopicID: t.id.String()}
	why := ""
	if from := l.Origin.Partition; from != nil && l.Origin.Queue == t.name {
		if _, there := t.part(*from); there {
			target.Partition = from
			return target, fmt.Sprintf("partition %d, where it came from", *from)
		}
		why = fmt.Sprintf("partition %d does not exist, ", *from)
	}
	key := l.RedriveKey()
	if key == nil {
		return target, why + "any partition, because it has no key"
	}
	n := partitionOf(key, len(t.parts))
	target.Partition = &n
	if why != "" {
		return target, fmt.Sprintf("%sused %d, by its key", why, n)
	}
	return target, fmt.Sprintf("partition %d, by its key (murmur2)", n)
}

// byKey hashes as the Java client does: murmur2, the sign bit dropped.
var byKey = kgo.StickyKeyPartitioner(nil).ForTopic("")

func partitionOf(key []byte, partitions int) int32 {
	if partitions == 0 {
		return 0
	}
	return int32(byKey.Partition(&kgo.Record{Key: key}, partitions)) //nolint:gosec // below the number of partitions
}

// roughSize is what a letter needs in a batch of its own, without the headers
// that its convention wrote and with room for ours.
func roughSize(l sources.DeadLetter) int {
	dropped := map[string]bool{}
	for _, name := range l.ErrorHeaders {
		dropped[name] = true
	}
	const ours = 200
	n := batchHead + ours + len(l.Key) + len(l.Body)
	for _, h := range l.Headers {
		if !dropped[h.Name] {
			n += len(h.Name) + len(h.Value) + 10
		}
	}
	return n
}
