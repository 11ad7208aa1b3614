package sqs

import (
	"context"
	"maps"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// Backlogs counts what waits in each work queue, by the attributes alone: a
// queue that somebody works on is never received from. Each has its own error.
func (s *Source) Backlogs(ctx context.Context) ([]sources.Backlog, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	all := s.inventory.snapshot()
	feeds := feedsOf(all)
	var out []sources.Backlog
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if f := all[name]; !s.isDeadLetters(name, feeds[name]) {
			out = append(out, sources.Backlog{
				Queue: name, Visible: f.counts.visible, InFlight: f.counts.inFlight, Visibility: f.visibility, FIFO: f.fifo, ReadAt: f.readAt, Err: f.err,
			})
		}
	}
	return out, nil
}
