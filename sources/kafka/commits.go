package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// commit is a committed offset as OffsetFetch tells it. No API tells when it
// was committed.
type commit struct {
	offset   int64
	metadata string // as committed
	err      error
}

// fetchCommits asks a broker for the commits of all its groups in one request
// (KIP-709; before Kafka 3.0 one for each group). It asks for unstable offsets
// too: with RequireStable an open transaction would hide the position.
func (r *reading) fetchCommits(ctx context.Context, broker int32) {
	names := r.of(broker, func(g *group) bool { return g.protocol != sources.Share })
	if len(names) == 0 {
		return
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = names[0]
	for _, name := range names {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = name // no topics: all
		req.Groups = append(req.Groups, g)
	}
	resp, err := askIn[*kmsg.OffsetFetchResponse](ctx, r.round, broker, req)
	if err != nil {
		r.failAll(names, fmt.Errorf("read the commits: %w", err))
		return
	}
	for _, g := range resp.Groups {
		r.takeCommits(g)
	}
	if resp.Version < 8 {
		r.takeCommits(oldCommits(names[0], resp))
		r.fetchOneByOne(ctx, broker, names[1:])
	}
}

func (r *reading) fetchOneByOne(ctx context.Context, broker int32, names []string) {
	for _, name := range names {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = name
		resp, err := askIn[*kmsg.OffsetFetchResponse](ctx, r.round, broker, req)
		if err != nil {
			r.failAll([]string{name}, fmt.Errorf("read the commits: %w", err))
			continue
		}
		r.takeCommits(oldCommits(name, resp))
	}
}

// oldCommits puts an answer of before version 8 into the newer shape.
func oldCommits(name string, resp *kmsg.OffsetFetchResponse) kmsg.OffsetFetchResponseGroup {
	g := kmsg.OffsetFetchResponseGroup{Group: name, ErrorCode: resp.ErrorCode}
	for _, t := range resp.Topics {
		u := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			u.Partitions = append(u.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: p.Partition, Offset: p.Offset, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		g.Topics = append(g.Topics, u)
	}
	return g
}

// takeCommits takes the commits of one group. Only a commit that was read
// counts as one: a coordinator that is still loading (COORDINATOR_LOAD_IN_PROGRESS)
// is an error of the group, and never "no commit".
func (r *reading) takeCommits(of kmsg.OffsetFetchResponseGroup) {
	commits := map[sources.TopicPartition]commit{}
	for _, t := range of.Topics {
		topic := r.c.nameOf(t.Topic, t.TopicID)
		if topic == "" {
			continue // an id that is not in the cluster any more, or that we may not see
		}
		for _, p := range t.Partitions {
			c := commit{offset: p.Offset, err: code(p.ErrorCode)}
			if p.Metadata != nil {
				c.metadata = *p.Metadata
			}
			if c.err == nil && c.offset < 0 {
				continue
			}
			commits[sources.TopicPartition{Topic: topic, Partition: p.Partition}] = c
		}
	}
	r.change(of.Group, func(g *group) {
		g.commits = commits
		if of.ErrorCode != 0 && of.ErrorCode != kerr.GroupIDNotFound.Code {
			g.fail(fmt.Errorf("read the commits of group %s: %w", g.name, code(of.ErrorCode)))
		}
	})
}
