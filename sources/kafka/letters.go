package kafka

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources"
)

// letterLimits bound one fetch of letters, batchBytes what one call brings
// into memory, a last batch more.
var letterLimits = limits{partition: 1 << 20, whole: 8 << 20}

const (
	batchBytes = 16 << 20
	// topicsFor is how old a picture of the topics may be where letters are
	// looked for each second: a new topic is seen that much later.
	topicsFor = 2 * time.Second
)

// DeadLetters reads at most max letters of a topic from the cursor on, read
// committed, from each partition in its order. A nil cursor begins at the
// configured start (Config.From); a partition that came later, a topic that
// was made after we first looked, and one that was made again begin at their
// log's start. Where retention has passed the cursor, reading goes on at the
// start of the log. What was read stands beside an error about the rest.
// sources.ErrNoSuchQueue: the topic is not there.
func (s *Source) DeadLetters(ctx context.Context, queue string, raw []byte, most int) (sources.Batch, error) {
	c, t, err := s.topic(ctx, queue)
	if err != nil {
		return sources.Batch{}, err
	}
	l := &letters{round: s.newRound(c), t: t, starts: map[int32]int64{}, stable: map[int32]int64{}}
	l.settings = s.ofTopics(ctx, []string{queue})[queue]
	if err := l.begin(ctx, raw); err != nil {
		return sources.Batch{}, err
	}
	l.read(ctx, most)
	older := l.cursor.older(l.starts)
	b := sources.Batch{
		Letters: l.found, Next: l.cursor.bytes(), More: l.moved && len(l.waiting()) > 0,
		Older: older, Start: l.starts, Note: l.note(),
	}
	s.letters.done(queue, raw, l)
	if len(l.errs) == len(t.parts) && len(t.parts) > 0 {
		return b, l.firstError()
	}
	return b, nil
}

// topic finds a topic by name. One that is missing from a picture of the
// cluster that is not fresh is looked for once more.
func (s *Source) topic(ctx context.Context, name string) (*cluster, *topic, error) {
	for _, age := range []time.Duration{topicsFor, 0} {
		c, err := s.clusterOf(ctx, []string{name}, age)
		if err != nil {
			return nil, nil, err
		}
		if t := c.topics[name]; t != nil {
			return c, t, t.err
		}
	}
	return nil, nil, fmt.Errorf("topic %s: %w", name, sources.ErrNoSuchQueue)
}

// letters is one look at a dead-letter topic.
type letters struct {
	*round
	t              *topic
	settings       settings
	cursor         cursor
	starts, stable map[int32]int64
	errs           map[int32]error // partitions that could not be read
	found          []sources.DeadLetter
	size           int
	moved          bool
	last           map[int32]int // the fetch that last brought something, so that all get their turn
}

// begin finds where each partition is to be read from and to.
func (l *letters) begin(ctx context.Context, raw []byte) error {
	if err := l.resume(raw); err != nil {
		return err
	}
	all := partitionsOf(l.t)
	edges := []edge{startEdge, stableEdge}
	if l.needsTime() {
		edges = append(edges, since(l.s.now().Add(-l.s.cfg.From.Age)))
	}
	got := l.list(ctx, all, edges...)
	l.errs, l.last = map[int32]error{}, map[int32]int{}
	for _, p := range l.t.parts {
		tp := sources.TopicPartition{Topic: l.t.name, Partition: p.number}
		start, err := got[0].of(tp)
		stable, stableErr := got[1].of(tp)
		if err == nil {
			err = stableErr
		}
		var from int64
		if err == nil && len(got) > 2 {
			from, err = got[2].of(tp)
		}
		if err != nil {
			l.errs[p.number] = err
			continue
		}
		l.starts[p.number], l.stable[p.number] = start, stable
		l.place(ctx, p.number, start, stable, from)
	}
	return nil
}

// resume takes the stored cursor, or makes a new one. The first of a topic has
// every partition pending.
func (l *letters) resume(raw []byte) error {
	id := l.t.id.String()
	if raw == nil {
		l.cursor = cursor{TopicID: id}.clone()
		if l.s.isNew(l.t.name) {
			return nil
		}
		for _, p := range l.t.parts {
			l.cursor.Pending = append(l.cursor.Pending, p.number)
		}
		return nil
	}
	stored, err := parseCursor(raw)
	if err != nil {
		return err
	}
	if stored.TopicID != id { // made again: nothing of it was read
		stored = cursor{TopicID: id}
	}
	l.cursor = stored.clone()
	return nil
}

func (l *letters) needsTime() bool {
	return len(l.cursor.Pending) > 0 && !l.s.cfg.From.All && !l.s.cfg.From.Latest
}

// place puts the cursor of a partition where its log is.
func (l *letters) place(ctx context.Context, p int32, start, stable, from int64) {
	next, read := l.cursor.Next[p]
	switch {
	case !read && slices.Contains(l.cursor.Pending, p):
		next = l.firstPlace(start, stable, from)
		l.cursor.Pending = slices.DeleteFunc(slices.Clone(l.cursor.Pending), func(n int32) bool { return n == p })
		if next > start {
			l.cursor.From[p] = next
		}
	case !read:
		next = start
	case next < start: // retention has passed it
		next = start
	case next > stable: // an open transaction, or the log was cut
		next = l.cut(ctx, p, next, start)
	}
	l.cursor.Next[p] = next
}

// cut finds where to go on when the log may end before our cursor: after an
// unclean election at its end, and without topic ids (before Kafka 2.8), where
// that is how a topic that was made again is told, at its start.
func (l *letters) cut(ctx context.Context, p int32, next, start int64) int64 {
	tp := sources.TopicPartition{Topic: l.t.name, Partition: p}
	end, err := l.list(ctx, map[sources.TopicPartition]bool{tp: true}, endEdge)[0].of(tp)
	switch {
	case err != nil || end >= next:
		return next
	case l.t.id == topicID{}:
		return start
	}
	return end
}

func (l *letters) firstPlace(start, stable, from int64) int64 {
	switch {
	case l.s.cfg.From.All:
		return start
	case l.s.cfg.From.Latest, from < 0: // no record is young enough
		return stable
	}
	return from
}

// waiting are the places that have something to read, those first that had
// nothing for longest.
func (l *letters) waiting() []at {
	var out []at
	for p, stable := range l.stable {
		if next := l.cursor.Next[p]; next < stable && l.errs[p] == nil {
			out = append(out, at{sources.TopicPartition{Topic: l.t.name, Partition: p}, next})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i].Partition, out[j].Partition
		if l.last[a] != l.last[b] {
			return l.last[a] < l.last[b]
		}
		return a < b
	})
	return out
}

// read fetches until there are enough letters, or no more.
func (l *letters) read(ctx context.Context, most int) {
	for turn := 1; len(l.found) < most && l.size < batchBytes && ctx.Err() == nil; turn++ {
		places := l.waiting()
		if len(places) == 0 {
			return
		}
		got := l.fetch(ctx, places, letterLimits, kgo.ReadCommitted())
		stuck := true
		for _, place := range places {
			if l.take(place, got[place.TopicPartition], most) {
				l.last[place.Partition] = turn
				stuck, l.moved = false, true
			}
		}
		if stuck {
			return
		}
	}
}

// take takes the letters of one partition, and tells whether the cursor moved.
func (l *letters) take(place at, g got, most int) bool {
	p := place.Partition
	switch {
	case outOfRange(g.err): // retention overtook us between two requests: the next look begins at its start
		delete(l.stable, p)
		return false
	case g.err != nil:
		l.errs[p] = g.err
		return false
	}
	for _, r := range g.records {
		if len(l.found) >= most {
			return true
		}
		l.found = append(l.found, l.letter(r))
		l.size += sizeOf(r)
		l.cursor.Next[p] = r.Offset + 1
	}
	if g.damaged != nil && len(l.found) < most {
		l.found = append(l.found, l.unreadable(place, g.damaged))
	} else if g.damaged != nil {
		return len(g.records) > 0
	}
	l.cursor.Next[p] = max(g.next, l.cursor.Next[p])
	return l.cursor.Next[p] > place.offset
}

// letter is a record in the words of sources, with what its convention tells.
// Its own timestamp is the best that is known of when it was given up on.
func (l *letters) letter(r *kgo.Record) sources.DeadLetter {
	rec := recordOf(r)
	d := sources.DeadLetter{
		Source: l.s.cfg.Name, Queue: r.Topic,
		Place: sources.Place{TopicID: l.cursor.TopicID, Partition: r.Partition, Offset: r.Offset},
		Key:   rec.Key, Body: rec.Body, Headers: rec.Headers,
		Timestamp: rec.Timestamp, DeadAt: rec.Timestamp,
	}
	d.ExpiresAt, d.ExpiryIs = expiry(l.settings, rec.Timestamp)
	l.s.recogniser.Recognise(&d)
	return d
}

// unreadable stands for the letters of a batch that nobody can unpack, so that
// they are neither lost from sight nor hold up those behind them.
func (l *letters) unreadable(place at, b *damage) sources.DeadLetter {
	d := sources.DeadLetter{
		Source: l.s.cfg.Name, Queue: place.Topic,
		Place:     sources.Place{TopicID: l.cursor.TopicID, Partition: place.Partition, Offset: b.from},
		Timestamp: b.at, DeadAt: b.at, NotTheOriginal: true,
		Reason: sources.Reason{
			Class:   "unreadable batch",
			Message: fmt.Sprintf("offsets %d to %d cannot be read: %v", b.from, b.to, b.err),
		},
	}
	d.ExpiresAt, d.ExpiryIs = expiry(l.settings, b.at)
	return d
}

// note says which partitions could not be seen.
func (l *letters) note() string {
	if len(l.errs) == 0 {
		return ""
	}
	var text []string
	for _, p := range l.t.parts {
		if err := l.errs[p.number]; err != nil {
			text = append(text, fmt.Sprintf("partition %d could not be read: %v", p.number, err))
		}
	}
	const shown = 3
	if more := len(text) - shown; more > 0 {
		text = append(text[:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(text, "; ")
}

func (l *letters) firstError() error {
	for _, p := range l.t.parts {
		if err := l.errs[p.number]; err != nil {
			return err
		}
	}
	return nil
}
