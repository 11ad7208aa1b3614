package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
)

// tape is one recorded group.
type tape struct {
	asked alerts.HistoryQuery
	lag   alerts.LagQuery
}

func (h *tape) History(_ context.Context, q alerts.HistoryQuery, w io.Writer) error {
	h.asked = q
	if q.Group != "retry" {
		return alerts.ErrNoHistory
	}
	_, err := io.WriteString(w, "{\"trace\":\"payments/retry\"}\n{\"t\":1}\n")
	return err
}

func (h *tape) Lag(_ context.Context, q alerts.LagQuery) (alerts.LagSeries, error) {
	h.lag = q
	return alerts.LagSeries{From: q.From, To: q.To, Ours: []int64{1, 40, 80, 3}, Others: []int64{2, -1, 2, 2}}, nil
}

func TestTheHistoryOfAGroupIsATrace(t *testing.T) {
	w := story()
	recorded := &tape{}
	c := w.config()
	c.History = recorded
	s := newServer(t, c)
	a := get(s, "/api/v1/lag/history?source=payments&group=retry&topic=a&topic=b&partition=3&from=2026-09-09T21:00:00Z")
	if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "application/x-ndjson" || strings.Count(a.Body.String(), "\n") != 2 {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	if q := recorded.asked; len(q.Topics) != 2 || len(q.Partitions) != 1 || q.From.IsZero() || !q.To.IsZero() {
		t.Errorf("asked for %+v", q)
	}
	for target, status := range map[string]int{
		"?source=payments&group=other":                           http.StatusNotFound,
		"?group=retry":                                           http.StatusBadRequest,
		"?source=payments":                                       http.StatusBadRequest,
		"?source=payments&group=retry&partition=x":               http.StatusBadRequest,
		"?source=payments&group=retry&from=yesterday":            http.StatusBadRequest,
		"?source=payments&group=retry&form=2026-09-09T21:00:00Z": http.StatusBadRequest,
	} {
		if a := get(s, "/api/v1/lag/history"+target); a.Code != status {
			t.Errorf("%s: %d, want %d", target, a.Code, status)
		}
	}
}
