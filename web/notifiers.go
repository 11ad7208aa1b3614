package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// testedJSON is the answer to a test page that was taken.
type testedJSON struct {
	Notifier   string    `json:"notifier"`
	AcceptedAt time.Time `json:"accepted_at"`
}

// doTestJSON sends a test page through a notifier, and resolves it.
func (s *Server) doTestJSON(c echo.Context) error {
	text, err := s.emptyBody(c)
	if err != nil {
		return err
	}
	name := segment(c, "name")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		err := s.Tester.SendTest(ctx, name, localUser)
		return http.StatusOK, testedJSON{Notifier: name, AcceptedAt: s.Now().UTC()}, err
	})
}

// doTest does the same from the page of notifiers.
func (s *Server) doTest(c echo.Context) error {
	if _, err := readForm(c); err != nil {
		return err
	}
	name := segment(c, "name")
	err := s.Tester.SendTest(c.Request().Context(), name, localUser)
	var refused *alerts.TestError
	switch {
	case errors.As(err, &refused):
		return s.notifiersPage(c, http.StatusServiceUnavailable, &views.Notice{Hue: views.Stuck, Text: "The test page was not taken.", More: sentence(err.Error())})
	case err != nil:
		return err
	}
	return s.see(c, "/notifiers?tested="+url.QueryEscape(name))
}

// showNotifiers lists who is told of incidents, and what they have not been told
// yet.
func (s *Server) showNotifiers(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	tested := q.one("tested")
	if err := q.lenient(); err != nil {
		return err
	}
	var said *views.Notice
	if slices.ContainsFunc(s.Notifiers, func(n Notifier) bool { return n.Name == tested }) {
		said = &views.Notice{Hue: views.Fine, Text: tested + " accepted a test page, and its end."}
	}
	return s.notifiersPage(c, http.StatusOK, said)
}

func (s *Server) notifiersPage(c echo.Context, status int, said *views.Notice) error {
	waiting, err := s.undelivered(c.Request().Context())
	if err != nil {
		return err
	}
	page := views.NotifiersPage{Frame: s.frame(c, views.IncidentsSection, "Notifiers"), Said: said}
	for _, n := range s.Notifiers {
		row := views.NotifierRow{Name: n.Name, Kind: n.Kind, After: n.After, Hears: n.Hears}
		if at := slices.IndexFunc(waiting, func(b alerts.Backlog) bool { return b.Notifier == n.Name }); at >= 0 {
			row.Waiting, row.Since, row.Error = waiting[at].Events, waiting[at].Oldest, waiting[at].Err
		}
		page.Notifiers = append(page.Notifiers, row)
	}
	return s.render(c, status, views.Notifiers(page))
}

func (s *Server) undelivered(ctx context.Context) ([]alerts.Backlog, error) {
	if s.Outbox == nil {
		return nil, nil
	}
	return s.Outbox.Undelivered(ctx)
}

// lateFor is how long an event may wait before every page says so.
const lateFor = time.Minute

// notDelivered are the notifiers that have not been told of something for a while.
// One that is no longer configured cannot be told: that is said at start.
func (s *Server) notDelivered(ctx context.Context) (out []views.NotDelivered) {
	waiting, err := s.undelivered(ctx)
	if err != nil {
		return nil
	}
	for _, b := range waiting {
		here := slices.ContainsFunc(s.Notifiers, func(n Notifier) bool { return n.Name == b.Notifier })
		if here && s.Now().Sub(b.Oldest) > lateFor {
			out = append(out, views.NotDelivered{Notifier: b.Notifier, Since: b.Oldest, Events: b.Events, Error: b.Err})
		}
	}
	return out
}

// doHear takes what a pager tells of an incident. Nobody is signed in here: the
// message proves itself, wherever it seems to come from.
func (s *Server) doHear(c echo.Context) error {
	if s.Inbox == nil {
		return missing("notifier", segment(c, "name"))
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	if err := s.Inbox.Receive(c.Request().Context(), segment(c, "name"), c.Request().Header, body); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
