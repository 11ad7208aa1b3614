package web

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// What the chart of an incident shows beside it, and how much of it at most.
const (
	chartBefore = 15 * time.Minute
	chartAfter  = 10 * time.Minute
	chartMost   = 72 * time.Hour
	chartPoints = 240
)

// chartOf is the lag of the incident's lines and that of their peers, from
// before it began until now, or until after its end; nil when nothing was
// recorded, and of a dead-letter queue.
func (s *Server) chartOf(ctx context.Context, i alerts.Incident) (*views.Chart, error) {
	if i.Group == "" || s.History == nil {
		return nil, nil //nolint:nilnil // no chart is no error
	}
	to := s.Now()
	if !i.ResolvedAt.IsZero() && i.ResolvedAt.Add(chartAfter).Before(to) {
		to = i.ResolvedAt.Add(chartAfter)
	}
	from := sinceOf(i).Add(-chartBefore)
	if from.Before(to.Add(-chartMost)) {
		from = to.Add(-chartMost)
	}
	lag, err := s.History.Lag(ctx, alerts.LagQuery{Source: i.Source, Group: i.Group, Lines: i.Lines, From: from, To: to, Points: chartPoints})
	if err != nil || !recorded(lag.Ours) {
		return nil, err
	}
	chart := &views.Chart{From: lag.From, To: lag.To, Since: sinceOf(i), Line: lag.Ours, LineName: plural(len(i.Lines), "partition")}
	if recorded(lag.Others) {
		chart.Others = lag.Others
	}
	if len(i.Lines) == 1 {
		chart.LineName = "Partition " + lineName(i.Lines[0].Topic, i.Lines[0].Number, false)
	}
	if !i.ResolvedAt.IsZero() {
		chart.Until = i.Toll.StoodAt
	}
	return chart, nil
}

// recorded tells whether a line has anything to draw.
func recorded(lag []int64) bool {
	known := 0
	for _, n := range lag {
		if n >= 0 {
			known++
		}
	}
	return known > 1
}
