package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// Check connects without writing and tells what was reached, what a pattern
// selects, what is missing, and what could not be confirmed. Where we may not
// see topics or groups, a broker lists none and says nothing of it: none at all
// is unconfirmed.
func (s *Source) Check(ctx context.Context) []sources.Checked {
	c, err := s.cluster(ctx, 0)
	if err != nil {
		return []sources.Checked{checked("connect", "", err)}
	}
	all := []sources.Checked{{What: "connect", Outcome: sources.Confirmed, Detail: "a cluster of " + plural(len(c.brokers), "broker")}}
	groups, err := s.Lag(ctx)
	all = append(all, checkGroups(groups, err)...)
	dead := s.deadLetterTopics(ctx, c, groups)
	listed := sources.Checked{What: "list the topics", Right: "Describe on topics", Outcome: sources.Confirmed, Detail: fmt.Sprintf("%s, %d of them of dead letters", plural(len(c.topics), "topic"), len(dead))}
	if len(c.topics) == 0 {
		listed.Outcome, listed.Detail = sources.Unconfirmed, "the cluster lists none, which looks the same as not being allowed to see any"
	}
	all = append(append(all, listed), s.unmatched(c, groups)...)
	return append(all, s.checkTopics(ctx, dead)...)
}

func checked(what, right string, err error) sources.Checked {
	one := sources.Checked{What: what, Right: right, Outcome: sources.Confirmed}
	switch {
	case err == nil:
	case errors.Is(err, sources.ErrNotAuthorised), errors.Is(err, sources.ErrNoSuchQueue), errors.Is(err, ErrLogin):
		one.Outcome, one.Detail = sources.Denied, err.Error()
	default:
		one.Outcome, one.Detail = sources.Unreachable, err.Error()
	}
	return one
}

// checkGroups tells how many groups were read, and what could not be read of
// them, each reason once.
func checkGroups(groups []sources.Group, err error) []sources.Checked {
	listed := checked("list the groups", "Describe on groups", err)
	if err != nil {
		return []sources.Checked{listed}
	}
	listed.Detail = fmt.Sprintf("%d selected", len(groups))
	if len(groups) == 0 {
		listed.Outcome, listed.Detail = sources.Unconfirmed, "the cluster lists none that groups selects, which looks the same as not being allowed to see any"
	}
	all, seen := []sources.Checked{listed}, map[string]bool{}
	add := func(what string, err error) {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			all = append(all, checked(what, "", err))
		}
	}
	for _, g := range groups {
		add("read group "+g.Name, g.Err)
		for _, l := range g.Lines {
			add("read the lag of "+l.Topic, l.Err)
		}
	}
	return all
}

// unmatched are the configured patterns that select nothing that is there.
func (s *Source) unmatched(c *cluster, groups []sources.Group) []sources.Checked {
	topics, names := slices.Collect(maps.Keys(c.topics)), make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	var all []sources.Checked
	look := func(key string, patterns, usual, there []string, noun string) {
		if slices.Equal(patterns, usual) {
			return
		}
		for _, p := range patterns {
			if !slices.ContainsFunc(there, func(name string) bool { return sources.Glob(p, name) }) {
				all = append(all, sources.Checked{What: key + ": " + p, Outcome: sources.Unmatched, Detail: "0 of " + plural(len(there), noun)})
			}
		}
	}
	for i, f := range s.cfg.Done {
		look(fmt.Sprintf("done[%d].for", i), []string{f.For}, nil, topics, "topic")
	}
	look("dead_letters", s.cfg.DeadLetters.Include, DefaultDeadLetters.Include, topics, "topic")
	look("redrive_to", s.cfg.RedriveTo.Include, []string{"*"}, topics, "topic")
	look("groups", s.cfg.Groups.Include, DefaultGroups.Include, names, "group")
	return all
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
	does, name string
	bit        int32
}

var (
	readTopicData   = permission{"read the letters of", "Read", 1 << 3}
	readDone        = permission{"read the finished work of", "Read", 1 << 3}
	writeTopicData  = permission{"redrive to", "Write", 1 << 4}
	describeConfigs = permission{"read the retention of", "DescribeConfigs", 1 << 10}
)

// checkTopics asks what we may do with the dead-letter topics, and with the
// targets and the topics of finished work that the configuration names (KIP-430,
// Kafka 2.3).
func (s *Source) checkTopics(ctx context.Context, dead []string) (all []sources.Checked) {
	needs := map[string][]permission{}
	for _, name := range dead {
		needs[name] = []permission{readTopicData, describeConfigs}
	}
	for _, r := range slices.Concat(s.cfg.Routes, s.cfg.Park) {
		needs[r.To] = append(needs[r.To], writeTopicData)
	}
	for _, f := range s.cfg.Done {
		if !slices.Contains(needs[f.Topic], readDone) {
			needs[f.Topic] = append(needs[f.Topic], readDone)
		}
	}
	if len(needs) == 0 {
		return nil
	}
	allowed, err := s.allowed(ctx, needs)
	if err != nil {
		return []sources.Checked{checked("ask what we may do with topics", "", err)}
	}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		got := allowed[name]
		for _, p := range needs[name] {
			all = append(all, got.check(name, p))
		}
	}
	return all
}

// check tells whether an allowance has a permission.
func (a allowance) check(topic string, p permission) sources.Checked {
	one := checked(p.does+" "+topic, p.name+" on topic "+topic, a.err)
	switch {
	case a.err != nil:
	case !a.told:
		one.Outcome, one.Detail = sources.Unconfirmed, "the broker does not tell what we may do"
	case a.bits&p.bit == 0:
		one.Outcome, one.Detail = sources.Denied, sources.ErrNotAuthorised.Error()
	}
	return one
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
			err := code(t.ErrorCode)
			if t.ErrorCode == kerr.UnknownTopicOrPartition.Code {
				err = fmt.Errorf("topic %s: %w", *t.Topic, sources.ErrNoSuchQueue)
			}
			out[*t.Topic] = allowance{t.AuthorizedOperations, told, err}
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
