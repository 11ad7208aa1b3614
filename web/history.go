package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
)

// showHistory is what was recorded of a group, as one trace that dashboard
// replay reads.
func (s *Server) showHistory(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	asked := q.history()
	if err := q.done(); err != nil {
		return err
	}
	answer := &traceAnswer{c: c}
	err = s.History.History(c.Request().Context(), asked, answer)
	if errors.Is(err, alerts.ErrNoHistory) {
		return missing("recorded reading of the group", asked.Source+"/"+asked.Group)
	}
	return err
}

func (q *query) history() alerts.HistoryQuery {
	h := alerts.HistoryQuery{Source: q.one("source"), Group: q.one("group"), Topics: q.many("topic"), From: q.instant("from"), To: q.instant("to")}
	for _, text := range q.many("partition") {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			q.complain("partition: %s is no number of a partition", quoted(text))
		}
		h.Partitions = append(h.Partitions, int32(n))
	}
	for name, value := range map[string]string{"source": h.Source, "group": h.Group} {
		if value == "" {
			q.complain("%s is missing: the history is that of one group", name)
		}
	}
	if !h.To.IsZero() && h.To.Before(h.From) {
		q.complain("to is before from")
	}
	return h
}

// instant is a parameter with an instant; the zero time when it is left out.
func (q *query) instant(name string) time.Time {
	text := q.one(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.complain("%s: %s is no instant as 2026-09-10T02:47:00Z", name, quoted(text))
	}
	return t
}

// traceAnswer begins the answer with the first line: until then it may be an
// error.
type traceAnswer struct{ c echo.Context }

func (a *traceAnswer) Write(line []byte) (int, error) {
	r := a.c.Response()
	if !r.Committed {
		r.Header().Set(echo.HeaderContentType, "application/x-ndjson")
		r.WriteHeader(http.StatusOK)
	}
	return r.Write(line)
}
