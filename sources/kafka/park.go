package kafka

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// Line reads one line of a group afresh, with the group around it.
// sources.ErrNoSuchQueue: the group has no position there and does not read it.
func (s *Source) Line(ctx context.Context, p sources.Partition) (sources.Group, sources.Lag, error) {
	groups, err := s.Lag(ctx)
	if err != nil {
		return sources.Group{}, sources.Lag{}, err
	}
	for _, g := range groups {
		if g.Name != p.Group {
			continue
		}
		for _, l := range g.Lines {
			if l.Topic == p.Topic && l.Number == p.Number {
				return g, l, nil
			}
		}
		if g.Err != nil {
			return g, sources.Lag{}, g.Err
		}
	}
	return sources.Group{}, sources.Lag{}, fmt.Errorf("partition %d of %s for group %s: %w", p.Number, p.Topic, p.Group, sources.ErrNoSuchQueue)
}

// ParkingQueue is the topic where records of a topic are parked: that of the
// first route of the configuration that matches, else the dead-letter topic that
// belongs to it by its name. "" when there is none.
func (s *Source) ParkingQueue(ctx context.Context, topic string) (string, error) {
	for _, r := range s.cfg.Park {
		if sources.Glob(r.From, topic) {
			return r.To, nil
		}
	}
	c, err := s.cluster(ctx, targetFor)
	if err != nil {
		return "", err
	}
	var own []string
	for name := range c.topics {
		if name != topic && s.kindOf(name) == sources.DeadLetterQueue && s.belongsTo(name) == topic {
			own = append(own, name)
		}
	}
	if len(own) == 0 {
		return "", nil
	}
	return slices.Min(own), nil // of several always the same
}

// PackParked is Pack for copies of records that are parked: redrive_to says
// nothing about those.
func (s *Source) PackParked(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	return s.pack(ctx, parcels, func(ctx context.Context, queue string) (*cluster, *topic, error) {
		if internal(queue) {
			return nil, nil, fmt.Errorf("%w: %s is an internal topic of Kafka, nothing is parked there", sources.ErrNotAuthorised, queue)
		}
		return s.topicNow(ctx, queue)
	})
}

// Commit sets the position of a group that has no members, as a client that is
// none of them (OffsetCommit without a member id). The broker refuses that while
// the group has members, whatever its protocol (KIP-848: UNKNOWN_MEMBER_ID):
// sources.ErrHasMembers.
func (s *Source) Commit(ctx context.Context, p sources.Partition, offset int64) error {
	_, t, err := s.topicNow(ctx, p.Topic)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = p.Group, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic, rt.TopicID = p.Topic, t.id
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset = p.Number, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("commit %d for group %s: %w", offset, p.Group, s.readable(err))
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return fmt.Errorf("commit %d for group %s: the broker answered without a result", offset, p.Group)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		return commitError(p, offset, err)
	}
	return nil
}

func commitError(p sources.Partition, offset int64, err error) error {
	if isAny(err, kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress, kerr.StaleMemberEpoch, kerr.FencedMemberEpoch) {
		return fmt.Errorf("commit %d for group %s: %w: %w", offset, p.Group, sources.ErrHasMembers, err)
	}
	return fmt.Errorf("commit %d for group %s (it needs Read on the group and on topic %s): %w", offset, p.Group, p.Topic, readable(err))
}
