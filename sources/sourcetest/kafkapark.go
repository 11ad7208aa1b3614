package sourcetest

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/kafka"
)

func testMoveClassicGroup(k *kafkaTest) { k.move() }

func testMoveNewProtocolGroup(k *kafkaTest) { k.move(kgo.ServerSideBalancer()) }

// move sets the position of a group: refused while it has a member, taken once
// it is empty, and where the next member goes on. No other line moves.
func (k *kafkaTest) move(protocol ...kgo.Opt) {
	topic, group := k.topic("orders", 2, nil), k.prefix+"g"
	k.fill(topic, 0, 5)
	k.fill(topic, 1, 3)
	s := k.source()
	line := sources.Partition{Source: "k", Group: group, Topic: topic, Number: 0}

	client := k.consume(group, topic, protocol...)
	k.until("the member owns both lines", func() error { return k.owned(s, group) })
	k.commitAsMember(client, topic, 2, 1)
	if err := s.Commit(k.Context(), line, 3); !errors.Is(err, sources.ErrHasMembers) {
		k.Errorf("while the group has a member: %v", err)
	}
	k.wantPositions(s, group, topic, 2, 1)

	client.Close()
	k.until("it is empty", func() error {
		if g := k.group(s, group); g.State != "Empty" || len(g.Members) != 0 {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	k.must(s.Commit(k.Context(), line, 3))
	k.wantPositions(s, group, topic, 3, 1)
	if r := k.firstOf(group, topic, 0, protocol...); r.Offset != 3 {
		k.Errorf("the next member goes on at %d, want 3", r.Offset)
	}
}

// owned says what is lacking until a member owns both lines of a group.
func (k *kafkaTest) owned(s *kafka.Source, group string) error {
	g, err := find(k.Context(), s, group)
	if err == nil && (len(g.Lines) != 2 || g.Lines[0].Owner == "" || g.Lines[1].Owner == "") {
		err = fmt.Errorf("%+v", g)
	}
	return err
}

// commitAsMember commits, as a member, an offset of each partition from 0 on.
func (k *kafkaTest) commitAsMember(client *kgo.Client, topic string, at ...int64) {
	k.Helper()
	offsets := map[int32]kgo.EpochOffset{}
	for partition, offset := range at {
		offsets[int32(partition)] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	var failed error
	client.CommitOffsetsSync(k.Context(), map[string]map[int32]kgo.EpochOffset{topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, _ *kmsg.OffsetCommitResponse, err error) {
			failed = err
		})
	k.must(failed)
}

func (k *kafkaTest) wantPositions(s *kafka.Source, group, topic string, want ...int64) {
	k.Helper()
	g := k.group(s, group)
	for partition, at := range want {
		if l := k.line(g, topic, int32(partition)); l.Position != at {
			k.Errorf("partition %d stands at %d, want %d", partition, l.Position, at)
		}
	}
}

// firstOf is the first record of a partition that a new member of a group gets.
func (k *kafkaTest) firstOf(group, topic string, partition int32, protocol ...kgo.Opt) (first *kgo.Record) {
	k.Helper()
	client := k.connect(append([]kgo.Opt{kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), kgo.DisableAutoCommit()}, protocol...)...)
	k.until("the next member reads", func() error {
		client.PollFetches(k.Context()).EachRecord(func(r *kgo.Record) {
			if first == nil && r.Partition == partition {
				first = r
			}
		})
		if first == nil {
			return errors.New("nothing came")
		}
		return nil
	})
	return first
}
