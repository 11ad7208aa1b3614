package web

import (
	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
)

// incidents reads the filter of incidents: all of them unless it says
// otherwise. An acknowledged incident is open, too.
func (q *query) incidents() alerts.IncidentFilter {
	f := alerts.IncidentFilter{Groups: q.many("group")}
	open, resolved := false, false
	for _, status := range q.among("status", "open", "resolved", "all") {
		open = open || status != "resolved"
		resolved = resolved || status != "open"
	}
	switch {
	case open && !resolved:
		f.Status = alerts.Open
	case resolved && !open:
		f.Status = alerts.Resolved
	}
	return f
}

func (s *Server) showIncidentsJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, limit, cursor := q.incidents(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	incidents, next, err := s.Incidents.Incidents(c.Request().Context(), filter, limit, cursor)
	if err != nil {
		return err
	}
	answer := incidentsJSON{Incidents: make([]incidentJSON, 0, len(incidents)), NextCursor: cursorJSON(next)}
	for _, i := range incidents {
		answer.Incidents = append(answer.Incidents, s.incidentOf(i))
	}
	return ok(c, answer)
}

func (s *Server) showIncidentJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	id := segment(c, "id")
	i, err := s.Incidents.Incident(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, "incident", id)
	}
	return ok(c, s.incidentOf(i))
}
