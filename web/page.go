package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/views"
)

// render answers with a page. It is rendered whole before anything is written,
// so that an error half way is an error page and not half a page.
func (s *Server) render(c echo.Context, status int, page templ.Component) error {
	var body bytes.Buffer
	if err := page.Render(c.Request().Context(), &body); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body.Bytes())
	return err
}

// problemPage tells of an error, and what to do about it.
func (s *Server) problemPage(c echo.Context, p *problem) views.ErrorPage {
	return views.ErrorPage{
		Frame:   views.Frame{},
		Status:  p.status,
		Code:    p.code,
		Heading: http.StatusText(p.status),
		Message: p.message,
	}
}
