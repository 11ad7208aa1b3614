package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// LagQuery asks for the lag of some lines of a group over time, and for that of
// its other lines.
type LagQuery struct {
	Source, Group string
	Lines         []sources.Partition
	From, To      time.Time
	Points        int // at most so many, evenly spaced
}

// LagSeries is lag over time, oldest first: sources.NotKnown where nothing was
// recorded, or nothing could be read. Both are as long.
type LagSeries struct {
	From, To time.Time
	Ours     []int64 // of the lines asked for, together
	Others   []int64 // of the other lines
}

// Lag is what was recorded of the lag of a group. Of the readings that share a
// point the first is told. A group of which nothing was recorded has no points
// that are known.
func (r *Recorder) Lag(ctx context.Context, q LagQuery) (LagSeries, error) {
	s := newSeries(q, r.Every)
	if len(s.Ours) == 0 {
		return LagSeries{}, nil
	}
	if err := r.Store.Chunks(ctx, q.Source, q.Group, q.From, q.To, s.chunk); err != nil {
		return LagSeries{}, err
	}
	if now, there := r.current(q.Source, q.Group); there {
		if err := s.chunk(now); err != nil {
			return LagSeries{}, err
		}
	}
	return s.LagSeries, nil
}

// series is a LagSeries while it is read.
type series struct {
	LagSeries
	step time.Duration
	of   map[lineKey]bool
}

// newSeries has a point for each reading, or fewer than there are readings.
func newSeries(q LagQuery, every time.Duration) *series {
	s := &series{LagSeries: LagSeries{From: q.From, To: q.To}, of: map[lineKey]bool{}}
	if q.Points < 2 || every <= 0 || !q.To.After(q.From) {
		return s
	}
	s.step = max(every, q.To.Sub(q.From)/time.Duration(q.Points-1))
	n := int(q.To.Sub(q.From)/s.step) + 1
	s.Ours, s.Others = slices.Repeat([]int64{sources.NotKnown}, n), slices.Repeat([]int64{sources.NotKnown}, n)
	for _, p := range q.Lines {
		s.of[keyOf(p)] = true
	}
	return s
}

func (s *series) chunk(c Chunk) error {
	text, err := unpacker.DecodeAll(c.Packed, nil)
	if err != nil {
		return fmt.Errorf("unpack the readings of %s from %s on: %w", c.Group, c.Begins.UTC().Format(time.RFC3339), err)
	}
	for line := range bytes.Lines(text) {
		at, ok := timeOf(line)
		if i := s.point(at); ok && i >= 0 && s.Ours[i] == sources.NotKnown && s.Others[i] == sources.NotKnown {
			if err := s.take(i, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// point is the point that an instant belongs to, the nearest; -1 for none.
func (s *series) point(at time.Time) int {
	i := int(at.Sub(s.From.Add(-s.step/2)) / s.step)
	if at.Before(s.From.Add(-s.step/2)) || i >= len(s.Ours) {
		return -1
	}
	return i
}

func (s *series) take(i int, line []byte) error {
	var r traceReading
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read a reading: %w", err)
	}
	sums := map[bool]int64{}
	for _, l := range r.group(traceHead{}, time.Time{}).Lines {
		ours := s.of[keyOf(l.Partition)]
		sum, known := sums[ours]
		switch {
		case l.Err != nil || l.PositionErr != nil || known && sum < 0:
			sums[ours] = sources.NotKnown // a sum without one of them would be a lie
		case l.Position >= 0:
			sums[ours] = sum + max(0, l.StableEnd-max(l.Position, l.Start))
		}
	}
	for ours, sum := range sums {
		if ours {
			s.Ours[i] = sum
		} else {
			s.Others[i] = sum
		}
	}
	return nil
}

// timeOf is the time of a reading, which stands first in its line.
func timeOf(line []byte) (time.Time, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"t":`))
	number, _, found := bytes.Cut(rest, []byte(","))
	t, err := strconv.ParseFloat(string(number), 64)
	return moment(t), ok && found && err == nil
}
