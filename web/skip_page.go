package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// showNewSkip shows what a skip of a line would park, before anything is armed.
func (s *Server) showNewSkip(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	b := skipBody{Source: q.one("source"), Group: q.one("group"), Topic: q.one("topic")}
	partition, to := q.one("partition"), q.one("to")
	if err := q.lenient(); err != nil {
		return err
	}
	n, err := strconv.ParseInt(partition, 10, 32)
	if err != nil {
		return invalid("partition: %s is no number of a partition", quoted(partition))
	}
	number := int32(n)
	b.Partition = &number
	line, there := s.lineOf(b.line())
	if !there {
		return missing("position of group "+quoted(b.Group)+" on", b.Topic+"/"+partition)
	}
	b.Offset = &line.Position
	if b.ToOffset, err = offsetIn("to", to); err != nil {
		return err
	}
	return s.planPageOf(c, b, to, nil)
}

func (b skipBody) line() sources.Partition {
	p := sources.Partition{Source: b.Source, Group: b.Group, Topic: b.Topic}
	if b.Partition != nil {
		p.Number = *b.Partition
	}
	return p
}

// offsetIn reads an offset from a form; nil when it was left empty.
func offsetIn(field, text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // an empty field is no mistake
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, invalid("%s: %s is no offset", field, quoted(text))
	}
	return &n, nil
}

// lineOf is a line as last read.
func (s *Server) lineOf(p sources.Partition) (alerts.LineView, bool) {
	for _, l := range groupIn(s.Board.Board(), p.Source, p.Group).Lines {
		if l.Topic == p.Topic && l.Number == p.Number {
			return l, true
		}
	}
	return alerts.LineView{}, false
}

// planPageOf shows a plan, or why there is none.
func (s *Server) planPageOf(c echo.Context, b skipBody, to string, refused *problem) error {
	asked, err := b.request()
	if err != nil {
		return err
	}
	plan, err := s.Skipper.Plan(c.Request().Context(), asked)
	if refused == nil && err != nil {
		p, theirs := asProblem(err)
		if !theirs {
			return err
		}
		refused = p
	}
	if plan.Line.Group == "" {
		plan = skips.Skip{Line: asked.Line, From: asked.Offset, To: asked.Offset + 1}
	}
	page := s.skipPage(c, plan)
	page.ToOffset = to
	status := http.StatusOK
	if refused != nil {
		status, page.Problem = refused.status, sentence(refused.message)
	}
	return s.render(c, status, views.Skip(page))
}

// doSkip arms a skip from its plan.
func (s *Server) doSkip(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	b := skipBody{Source: f.one("source"), Group: f.one("group"), Topic: f.one("topic"), Stop: f.one("stop") == "yes"}
	n, err := strconv.ParseInt(f.one("partition"), 10, 32)
	if err != nil {
		return invalid("partition: %s is no number of a partition", quoted(f.one("partition")))
	}
	number := int32(n)
	b.Partition = &number
	if b.Offset, err = offsetIn("offset", f.one("offset")); err != nil {
		return err
	}
	if b.ToOffset, err = offsetIn("to_offset", f.one("to_offset")); err != nil {
		return err
	}
	asked, err := b.request()
	if err != nil {
		return err
	}
	armed, err := s.Skipper.Arm(c.Request().Context(), asked)
	if err != nil {
		p, theirs := asProblem(err)
		if !theirs {
			return err
		}
		return s.planPageOf(c, b, f.one("to_offset"), p)
	}
	return s.see(c, views.Path("skips", armed.ID))
}

func (s *Server) showSkip(c echo.Context) error { return s.oneSkip(c, nil) }

func (s *Server) oneSkip(c echo.Context, p *problem) error {
	id := segment(c, "id")
	one, err := s.Skips.Skip(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, "skip", id)
	}
	page := s.skipPage(c, one)
	status := http.StatusOK
	if p != nil {
		status, page.Problem = p.status, sentence(p.message)
	}
	return s.render(c, status, views.Skip(page))
}

// doSkipOrder disarms a skip or undoes it. Either way the page says how it
// stands now.
func (s *Server) doSkipOrder(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), segment(c, "id")
	switch f.one("do") {
	case "disarm":
		_, err = s.Skipper.Disarm(ctx, id, localUser)
	case "undo":
		_, err = s.Skipper.Undo(ctx, id, localUser)
	default:
		err = invalid("do: %s is none of disarm, undo", quoted(f.one("do")))
	}
	if err == nil {
		return s.see(c, views.Path("skips", id))
	}
	p, theirs := asProblem(orMissing(err, "skip", id))
	if !theirs || p.code == codeNotFound {
		return err
	}
	return s.oneSkip(c, p)
}

func (s *Server) skipPage(c echo.Context, one skips.Skip) views.SkipPage {
	page := views.SkipPage{
		Frame: s.frame(c, views.IncidentsSection, "Park and skip"), ID: one.ID, State: string(one.State), Step: string(one.Step),
		Source: one.Line.Source, Group: one.Line.Group, Topic: one.Line.Topic, Partition: one.Line.Number, From: one.From, To: one.To,
		End: views.Unknown, Queue: one.Queue, WaitsFor: one.WaitsFor, By: one.By, ArmedAt: one.ArmedAt, ExpiresAt: one.ExpiresAt, EndedAt: one.EndedAt,
		Outcome: string(one.Outcome), Error: one.Error, Stoppable: s.Skipper.Stoppable(one.Line),
	}
	if l, there := s.lineOf(one.Line); there {
		page.End = l.StableEnd
	}
	for i, p := range one.Parked {
		if i == 0 {
			page.Head = recordView(&p.Record, alerts.Evidence{})
		}
		page.Parked = append(page.Parked, parkedRow(p))
	}
	page.Incident = s.incidentOfGroup(c, one.Line)
	return page
}

func parkedRow(p skips.Parked) views.ParkedRow {
	row := views.ParkedRow{
		Offset: p.Record.Offset, Key: bytesView(p.Record.Key, shownKey), At: p.Record.Timestamp,
		Size: sizeOf(p.Record.Key, int64(len(p.Record.Body)), p.Record.Headers),
	}
	if p.Copied() {
		row.Place = fmt.Sprintf("%s, partition %d, offset %d", p.Queue, p.Partition, p.AtOffset)
	}
	return row
}

// incidentOfGroup is the open incident of a line's group; nil when there is none.
func (s *Server) incidentOfGroup(c echo.Context, p sources.Partition) *views.IncidentRef {
	f := alerts.IncidentFilter{Status: alerts.Open, Sources: []string{p.Source}, Groups: []string{p.Group}}
	list, _, err := s.Incidents.Incidents(c.Request().Context(), f, 1, "")
	if err != nil || len(list) == 0 {
		return nil
	}
	return &views.IncidentRef{ID: list[0].ID, Number: list[0].Number}
}

// showSkips lists skips.
func (s *Server) showSkips(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	states, cursor := q.skipStates(), q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	list, next, err := s.Skips.Skips(c.Request().Context(), states, itemsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.SkipsPage{Frame: s.frame(c, views.IncidentsSection, "Park and skip"), Pager: pager(c, next, len(list), views.Unknown)}
	page.Skips = skipRows(list)
	return s.show(c, views.Skips(page))
}

func skipRows(list []skips.Skip) []views.SkipRow {
	var out []views.SkipRow
	for _, one := range list {
		out = append(out, views.SkipRow{
			ID: one.ID, State: string(one.State), Outcome: string(one.Outcome), Source: one.Line.Source, Group: one.Line.Group, Topic: one.Line.Topic,
			Partition: one.Line.Number, From: one.From, To: one.To, Records: len(one.Parked), By: one.By, At: one.ArmedAt,
		})
	}
	return out
}

// skipHref leads to the plan of a skip past the record at which an open incident
// stands; "" where it stands at none.
func skipHref(i alerts.Incident) string {
	line := i.Evidence.Line
	if !i.ResolvedAt.IsZero() || line.Topic == "" || i.Evidence.Position < 0 || i.Group == "" {
		return ""
	}
	return newSkipHref(line)
}

func newSkipHref(p sources.Partition) string {
	return "/skips/new?" + url.Values{"source": {p.Source}, "group": {p.Group}, "topic": {p.Topic}, "partition": {strconv.Itoa(int(p.Number))}}.Encode()
}

// skipsOf are the skips of an incident's lines while it stood.
func (s *Server) skipsOf(ctx context.Context, i alerts.Incident) ([]views.SkipRow, error) {
	list, err := s.Skips.SkipsOf(ctx, i.Source, i.Group, i.OpenedAt)
	if err != nil {
		return nil, err
	}
	return skipRows(slices.DeleteFunc(list, func(one skips.Skip) bool {
		return !slices.Contains(i.Lines, one.Line) || !i.ResolvedAt.IsZero() && one.ArmedAt.After(i.ResolvedAt)
	})), nil
}
