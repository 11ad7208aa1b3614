package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// discardBody is the body of POST /api/v1/discards.
type discardBody struct {
	IDs    []string    `json:"ids"`
	Cause  string      `json:"cause"`
	Filter *filterBody `json:"filter"`
	Reason string      `json:"reason"`
}

func (b discardBody) request() (review.DiscardRequest, error) {
	given := 0
	for _, there := range []bool{b.IDs != nil, b.Cause != "", b.Filter != nil} {
		if there {
			given++
		}
	}
	switch {
	case given != 1:
		return review.DiscardRequest{}, invalid("say what to discard: exactly one of ids, cause and filter")
	case b.IDs != nil && len(b.IDs) == 0:
		return review.DiscardRequest{}, invalid("ids is empty")
	case slices.Contains(b.IDs, ""):
		return review.DiscardRequest{}, invalid("ids has an empty id")
	}
	r := review.DiscardRequest{Selection: review.Selection{IDs: b.IDs, Cause: b.Cause}, Reason: b.Reason, By: localUser}
	if b.Filter != nil {
		f, err := b.Filter.filter()
		if err != nil {
			return r, err
		}
		r.Filter = &f
	}
	return r, nil
}

// doDiscardJSON discards letters.
func (s *Server) doDiscardJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var body discardBody
		if err := decodeBody(text, &body, "ids", "cause", "filter", "reason"); err != nil {
			return 0, nil, err
		}
		request, err := body.request()
		if err != nil {
			return 0, nil, err
		}
		d, err := s.Clerk.Discard(ctx, request)
		if err != nil {
			return 0, nil, err
		}
		return s.discarded(ctx, http.StatusAccepted, d)
	})
}

// discarded answers with a discard and the first thousand of its letters.
func (s *Server) discarded(ctx context.Context, status int, d review.Discard) (int, any, error) {
	page, err := s.Discards.DiscardItems(ctx, d.ID, mostItems, "")
	return status, discardOf(d, page.Items), err
}

func (s *Server) showDiscardJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	ctx, id := c.Request().Context(), segment(c, "id")
	d, err := s.Discards.DiscardByID(ctx, id)
	if err != nil {
		return orMissing(err, "discard", id)
	}
	status, answer, err := s.discarded(ctx, http.StatusOK, d)
	if err != nil {
		return err
	}
	return writeJSON(c, status, answer)
}

func (s *Server) doUndoJSON(c echo.Context) error {
	text, err := s.emptyBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		d, err := s.Clerk.Undo(ctx, id, localUser)
		if err != nil {
			return 0, nil, orMissing(err, "discard", id)
		}
		return s.discarded(ctx, http.StatusOK, d)
	})
}

// doDraft freezes what a page selected, and shows exactly that before anything
// is decided.
func (s *Server) doDraft(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	selection, err := selectionOf(f)
	if err != nil {
		return err
	}
	d, err := s.Clerk.Draft(ctx, review.DiscardRequest{Selection: selection, By: localUser})
	if err != nil {
		return err
	}
	return s.see(c, views.Path("discards", d.ID))
}

// doDiscard decides a draft, or takes a discard back. Either way the page says
// how it stands now.
func (s *Server) doDiscard(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), segment(c, "id")
	switch f.one("do") {
	case "discard":
		_, err = s.Clerk.Decide(ctx, id, f.one("reason"), localUser)
	case "undo":
		_, err = s.Clerk.Undo(ctx, id, localUser)
	default:
		err = invalid("do: %s is none of discard, undo", quoted(f.one("do")))
	}
	if err != nil {
		return s.discardProblem(c, id, orMissing(err, "discard", id))
	}
	return s.see(c, views.Path("discards", id))
}

// discardProblem shows a discard with why nothing was done.
func (s *Server) discardProblem(c echo.Context, id string, err error) error {
	p, theirs := asProblem(err)
	if !theirs || p.code == codeNotFound {
		return err
	}
	return s.discardPage(c, id, p)
}
