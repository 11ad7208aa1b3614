package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the page Lag.
const (
	groupsOnPage = 50
	linesOfGroup = 100  // of each group in a list
	linesOfOne   = 2000 // of the only group
)

// showLag lists the groups, worst first.
func (s *Server) showLag(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, from := q.lag(), q.place()
	if err := q.lenient(); err != nil {
		return err
	}
	open, _, err := s.Incidents.Incidents(c.Request().Context(), alerts.IncidentFilter{Status: alerts.Open}, mostLimit, "")
	if err != nil {
		return err
	}
	board := s.Board.Board()
	all := filter.apply(board.Groups)
	groups, next := after(all, byVerdict, from, groupsOnPage)
	page := views.LagPage{
		Frame: s.frame(c, views.LagSection, "Lag"), AllGroups: len(all), Filters: verdictFilters(c, filter, board.Groups),
		Group: first(filter.groups), Topic: first(filter.topics), Verdict: c.QueryParam("verdict"),
		Sources: options(s.sourceNames(), filter.sources), Pager: pager(c, next, len(groups), int64(len(all))),
	}
	for _, g := range all {
		page.Partitions += len(g.Lines)
	}
	for _, g := range groups {
		page.Groups = append(page.Groups, groupRow(g, open, len(all) == 1))
		if page.ReadAt.IsZero() || g.ReadAt.Before(page.ReadAt) {
			page.ReadAt = g.ReadAt
		}
	}
	page.Empty = emptyLag(board)
	return s.show(c, views.Lag(page))
}

// byVerdict orders groups worst first, and then by name: an order in which a
// group moves only when its own verdict changes.
func byVerdict(g alerts.GroupView) place {
	return place{fmt.Sprintf("%02d", rankOf(g.Verdict)), g.Source, g.Group}
}

// verdictFilters count the groups by verdict, under the other filters.
func verdictFilters(c echo.Context, f lagFilter, groups []alerts.GroupView) []views.Filter {
	asked := c.QueryParam("verdict")
	out := []views.Filter{}
	for _, choice := range []struct {
		text, word string
	}{{"All", ""}, {"Stuck", "stuck"}, {"At risk", "at_risk"}, {"Unknown", "unknown"}, {"OK", "ok"}} {
		f.verdicts = nil
		if choice.word != "" {
			f.verdicts = verdictsOf([]string{choice.word})
		}
		out = append(out, views.Filter{
			Text: choice.text, Count: len(f.apply(groups)), Current: asked == choice.word, Mark: choice.word,
			Href: address(c, map[string]string{"verdict": choice.word, "cursor": ""}),
		})
	}
	return out
}

func groupRow(g alerts.GroupView, open []alerts.Incident, only bool) views.GroupRow {
	row := views.GroupRow{
		Source: g.Source, Group: g.Group, Protocol: string(g.Protocol), State: g.State, Members: g.Members,
		Verdict: string(g.Verdict), Said: saidOf(g), Why: whyOf(g), Lag: g.Lag, LagUnknown: g.NotKnown,
		Behind: behindOf(g), Spark: sparkOf(g.Lines), Error: g.Err, ReadAt: g.ReadAt, Open: only,
	}
	incident := incidentOn(open, g)
	if incident != nil {
		row.Incident = &views.IncidentRef{ID: incident.ID, Number: incident.Number}
		row.Open = row.Open || incident.Pages && !incident.AlreadySo
	}
	lines := slices.Clone(g.Lines)
	slices.SortStableFunc(lines, func(a, b alerts.LineView) int {
		return cmp.Or(cmp.Compare(rankOf(a.Verdict), rankOf(b.Verdict)), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	})
	most := linesOfGroup
	if only {
		most = linesOfOne
	} else {
		row.MoreHref = groupHref(g.Source, g.Group)
	}
	for _, l := range lines[:min(len(lines), most)] {
		row.Lines = append(row.Lines, lineRow(l, incident))
	}
	row.LinesMore = len(lines) - len(row.Lines)
	if row.LinesMore > 0 {
		row.Strip = stripOf(g).Cells
	}
	return row
}

// incidentOn is the open incident of a group.
func incidentOn(open []alerts.Incident, g alerts.GroupView) *alerts.Incident {
	for i := range open {
		if open[i].Source == g.Source && open[i].Group == g.Group {
			return &open[i]
		}
	}
	return nil
}

func lineRow(l alerts.LineView, incident *alerts.Incident) views.LineRow {
	row := views.LineRow{
		Topic: l.Topic, Partition: l.Number, Verdict: string(l.Verdict), Scope: string(l.Scope), Position: l.Position, End: l.End,
		StableEnd: l.StableEnd, Lag: l.Lag, Behind: l.Behind, Owner: l.Owner, Since: l.Since, Reason: l.Reason, Note: l.Note,
		Error: l.Err, Spark: l.Spark,
	}
	if incident != nil && incident.Evidence.Line == l.Partition {
		row.Head = recordView(incident.Evidence.Head, incident.Evidence)
	}
	return row
}

// behindOf is the age of the oldest unread record of a group; negative when it
// is not known of any line.
func behindOf(g alerts.GroupView) time.Duration {
	longest := time.Duration(sources.NotKnown)
	for _, l := range g.Lines {
		if l.Verdict != alerts.Orphaned {
			longest = max(longest, l.Behind)
		}
	}
	return longest
}

// sparkOf adds up the lag of lines at their last readings, oldest first: not
// known where one of them was not.
func sparkOf(lines []alerts.LineView) []int64 {
	shortest := 0
	for i, l := range lines {
		if i == 0 || len(l.Spark) < shortest {
			shortest = len(l.Spark)
		}
	}
	sum := make([]int64, shortest)
	for _, l := range lines {
		for i, n := range l.Spark[len(l.Spark)-shortest:] {
			if n < 0 || sum[i] < 0 {
				sum[i] = views.Unknown
				continue
			}
			sum[i] += n
		}
	}
	return sum
}

// emptyLag is why no group is listed.
func emptyLag(board alerts.Board) string {
	switch {
	case len(board.Groups) > 0:
		return "No group matches these filters. Names are compared whole."
	case len(board.Sources) == 0:
		return "No source with consumer groups was read yet."
	}
	return "The sources have no consumer groups that their patterns select. A group that commits without joining appears with its first commit."
}
