package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// showDiscards lists the discards, newest first.
func (s *Server) showDiscards(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	cursor := q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	list, err := s.Discards.Discards(c.Request().Context(), jobsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.DiscardsPage{Frame: s.frame(c, views.ReviewSection, "Discards"), Pager: pager(c, list.Next, len(list.Discards), list.Total)}
	for _, d := range list.Discards {
		page.Discards = append(page.Discards, s.discardRow(d))
	}
	return s.show(c, views.Discards(page))
}

func (s *Server) discardRow(d review.Discard) views.DiscardRow {
	return views.DiscardRow{
		ID: d.ID, State: string(d.State), Reason: d.Reason, By: d.By, At: d.CreatedAt, Total: d.Total, UndoUntil: d.UndoUntil,
		UndoneAt: d.UndoneAt, UndoneBy: d.UndoneBy, Messages: d.Messages, Left: d.Left, Failed: d.Counts[review.DiscardFailed], CanUndo: d.CanUndo(s.Now()),
	}
}

// showDiscard shows a discard: before it is decided, exactly what it would
// discard; afterwards what became of each letter, and the way back.
func (s *Server) showDiscard(c echo.Context) error {
	return s.discardPage(c, segment(c, "id"), nil)
}

func (s *Server) discardPage(c echo.Context, id string, p *problem) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	cursor := q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	d, err := s.Discards.DiscardByID(ctx, id)
	if err != nil {
		return orMissing(err, "discard", id)
	}
	items, err := s.Discards.DiscardItems(ctx, id, itemsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.DiscardPage{
		Frame: s.frame(c, views.ReviewSection, "Discard "+plural(d.Total, "letter")), Discard: s.discardRow(d),
		Pager: pager(c, items.Next, len(items.Items), items.Total),
	}
	if page.Items, err = s.discardItems(c, items.Items); err != nil {
		return err
	}
	status := http.StatusOK
	if p != nil {
		status, page.Problem = p.status, sentence(p.message)
	}
	return s.render(c, status, views.Discard(page))
}

func (s *Server) discardItems(c echo.Context, items []review.DiscardItem) ([]views.DiscardItem, error) {
	planned := make([]review.Planned, 0, len(items))
	for _, i := range items {
		planned = append(planned, review.Planned{LetterID: i.LetterID})
	}
	letters, err := s.detailed(c.Request().Context(), planned)
	if err != nil {
		return nil, err
	}
	var out []views.DiscardItem
	for _, i := range items {
		l := letters[i.LetterID]
		out = append(out, views.DiscardItem{
			LetterID: i.LetterID, Key: l.row.Key, Queue: l.row.Queue, Place: l.row.Place, State: string(i.State), Error: i.Error, Deletes: l.sqs,
		})
	}
	return out, nil
}
