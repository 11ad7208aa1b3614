package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// describe asks a broker for the members of its groups, one request for each
// protocol that has groups with members there. Share groups have their own
// rhythm: see askShares.
func (r *reading) describe(ctx context.Context, broker int32) {
	for protocol, ask := range map[sources.Protocol]func(context.Context, int32, []string) error{
		sources.Classic: r.describeClassic, sources.Consumer: r.describeConsumer, sources.Streams: r.describeStreams,
	} {
		names := r.of(broker, func(g *group) bool { return g.protocol == protocol && !g.idle() })
		if len(names) == 0 {
			continue
		}
		if err := ask(ctx, broker, names); err != nil {
			r.failAll(names, err)
		}
	}
}

func (r *reading) describeClassic(ctx context.Context, broker int32, names []string) error {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = names
	resp, err := askIn[*kmsg.DescribeGroupsResponse](ctx, r.round, broker, req)
	if err != nil {
		return err
	}
	for _, d := range resp.Groups {
		r.change(d.Group, func(g *group) { g.takeClassic(d) })
	}
	return nil
}

// takeClassic takes an answer to the old describe. For a group of the new
// protocol it is Dead and empty, or GROUP_ID_NOT_FOUND (KIP-1043): a broker
// that does not tell types must not make such a group look dead.
func (g *group) takeClassic(d kmsg.DescribeGroupsResponseGroup) {
	notFound := d.State == "Dead" || d.ErrorCode == kerr.GroupIDNotFound.Code
	switch {
	case notFound && g.typed:
		g.fail(fmt.Errorf("group %s: %w", g.name, errMissing))
	case notFound:
		g.state, g.membersKnown = "Unknown", false
	case d.ErrorCode != 0:
		g.fail(fmt.Errorf("describe group %s: %w", g.name, code(d.ErrorCode)))
	default:
		g.state, g.membersKnown = d.State, true
		for _, m := range d.Members {
			g.members = append(g.members, sources.Member{
				ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, Assigned: classicAssignment(d.ProtocolType, m.MemberAssignment),
			})
		}
	}
}

// classicAssignment decodes what the group's own leader assigned. Protocols
// other than that of consumers (Connect's workers) assign no partitions.
func classicAssignment(protocolType string, raw []byte) []sources.TopicPartition {
	if protocolType != "consumer" || len(raw) == 0 {
		return nil
	}
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(raw); err != nil {
		return nil
	}
	var out []sources.TopicPartition
	for _, t := range a.Topics {
		out = appendPartitions(out, t.Topic, t.Partitions)
	}
	return out
}

func appendPartitions(to []sources.TopicPartition, topic string, partitions []int32) []sources.TopicPartition {
	if topic == "" {
		return to
	}
	for _, p := range partitions {
		to = append(to, sources.TopicPartition{Topic: topic, Partition: p})
	}
	return to
}

func (r *reading) describeConsumer(ctx context.Context, broker int32, names []string) error {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = names
	resp, err := askIn[*kmsg.ConsumerGroupDescribeResponse](ctx, r.round, broker, req)
	if err != nil {
		return err
	}
	for _, d := range resp.Groups {
		var members []sources.Member
		for _, m := range d.Members {
			w := sources.Member{ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost}
			for _, t := range m.Assignment.TopicPartitions {
				w.Assigned = appendPartitions(w.Assigned, r.c.nameOf(t.Topic, t.TopicID), t.Partitions)
			}
			members = append(members, w)
		}
		r.change(d.Group, func(g *group) { g.takeMembers(d.ErrorCode, d.State, members) })
	}
	return nil
}

// takeMembers takes an answer to one of the describes of a single protocol.
func (g *group) takeMembers(errorCode int16, state string, members []sources.Member) {
	switch {
	case errorCode == kerr.GroupIDNotFound.Code: // deleted, or changed to another protocol
		g.fail(fmt.Errorf("group %s: %w", g.name, errMissing))
	case errorCode != 0:
		g.fail(fmt.Errorf("describe group %s: %w", g.name, code(errorCode)))
	default:
		g.state, g.members, g.membersKnown = state, members, true
	}
}

// describeStreams asks for streams groups (KIP-1071). Where the broker cannot
// be asked their members stay unknown, which is no error: their state and
// their offsets are there.
func (r *reading) describeStreams(ctx context.Context, broker int32, names []string) error {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = names
	resp, err := askIn[*kmsg.StreamsGroupDescribeResponse](ctx, r.round, broker, req)
	if err != nil {
		if isAny(err, ErrTimeout, ErrLogin) || isDial(err) || lostConnection(err) {
			return err
		}
		return nil
	}
	for _, d := range resp.Groups {
		r.change(d.Group, func(g *group) {
			if errors.Is(code(d.ErrorCode), kerr.UnsupportedVersion) {
				return
			}
			g.takeMembers(d.ErrorCode, d.State, streamsMembers(d))
		})
	}
	return nil
}

// streamsMembers reads tasks as partitions: task n of a subtopology reads
// partition n of each of its source topics.
func streamsMembers(d kmsg.StreamsGroupDescribeResponseGroup) []sources.Member {
	reads := map[string][]string{}
	if d.Topology != nil {
		for _, t := range d.Topology.Subtopologies {
			topics := t.SourceTopics
			for _, again := range t.RepartitionSourceTopics {
				topics = append(topics, again.Topic)
			}
			reads[t.SubtopologyID] = topics
		}
	}
	var members []sources.Member
	for _, m := range d.Members {
		w := sources.Member{ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost}
		for _, task := range m.Assignment.ActiveTasks {
			for _, topic := range reads[task.SubtopologyID] {
				w.Assigned = appendPartitions(w.Assigned, topic, task.Partitions)
			}
		}
		members = append(members, w)
	}
	return members
}
