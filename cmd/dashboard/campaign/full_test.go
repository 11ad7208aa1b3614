//go:build campaign

package campaign

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

// brokerKills counts how often a broker was killed.
var brokerKills atomic.Int64

// number is a number of the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// wanted tells whether a part of the campaign is to run: CAMPAIGN_ONLY is a
// part of its name.
func wanted(name string) bool { return strings.Contains(name, os.Getenv("CAMPAIGN_ONLY")) }

// campaign is the whole of it.
type campaign struct {
	t       *testing.T
	program string
	points  []string
	seed    uint64
	letters int // of a run
	kills   int // of a run
	until   time.Time
	began   time.Time

	mu      sync.Mutex
	next    uint64
	kinds   map[string]*tally
	results map[string]*counts
	judged  counts   // of the runs that came to their end: the others show nothing
	lines   []string // what failed
}

// TestCampaign kills the program at every place on every kind of broker, then
// has everything go wrong with the brokers, and writes the table.
func TestCampaign(t *testing.T) {
	points, err := failpoints(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	minutes := number("CAMPAIGN_MINUTES", 40)
	c := &campaign{
		t: t, program: executable(t), points: points, seed: uint64(number("CAMPAIGN_SEED", int(time.Now().Unix()%1e6))),
		letters: number("CAMPAIGN_LETTERS", 2000), kills: number("CAMPAIGN_RUN_KILLS", 60), began: time.Now(),
		until: time.Now().Add(time.Duration(minutes) * time.Minute), kinds: map[string]*tally{}, results: map[string]*counts{},
	}
	want, random := number("CAMPAIGN_KILLS", 100), number("CAMPAIGN_RANDOM", 300)
	var lanes sync.WaitGroup
	lane := func(kind string, tally *tally, world func(testing.TB, uint64) broker) {
		if !wanted(kind) {
			return
		}
		c.kinds[kind] = tally
		lanes.Go(func() { c.lane(kind, tally, world) })
	}
	kafka := newTally(points, want, random)
	for range 2 {
		lane("Kafka", kafka, func(t testing.TB, seed uint64) broker {
			server := sourcetest.SharedKafka(t)
			return kafkaOn(t, server, server.Address, seed)
		})
	}
	own := ownEndpoint(t)
	for name, endpoint := range map[string]func(testing.TB) string{"own endpoint": func(testing.TB) string { return own }, "LocalStack": localStack} {
		for _, fifo := range []bool{false, true} {
			kind := map[bool]string{false: name + " standard", true: name + " FIFO"}[fifo]
			lane(kind, newTally(points, want/2, random/4), func(t testing.TB, seed uint64) broker {
				address := endpoint(t)
				return sqsOn(t, name, address, address, seed, fifo)
			})
		}
	}
	lanes.Go(func() { c.nemeses() })
	lanes.Wait()
	c.unreached()
	c.write()
}

// lane has runs of one kind until its tally is full.
func (c *campaign) lane(kind string, tally *tally, world func(testing.TB, uint64) broker) {
	for !c.full(tally) && time.Now().Before(c.until) {
		seed := c.fresh()
		c.t.Run(fmt.Sprintf("%s %d", kind, seed), func(t *testing.T) {
			r, err := do(t, c.program, world(t, seed), tally, seed, c.letters, c.kills)
			c.add(kind, r, err)
			report(t, r, err)
		})
		c.write()
	}
}

func (c *campaign) full(t *tally) bool {
	_, more := t.next(fixedRand())
	return !more
}

func (c *campaign) nemeses() {
	for _, n := range nemeses() {
		if !wanted(n.name) {
			continue
		}
		seed := c.fresh()
		c.t.Run(fmt.Sprintf("%s %d", n.name, seed), func(t *testing.T) {
			r, err := n.suffer(t, c.program, c.points, seed, c.letters, c.kills/2)
			c.add(n.name, r, err)
			report(t, r, err)
		})
		c.write()
	}
}

func (c *campaign) fresh() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return c.seed*1000 + c.next
}

func (c *campaign) add(kind string, r *run, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.lines = append(c.lines, fmt.Sprintf("%s: %s", kind, firstLine(err.Error())))
	}
	if r == nil {
		return
	}
	if c.results[kind] == nil {
		c.results[kind] = &counts{}
	}
	c.results[kind].add(r.counts)
	if err == nil {
		c.judged.add(r.counts)
	}
	if len(r.violations) > 0 {
		c.lines = append(c.lines, fmt.Sprintf("%s: %d violations, the first: %s", kind, len(r.violations), firstLine(r.violations[0])))
	}
}

// unreached fails for a place that nothing has reached.
func (c *campaign) unreached() {
	for _, p := range c.points {
		n := 0
		for tally := range maps.Values(c.kinds) {
			n += tally.kills[p]
		}
		if n == 0 {
			c.lines = append(c.lines, p+" was never reached")
			c.t.Errorf("failpoint %s was never reached", p)
		}
	}
}

func (c *campaign) kindNames() []string { return slices.Sorted(maps.Keys(c.kinds)) }
