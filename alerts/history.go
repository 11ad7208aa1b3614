package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/unwedge/unwedge/sources"
)

const (
	// chunkReadings is how many readings of a group are written down together:
	// at 15 s these are five minutes, which a crash may take from the history.
	chunkReadings = 20
	// chunkBytes is how large they may grow before they are written down.
	chunkBytes = 1 << 20
)

// ErrNoHistory is a group of which nothing was ever recorded.
var ErrNoHistory = errors.New("no readings were recorded of this group")

// Chunk is some readings of one group in a row.
type Chunk struct {
	Source, Group string
	Protocol      sources.Protocol
	Begins, Ends  time.Time // of its first and last reading
	Packed        []byte    // zstd of JSON lines, as replay reads them
}

// HistoryStore keeps chunks.
type HistoryStore interface {
	KeepChunks(ctx context.Context, chunks []Chunk) error
	// Chunks gives those of a group that have something from and to an instant,
	// oldest first.
	Chunks(ctx context.Context, source, group string, from, to time.Time, give func(Chunk) error) error
	// ForgetChunks deletes chunks that ended before an instant, at most so many.
	ForgetChunks(ctx context.Context, before time.Time, most int) error
}

// Recorder writes down what the lag loop reads, so that other thresholds can be
// tried on it. What cannot be written down is lost, and holds up no verdict.
type Recorder struct {
	Store HistoryStore
	Keep  time.Duration // how long readings are kept
	Every time.Duration // the time between two readings
	Log   *slog.Logger

	mu     sync.Mutex
	open   map[[2]string]*openChunk // by source and group
	failed bool                     // the last write failed: that is logged once
}

// openChunk is a chunk to which readings are still added.
type openChunk struct {
	Chunk
	lines    bytes.Buffer
	readings int
	most     int
}

// packer packs and unpacks chunks. Its methods used here may be called at the
// same time.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
)

// Record adds one reading of some groups, and writes down the chunks that are
// full with it.
func (r *Recorder) Record(ctx context.Context, groups []sources.Group, now time.Time) {
	r.keep(ctx, r.add(groups, now), now)
}

// Flush writes down all that was read: call it when nothing is read any more.
func (r *Recorder) Flush(ctx context.Context, now time.Time) {
	r.mu.Lock()
	var all []Chunk
	for _, c := range r.open {
		all = append(all, c.pack())
	}
	r.open = nil
	r.mu.Unlock()
	r.keep(ctx, all, now)
}

func (r *Recorder) add(groups []sources.Group, now time.Time) (full []Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[[2]string]*openChunk{}
	}
	for i, g := range groups {
		key := [2]string{g.Source, g.Name}
		c := r.open[key]
		if c == nil { // not all groups at the same reading: a write holds up others
			c = &openChunk{Chunk: Chunk{Source: g.Source, Group: g.Name, Begins: now}, most: chunkReadings - i%(chunkReadings/2)}
			r.open[key] = c
		}
		if c.add(g, now); c.readings >= c.most || c.lines.Len() > chunkBytes {
			full = append(full, c.pack())
			delete(r.open, key)
		}
	}
	return full
}

func (c *openChunk) add(g sources.Group, now time.Time) {
	if g.Protocol != "" { // a reading that failed does not know it
		c.Protocol = g.Protocol
	}
	line, err := json.Marshal(recorded(g, wholeSeconds(now)))
	if err != nil { // of numbers and text there is no such error
		return
	}
	c.lines.Write(append(line, '\n'))
	c.Ends = now
	c.readings++
}

func (c *openChunk) pack() Chunk {
	packed := c.Chunk
	packed.Packed = packer.EncodeAll(c.lines.Bytes(), nil)
	return packed
}

func wholeSeconds(t time.Time) float64 { return math.Floor(float64(t.UnixMilli()) / 1000) }

// forgetMost bounds how many chunks one reading forgets: as many as it can add,
// and some more.
const forgetMost = 200

func (r *Recorder) keep(ctx context.Context, full []Chunk, now time.Time) {
	if len(full) == 0 {
		return
	}
	err := errors.Join(r.Store.KeepChunks(ctx, full), r.Store.ForgetChunks(ctx, now.Add(-r.Keep), len(full)+forgetMost))
	r.mu.Lock()
	before := r.failed
	r.failed = err != nil
	r.mu.Unlock()
	if err != nil && !before {
		r.Log.Warn("readings could not be written down: the lag history has a gap", "err", err)
	}
}

// HistoryQuery says which readings are wanted.
type HistoryQuery struct {
	Source, Group string
	Topics        []string // none: all
	Partitions    []int32  // none: all
	From, To      time.Time
}

func (q HistoryQuery) selects(l traceLine) bool {
	return (len(q.Topics) == 0 || slices.Contains(q.Topics, l.Topic)) && (len(q.Partitions) == 0 || slices.Contains(q.Partitions, l.Partition))
}

// historyHead is the first line of a history.
type historyHead struct {
	Trace    string           `json:"trace"`
	Title    string           `json:"title"`
	Source   string           `json:"source"`
	Group    string           `json:"group"`
	Protocol sources.Protocol `json:"protocol,omitempty"`
	Every    float64          `json:"poll_seconds"`
	Expect   []struct{}       `json:"expect"`
}

// History writes what was recorded of a group as one trace that replay reads.
// Errors: ErrNoHistory, before anything was written.
func (r *Recorder) History(ctx context.Context, q HistoryQuery, w io.Writer) error {
	out := historyWriter{q: q, every: r.Every, to: w}
	if err := r.Store.Chunks(ctx, q.Source, q.Group, q.From, q.To, out.chunk); err != nil {
		return err
	}
	if now, there := r.current(q.Source, q.Group); there {
		if err := out.chunk(now); err != nil {
			return err
		}
	}
	if out.begun {
		return nil
	}
	return r.nothing(ctx, &out)
}

// errFirst ends a look through chunks at the first.
var errFirst = errors.New("there is one")

// nothing writes the first line alone where something was recorded of the group,
// but not of that time.
func (r *Recorder) nothing(ctx context.Context, out *historyWriter) error {
	var first Chunk
	err := r.Store.Chunks(ctx, out.q.Source, out.q.Group, time.Time{}, time.Time{}, func(c Chunk) error {
		first = c
		return errFirst
	})
	switch {
	case errors.Is(err, errFirst):
		return out.begin(first.Protocol)
	case err != nil:
		return err
	}
	return ErrNoHistory
}

// current is what is not written down yet.
func (r *Recorder) current(source, group string) (Chunk, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.open[[2]string{source, group}]
	if c == nil {
		return Chunk{}, false
	}
	return c.pack(), true
}

// historyWriter writes one history.
type historyWriter struct {
	q     HistoryQuery
	every time.Duration
	to    io.Writer
	last  time.Time // of the chunks so far: one may have been written down while we read
	begun bool
}

func (h *historyWriter) begin(p sources.Protocol) error {
	h.begun = true
	return h.line(historyHead{
		Trace: h.q.Source + "/" + h.q.Group, Title: "recorded by Unwedge", Source: h.q.Source, Group: h.q.Group, Protocol: p,
		Every: h.every.Seconds(), Expect: []struct{}{},
	})
}

func (h *historyWriter) line(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a reading: %w", err)
	}
	_, err = h.to.Write(append(text, '\n'))
	return err
}

func (h *historyWriter) chunk(c Chunk) error {
	if !h.begun {
		if err := h.begin(c.Protocol); err != nil {
			return err
		}
	}
	if !c.Begins.After(h.last) {
		return nil
	}
	h.last = c.Ends
	text, err := unpacker.DecodeAll(c.Packed, nil)
	if err != nil {
		return fmt.Errorf("unpack the readings of %s from %s on: %w", c.Group, c.Begins.UTC().Format(time.RFC3339), err)
	}
	for line := range bytes.Lines(text) {
		if err := h.reading(line); err != nil {
			return err
		}
	}
	return nil
}

func (h *historyWriter) reading(line []byte) error {
	var r traceReading
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read a reading: %w", err)
	}
	at := moment(*r.T)
	if at.Before(h.q.From.Truncate(time.Second)) || !h.q.To.IsZero() && at.After(h.q.To) {
		return nil
	}
	r.Partitions = slices.DeleteFunc(r.Partitions, func(l traceLine) bool { return !h.q.selects(l) })
	return h.line(r)
}
