package alerts

import (
	"slices"
	"time"
)

const (
	keptWaits = 20        // how many waits of a line are remembered
	longWait  = time.Hour // the most that one wait counts for
)

// cadence is a line's habit: its last waits, each how long something readable
// had waited when the position rose. A line that was caught up at every
// reading has waits of 0.
type cadence []time.Duration

func (c *cadence) add(wait time.Duration) {
	*c = append(*c, min(wait, longWait))
	if extra := len(*c) - keptWaits; extra > 0 {
		*c = slices.Delete(*c, 0, extra)
	}
}

// usual is the line's usual gap: the third quartile of its waits, by nearest
// rank, so that it is one that happened. 0 without any.
func (c cadence) usual() time.Duration {
	if len(c) == 0 {
		return 0
	}
	var room [keptWaits]time.Duration
	sorted := append(room[:0], c...)
	slices.Sort(sorted)
	return sorted[(3*len(sorted)+3)/4-1]
}

// threshold is how long a line may stand before that is a stall: the longer of
// what its rule says and twice its usual gap.
func (c cadence) threshold(stallAfter time.Duration) time.Duration {
	return max(stallAfter, 2*c.usual())
}
