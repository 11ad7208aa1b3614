package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// skipBody is the body of POST /api/v1/skips.
type skipBody struct {
	Source    string `json:"source"`
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition *int32 `json:"partition"`
	Offset    *int64 `json:"offset"`
	ToOffset  *int64 `json:"to_offset"`
	ExpiresIn string `json:"expires_in"`
	Stop      bool   `json:"stop"`
	DryRun    bool   `json:"dry_run"`
}

func (b skipBody) request() (skips.Request, error) {
	r := skips.Request{Line: sources.Partition{Source: b.Source, Group: b.Group, Topic: b.Topic}, ToOffset: sources.NotKnown, Stop: b.Stop, By: localUser}
	switch {
	case b.Source == "" || b.Group == "" || b.Topic == "":
		return r, invalid("source, group and topic are needed")
	case b.Partition == nil || *b.Partition < 0:
		return r, invalid("partition is needed, and not negative")
	case b.Offset == nil || *b.Offset < 0:
		return r, invalid("offset is needed, and not negative: it is where the group stands")
	}
	r.Line.Number, r.Offset = *b.Partition, *b.Offset
	if b.ToOffset != nil {
		r.ToOffset = *b.ToOffset
	}
	if b.ExpiresIn == "" {
		return r, nil
	}
	d, err := time.ParseDuration(b.ExpiresIn)
	if err != nil || d <= 0 {
		return r, invalid("expires_in: %s is no length of time such as 30m", quoted(b.ExpiresIn))
	}
	r.ExpiresIn = d
	return r, nil
}

// doSkipJSON arms a skip, or says what it would park.
func (s *Server) doSkipJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var b skipBody
		if err := decodeBody(text, &b, "source", "group", "topic", "partition", "offset", "to_offset", "expires_in", "stop", "dry_run"); err != nil {
			return 0, nil, err
		}
		asked, err := b.request()
		if err != nil {
			return 0, nil, err
		}
		if b.DryRun {
			plan, err := s.Skipper.Plan(ctx, asked)
			return http.StatusOK, skipOf(plan), err
		}
		armed, err := s.Skipper.Arm(ctx, asked)
		return http.StatusAccepted, skipOf(armed), err
	})
}

func (s *Server) showSkipsJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	states, limit, cursor := q.skipStates(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	list, next, err := s.Skips.Skips(c.Request().Context(), states, limit, cursor)
	if err != nil {
		return err
	}
	answer := skipsJSON{Skips: make([]skipJSON, 0, len(list)), NextCursor: cursorJSON(next)}
	for _, one := range list {
		answer.Skips = append(answer.Skips, skipOf(one))
	}
	return ok(c, answer)
}

func (q *query) skipStates() (out []skips.State) {
	for _, state := range q.among("state", string(skips.Armed), string(skips.Done), string(skips.Failed), string(skips.Disarmed), string(skips.Undone)) {
		out = append(out, skips.State(state))
	}
	return out
}

func (s *Server) showSkipJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	one, err := s.Skips.Skip(c.Request().Context(), segment(c, "id"))
	if err != nil {
		return orMissing(err, "skip", segment(c, "id"))
	}
	return ok(c, skipOf(one))
}

func (s *Server) doDisarmJSON(c echo.Context) error   { return s.skipOrder(c, s.Skipper.Disarm) }
func (s *Server) doUndoSkipJSON(c echo.Context) error { return s.skipOrder(c, s.Skipper.Undo) }

// skipOrder gives an order to the skip that the path names, and answers with it.
func (s *Server) skipOrder(c echo.Context, give func(ctx context.Context, id, by string) (skips.Skip, error)) error {
	text, err := s.emptyBody(c)
	if err != nil {
		return err
	}
	id := segment(c, "id")
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		one, err := give(ctx, id, localUser)
		if err != nil {
			return 0, nil, orMissing(err, "skip", id)
		}
		return http.StatusOK, skipOf(one), nil
	})
}
