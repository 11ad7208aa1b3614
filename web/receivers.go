package web

import (
	"slices"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// receiversOn are the groups that read a queue, as last read.
func receiversOn(board alerts.Board, source, queue string) []views.Receiver {
	var out []views.Receiver
	for _, g := range board.Groups {
		if g.Source != source || !slices.ContainsFunc(g.Lines, func(l alerts.LineView) bool { return l.Topic == queue && l.Verdict != alerts.Orphaned }) {
			continue
		}
		lag, _ := sumLag(slices.DeleteFunc(slices.Clone(g.Lines), func(l alerts.LineView) bool { return l.Topic != queue }))
		out = append(out, views.Receiver{Group: g.Group, State: g.State, Lag: lag})
	}
	return out
}
