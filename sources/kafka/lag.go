package kafka

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Lag is one reading of every selected group, by group name. Positions are
// read before ends, so that a consumer cannot have committed past an end that
// is older (danielqsj/kafka_exporter issue 76). An error of one group, topic or
// partition is its own; the reading as a whole fails only when no broker could
// be asked for its groups. What it returns is the caller's own.
//
// Once warm it costs one Metadata request, and of each broker ListGroups,
// DescribeGroups, ConsumerGroupDescribe, OffsetFetch, one question about share
// groups and ListOffsets for start, end and stable end: at most 25 requests
// for three brokers, however many groups there are.
func (s *Source) Lag(ctx context.Context) ([]sources.Group, error) {
	s.lagMu.Lock()
	defer s.lagMu.Unlock()
	c, err := s.cluster(ctx, 0)
	if err != nil {
		return nil, err
	}
	r := &reading{
		round: s.newRound(c), groups: map[string]*group{}, failed: map[int32]error{},
		nextShares: map[string]shareMemory{},
	}
	if err := r.listGroups(ctx); err != nil {
		return nil, err
	}
	each(c.brokerIDs(), func(broker int32) {
		r.fetchCommits(ctx, broker)
		r.describe(ctx, broker)
		r.askShares(ctx, broker)
	})
	groups := r.result(ctx)
	r.remember()
	s.lastMu.Lock()
	s.last, s.lastShares = own(groups), r.nextShares
	s.lastMu.Unlock()
	return groups, nil
}

// own is a copy of a reading to keep: the one handed out is its caller's, who
// notes in its lines what stands at their heads.
func own(groups []sources.Group) []sources.Group {
	kept := slices.Clone(groups)
	for i := range kept {
		kept[i].Lines = slices.Clone(kept[i].Lines)
	}
	return kept
}

func (r *reading) remember() {
	next := map[string]known{}
	for name, g := range r.groups {
		next[name] = known{g.protocol, g.coordinator, g.missing}
	}
	r.s.before = memory{next, r.nextShares}
}

// result reads the ends of every line and puts the groups together.
func (r *reading) result(ctx context.Context) []sources.Group {
	lines := map[sources.TopicPartition]bool{}
	for _, g := range r.groups {
		for tp := range g.lines() {
			lines[tp] = true
		}
	}
	hidden := r.s.hiddenTopics(ctx, r.c, lines)
	got := r.list(ctx, lines, startEdge, endEdge, stableEdge)
	ends := ends{c: r.c, start: got[0], end: got[1], stable: got[2], hidden: hidden, at: r.s.now(), retention: r.s.offsetsRetention(ctx, r.c, r.s.before.known == nil)}
	out := make([]sources.Group, 0, len(r.groups))
	for _, g := range r.groups {
		out = append(out, g.group(r.s.cfg.Name, ends))
	}
	slices.SortFunc(out, func(a, b sources.Group) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// lines of a group are those that it has committed and those that a member
// owns; the owner, where there is one. Several members of a share group may
// own the same line, and the first of them is named.
func (g *group) lines() map[sources.TopicPartition]string {
	out := map[sources.TopicPartition]string{}
	for tp := range g.commits {
		out[tp] = ""
	}
	for tp := range g.shares {
		out[tp] = ""
	}
	if g.commits == nil && g.shares == nil {
		return out // what it has committed could not be read: owners alone would look like no commits
	}
	for _, m := range g.members {
		for _, tp := range m.Assigned {
			if out[tp] == "" {
				out[tp] = m.ID
			}
		}
	}
	return out
}

// ends are the offsets of the partitions of a reading.
type ends struct {
	c                  *cluster
	start, end, stable listing
	hidden             map[string]error // topics that are not in the metadata, and why
	at                 time.Time
	retention          time.Duration // of the commits of empty groups
}

func (g *group) group(source string, e ends) sources.Group {
	out := sources.Group{
		Source: source, Name: g.name, Protocol: g.protocol, State: g.state, Members: g.members,
		MembersKnown: g.membersKnown || g.idle() && g.err == nil, ReadAt: e.at, Err: g.err,
		OffsetsRetention: e.retention,
	}
	if g.err != nil && g.commits == nil && g.shares == nil {
		return out
	}
	for tp, owner := range g.lines() {
		if _, there := e.c.topics[tp.Topic]; !there && e.hidden[tp.Topic] == nil {
			continue // deleted, and its commits will follow
		}
		out.Lines = append(out.Lines, g.line(source, tp, owner, e))
	}
	slices.SortFunc(out.Lines, func(a, b sources.Lag) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	})
	return out
}

func (g *group) line(source string, tp sources.TopicPartition, owner string, e ends) sources.Lag {
	l := sources.Lag{
		Partition: sources.Partition{Source: source, Group: g.name, Topic: tp.Topic, Number: tp.Partition},
		Position:  sources.NoCommit, Owner: owner,
		Start: sources.NotKnown, End: sources.NotKnown, StableEnd: sources.NotKnown,
	}
	if c, there := g.commits[tp]; there {
		l.Position, l.PositionErr, l.Metadata = c.offset, c.err, sources.MetadataHash(c.metadata)
	}
	if s, there := g.shares[tp]; there {
		l.Position, l.PositionErr = s.start, s.err
		if s.lag != sources.NotKnown {
			l.Counted = &s.lag
		}
	}
	l.Err = e.hidden[tp.Topic]
	if t, there := e.c.topics[tp.Topic]; there {
		l.TopicID = t.id.String()
		l.Start, l.End, l.StableEnd, l.Err = e.of(tp)
	}
	return l
}

// of gives start, end and stable end of a partition, or why one is missing.
func (e ends) of(tp sources.TopicPartition) (start, end, stable int64, err error) {
	start, startErr := e.start.of(tp)
	end, endErr := e.end.of(tp)
	stable, stableErr := e.stable.of(tp)
	return start, end, stable, cmp.Or(endErr, stableErr, startErr)
}

// topicsOf are the topics of some lines.
func topicsOf(lines map[sources.TopicPartition]bool) []string {
	names := map[string]bool{}
	for tp := range lines {
		names[tp.Topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}
