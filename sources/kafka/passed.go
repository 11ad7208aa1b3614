package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// Passed tells how far those have read a topic who read it, as of the last call
// of Lag. A group that reads the topic and whose position on a partition is not
// known holds that partition back. On a share group a record counts as passed
// once the group's start offset has, before which everything was acknowledged,
// rejected or given up on (KIP-932), or once nothing is left for the group. While a group cannot be read that might read
// the topic nothing is known to have passed; one that we may never read counts
// for nothing.
func (s *Source) Passed(ctx context.Context, queue string) (sources.Passed, error) {
	groups, err := s.lastReading(ctx)
	if err != nil {
		return sources.Passed{}, err
	}
	p := passing{Passed: sources.Passed{Below: map[int32]int64{}}, unknown: map[int32]bool{}, shares: s.sharesRead()}
	for _, g := range groups {
		if g.Err != nil && len(g.Lines) == 0 && !errors.Is(g.Err, sources.ErrNotAuthorised) {
			return sources.Passed{}, fmt.Errorf("who has read %s is not known: group %s could not be read: %w", queue, g.Name, g.Err)
		}
		if _, reads := lagOn(g, queue); reads {
			p.add(g, queue)
		}
	}
	return p.result(), nil
}

// passing is the lowest position of several groups, in the making.
type passing struct {
	sources.Passed
	read    map[int32]int  // by partition: groups that have a line on it
	unknown map[int32]bool // partitions of which some position is not known
	shares  map[string]shareMemory
}

// sharesRead is what the last reading has of share groups.
func (s *Source) sharesRead() map[string]shareMemory {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	return s.lastShares
}

// lastLines are the lines of a group in the last reading.
func (s *Source) lastLines(group string) map[sources.TopicPartition]sources.Lag {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	lines := map[sources.TopicPartition]sources.Lag{}
	for _, g := range s.last {
		if g.Name != group {
			continue
		}
		for _, l := range g.Lines {
			lines[sources.TopicPartition{Topic: l.Topic, Partition: l.Number}] = l
		}
	}
	return lines
}

func (p *passing) add(g sources.Group, queue string) {
	if p.read == nil {
		p.read = map[int32]int{}
	}
	p.Groups = append(p.Groups, g.Name)
	for _, l := range g.Lines {
		if l.Topic != queue {
			continue
		}
		p.read[l.Number]++
		if l.Err != nil || l.PositionErr != nil || l.Position == sources.NoCommit || p.otherTopic(l.TopicID) {
			p.unknown[l.Number] = true
			continue
		}
		at := l.Position
		if one, shared := p.shares[g.Name].shares[sources.TopicPartition{Topic: queue, Partition: l.Number}]; shared && g.Protocol == sources.Share {
			at = max(at, one.done)
		}
		if low, known := p.Below[l.Number]; !known || at < low {
			p.Below[l.Number] = at
		}
	}
}

// otherTopic tells whether a line is of another topic of the same name than the
// lines before it: one of them was read before the topic was made again.
func (p *passing) otherTopic(id string) bool {
	if p.TopicID == "" {
		p.TopicID = id
	}
	return id != p.TopicID
}

// result leaves out the partitions that one of the groups has not begun, or of
// which its position is not known.
func (p *passing) result() sources.Passed {
	for n := range p.Below {
		if p.unknown[n] || p.read[n] < len(p.Groups) {
			delete(p.Below, n)
		}
	}
	slices.Sort(p.Groups)
	return p.Passed
}
