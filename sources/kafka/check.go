package kafka

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// Check connects without writing and tells what was reached, what a pattern
// selects, and what could not be confirmed; and apart, what is missing or
// unreachable. Where we may not see topics or groups, a broker lists none and
// says nothing of it: none at all is "could not confirm".
func (s *Source) Check(ctx context.Context) (lines []string, missing []error) {
	c, err := s.cluster(ctx, 0)
	if err != nil {
		return nil, []error{err}
	}
	lines = append(lines, fmt.Sprintf("reached a cluster of %s", plural(len(c.brokers), "broker")))
	groups, err := s.Lag(ctx)
	if err != nil {
		missing = append(missing, err)
	} else {
		lines = append(lines, s.checkGroups(groups)...)
		missing = append(missing, groupErrors(groups)...)
	}
	dead := s.deadLetterTopics(ctx, c, groups)
	lines = append(lines, fmt.Sprintf("dead letters: %d of %s", len(dead), plural(len(c.topics), "topic")))
	if len(c.topics) == 0 {
		lines = append(lines, "could not confirm that we may Describe topics: the cluster lists none, which looks the same as not being allowed to see any")
	}
	more, errs := s.checkTopics(ctx, dead)
	return append(lines, more...), append(missing, errs...)
}

func (s *Source) checkGroups(groups []sources.Group) []string {
	lines := []string{fmt.Sprintf("groups: %d selected", len(groups))}
	if len(groups) == 0 {
		lines = append(lines, "could not confirm that we may Describe groups: the cluster lists none that groups selects, which looks the same as not being allowed to see any")
	}
	return lines
}

// groupErrors are what could not be read of groups, each reason once.
func groupErrors(groups []sources.Group) []error {
	seen := map[string]bool{}
	var out []error
	add := func(err error) {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	for _, g := range groups {
		add(g.Err)
		for _, l := range g.Lines {
			add(l.Err)
		}
	}
	return out
}

func (s *Source) deadLetterTopics(ctx context.Context, c *cluster, groups []sources.Group) []string {
	var names []string
	for name, kind := range s.kinds(c, nil, s.shareDeadLetters(ctx, groups)) {
		if kind == sources.DeadLetterQueue {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// permission is an operation on a topic, by its number in Kafka's ACLs.
type permission struct {
	name string
	bit  int32
}

var (
	readTopicData   = permission{"Read", 1 << 3}
	writeTopicData  = permission{"Write", 1 << 4}
	describeConfigs = permission{"DescribeConfigs", 1 << 10}
)

// checkTopics asks what we may do with the dead-letter topics and with the
// targets that the configuration names (KIP-430, Kafka 2.3).
func (s *Source) checkTopics(ctx context.Context, dead []string) (lines []string, missing []error) {
	needs := map[string][]permission{}
	for _, name := range dead {
		needs[name] = []permission{readTopicData, describeConfigs}
	}
	for _, r := range s.cfg.Routes {
		needs[r.To] = append(needs[r.To], writeTopicData)
	}
	if len(needs) == 0 {
		return nil, nil
	}
	allowed, err := s.allowed(ctx, needs)
	if err != nil {
		return nil, []error{err}
	}
	var unconfirmed []string
	for name, perms := range needs {
		switch got := allowed[name]; {
		case got.err != nil:
			missing = append(missing, fmt.Errorf("topic %s: %w", name, got.err))
		case !got.told:
			unconfirmed = append(unconfirmed, name)
		default:
			missing = append(missing, lacking(name, perms, got.bits)...)
		}
	}
	if len(unconfirmed) > 0 {
		slices.Sort(unconfirmed)
		lines = append(lines, "could not confirm what we may do with "+strings.Join(unconfirmed, ", ")+": the broker does not tell")
	}
	slices.SortFunc(missing, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return lines, missing
}

func lacking(topic string, perms []permission, bits int32) []error {
	var out []error
	for _, p := range perms {
		if bits&p.bit == 0 {
			out = append(out, fmt.Errorf("%w: %s on topic %s", sources.ErrNotAuthorised, p.name, topic))
		}
	}
	return out
}

// allowance is what we may do with a topic.
type allowance struct {
	bits int32
	told bool
	err  error
}

func (s *Source) allowed(ctx context.Context, topics map[string][]permission) (map[string]allowance, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.IncludeTopicAuthorizedOperations = true
	for name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return nil, fmt.Errorf("ask what we may do with topics: %w", s.readable(err))
	}
	out := map[string]allowance{}
	for _, t := range resp.Topics {
		if t.Topic != nil {
			told := t.AuthorizedOperations != math.MinInt32 && t.AuthorizedOperations != 0
			out[*t.Topic] = allowance{t.AuthorizedOperations, told, code(t.ErrorCode)}
		}
	}
	return out, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
