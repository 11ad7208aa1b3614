package web

import (
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// verdicts are all of them, worst first.
var verdicts = []alerts.Verdict{
	alerts.GroupStall, alerts.HeadOfLineStall, alerts.DataLoss, alerts.Stopped, alerts.Unassigned, alerts.OpenTransaction,
	alerts.Unknown, alerts.Rewind, alerts.Slow, alerts.Orphaned, alerts.OK,
}

func words[T ~string](all []T) []string {
	out := make([]string, 0, len(all))
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}

// trouble are words for several verdicts at once, as the page Lag has them.
var trouble = map[string][]alerts.Verdict{
	"stuck":   {alerts.GroupStall, alerts.HeadOfLineStall, alerts.DataLoss, alerts.Stopped},
	"at_risk": {alerts.Unassigned, alerts.OpenTransaction, alerts.Slow},
}

// verdictWords is what a filter by verdict takes.
var verdictWords = append(words(verdicts), "stuck", "at_risk")

// lagFilter selects lines of groups, each by its exact name; an empty field
// selects all.
type lagFilter struct {
	sources, groups, topics, verdicts []string
}

func (q *query) lag() lagFilter {
	return lagFilter{
		sources:  q.many("source"),
		groups:   q.many("group"),
		topics:   q.many("topic"),
		verdicts: verdictsOf(q.among("verdict", verdictWords...)),
	}
}

// verdictsOf is the verdicts by their words.
func verdictsOf(given []string) []string {
	var out []string
	for _, w := range given {
		if several, ok := trouble[w]; ok {
			out = append(out, words(several)...)
			continue
		}
		out = append(out, w)
	}
	return out
}

// apply is the groups that the filter selects, each with the lines that it
// selects. Where it selects lines, lag and verdict are of these lines alone.
func (f lagFilter) apply(groups []alerts.GroupView) []alerts.GroupView {
	var out []alerts.GroupView
	for _, g := range groups {
		if !has(f.sources, g.Source) || !has(f.groups, g.Group) {
			continue
		}
		if len(f.topics) == 0 && len(f.verdicts) == 0 {
			out = append(out, g)
			continue
		}
		if narrow, any := f.narrow(g); any {
			out = append(out, narrow)
		}
	}
	return out
}

func has(wanted []string, name string) bool { return len(wanted) == 0 || slices.Contains(wanted, name) }

// narrow is a group with the lines that the filter selects. A group without
// lines, such as one that could not be read, is selected by its own verdict.
func (f lagFilter) narrow(g alerts.GroupView) (alerts.GroupView, bool) {
	if len(g.Lines) == 0 {
		return g, len(f.topics) == 0 && has(f.verdicts, string(g.Verdict))
	}
	var lines []alerts.LineView
	for _, l := range g.Lines {
		if has(f.topics, l.Topic) && has(f.verdicts, string(l.Verdict)) {
			lines = append(lines, l)
		}
	}
	if len(lines) > 0 && len(lines) < len(g.Lines) {
		g.Lines, g.Verdict = lines, worst(lines)
		g.Lag, g.NotKnown = sumLag(lines)
	}
	return g, len(lines) > 0
}

// worst is the verdict of lines together.
func worst(lines []alerts.LineView) alerts.Verdict {
	for _, v := range verdicts {
		if slices.ContainsFunc(lines, func(l alerts.LineView) bool { return l.Verdict == v }) {
			return v
		}
	}
	return alerts.Unknown
}

// sumLag is the lag of lines together, and of how many it is not known. What
// nobody reads any more is no lag of the group's.
func sumLag(lines []alerts.LineView) (lag int64, unknown int) {
	known := false
	for _, l := range lines {
		switch {
		case l.Verdict == alerts.Orphaned:
		case l.Lag == sources.NotKnown:
			unknown++
		default:
			lag += l.Lag
			known = true
		}
	}
	if !known && unknown > 0 {
		return sources.NotKnown, unknown
	}
	return lag, unknown
}

// showLagJSON lists groups by their names: an order that does not change while
// somebody pages through it, as that by verdict would.
func (s *Server) showLagJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, limit, from := q.lag(), q.limit(), q.place()
	if err := q.done(); err != nil {
		return err
	}
	board := s.Board.Board()
	key := func(g alerts.GroupView) place { return place{g.Source, g.Group} }
	groups, next := after(filter.apply(board.Groups), key, from, limit)
	answer := lagJSON{Groups: make([]groupJSON, 0, len(groups)), Sources: make([]sourceJSON, 0, len(s.Sources)), NextCursor: cursorJSON(next)}
	for _, g := range groups {
		answer.Groups = append(answer.Groups, groupOf(g))
	}
	for _, r := range s.readings(board) {
		if has(filter.sources, r.Source) {
			answer.Sources = append(answer.Sources, sourceOf(r))
		}
	}
	return ok(c, answer)
}
