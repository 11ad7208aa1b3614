package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// configCache keeps what DescribeConfigs said for a minute, of brokers for an
// hour: settings change seldom, and are asked for at each poll.
type configCache struct {
	mu  sync.Mutex
	all map[resource]settings
}

// resource is something that has a configuration.
type resource struct {
	kind kmsg.ConfigResourceType
	name string
}

func topicConfig(name string) resource { return resource{kmsg.ConfigResourceTypeTopic, name} }

// groupConfig is resource type 32 (KIP-848).
func groupConfig(name string) resource {
	return resource{kmsg.ConfigResourceTypeGroupConfig, name}
}

// settings are the configuration of a resource at one moment. A value may be
// missing: kfake describes defaults of groups with null.
type settings struct {
	values map[string]string
	err    error
	at     time.Time
}

// integer is a setting; ok is false when it is not known.
func (s settings) integer(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s.values[name], 10, 64)
	return n, err == nil
}

func (s settings) compacted() bool {
	return slices.Contains(s.policies(), "compact")
}

func (s settings) policies() []string {
	return strings.Split(strings.ReplaceAll(s.values["cleanup.policy"], " ", ""), ",")
}

// retention is how long a record is kept at least: negative for ever, zero not
// known. A limit in bytes may come sooner, so then nothing is known.
func (s settings) retention() time.Duration {
	if len(s.values) == 0 {
		return 0
	}
	deletes := slices.Contains(s.policies(), "delete")
	if size, ok := s.integer("retention.bytes"); deletes && ok && size >= 0 {
		return 0
	}
	ms, ok := s.integer("retention.ms")
	switch {
	case !deletes || ok && ms < 0:
		return -1
	case !ok:
		return 0
	}
	if ms > int64(1<<63-1)/int64(time.Millisecond) {
		return -1
	}
	return time.Duration(ms) * time.Millisecond
}

const (
	configsFor       = time.Minute
	brokerConfigsFor = time.Hour
)

func (r resource) keptFor() time.Duration {
	if r.kind == kmsg.ConfigResourceTypeBroker {
		return brokerConfigsFor
	}
	return configsFor
}

// configsOf describes resources, all that are not fresh in one request. A
// resource that cannot be described has an error of its own.
func (s *Source) configsOf(ctx context.Context, which ...resource) map[resource]settings {
	s.configs.mu.Lock()
	defer s.configs.mu.Unlock()
	now := s.now()
	out := map[resource]settings{}
	var ask []resource
	for _, r := range which {
		if got, there := s.configs.all[r]; there && now.Sub(got.at) < r.keptFor() {
			out[r] = got
		} else {
			ask = append(ask, r)
		}
	}
	if len(ask) == 0 {
		return out
	}
	s.configs.forget(now)
	for r, got := range s.describeConfigs(ctx, ask) {
		got.at = now
		out[r] = got
		if got.err == nil || errors.Is(got.err, sources.ErrNotAuthorised) {
			s.configs.all[r] = got
		}
	}
	return out
}

// forget drops what is too old to be used, so that resources that are gone do
// not stay for ever.
func (c *configCache) forget(now time.Time) {
	if c.all == nil {
		c.all = map[resource]settings{}
	}
	for r, got := range c.all {
		if now.Sub(got.at) >= r.keptFor() {
			delete(c.all, r)
		}
	}
}

func (s *Source) describeConfigs(ctx context.Context, which []resource) map[resource]settings {
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, r := range which {
		q := kmsg.NewDescribeConfigsRequestResource()
		q.ResourceType, q.ResourceName = r.kind, r.name
		req.Resources = append(req.Resources, q)
	}
	out := map[resource]settings{}
	resp, err := req.RequestWith(ctx, s.client) // a broker's own goes to it, others to any
	if err != nil {
		for _, r := range which {
			out[r] = settings{err: s.readable(err)}
		}
		return out
	}
	for _, d := range resp.Resources {
		r := resource{d.ResourceType, d.ResourceName}
		got := settings{values: map[string]string{}}
		if err := code(d.ErrorCode); err != nil {
			got.err = fmt.Errorf("read the configuration of %s: %w", d.ResourceName, err)
		}
		for _, v := range d.Configs {
			if v.Value != nil {
				got.values[v.Name] = *v.Value
			}
		}
		out[r] = got
	}
	return out
}

// ofTopics are the configurations of some topics, by name.
func (s *Source) ofTopics(ctx context.Context, names []string) map[string]settings {
	which := make([]resource, len(names))
	for i, name := range names {
		which[i] = topicConfig(name)
	}
	out := map[string]settings{}
	for r, got := range s.configsOf(ctx, which...) {
		out[r.name] = got
	}
	return out
}

// ofBroker is the configuration of one broker.
func (s *Source) ofBroker(ctx context.Context, c *cluster) settings {
	if len(c.brokers) == 0 {
		return settings{}
	}
	r := resource{kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(c.brokerIDs()[0]))}
	return s.configsOf(ctx, r)[r]
}

// offsetsRetention is how long the commits of an empty group are kept; zero
// when the broker does not say, or not to us. A reading asks for it only when
// it is the first: later ones use what Queues keeps fresh, and cost no more.
func (s *Source) offsetsRetention(ctx context.Context, c *cluster, ask bool) time.Duration {
	if !ask {
		return time.Duration(s.retention.Load())
	}
	minutes, ok := s.ofBroker(ctx, c).integer("offsets.retention.minutes")
	if !ok || minutes < 0 {
		minutes = 0
	}
	keep := time.Duration(minutes) * time.Minute
	s.retention.Store(int64(keep))
	return keep
}

// expiry puts the retention of a topic into the words of a letter.
func expiry(s settings, record time.Time) (at time.Time, is string) {
	keep := s.retention()
	switch {
	case keep < 0:
		return time.Time{}, "never"
	case keep == 0 || record.IsZero():
		return time.Time{}, ""
	}
	// A segment goes when the youngest record in it is old enough, so a letter
	// may outlive this.
	return record.Add(keep), "not before"
}
