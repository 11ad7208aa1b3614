package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/views"
)

// silenceBody is the body of POST /api/v1/silences.
type silenceBody struct {
	Source string `json:"source"`
	Group  string `json:"group"`
	Topic  string `json:"topic"`
	From   string `json:"from"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

func (b silenceBody) silence() (alerts.Silence, error) {
	from, err1 := instantIn("from", b.From)
	until, err2 := instantIn("until", b.Until)
	return alerts.Silence{Source: b.Source, Group: b.Group, Topic: b.Topic, From: from, Until: until, Reason: b.Reason, By: localUser}, errors.Join(err1, err2)
}

// instantIn reads an instant of a body; the zero time when it is left out.
func instantIn(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, invalid("%s: %s is no instant as 2026-09-10T02:47:00Z", field, quoted(text))
	}
	return t, nil
}

func (s *Server) doSilenceJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var b silenceBody
		if err := decodeBody(text, &b, "source", "group", "topic", "from", "until", "reason"); err != nil {
			return 0, nil, err
		}
		asked, err := b.silence()
		if err != nil {
			return 0, nil, err
		}
		one, err := s.Responder.Silence(ctx, asked)
		return http.StatusCreated, silenceOf(one), err
	})
}

func (s *Server) showSilencesJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	all, limit, cursor := q.silences(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	list, next, err := s.Silences.Silences(c.Request().Context(), all, s.Now(), limit, cursor)
	if err != nil {
		return err
	}
	answer := silencesJSON{Silences: make([]silenceJSON, 0, len(list)), NextCursor: cursorJSON(next)}
	for _, one := range list {
		answer.Silences = append(answer.Silences, silenceOf(one))
	}
	return ok(c, answer)
}

// silences tells whether those that are over are asked for, too.
func (q *query) silences() bool {
	for _, status := range q.among("status", "current", "all") {
		if status == "all" {
			return true
		}
	}
	return false
}

func (s *Server) doEndSilenceJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	if err := s.Responder.EndSilence(c.Request().Context(), segment(c, "id"), localUser); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// showSilences lists what is silent now or will be, with a form for another.
func (s *Server) showSilences(c echo.Context) error {
	return s.silencesPage(c, views.SilenceForm{}, nil)
}

func (s *Server) silencesPage(c echo.Context, form views.SilenceForm, p *problem) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	all, cursor := q.silences(), q.one("cursor")
	if p == nil {
		form.Source, form.Group, form.Topic = q.one("source"), q.one("group"), q.one("topic")
	}
	if err := q.lenient(); err != nil {
		return err
	}
	list, next, err := s.Silences.Silences(c.Request().Context(), all, s.Now(), itemsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.SilencesPage{
		Frame: s.frame(c, views.IncidentsSection, "Silences"), All: all, Form: form,
		Pager: pager(c, next, len(list), views.Unknown),
	}
	for _, one := range list {
		page.Silences = append(page.Silences, silenceRow(one))
	}
	status := http.StatusOK
	if p != nil {
		status, page.Problem = p.status, sentence(p.message)
	}
	return s.render(c, status, views.Silences(page))
}

func silenceRow(s alerts.Silence) views.SilenceRow {
	return views.SilenceRow{ID: s.ID, Source: s.Source, Group: s.Group, Topic: s.Topic, Reason: s.Reason, By: s.By, From: s.From, Until: s.Until}
}

// doSilence sets a silence from a page. What is wrong with it stands on the page
// with what was typed.
func (s *Server) doSilence(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	form := views.SilenceForm{Source: f.one("source"), Group: f.one("group"), Topic: f.one("topic"), Hours: f.one("hours"), Reason: f.one("reason")}
	hours, err := f.number("hours")
	if err == nil {
		err = s.silence(c, form, hours)
	}
	if err != nil {
		p, theirs := asProblem(err)
		if !theirs {
			return err
		}
		return s.silencesPage(c, form, p)
	}
	if back := f.one("incident"); back != "" {
		return s.see(c, views.Path("incidents", back))
	}
	return s.see(c, "/silences")
}

// mostHours is how long a silence from a page lasts at most: four weeks.
const mostHours = 28 * 24

func (s *Server) silence(c echo.Context, form views.SilenceForm, hours *float64) error {
	if hours == nil || *hours <= 0 || *hours > mostHours {
		return invalid("say for how many hours: more than 0, at most %d", mostHours)
	}
	until := s.Now().Add(time.Duration(*hours * float64(time.Hour)))
	_, err := s.Responder.Silence(c.Request().Context(), alerts.Silence{Source: form.Source, Group: form.Group, Topic: form.Topic, Until: until, Reason: form.Reason, By: localUser})
	return err
}

func (s *Server) doEndSilence(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	if what := f.one("do"); what != "end" {
		return invalid("do: %s is not end", quoted(what))
	}
	if err := s.Responder.EndSilence(c.Request().Context(), segment(c, "id"), localUser); err != nil {
		return err
	}
	return s.see(c, "/silences")
}

// silencesOf are the silences that hold back the page of an incident now.
func (s *Server) silencesOf(ctx context.Context, in alerts.Incident) ([]views.SilenceRow, error) {
	if !in.ResolvedAt.IsZero() {
		return nil, nil
	}
	list, _, err := s.Silences.Silences(ctx, false, s.Now(), mostItems, "")
	if err != nil {
		return nil, err
	}
	var out []views.SilenceRow
	for _, one := range list {
		if one.Holds(in, s.Now()) {
			out = append(out, silenceRow(one))
		}
	}
	return out, nil
}
