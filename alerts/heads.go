package alerts

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// looksAtOnce bounds the lines that one reading looks at the head of. Those
	// that it leaves out come next time.
	looksAtOnce = 200
	// lookFor bounds how long these looks may take.
	lookFor = 5 * time.Second
)

// HeadReader looks at what a read-committed fetch at the position of lines
// returns. A line that is missing in the answer could not be looked at.
type HeadReader interface {
	Heads(ctx context.Context, lines []sources.Lag) (map[sources.Partition]sources.HeadLook, error)
}

// heads remembers what stands at the head of lines, so that a line is looked at
// again only after something changed there.
type heads map[sources.Partition]headSeen

// headSeen is a look, and what the line was like then.
type headSeen struct {
	sources.HeadLook
	position  int64
	stableEnd int64
	end       int64
	topicID   string
}

// still tells whether a look holds for a line: a record stays where it is until
// retention takes it, and nothing stays nothing until something is written.
// Where a line without a commit starts only its watch knows.
func (s headSeen) still(l sources.Lag) bool {
	if l.Position != sources.NoCommit && s.position != l.Position || s.topicID != l.TopicID {
		return false
	}
	if s.Head == sources.HeadRecord {
		return l.Start <= s.Offset && l.End >= s.end
	}
	return s.stableEnd == l.StableEnd && s.end == l.End
}

// of is what is known of the head of a line.
func (h heads) of(l sources.Lag) (sources.HeadLook, bool) {
	seen, ok := h[l.Partition]
	if !ok || !seen.still(l) {
		return sources.HeadLook{}, false
	}
	return seen.HeadLook, true
}

// look looks at the lines that are not known, those that stand before those of
// which only their age is wanted, and returns what is known of all of them now.
func (h heads) look(ctx context.Context, reader HeadReader, stand, undated []sources.Lag) (heads, error) {
	known := heads{}
	ask := append(h.unknown(stand, known), h.unknown(undated, known)...)
	ask = ask[:min(len(ask), looksAtOnce)]
	if len(ask) == 0 || reader == nil {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	found, err := reader.Heads(ctx, ask)
	for _, l := range ask {
		if look, ok := found[l.Partition]; ok && look.Head != sources.HeadNotAsked {
			known[l.Partition] = headSeen{HeadLook: look, position: l.Position, stableEnd: l.StableEnd, end: l.End, topicID: l.TopicID}
		}
	}
	return known, err
}

// unknown sorts out the lines whose head is known still. Of more than can be
// looked at, chance decides which come first: none is left out for ever because
// others cannot be read.
func (h heads) unknown(lines []sources.Lag, known heads) []sources.Lag {
	var ask []sources.Lag
	for _, l := range lines {
		if seen, ok := h[l.Partition]; ok && seen.still(l) {
			known[l.Partition] = seen
		} else {
			ask = append(ask, l)
		}
	}
	if len(ask) > looksAtOnce {
		rand.Shuffle(len(ask), func(i, j int) { ask[i], ask[j] = ask[j], ask[i] })
	}
	return ask
}

// fill writes what is known of the heads into a reading.
func (h heads) fill(lines []sources.Lag) {
	for i := range lines {
		if look, ok := h.of(lines[i]); ok {
			lines[i].Head = look.Head
		}
	}
}
