package web

import (
	"github.com/labstack/echo/v4"
)

func (s *Server) showCausesJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, limit, cursor := q.letters(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	page, err := s.Causes.Causes(c.Request().Context(), filter, limit, cursor)
	if err != nil {
		return err
	}
	answer := causesJSON{Causes: make([]causeJSON, 0, len(page.Causes)), NextCursor: cursorJSON(page.Next), Total: page.Total}
	for _, cause := range page.Causes {
		answer.Causes = append(answer.Causes, causeOf(cause))
	}
	return ok(c, answer)
}
