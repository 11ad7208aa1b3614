package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// diary is what was done about incidents.
type diary struct{ asked []string }

func (d *diary) Deeds(_ context.Context, incident string, _ int) ([]alerts.Deed, bool, error) {
	d.asked = append(d.asked, incident)
	return []alerts.Deed{{At: thursday, By: "asha", Action: "skip", On: "sk_1", Outcome: "parked 1 record"}}, false, nil
}

func TestTheReportOfAnIncidentIsMarkdown(t *testing.T) {
	w := story()
	c := w.config()
	c.BaseURL, c.Deeds = "http://localhost/dlq/", &diary{}
	s := newServer(t, c)
	id := w.incidents[0].ID
	a := get(s, "/dlq/api/v1/incidents/"+id+"/report")
	if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "text/markdown; charset=utf-8" {
		t.Fatalf("%d %v", a.Code, a.Header())
	}
	for _, want := range []string{"# ", "| Page | http://localhost/dlq/incidents/" + id + " |", "asha", "parked 1 record", "IST"} {
		if !strings.Contains(a.Body.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, a.Body)
		}
	}
	for target, status := range map[string]int{"none/report": http.StatusNotFound, id + "/report?x=1": http.StatusBadRequest} {
		if a := get(s, "/dlq/api/v1/incidents/"+target); a.Code != status {
			t.Errorf("%s: %d, want %d", target, a.Code, status)
		}
	}
}

// TestLinksLeadToTheRecordAtTheHead on the page and in the JSON, and only where
// everything that they need is known.
func TestLinksLeadToTheRecordAtTheHead(t *testing.T) {
	w := story()
	c := w.config()
	c.Sources[0].Links = sources.Links{
		{Name: "logs", URL: "https://logs.example.com/?q={topic}+{partition}+{offset}"}, {Name: "trace", URL: "https://traces.example.com/{header:none}"},
	}
	s := newServer(t, c)
	head := w.incidents[0].Evidence.Head
	if head == nil {
		t.Fatal("the story has no head record")
	}
	for _, target := range []string{"/incidents/", "/api/v1/incidents/"} {
		body := get(s, target+w.incidents[0].ID).Body.String()
		if !strings.Contains(body, "https://logs.example.com/?q="+head.Topic+"+") || strings.Contains(body, "traces.example.com") {
			t.Errorf("%s: the links are not right: %s", target, body)
		}
	}
}

// TestTheChartOfAnIncidentIsFromTheHistory, also when it is over.
func TestTheChartOfAnIncidentIsFromTheHistory(t *testing.T) {
	w := story()
	c := w.config()
	recorded := &tape{}
	c.History = recorded
	s := newServer(t, c)
	for _, i := range w.incidents {
		body := get(s, "/incidents/"+i.ID).Body.String()
		if !strings.Contains(body, "pulse-line") || recorded.lag.Group != i.Group || !recorded.lag.From.Before(i.OpenedAt) {
			t.Errorf("%s: no chart, or of something else: %+v", i.Title, recorded.lag)
		}
	}
}
