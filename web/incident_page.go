package web

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// incidentsOnPage is how many past incidents a page lists.
const incidentsOnPage = 50

// showIncidents lists the open incidents and the past ones.
func (s *Server) showIncidents(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, cursor := q.incidents(), q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	page := views.IncidentsPage{
		Frame: s.frame(c, views.IncidentsSection, "Incidents"), Group: first(filter.Groups), Status: c.QueryParam("status"), Filters: incidentFilters(c, filter.Status),
		Pager: views.Pager{Total: views.Unknown},
	}
	if filter.Status != alerts.Resolved {
		if err := s.openIncidents(c, &page, filter); err != nil {
			return err
		}
	}
	if filter.Status != alerts.Open {
		if err := s.pastIncidents(c, &page, filter, cursor); err != nil {
			return err
		}
	}
	return s.show(c, views.Incidents(page))
}

func incidentFilters(c echo.Context, asked alerts.Status) []views.Filter {
	var out []views.Filter
	for _, choice := range []struct {
		text   string
		status alerts.Status
	}{{"All", alerts.AnyStatus}, {"Open", alerts.Open}, {"Resolved", alerts.Resolved}} {
		out = append(out, views.Filter{
			Text: choice.text, Count: views.Unknown, Current: asked == choice.status, Mark: string(choice.status),
			Href: address(c, map[string]string{"status": string(choice.status), "cursor": ""}),
		})
	}
	return out
}

func (s *Server) openIncidents(c echo.Context, page *views.IncidentsPage, filter alerts.IncidentFilter) error {
	filter.Status = alerts.Open
	open, _, err := s.Incidents.Incidents(c.Request().Context(), filter, mostLimit, "")
	for _, i := range open {
		if i.AlreadySo {
			page.Already = append(page.Already, incidentRow(i))
			continue
		}
		page.Open = append(page.Open, incidentRow(i))
	}
	return err
}

func (s *Server) pastIncidents(c echo.Context, page *views.IncidentsPage, filter alerts.IncidentFilter, cursor string) error {
	filter.Status = alerts.Resolved
	past, next, err := s.Incidents.Incidents(c.Request().Context(), filter, incidentsOnPage, cursor)
	for _, i := range past {
		page.Past = append(page.Past, incidentRow(i))
	}
	page.Pager = pager(c, next, len(past), views.Unknown)
	return err
}

func incidentRow(i alerts.Incident) views.IncidentRow {
	row := views.IncidentRow{
		IncidentRef: refOf(i), Title: cmp.Or(i.Title, whatIs(i)), Source: i.Source, Group: cmp.Or(i.Group, i.Queue), Verdict: string(i.Verdict),
		Severity: i.Severity, OpenedAt: i.OpenedAt, ResolvedAt: i.ResolvedAt, Resolution: i.Resolution, Pages: i.Pages,
	}
	for _, d := range i.Deliveries {
		row.Deliveries = append(row.Deliveries, views.DeliveryRow{Notifier: d.Notifier, Event: d.Event, State: string(d.State), AcceptedAt: d.AcceptedAt, Attempts: d.Attempts, Error: d.Err})
	}
	return row
}

// showIncident shows one incident.
func (s *Server) showIncident(c echo.Context) error {
	id := segment(c, "id")
	i, err := s.Incidents.Incident(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, "incident", id)
	}
	page := views.IncidentPage{
		Frame: s.frame(c, views.IncidentsSection, cmp.Or(i.Title, whatIs(i))), Incident: incidentRow(i), What: whatIs(i), Since: sinceOf(i),
		Scope: string(i.Scope), Queue: i.Queue, Reason: sentence(i.Reason), Owner: i.Owner, Runbook: i.Runbook, Waiting: i.Evidence.Waiting,
		Peers: sentence(i.Evidence.Peers), LineOf: i.Evidence.Owner, Head: recordView(i.Evidence.Head, i.Evidence), HeadWhy: headWhy(i),
		Suspects: s.suspectRows(i), Sample: i.Evidence.Sample, Timeline: incidentTimeline(i),
		Links: s.linksOf(i.Source, i.Subject()), AcknowledgedBy: i.AcknowledgedBy, AcknowledgedAt: i.AcknowledgedAt,
	}
	if page.Silences, err = s.silencesOf(c.Request().Context(), i); err != nil {
		return err
	}
	if page.Skip = skipHref(i); i.Group != "" {
		if page.Skips, err = s.skipsOf(c.Request().Context(), i); err != nil {
			return err
		}
	}
	if s.Lives != nil {
		if page.Redrives, err = s.Lives.RedrivesAt(c.Request().Context(), id); err != nil {
			return err
		}
	}
	if i.Group != "" {
		page.LagHref = groupHref(i.Source, i.Group)
	}
	page.ReportHref, page.Cost = views.Path("api/v1/incidents", i.ID)+"/report", s.costOf(i)
	if i.ResolvedAt.IsZero() {
		group := groupIn(s.Board.Board(), i.Source, i.Group)
		page.Waiting, page.Lanes, page.Known = waitingOf(group, i), lanesOf(group), knownOf(group, i)
		page.Lines, page.LinesMore = linesStanding(group, i)
	}
	if page.Chart, err = s.chartOf(c.Request().Context(), i); err != nil {
		return err
	}
	return s.show(c, views.Incident(page))
}

func (s *Server) suspectRows(i alerts.Incident) []views.SuspectRow {
	var out []views.SuspectRow
	e, of := i.Evidence, i.Subject()
	for _, suspect := range e.Suspects {
		row := views.SuspectRow{Offset: suspect.Offset}
		if suspect.Offset != of.Offset { // that of the head stands beside it
			row.Links = s.linksOf(i.Source, sources.Subject{Topic: of.Topic, Partition: of.Partition, Offset: suspect.Offset, Group: of.Group})
		}
		for _, a := range suspect.Apart {
			row.Apart = append(row.Apart, views.Apart{Field: a.Field, Value: a.Value, Usual: unlike(a, e.Sample)})
		}
		out = append(out, row)
	}
	return out
}

// incidentTimeline is what happened, by our clock.
func incidentTimeline(i alerts.Incident) []views.Moment {
	var out []views.Moment
	add := func(m views.Moment) {
		if !m.At.IsZero() {
			out = append(out, m)
		}
	}
	stood := views.Moment{At: i.Evidence.Since, Text: "It moved for the last time", Mark: "clock"}
	if at := standsAt(i.Evidence); at >= 0 {
		stood.Text += ", to " + payload.Count(at)
	}
	add(stood)
	add(views.Moment{At: i.OpenedAt, Text: "Opened", More: sentence(i.Reason), Mark: string(i.Verdict)})
	for _, d := range i.Deliveries {
		add(deliveryMoment(d))
	}
	if !i.AcknowledgedAt.IsZero() {
		add(views.Moment{At: i.AcknowledgedAt, Text: "Acknowledged by " + cmp.Or(i.AcknowledgedBy, "somebody"), Mark: "acknowledge"})
	}
	add(views.Moment{At: i.ClosedAt, Text: "Closed by hand in the pager", More: "It pages again if it still stands after a while.", Mark: "clock"})
	add(views.Moment{At: i.ResolvedAt, Text: "Resolved", More: sentence(i.Resolution), Mark: "resolved"})
	slices.SortStableFunc(out, func(a, b views.Moment) int { return a.At.Compare(b.At) })
	return out
}

func deliveryMoment(d alerts.Delivery) views.Moment {
	what := map[string]string{string(alerts.Trigger): "the page", string(alerts.Acknowledge): "the acknowledgement", string(alerts.Update): "the change", string(alerts.Resolve): "the end"}[d.Event]
	m := views.Moment{At: d.AcceptedAt, Text: d.Notifier + " accepted " + cmp.Or(what, d.Event), Mark: "bell"}
	if d.Attempts > 1 {
		m.More = "at attempt " + strconv.Itoa(d.Attempts)
	}
	return m
}

// linksOf are the configured links that lead to one record.
func (s *Server) linksOf(source string, of sources.Subject) []views.OutLink {
	var out []views.OutLink
	for _, at := range s.configured(source).Links.For(of) {
		out = append(out, views.OutLink{Text: at.Name, URL: at.URL})
	}
	return out
}
