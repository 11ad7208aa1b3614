package web

import (
	"cmp"
	"slices"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// linesOnIncident is how many lines of an incident its page lists.
const linesOnIncident = 50

// linesStanding are the lines of an incident as last read, the worst first, and how
// many more there are.
func linesStanding(g alerts.GroupView, i alerts.Incident) (rows []views.IncidentLine, more int) {
	several := severalTopics(g)
	lines := slices.DeleteFunc(slices.Clone(g.Lines), func(l alerts.LineView) bool { return !slices.Contains(i.Lines, l.Partition) })
	slices.SortStableFunc(lines, func(a, b alerts.LineView) int {
		return cmp.Or(cmp.Compare(rankOf(a.Verdict), rankOf(b.Verdict)), cmp.Compare(b.Lag, a.Lag))
	})
	for _, l := range lines[:min(len(lines), linesOnIncident)] {
		rows = append(rows, views.IncidentLine{
			Name: lineName(l.Topic, l.Number, several), Verdict: string(l.Verdict), Position: l.Position, Waiting: l.Lag, Grows: l.Grows,
			Since: l.Since, RetentionAt: l.RetentionAt, Owner: l.Owner, Reason: sentence(l.Reason),
		})
	}
	return rows, len(lines) - len(rows)
}

// costOf is what an incident cost, or costs by now; nil when nobody counted.
func (s *Server) costOf(i alerts.Incident) *views.Cost {
	t := i.Toll
	if t.Since.IsZero() && !t.Known() {
		return nil
	}
	cost := &views.Cost{Blocked: t.Blocked(), Worst: views.Unknown, RecordMinutes: views.Unknown}
	if i.ResolvedAt.IsZero() && !t.Since.IsZero() {
		cost.Blocked = s.Now().Sub(t.Since)
	}
	if t.Known() {
		cost.Worst, cost.Last, cost.RecordMinutes = t.Worst, t.Last, int64(t.RecordMinutes())
	}
	return cost
}
