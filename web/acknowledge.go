package web

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/views"
)

// doAcknowledgeJSON says that somebody looks after an incident.
func (s *Server) doAcknowledgeJSON(c echo.Context) error {
	text, err := s.emptyBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		in, err := s.Responder.Acknowledge(ctx, id, localUser)
		if err != nil {
			return 0, nil, orMissing(err, "incident", id)
		}
		return http.StatusOK, s.incidentOf(in), nil
	})
}

// doAcknowledge does the same from the incident's page.
func (s *Server) doAcknowledge(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	if what := f.one("do"); what != "acknowledge" {
		return invalid("do: %s is not acknowledge", quoted(what))
	}
	if _, err := s.Responder.Acknowledge(c.Request().Context(), id, localUser); err != nil {
		return orMissing(err, "incident", id)
	}
	return s.see(c, views.Path("incidents", id))
}
