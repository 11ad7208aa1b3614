package web

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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

// show answers 200 with a page.
func (s *Server) show(c echo.Context, page templ.Component) error {
	return s.render(c, http.StatusOK, page)
}

// see sends the browser to a page after something was done, so that a reload
// does not do it again.
func (s *Server) see(c echo.Context, path string) error {
	c.Response().Header().Set("Location", s.base+path)
	return c.NoContent(http.StatusSeeOther)
}

// problemPage tells of an error, and what to do about it.
func (s *Server) problemPage(c echo.Context, p *problem) views.ErrorPage {
	page := views.ErrorPage{Frame: s.frame(c, views.NoSection, http.StatusText(p.status)), Status: p.status, Code: p.code, Message: sentence(p.message)}
	page.Heading, page.Do = headingOf(p.code), whatToDo(p.code)
	page.Title = page.Heading
	page.Links = []views.Link{{Text: "What is so now", Href: "/"}, {Text: "The review", Href: "/review"}}
	return page
}

func headingOf(code string) string {
	switch code {
	case codeNotFound:
		return "No such page"
	case codeInvalid:
		return "That was not understood"
	case codeForbidden:
		return "Refused"
	case codeMethodNotAllowed:
		return "Not like this"
	case codeConflict, codePlanChanged:
		return "Something else came first"
	case codeRefused, codeUnconfirmed:
		return "Not started"
	case codeTooLarge:
		return "Too much at once"
	case codeUnavailable:
		return "Not just now"
	}
	return "Something went wrong here"
}

func whatToDo(code string) string {
	switch code {
	case codeNotFound:
		return "The link may be old: what it led to may be gone with its source."
	case codeConflict, codePlanChanged:
		return "Nothing was started. Look at the letters again and make a new plan."
	case codeTooLarge:
		return "Select fewer letters, or a whole cause."
	case codeUnavailable:
		return "Try again in a moment."
	case codeInternal:
		return "Nothing was changed that the pages do not show. The log says what happened."
	}
	return ""
}

// sentence is a text that begins and ends like a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// address is the path of this request with some parameters of its query set
// anew: the same list, from another place. An empty value takes one out.
func address(c echo.Context, with map[string]string) string {
	path, query := c.Request().URL.EscapedPath(), c.QueryParams()
	kept := url.Values{}
	for name, values := range query {
		for _, v := range values {
			if v != "" {
				kept.Add(name, v)
			}
		}
	}
	for name, value := range with {
		kept.Del(name)
		if value != "" {
			kept.Set(name, value)
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + kept.Encode()
}

// pager leads on from a page of a list, and back to its beginning. The way
// back to the page before is the browser's: each page has an address of its
// own, and shows the same rows again.
func pager(c echo.Context, next string, shown int, total int64) views.Pager {
	p := views.Pager{Shown: shown, Total: int(total)}
	if c.QueryParam("cursor") != "" {
		p.First = address(c, map[string]string{"cursor": ""})
	}
	if next != "" {
		p.Next = address(c, map[string]string{"cursor": next})
	}
	return p
}

// options is the choices of a filter, those asked for marked.
func options(values, selected []string) []views.Option {
	out := make([]views.Option, 0, len(values))
	for _, v := range values {
		out = append(out, views.Option{Value: v, Selected: len(selected) > 0 && has(selected, v)})
	}
	return out
}

// first is the first of a list, or nothing.
func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// sourceNames are the names of the configured sources.
func (s *Server) sourceNames() []string {
	var out []string
	for _, r := range s.readings(s.Board.Board()) {
		out = append(out, r.Source)
	}
	return out
}

// groupHref is where a group stands on the page Lag.
func groupHref(source, group string) string {
	return "/lag?" + url.Values{"source": {source}, "group": {group}}.Encode()
}
