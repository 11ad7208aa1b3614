//go:build campaign

package campaign

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// count is how often a point was killed; "" is for random kills.
func (t *tally) count(point string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if point == "" {
		return t.other
	}
	return t.kills[point]
}

// short gives the points that were killed less often than they should.
func (t *tally) short() (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.points {
		if t.kills[p] < t.want {
			names = append(names, fmt.Sprintf("%s (%d of %d)", p, t.kills[p], t.want))
		}
	}
	return names
}

// set sets a configuration of the target.
func (k *kafka) set(ctx context.Context, key, value string) error {
	_, err := k.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}, k.name)
	return err
}

func (c *counts) add(o counts) {
	c.runs += o.runs
	c.letters += o.letters
	c.kills += o.kills
	c.arrived += o.arrived
	c.lost += o.lost
	c.duplicated += o.duplicated
	c.changed += o.changed
	c.flagged += o.flagged
	c.resent += o.resent
	c.bytes += o.bytes
	c.audited += o.audited
	c.pausedByCrashes += o.pausedByCrashes
	c.both += o.both
	c.violations += o.violations
}
