package web

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// order is one of pause, resume and cancel.
type order func(ctx context.Context, id, by string) (review.Redrive, error)

// orderOf is the order of a name; nil for a name that is none.
func (s *Server) orderOf(name string) order {
	switch name {
	case "pause":
		return s.Control.Pause
	case "resume":
		return s.Control.Resume
	case "cancel":
		return s.Control.Cancel
	}
	return nil
}

func (s *Server) doPauseJSON(c echo.Context) error  { return s.orderJSON(c, s.Control.Pause) }
func (s *Server) doResumeJSON(c echo.Context) error { return s.orderJSON(c, s.Control.Resume) }
func (s *Server) doCancelJSON(c echo.Context) error { return s.orderJSON(c, s.Control.Cancel) }

// orderJSON gives an order to the redrive that the path names, and answers with
// the redrive.
func (s *Server) orderJSON(c echo.Context, give order) error {
	text, err := s.emptyBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		job, err := give(ctx, id, localUser)
		if err != nil {
			return 0, nil, orMissing(err, "redrive", id)
		}
		whole, err := s.wholeJob(ctx, job)
		return http.StatusOK, whole, err
	})
}

// emptyBody reads a body that may be left out, or be an object without fields.
func (s *Server) emptyBody(c echo.Context) ([]byte, error) {
	if err := noParameters(c); err != nil {
		return nil, err
	}
	text, err := readBody(c)
	if err != nil || len(text) == 0 {
		return text, err
	}
	return text, decodeBody(text, &struct{}{})
}

// rateBody is the body of POST /api/v1/redrives/{id}/rate.
type rateBody struct {
	RatePerSecond *float64 `json:"rate_per_second"`
}

// doRateJSON changes how fast a redrive goes; null is as fast as the target
// takes them.
func (s *Server) doRateJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var body rateBody
		if err := decodeBody(text, &body, "rate_per_second"); err != nil {
			return 0, nil, err
		}
		rate, err := rateOf(body.RatePerSecond)
		if err != nil {
			return 0, nil, err
		}
		job, err := s.Control.SetRate(ctx, id, rate, localUser)
		if err != nil {
			return 0, nil, orMissing(err, "redrive", id)
		}
		whole, err := s.wholeJob(ctx, job)
		return http.StatusOK, whole, err
	})
}

// rateOf is a rate as the review counts it: 0 for none.
func rateOf(given *float64) (float64, error) {
	switch {
	case given == nil:
		return 0, nil
	case *given <= 0 || math.IsInf(*given, 0):
		return 0, invalid("rate_per_second must be more than 0, or left out for no limit")
	}
	return *given, nil
}

// settleBody is the body of POST /api/v1/redrives/items/{id}/settle.
type settleBody struct {
	As string `json:"as"`
}

// doSettleJSON decides an item of which nobody could tell whether it arrived.
func (s *Server) doSettleJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var body settleBody
		if err := decodeBody(text, &body, "as"); err != nil {
			return 0, nil, err
		}
		item, err := s.settle(ctx, id, body.As)
		return http.StatusOK, itemOf(item), err
	})
}

func (s *Server) settle(ctx context.Context, item, as string) (review.Item, error) {
	switch decided := review.SettledAs(as); decided {
	case review.SettledSent, review.SettledNotSent:
		settled, err := s.Settler.SettleItem(ctx, item, decided, localUser)
		return settled, orMissing(err, "redrive item", item)
	}
	return review.Item{}, invalid("as: %s is none of sent, not_sent", quoted(as))
}

// doOrder gives an order from the page of a redrive, and sends the browser back
// to it. An order that comes too late changes nothing, and the page says how it
// stands now.
func (s *Server) doOrder(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), segment(c, "id")
	if name := f.one("do"); name == "rate" {
		err = s.setRate(ctx, id, f)
	} else if give := s.orderOf(name); give != nil {
		_, err = give(ctx, id, localUser)
	} else {
		err = invalid("do: %s is none of pause, resume, cancel, rate", quoted(name))
	}
	var late *review.StateError
	if err != nil && !errors.As(err, &late) {
		return orMissing(err, "redrive", id)
	}
	return s.see(c, views.Path("redrives", id))
}

func (s *Server) setRate(ctx context.Context, id string, f form) error {
	given, err := f.number("rate")
	if err != nil {
		return err
	}
	rate, err := rateOf(given)
	if err != nil {
		return err
	}
	_, err = s.Control.SetRate(ctx, id, rate, localUser)
	return err
}

// doSettle decides an item from the page of its redrive.
func (s *Server) doSettle(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	item, err := s.settle(c.Request().Context(), segment(c, "id"), f.one("as"))
	if err != nil {
		return err
	}
	return s.see(c, views.Path("redrives", item.Redrive))
}

// choices are the other queues that the letters of a plan could go to.
func (s *Server) choices(ctx context.Context, plan review.Plan) ([]views.Choice, error) {
	list, err := s.Desk.Choices(ctx, plan)
	out := make([]views.Choice, len(list))
	for i, c := range list {
		out[i] = views.Choice(c)
	}
	return out, err
}
