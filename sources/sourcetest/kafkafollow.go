package sourcetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

// passed waits until a topic was read so far, by partition, as of a reading.
func (k *kafkaTest) passed(s *kafka.Source, topic string, want map[int32]int64, groups ...string) {
	k.Helper()
	k.until(fmt.Sprintf("%v of %s passed", want, topic), func() error {
		if _, err := s.Lag(k.Context()); err != nil {
			return err
		}
		p, err := s.Passed(k.Context(), topic)
		if err != nil {
			return err
		}
		if !maps.Equal(p.Below, want) || !slices.Equal(p.Groups, groups) || len(want) > 0 && p.TopicID == "" {
			return fmt.Errorf("%+v, want those of %q", p, groups)
		}
		return nil
	})
}

// testPassed: what every group has passed that reads the topic has passed.
func testPassed(k *kafkaTest) {
	topic, other := k.topic("orders", 2, nil), k.topic("payments", 1, nil)
	k.fill(topic, 0, 9)
	k.fill(topic, 1, 9)
	k.fill(other, 0, 9)
	fast, slow, away := k.prefix+"fast", k.prefix+"slow", k.prefix+"was-here"
	k.commit(away, other, 0, 9)
	s := k.source()
	k.passed(s, topic, map[int32]int64{}) // nobody reads it: nothing has passed

	k.commit(fast, topic, 0, 9)
	k.commit(fast, topic, 1, 8)
	k.passed(s, topic, map[int32]int64{0: 9, 1: 8}, fast)
	k.commit(slow, topic, 0, 4)
	k.passed(s, topic, map[int32]int64{0: 4}, fast, slow) // of partition 1 slow has passed nothing
	k.commit(slow, topic, 1, 9)
	k.passed(s, topic, map[int32]int64{0: 4, 1: 8}, fast, slow)

	k.commit(away, topic, 0, 1)
	k.passed(s, topic, map[int32]int64{0: 1}, fast, slow, away) // nobody is on it, it may go on here
	k.consume(away, other)
	k.passed(s, topic, map[int32]int64{0: 4, 1: 8}, fast, slow) // its members are elsewhere
}

// testPassedByShareGroup: the start of a share group, before which nothing is
// left, is as far as it has passed.
func testPassedByShareGroup(k *kafkaTest) {
	topic := k.topic("orders", 1, nil)
	k.fill(topic, 0, 3)
	group := k.prefix + "sg"
	k.must(k.groupConfig(group, map[string]string{"share.auto.offset.reset": "earliest"}))
	client := k.connect(kgo.ConsumeTopics(topic), kgo.ShareGroup(group))
	accepted := 0
	k.until("all are accepted", func() error {
		fetches := client.PollFetches(k.Context())
		fetches.EachRecord(func(r *kgo.Record) {
			r.Ack(kgo.AckAccept)
			accepted++
		})
		if err := client.FlushAcks(k.Context()); err != nil || accepted == 3 {
			return err
		}
		return errors.New("not yet")
	})
	s := k.source()
	k.until("what it accepted has passed", func() error {
		if _, err := s.Lag(k.Context()); err != nil {
			return err
		}
		p, err := s.Passed(k.Context(), topic)
		if err == nil && (p.Below[0] == sources.NoCommit || p.Below[0] != 3) {
			err = fmt.Errorf("%+v", p)
		}
		return err
	})
}
