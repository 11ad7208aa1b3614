package kafka

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// reads remembers how far each dead-letter topic is read, so that a poll can
// tell which have news without reading any. It holds the topics of the cluster
// at most.
type reads struct {
	mu      sync.Mutex
	queues  map[string]readTo
	startAt time.Time // when log starts were last asked for
}

// readTo is the cursor that the last look was given: what is stored. What that
// look brought may not have been, so news are news until a look begins after
// them.
type readTo struct {
	cursor cursor
	starts map[int32]int64 // as that look told them
	failed bool            // the look saw only a part
}

// startsEvery is how often expired letters are looked for.
const startsEvery = 30 * time.Second

func (r *reads) done(queue string, raw []byte, l *letters) {
	given, err := parseCursor(raw)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queues == nil {
		r.queues = map[string]readTo{}
	}
	r.queues[queue] = readTo{cursor: given.clone(), starts: maps.Clone(l.starts), failed: err != nil || len(l.errs) > 0}
}

// Changed gives those of the topics in which there is something beyond the
// cursor that DeadLetters was last given, or whose log start has moved since.
// It costs a ListOffsets request for each broker, however many topics there
// are, a second one every half minute, and a Metadata request about
// these topics every two seconds at most. A topic that was never read, or not wholly, counts as
// changed.
func (s *Source) Changed(ctx context.Context, queues []string) ([]string, error) {
	c, err := s.clusterOf(ctx, queues, topicsFor)
	if err != nil {
		return nil, err
	}
	known, askStarts := s.letters.known(queues, c, s.now())
	which := map[sources.TopicPartition]bool{}
	for _, name := range queues {
		if t, there := c.topics[name]; there && known[name].cursor.TopicID == t.id.String() {
			maps.Copy(which, partitionsOf(t))
		}
	}
	edges := []edge{stableEdge}
	if askStarts {
		edges = append(edges, startEdge)
	}
	got := s.newRound(c).list(ctx, which, edges...)
	var out []string
	for _, name := range queues {
		if news(c, name, known, got) {
			out = append(out, name)
		}
	}
	return out, nil
}

// known are the readings of the topics, without those of topics that are gone.
func (r *reads) known(queues []string, c *cluster, now time.Time) (known map[string]readTo, askStarts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known = map[string]readTo{}
	for _, name := range queues {
		if _, there := c.topics[name]; !there {
			delete(r.queues, name)
		} else if k, was := r.queues[name]; was {
			known[name] = k
		}
	}
	askStarts = now.Sub(r.startAt) >= startsEvery
	if askStarts {
		r.startAt = now
	}
	return known, askStarts
}

// forget drops what is known of topics that are gone.
func (r *reads) forget(c *cluster) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.queues {
		if _, there := c.topics[name]; !there {
			delete(r.queues, name)
		}
	}
}

func news(c *cluster, name string, known map[string]readTo, got []listing) bool {
	t, there := c.topics[name]
	if !there {
		return true // the look will say so
	}
	k, read := known[name]
	if !read || k.failed || k.cursor.TopicID != t.id.String() {
		return true
	}
	for _, p := range t.parts {
		tp := sources.TopicPartition{Topic: name, Partition: p.number}
		stable, err := got[0].of(tp)
		if err != nil || k.cursor.ahead(tp, stable) {
			return true
		}
		if len(got) > 1 {
			if start, err := got[1].of(tp); err == nil && start != k.starts[p.number] {
				return true
			}
		}
	}
	return false
}
