package web

import (
	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
)

func (s *Server) showQueuesJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	limit, from := q.limit(), q.place()
	if err := q.done(); err != nil {
		return err
	}
	all, err := s.Queues.Queues(c.Request().Context())
	if err != nil {
		return err
	}
	page, next := after(all, queueKey, from, limit)
	answer := queuesJSON{Queues: make([]queueJSON, 0, len(page)), NextCursor: cursorJSON(next)}
	for _, queue := range page {
		answer.Queues = append(answer.Queues, queueOf(queue))
	}
	return ok(c, answer)
}

func queueKey(q review.Queue) place { return place{q.Source, q.Name} }

func (s *Server) showFindingsJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	limit, from := q.limit(), q.place()
	if err := q.done(); err != nil {
		return err
	}
	all, err := s.Queues.Findings(c.Request().Context())
	if err != nil {
		return err
	}
	page, next := after(all, findingKey, from, limit)
	answer := findingsJSON{Findings: make([]findingJSON, 0, len(page)), NextCursor: cursorJSON(next)}
	for _, f := range page {
		answer.Findings = append(answer.Findings, findingOf(f))
	}
	return ok(c, answer)
}

func findingKey(f review.Finding) place { return place{f.Source, f.Queue, f.ID} }
