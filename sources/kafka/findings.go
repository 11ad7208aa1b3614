package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// Findings are risks in the set-up of topics and share groups that are certain
// and cost little to see.
func (s *Source) Findings(ctx context.Context) ([]sources.Finding, error) {
	c, err := s.cluster(ctx, topicsFor)
	if err != nil {
		return nil, err
	}
	groups, groupsErr := s.lastReading(ctx)
	out, shareErr := s.shareFindings(ctx, c, groups)
	out = append(out, s.topicFindings(ctx, c, groups)...)
	slices.SortFunc(out, func(a, b sources.Finding) int { return strings.Compare(a.ID, b.ID) })
	return out, errors.Join(groupsErr, shareErr)
}

// shareFindings: a record that a share group gives up on is archived, which is
// as good as deleted, unless the group has a dead-letter topic. That needs
// share.version 2 (KIP-1191).
func (s *Source) shareFindings(ctx context.Context, c *cluster, groups []sources.Group) ([]sources.Finding, error) {
	var which []resource
	for _, g := range groups {
		if g.Protocol == sources.Share && g.Err == nil {
			which = append(which, groupConfig(g.Name))
		}
	}
	if len(which) == 0 {
		return nil, nil
	}
	version, err := s.feature(ctx, "share.version")
	if err != nil {
		return nil, err
	}
	configs := s.configsOf(ctx, which...)
	var out []sources.Finding
	for _, g := range groups {
		if g.Protocol == sources.Share && g.Err == nil {
			out = append(out, s.shareFinding(g, configs[groupConfig(g.Name)], c, version)...)
		}
	}
	return out, nil
}

func (s *Source) shareFinding(g sources.Group, config settings, c *cluster, version int16) []sources.Finding {
	if config.err != nil {
		return nil // whether it has one is not known
	}
	topics := topicsRead(g)
	name := config.values[shareTopicKey]
	if _, there := c.topics[name]; name != "" && there {
		return nil
	}
	f := sources.Finding{
		Kind: "share_group_without_dead_letter_topic",
		Message: fmt.Sprintf("Share group %s has no dead-letter topic: a record that it rejects, or gives up on after its deliveries, is dropped.",
			g.Name),
		Advice: fmt.Sprintf("Create a topic with errors.deadletterqueue.group.enable=true and set the group's %s to it; "+
			"with errors.deadletterqueue.copy.record.enable=true the letters have their key and value.", shareTopicKey),
		Evidence: map[string]any{"group": g.Name, "topics": topics, "share.version": version},
	}
	switch {
	case name != "":
		f.Kind = "share_group_dead_letter_topic_missing"
		f.Message = fmt.Sprintf("The dead-letter topic %s of share group %s is not there, or not to be seen by us: letters have nowhere to go.", name, g.Name)
		f.Evidence["dead_letter_topic"] = name
	case version < 2:
		f.Advice = "The cluster has share.version " + fmt.Sprint(version) + "; dead-letter topics of share groups need 2 (Kafka 4.3 or newer)."
	}
	queue := ""
	if len(topics) > 0 {
		queue = topics[0]
	}
	return []sources.Finding{s.finding(f, queue, g.Name)}
}

func topicsRead(g sources.Group) []string {
	var topics []string
	for _, l := range g.Lines {
		topics = append(topics, l.Topic)
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// finding gives a finding its id: the same risk of the same thing has the same.
func (s *Source) finding(f sources.Finding, queue, of string) sources.Finding {
	f.Source, f.Queue = s.cfg.Name, queue
	f.ID = strings.Join([]string{"kafka", s.cfg.Name, f.Kind, of}, "/")
	return f
}

// topicFindings looks at how dead-letter topics keep their letters.
func (s *Source) topicFindings(ctx context.Context, c *cluster, groups []sources.Group) []sources.Finding {
	names := s.deadLetterTopics(ctx, c, groups)
	var out []sources.Finding
	for name, config := range s.ofTopics(ctx, names) {
		if config.compacted() {
			out = append(out, s.finding(sources.Finding{
				Kind:     "compacted_dead_letter_topic",
				Message:  fmt.Sprintf("%s is compacted: a newer letter with the same key overwrites an older one, and letters without a key are refused.", name),
				Advice:   "Set cleanup.policy=delete on it.",
				Evidence: map[string]any{"cleanup.policy": config.values["cleanup.policy"]},
			}, name, name))
		}
		if keep := config.retention(); keep > 0 && keep < weekOf {
			out = append(out, s.finding(sources.Finding{
				Kind:     "dead_letter_topic_forgets",
				Message:  fmt.Sprintf("%s keeps its letters for %s: they may be gone before the next weekly review.", name, days(keep)),
				Advice:   "Raise retention.ms to 14 days (1209600000) or more.",
				Evidence: map[string]any{"retention_seconds": int64(keep.Seconds())},
			}, name, name))
		}
	}
	return out
}

func days(d time.Duration) string {
	switch {
	case d%(24*time.Hour) == 0 && d > 24*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d == 24*time.Hour:
		return "one day"
	}
	return d.String()
}

// feature is the version of a feature that the cluster has agreed on; 0 when it
// does not have it.
func (s *Source) feature(ctx context.Context, name string) (int16, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "unwedge", "1"
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return 0, fmt.Errorf("ask for the features of the cluster: %w", s.readable(err))
	}
	for _, f := range resp.FinalizedFeatures {
		if f.Name == name {
			return f.MaxVersionLevel, nil
		}
	}
	return 0, nil
}
