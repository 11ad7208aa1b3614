package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// share is what the broker tells of one partition of a share group.
type share struct {
	start int64 // everything before it was accepted, rejected or archived
	lag   int64 // sources.NotKnown before Kafka 4.2 (KIP-1226), or when not known
	done  int64 // as start, as far as that can be told: a broker moves the start late
	err   error
}

// counted tells how far a share group is done on a partition. Where nothing is
// left for it that is all that was readable a reading ago: the end that the
// broker counted to lies there or further on. The start may stay behind until
// somebody acknowledges again (seen on Kafka 4.4).
func (s share) counted(before sources.Lag, topicID string) share {
	s.done = s.start
	if s.lag == 0 && before.Err == nil && topicID != "" && before.TopicID == topicID {
		s.done = max(s.start, before.StableEnd)
	}
	return s
}

// shareMemory is what is known of a share group from earlier readings. Each
// reading asks a broker only one of two questions about its share groups, to
// stay within the requests that a reading may cost: the offsets, and every
// fourth time, or when the listed state changed, the members.
type shareMemory struct {
	state     string // when its members were asked for
	members   []sources.Member
	shares    map[sources.TopicPartition]share
	described int // readings since the members were asked for
}

const describeSharesEvery = 4

func isShare(g *group) bool { return g.protocol == sources.Share }

// askShares asks a broker about its share groups. A group that was not there
// in the last reading has both questions asked.
func (r *reading) askShares(ctx context.Context, broker int32) {
	names := r.of(broker, isShare)
	if len(names) == 0 {
		return
	}
	fresh, due := false, false
	for _, name := range names {
		m, there := r.s.before.shares[name]
		r.change(name, func(g *group) {
			g.members, g.membersKnown, g.shares = m.members, true, m.shares
			fresh = fresh || !there
			due = due || m.described >= describeSharesEvery || m.state != g.state && m.described > 0
		})
	}
	asked := false
	if fresh || due {
		asked = r.describeShares(ctx, broker, names)
	}
	if fresh || !asked {
		r.fetchShares(ctx, broker, names)
	}
	r.rememberAge(names, fresh || due)
}

// rememberAge counts the readings since the members were asked for.
func (r *reading) rememberAge(names []string, described bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		m := r.s.before.shares[name]
		m.described++
		if described {
			m.described, m.state = 0, r.groups[name].state
		}
		m.members, m.shares = r.groups[name].members, r.groups[name].shares
		r.nextShares[name] = m
	}
}

// describeShares asks for the members of those that have any, and tells
// whether there was anything to ask.
func (r *reading) describeShares(ctx context.Context, broker int32, names []string) bool {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = r.of(broker, func(g *group) bool { return isShare(g) && !g.idle() })
	for _, name := range names {
		r.change(name, func(g *group) { g.members = nil })
	}
	if len(req.GroupIDs) == 0 {
		return false
	}
	resp, err := askIn[*kmsg.ShareGroupDescribeResponse](ctx, r.round, broker, req)
	if err != nil {
		r.failAll(req.GroupIDs, err)
		return true
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
		r.change(d.GroupID, func(g *group) { g.takeMembers(d.ErrorCode, d.GroupState, members) })
	}
	return true
}

func (r *reading) fetchShares(ctx context.Context, broker int32, names []string) {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	for _, name := range names {
		g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
		g.GroupID = name // no topics: all
		req.Groups = append(req.Groups, g)
	}
	resp, err := askIn[*kmsg.DescribeShareGroupOffsetsResponse](ctx, r.round, broker, req)
	if err != nil {
		r.failAll(names, fmt.Errorf("read the offsets of the share groups: %w", err))
		return
	}
	for _, d := range resp.Groups {
		shares, before := map[sources.TopicPartition]share{}, r.s.lastLines(d.GroupID)
		for _, t := range d.Topics {
			topic := r.c.nameOf(t.Topic, t.TopicID)
			if topic == "" {
				continue
			}
			id := ""
			if known, there := r.c.topics[topic]; there {
				id = known.id.String()
			}
			for _, p := range t.Partitions {
				s := share{start: p.StartOffset, lag: p.Lag, err: code(p.ErrorCode)}
				if resp.Version < 1 || p.Lag < 0 {
					s.lag = sources.NotKnown
				}
				tp := sources.TopicPartition{Topic: topic, Partition: p.Partition}
				shares[tp] = s.counted(before[tp], id)
			}
		}
		r.change(d.GroupID, func(g *group) {
			g.shares = shares
			if d.ErrorCode != 0 {
				g.fail(fmt.Errorf("read the offsets of share group %s: %w", g.name, code(d.ErrorCode)))
			}
		})
	}
}
