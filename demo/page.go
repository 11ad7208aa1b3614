package demo

import (
	"net/http"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/views"
)

// Handler serves the demo's page under /demo, with its switches as POST forms.
// frame makes what stands around every page of the dashboard.
func (w *World) Handler(frame func(*http.Request) views.Frame) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo", func(rw http.ResponseWriter, r *http.Request) { w.showPage(rw, r, frame(r)) })
	mux.HandleFunc("POST /demo", func(rw http.ResponseWriter, r *http.Request) { w.doSwitch(rw, r, frame(r)) })
	return mux
}

func (w *World) showPage(rw http.ResponseWriter, r *http.Request, f views.Frame) {
	f.Title, f.Section = "Demo", views.DemoSection
	page := views.DemoPage{
		Frame: f, FixDeployed: w.Fixed(), WorkersRunning: w.WorkersRunning(), BadWritten: w.BadWritten(), StallAfter: StallAfter,
	}
	for _, m := range w.Story() {
		page.Story = append(page.Story, views.Moment{At: m.At, Text: m.Text, Hue: views.Quiet})
	}
	for _, p := range slices.Backward(w.Pager.Received()) {
		page.Received = append(page.Received, views.PagerMessage{
			At: p.At, Event: p.Event, Summary: p.Summary, Severity: p.Severity, DedupKey: p.DedupKey, Body: p.Body,
			Incident: &views.IncidentRef{ID: p.DedupKey},
		})
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = views.Demo(page).Render(r.Context(), rw) // the reader has gone
}

// switches are what can be pressed, by the value of the field "do".
var switches = map[string]func(*World){
	"deploy":   func(w *World) { w.Deploy(true) },
	"rollback": func(w *World) { w.Deploy(false) },
	"stop":     (*World).StopWorkers,
	"start":    (*World).StartWorkers,
	"bad":      (*World).WriteBad,
}

func (w *World) doSwitch(rw http.ResponseWriter, r *http.Request, f views.Frame) {
	press, known := switches[r.PostFormValue("do")]
	if !known {
		http.Error(rw, "the switches are deploy, rollback, stop, start and bad", http.StatusBadRequest)
		return
	}
	press(w)
	http.Redirect(rw, r, strings.TrimSuffix(f.BasePath, "/")+"/demo", http.StatusSeeOther)
}
