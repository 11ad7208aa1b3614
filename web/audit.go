package web

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

type auditJSON struct {
	Entries    []auditEntryJSON `json:"entries"`
	NextCursor *string          `json:"next_cursor"`
}

type auditEntryJSON struct {
	ID      string     `json:"id"`
	At      *time.Time `json:"at"`
	By      string     `json:"by"`
	Action  string     `json:"action"`
	On      string     `json:"on"`
	Outcome string     `json:"outcome"`
}

// auditFilter reads which entries are asked for, the same on the page and in
// the API.
func (q *query) auditFilter() review.AuditFilter {
	return review.AuditFilter{By: q.one("by"), Action: q.one("action"), On: q.one("on")}
}

func (s *Server) showAuditJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	f, limit, cursor := q.auditFilter(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	page, err := s.Audit.Audit(c.Request().Context(), f, limit, cursor)
	if err != nil {
		return err
	}
	answer := auditJSON{Entries: make([]auditEntryJSON, 0, len(page.Entries)), NextCursor: cursorJSON(page.Next)}
	for _, e := range page.Entries {
		answer.Entries = append(answer.Entries, auditEntryJSON{ID: e.ID, At: instant(e.At), By: e.By, Action: e.Action, On: e.On, Outcome: e.Outcome})
	}
	return ok(c, answer)
}

// showAudit lists who did what, newest first.
func (s *Server) showAudit(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	f, cursor := q.auditFilter(), q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	list, err := s.Audit.Audit(c.Request().Context(), f, itemsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.AuditPage{
		Frame: s.frame(c, views.AuditSection, "Audit"), By: f.By, Action: f.Action, On: f.On,
		Pager: pager(c, list.Next, len(list.Entries), views.Unknown),
	}
	for _, e := range list.Entries {
		page.Entries = append(page.Entries, views.AuditRow{At: e.At, By: e.By, Action: e.Action, On: e.On, Outcome: e.Outcome})
	}
	return s.show(c, views.Audit(page))
}
