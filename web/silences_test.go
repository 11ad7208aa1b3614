package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// duty is what people decided about incidents, in memory.
type duty struct {
	acknowledged []string
	silences     []alerts.Silence
	refuse       error
	tested       []string
	waiting      []alerts.Backlog
	heard        []string
}

func (d *duty) Acknowledge(_ context.Context, id, by string) (alerts.Incident, error) {
	if d.refuse != nil {
		return alerts.Incident{}, d.refuse
	}
	d.acknowledged = append(d.acknowledged, id+" by "+by)
	return alerts.Incident{ID: id, AcknowledgedAt: thursday, AcknowledgedBy: by}, nil
}

func (d *duty) Silence(_ context.Context, s alerts.Silence) (alerts.Silence, error) {
	s, err := s.Valid(thursday)
	if err == nil {
		s.ID = "si_1"
		d.silences = append(d.silences, s)
	}
	return s, err
}

func (d *duty) EndSilence(_ context.Context, id, _ string) error {
	at := slices.IndexFunc(d.silences, func(s alerts.Silence) bool { return s.ID == id })
	if at < 0 {
		return alerts.ErrNoSilence
	}
	d.silences = slices.Delete(d.silences, at, at+1)
	return nil
}

func (d *duty) Silences(_ context.Context, _ bool, _ time.Time, limit int, cursor string) ([]alerts.Silence, string, error) {
	page, next, ok := pageOf(d.silences, func(s alerts.Silence) string { return s.ID }, limit, cursor)
	if !ok {
		return nil, "", alerts.ErrCursor
	}
	return page, next, nil
}

func post(s http.Handler, target, body string) *httptest.ResponseRecorder {
	return ask(s, http.MethodPost, target, body, "Content-Type", "application/x-www-form-urlencoded")
}

func TestAcknowledging(t *testing.T) {
	w := story()
	s, id := w.server(t), w.incidents[0].ID
	got := object(t, ask(s, http.MethodPost, "/api/v1/incidents/"+id+"/acknowledge", ""), http.StatusOK)
	if at(t, got, "acknowledged_by") == nil || at(t, got, "acknowledged_at") == nil || len(w.desk.acknowledged) != 1 {
		t.Errorf("%v, %v", got, w.desk.acknowledged)
	}
	w.desk.refuse = &alerts.StateError{Incident: id, Why: "it is over"}
	if a := ask(s, http.MethodPost, "/api/v1/incidents/"+id+"/acknowledge", ""); a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "it is over") {
		t.Errorf("one that is over: %d %s", a.Code, a.Body)
	}
	w.desk.refuse = alerts.ErrNotFound
	if a := ask(s, http.MethodPost, "/api/v1/incidents/x/acknowledge", ""); a.Code != http.StatusNotFound {
		t.Errorf("one that is not there: %d %s", a.Code, a.Body)
	}
}

func TestSilencesAreSetListedAndEnded(t *testing.T) {
	w := story()
	s := w.server(t)
	until := thursday.Add(time.Hour).Format(time.RFC3339)
	got := object(t, ask(s, http.MethodPost, "/api/v1/silences", `{"group":"payment-*","until":"`+until+`","reason":"planned work"}`), http.StatusCreated)
	if at(t, got, "id") != "si_1" || at(t, got, "source") != "*" || at(t, got, "topic") != "*" || at(t, got, "until") != until {
		t.Errorf("set: %v", got)
	}
	if list := at(t, object(t, get(s, "/api/v1/silences"), http.StatusOK), "silences").([]any); len(list) != 1 {
		t.Errorf("listed: %v", list)
	}
	if page := get(s, "/silences").Body.String(); !strings.Contains(page, "planned work") || !strings.Contains(page, "group payment-*") {
		t.Error("the page does not show it")
	}
	if a := ask(s, http.MethodDelete, "/api/v1/silences/si_1", ""); a.Code != http.StatusNoContent {
		t.Errorf("ended: %d %s", a.Code, a.Body)
	}
	if a := ask(s, http.MethodDelete, "/api/v1/silences/si_1", ""); a.Code != http.StatusNotFound {
		t.Errorf("ended twice: %d %s", a.Code, a.Body)
	}
}

func TestASilenceThatIsNoneSaysWhichField(t *testing.T) {
	s := story().server(t)
	for body, want := range map[string]string{
		`{"group":"g"}`:                            "until",
		`{"until":"2026-09-01T00:00:00Z"}`:         "until",
		`{"until":"soon"}`:                         "until",
		`{"until":"2027-01-01T00:00:00Z","grp":1}`: "grp",
	} {
		if a := ask(s, http.MethodPost, "/api/v1/silences", body); a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s: %d %s", body, a.Code, a.Body)
		}
	}
}

// The forms work without script, and say what is wrong beside what was typed.
func TestAnIncidentIsAcknowledgedAndSilencedFromItsPage(t *testing.T) {
	w := story()
	s, id := w.server(t), w.incidents[0].ID
	if a := post(s, "/incidents/"+id, "do=acknowledge"); a.Code != http.StatusSeeOther || len(w.desk.acknowledged) != 1 {
		t.Errorf("acknowledged: %d %v", a.Code, w.desk.acknowledged)
	}
	a := post(s, "/silences", "incident="+id+"&group=payment-retry&hours=4&reason=known")
	if a.Code != http.StatusSeeOther || !strings.HasSuffix(a.Header().Get("Location"), "/incidents/"+id) || !w.desk.silences[0].Until.Equal(thursday.Add(4*time.Hour)) {
		t.Errorf("silenced: %d %s %+v", a.Code, a.Header(), w.desk.silences)
	}
	if a := post(s, "/silences", "group=my-group&hours=0"); a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), "my-group") {
		t.Errorf("no time: %d, and what was typed is gone", a.Code)
	}
}
