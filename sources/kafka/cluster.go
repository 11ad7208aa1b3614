package kafka

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicID tells a topic from one of the same name that was deleted before it.
// Brokers before 2.8 (KIP-516) have none: all zero.
type topicID [16]byte

// String is the id as Kafka's own tools print it; "" for none.
func (id topicID) String() string {
	if id == (topicID{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// part is one partition of a topic.
type part struct {
	number int32
	leader int32 // -1: none
	err    error // why it has no leader
}

type topic struct {
	name     string
	id       topicID
	internal bool
	err      error
	parts    []part // by number
}

// part finds a partition by its number.
func (t *topic) part(number int32) (part, bool) {
	i, found := slices.BinarySearchFunc(t.parts, number, func(p part, n int32) int { return int(p.number - n) })
	if !found {
		return part{}, false
	}
	return t.parts[i], true
}

// cluster is the brokers and topics at one moment. It is not changed after it
// was read.
type cluster struct {
	brokers map[int32]string // address
	topics  map[string]*topic
	names   map[topicID]string
	sorted  []string // names of the topics that were asked for
	at      time.Time
}

// nameOf resolves what a response names by one or both: kfake leaves names
// empty in ConsumerGroupDescribe, and OffsetFetch from version 10 on has ids
// only. "" when the id is not known.
func (c *cluster) nameOf(name string, id topicID) string {
	if name != "" {
		return name
	}
	return c.names[id]
}

func (c *cluster) brokerIDs() []int32 {
	ids := make([]int32, 0, len(c.brokers))
	for id := range c.brokers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// snapshots keeps the last picture of the cluster, for those who may do with
// one of some age.
type snapshots struct {
	asking sync.Mutex // held while the cluster is asked: one question at a time

	mu    sync.Mutex
	last  *cluster        // all topics
	some  *cluster        // some topics only
	first map[string]bool // the topics that were there when we first looked
}

// cluster gives a picture of the cluster no older than maxAge. Asking never
// creates a topic.
func (s *Source) cluster(ctx context.Context, maxAge time.Duration) (*cluster, error) {
	s.seen.asking.Lock()
	defer s.seen.asking.Unlock()
	if c := s.seen.latest(); c != nil && maxAge > 0 && s.now().Sub(c.at) <= maxAge {
		return c, nil
	}
	c, err := s.askCluster(ctx, nil)
	if err != nil {
		return nil, err
	}
	s.seen.keep(c)
	return c, nil
}

func (s *snapshots) latest() *cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *snapshots) keep(c *cluster) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = c
	if s.first == nil {
		s.first = make(map[string]bool, len(c.topics))
		for name := range c.topics {
			s.first[name] = true
		}
	}
}

// isNew tells that a topic was made after we first looked at the cluster.
func (s *Source) isNew(topic string) bool {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	return s.seen.first != nil && !s.seen.first[topic]
}

// clusterOf is a picture of some topics, where the cluster may have thousands
// that do not matter. One of all topics will do when it is fresh enough.
// The first is always one of all: what is new, and what a name may refer to, is
// told by it.
func (s *Source) clusterOf(ctx context.Context, names []string, maxAge time.Duration) (*cluster, error) {
	if s.seen.latest() == nil {
		return s.cluster(ctx, maxAge)
	}
	s.seen.asking.Lock()
	defer s.seen.asking.Unlock()
	s.seen.mu.Lock()
	last, some := s.seen.last, s.seen.some
	s.seen.mu.Unlock()
	if last != nil && maxAge > 0 && s.now().Sub(last.at) <= maxAge {
		return last, nil
	}
	if some != nil && maxAge > 0 && s.now().Sub(some.at) <= maxAge && some.asked(names) {
		return some, nil
	}
	c, err := s.askCluster(ctx, names)
	if err != nil {
		return nil, err
	}
	s.seen.mu.Lock()
	s.seen.some = c
	s.seen.mu.Unlock()
	return c, nil
}

// asked tells whether a picture of some topics would show these.
func (c *cluster) asked(names []string) bool {
	for _, name := range names {
		if _, found := slices.BinarySearch(c.sorted, name); !found {
			return false
		}
	}
	return true
}

// askCluster asks for some topics, or with nil for all.
func (s *Source) askCluster(ctx context.Context, names []string) (*cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest() // AllowAutoTopicCreation stays false
	if names != nil {
		req.Topics = []kmsg.MetadataRequestTopic{}
	}
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return nil, fmt.Errorf("read the metadata of the cluster from %s: %w", strings.Join(s.cfg.Brokers, ", "), s.readable(err))
	}
	c := &cluster{brokers: map[int32]string{}, topics: map[string]*topic{}, names: map[topicID]string{}, at: s.now()}
	for _, b := range resp.Brokers {
		c.brokers[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	for _, t := range resp.Topics {
		if t.Topic == nil || t.ErrorCode == kerr.UnknownTopicOrPartition.Code {
			continue
		}
		c.topics[*t.Topic] = readTopic(t)
		c.names[t.TopicID] = *t.Topic
	}
	if names == nil {
		c.sorted = slices.Sorted(maps.Keys(c.topics))
	} else {
		c.sorted = slices.Sorted(slices.Values(names))
	}
	return c, nil
}

// names are those of all topics that were there when we last looked, in order.
func (s *snapshots) names() []string {
	if c := s.latest(); c != nil {
		return c.sorted
	}
	return nil
}

func readTopic(t kmsg.MetadataResponseTopic) *topic {
	out := &topic{name: *t.Topic, id: t.TopicID, internal: t.IsInternal, err: code(t.ErrorCode)}
	for _, p := range t.Partitions {
		q := part{number: p.Partition, leader: p.Leader}
		if p.Leader < 0 {
			q.err = ErrNoLeader
			if err := code(p.ErrorCode); err != nil {
				q.err = err
			}
		}
		out.parts = append(out.parts, q)
	}
	slices.SortFunc(out.parts, func(a, b part) int { return int(a.number - b.number) })
	return out
}
