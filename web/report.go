package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// mostDeeds bounds what a report lists of the audit.
const mostDeeds = 200

// showReport is what is told of an incident in the morning, as Markdown.
func (s *Server) showReport(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	id := segment(c, "id")
	i, err := s.Incidents.Incident(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, "incident", id)
	}
	report := alerts.Report{Incident: i, Zone: s.TimeZone, Now: s.Now()}
	if s.BaseURL != "" {
		report.Link = strings.TrimRight(s.BaseURL, "/") + views.Path("incidents", id)
	}
	if s.Deeds != nil {
		if report.Deeds, report.Cut, err = s.Deeds.Deeds(c.Request().Context(), id, mostDeeds); err != nil {
			return err
		}
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `inline; filename="incident.md"`)
	return c.Blob(http.StatusOK, "text/markdown; charset=utf-8", []byte(report.Markdown()))
}
