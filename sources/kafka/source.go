// Package kafka reads consumer groups and dead-letter topics of a Kafka
// cluster, and sends dead letters back. It joins no group, commits nothing,
// creates no topic: what it writes is the redriven records.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
)

// Source is one Kafka cluster. Its methods may be called at the same time.
type Source struct {
	cfg    Config
	client *kgo.Client
	now    func() time.Time
	began  time.Time
	quiet  time.Duration // see landsWithin

	recogniser *convention.Recogniser

	seen    snapshots
	absent  absentTopics
	configs configCache
	tails   tails
	letters reads
	sends   producers

	retention atomic.Int64 // nanoseconds: offsets.retention.minutes of the cluster

	lagMu  sync.Mutex // one reading at a time: each builds on the last
	before memory

	lastMu     sync.Mutex
	last       []sources.Group // of the last reading; never changed
	lastShares map[string]shareMemory
}

// New makes a source. It does not connect: what is wrong with the cluster is
// told by the first reading, and again by each that fails.
func New(c Config) (*Source, error) {
	if errs := c.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("source %s: %w", c.Name, errors.Join(errs...))
	}
	c = c.withDefaults()
	opts, err := c.clientOptions()
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", c.Name, err)
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", c.Name, err)
	}
	s := &Source{cfg: c, client: client, now: time.Now, began: time.Now(), quiet: landsWithin}
	s.recogniser = convention.New(c.Mappings, s.seen.names)
	return s, nil
}

// Name is the source's name in the configuration.
func (s *Source) Name() string { return s.cfg.Name }

// Close ends all connections; what is being asked fails.
func (s *Source) Close() { s.client.Close() }

// lastReading is what the last call of Lag brought, or a first one if there
// was none yet.
func (s *Source) lastReading(ctx context.Context) ([]sources.Group, error) {
	s.lastMu.Lock()
	last := s.last
	s.lastMu.Unlock()
	if last != nil {
		return last, nil
	}
	return s.Lag(ctx)
}
