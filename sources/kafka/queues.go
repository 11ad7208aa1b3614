package kafka

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Queues lists every topic of dead letters, every retry topic and every topic
// that a group reads, by name. The count is what lies between start and end:
// at most so many, because markers of transactions, aborted records and holes
// of compaction take offsets too.
func (s *Source) Queues(ctx context.Context) ([]sources.Queue, error) {
	c, err := s.cluster(ctx, topicsFor)
	if err != nil {
		return nil, err
	}
	groups, _ := s.lastReading(ctx) // without it no topic is known to be read
	s.offsetsRetention(ctx, c, true)
	s.letters.forget(c)
	shared := s.shareDeadLetters(ctx, groups)
	kinds := s.kinds(c, groups, shared)
	names := make([]string, 0, len(kinds))
	var topics []*topic
	for name := range kinds {
		names = append(names, name)
		topics = append(topics, c.topics[name])
	}
	slices.Sort(names)
	got := s.newRound(c).list(ctx, partitionsOf(topics...), startEdge, endEdge)
	configs := s.ofTopics(ctx, names)
	at := s.now()
	out := make([]sources.Queue, 0, len(names))
	for _, name := range names {
		q := queueOf(c.topics[name], got[0], got[1])
		q.Source, q.Kind, q.ReadAt = s.cfg.Name, kinds[name], at
		q.Retention = configs[name].retention()
		q.FeedsFrom = s.feedsFrom(kinds, name, shared)
		q.RedriveTo = s.routeOf(name)
		out = append(out, q)
	}
	return out, nil
}

// kinds are the topics to show and what each is for.
func (s *Source) kinds(c *cluster, groups []sources.Group, shared map[string][]string) map[string]sources.QueueKind {
	kinds := map[string]sources.QueueKind{}
	for name, t := range c.topics {
		if kind := s.kindOf(name); kind != sources.WorkQueue && !t.internal {
			kinds[name] = kind
		}
	}
	for _, g := range groups {
		for _, l := range g.Lines {
			t, there := c.topics[l.Topic]
			if _, done := kinds[l.Topic]; there && !done && !t.internal && !internal(l.Topic) {
				kinds[l.Topic] = sources.WorkQueue
			}
		}
	}
	for name := range shared {
		if _, there := c.topics[name]; there {
			kinds[name] = sources.DeadLetterQueue
		}
	}
	return kinds
}

func queueOf(t *topic, starts, ends listing) sources.Queue {
	q := sources.Queue{Name: t.name, ID: t.id.String(), Partitions: len(t.parts), Err: t.err}
	for _, p := range t.parts {
		tp := sources.TopicPartition{Topic: t.name, Partition: p.number}
		start, err := starts.of(tp)
		end, endErr := ends.of(tp)
		if err == nil {
			err = endErr
		}
		if err != nil {
			q.Count, q.Err = sources.NotKnown, err
			return q
		}
		q.Count += max(0, end-start)
	}
	q.CountIsExact = q.Count == 0 // nothing lies where nothing fits
	return q
}

// feedsFrom are the topics whose dead letters, or whose records that wait for
// another attempt, land in a topic: the one that its name belongs to and the
// retry topics of that one, and what its share groups read.
func (s *Source) feedsFrom(kinds map[string]sources.QueueKind, name string, shared map[string][]string) []string {
	feeds := slices.Clone(shared[name])
	if kinds[name] == sources.WorkQueue {
		return nil
	}
	owner := s.belongsTo(name)
	if owner != "" {
		feeds = append(feeds, owner)
	}
	for other, kind := range kinds {
		if owner != "" && other != name && kind == sources.RetryQueue && kinds[name] == sources.DeadLetterQueue && s.belongsTo(other) == owner {
			feeds = append(feeds, other)
		}
	}
	slices.Sort(feeds)
	return slices.Compact(feeds)
}

func (s *Source) routeOf(queue string) string {
	for _, r := range s.cfg.Routes {
		if sources.Glob(r.From, queue) {
			return r.To
		}
	}
	return ""
}

// shareTopicKey is the configuration of a share group that names the topic of
// its dead letters (KIP-1191).
const shareTopicKey = "errors.deadletterqueue.topic.name"

// shareDeadLetters are the dead-letter topics that share groups are configured
// with, and what the groups of each read.
func (s *Source) shareDeadLetters(ctx context.Context, groups []sources.Group) map[string][]string {
	var which []resource
	for _, g := range groups {
		if g.Protocol == sources.Share {
			which = append(which, groupConfig(g.Name))
		}
	}
	out := map[string][]string{}
	if len(which) == 0 {
		return out
	}
	configs := s.configsOf(ctx, which...)
	for _, g := range groups {
		name := configs[groupConfig(g.Name)].values[shareTopicKey]
		if g.Protocol != sources.Share || name == "" {
			continue
		}
		topics := out[name]
		for _, l := range g.Lines {
			topics = append(topics, l.Topic)
		}
		slices.Sort(topics)
		out[name] = slices.Compact(topics)
	}
	return out
}

// weekOf is how long letters must be kept to be there at the next review.
const weekOf = 7 * 24 * time.Hour

// Receivers are the groups that read a topic, as of the last call of Lag: those
// with a member on it, and those without members that have committed on it.
func (s *Source) Receivers(ctx context.Context, queue string) ([]sources.Receiver, error) {
	groups, err := s.lastReading(ctx)
	if err != nil {
		return nil, err
	}
	var out []sources.Receiver
	for _, g := range groups {
		if lag, reads := lagOn(g, queue); reads {
			out = append(out, sources.Receiver{Queue: queue, Group: g.Name, State: g.State, Lag: lag})
		}
	}
	slices.SortFunc(out, func(a, b sources.Receiver) int { return strings.Compare(a.Group, b.Group) })
	return out, nil
}

// lagOn is how much of a topic a group has left, and whether it reads it at
// all: a group whose members are all elsewhere has only forgotten commits on it.
func lagOn(g sources.Group, topic string) (lag int64, reads bool) {
	owned, known := false, false
	for _, l := range g.Lines {
		if l.Topic != topic {
			continue
		}
		reads = true
		owned = owned || l.Owner != ""
		if n, ok := waiting(l); ok {
			lag, known = lag+n, true
		}
	}
	if reads && g.MembersKnown && len(g.Members) > 0 && !owned && g.State == "Stable" {
		return 0, false
	}
	if !known {
		lag = sources.NotKnown
	}
	return lag, reads
}

// waiting is how many records at most a line has left; not ok when that is not
// known.
func waiting(l sources.Lag) (n int64, ok bool) {
	switch {
	case l.Err != nil || l.PositionErr != nil:
		return 0, false
	case l.Counted != nil:
		return *l.Counted, true
	case l.Position == sources.NoCommit:
		return 0, l.Start == l.StableEnd
	}
	return max(0, l.StableEnd-max(l.Position, l.Start)), true
}
