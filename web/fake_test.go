package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
)

// thursday is when the tests' world stands still: Thursday night in the story.
var thursday = time.Date(2026, 9, 9, 21, 19, 12, 0, time.UTC)

// world is a store, a board and a desk in memory.
type world struct {
	board     alerts.Board
	letters   []review.Letter
	causes    []review.Cause
	summary   review.Summary
	queues    []review.Queue
	findings  []review.Finding
	jobs      []review.Redrive
	items     []review.Item
	plans     []review.Plan
	incidents []alerts.Incident
	bin       bin
	desk      duty
	siding    siding

	asked   []review.Request // of the desk
	choices []review.Choice
	orders  []string        // to redrives
	filters []review.Filter // of lists of letters and causes
	planErr error
	err     error // of the desk's Start
	broken  error // of every read
	started review.Redrive
	block   chan struct{} // Start waits for it to be closed; nil: it does not
	entered chan struct{} // Start says here that it was called
}

func (w *world) Board() alerts.Board { return w.board }

func (w *world) Status() []review.SourceStatus {
	return []review.SourceStatus{{Source: "aws", ReadAt: thursday.Add(-4 * time.Minute)}}
}

// page is rows from a cursor on, which is the id of the last row before.
func pageOf[T any](rows []T, id func(T) string, limit int, cursor string) (page []T, next string, ok bool) {
	if cursor != "" {
		at := slices.IndexFunc(rows, func(r T) bool { return id(r) == cursor })
		if at < 0 {
			return nil, "", false
		}
		rows = rows[at+1:]
	}
	if len(rows) > limit {
		return rows[:limit], id(rows[limit-1]), true
	}
	return rows, "", true
}

func (w *world) Letters(_ context.Context, f review.Filter, limit int, cursor string) (review.Letters, error) {
	w.filters = append(w.filters, f)
	page, next, ok := pageOf(w.letters, func(l review.Letter) string { return l.ID }, limit, cursor)
	if !ok {
		return review.Letters{}, review.ErrBadCursor
	}
	return review.Letters{Letters: page, Next: next, Total: int64(len(w.letters))}, w.broken
}

func (w *world) Letter(_ context.Context, id string) (review.Letter, error) {
	for _, l := range w.letters {
		if l.ID == id {
			return l, w.broken
		}
	}
	return review.Letter{}, review.ErrNotFound
}

func (w *world) LettersByID(ctx context.Context, ids []string) (out []review.Letter, err error) {
	for _, id := range ids {
		l, err := w.Letter(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func (w *world) Causes(_ context.Context, f review.Filter, limit int, cursor string) (review.Causes, error) {
	w.filters = append(w.filters, f)
	page, next, ok := pageOf(w.causes, func(c review.Cause) string { return c.ID }, limit, cursor)
	if !ok {
		return review.Causes{}, review.ErrBadCursor
	}
	return review.Causes{Causes: page, Next: next, Total: int64(len(w.causes))}, w.broken
}

func (w *world) Cause(_ context.Context, id string) (review.Cause, error) {
	for _, c := range w.causes {
		if c.ID == id {
			return c, w.broken
		}
	}
	return review.Cause{}, review.ErrNotFound
}

func (w *world) Summary(context.Context) (review.Summary, error) { return w.summary, w.broken }

func (w *world) Queues(context.Context) ([]review.Queue, error) { return w.queues, w.broken }

func (w *world) Findings(context.Context) ([]review.Finding, error) { return w.findings, w.broken }

func (w *world) LetterCounts(context.Context) ([]review.LetterCount, error) {
	return []review.LetterCount{{Source: "payments", Queue: "orders.dlq", Status: review.Open, Count: 37}}, w.broken
}

func (w *world) Redrives(_ context.Context, limit int, cursor string) (review.Redrives, error) {
	page, next, ok := pageOf(w.jobs, func(j review.Redrive) string { return j.ID }, limit, cursor)
	if !ok {
		return review.Redrives{}, review.ErrBadCursor
	}
	return review.Redrives{Redrives: page, Next: next, Total: int64(len(w.jobs))}, w.broken
}

func (w *world) Redrive(_ context.Context, id string) (review.Redrive, error) {
	for _, j := range w.jobs {
		if j.ID == id {
			return j, nil
		}
	}
	return review.Redrive{}, review.ErrNotFound
}

func (w *world) Items(_ context.Context, id string, states []review.ItemState, limit int, cursor string) (review.Items, error) {
	var of []review.Item
	for _, i := range w.items {
		if i.Redrive == id && (len(states) == 0 || slices.Contains(states, i.State)) {
			of = append(of, i)
		}
	}
	page, next, ok := pageOf(of, func(i review.Item) string { return i.ID }, limit, cursor)
	if !ok {
		return review.Items{}, review.ErrBadCursor
	}
	return review.Items{Items: page, Next: next, Total: int64(len(of))}, nil
}

// plansOf reads plans: its Plan is not the desk's.
type plansOf struct{ *world }

func (p plansOf) Plan(_ context.Context, id string) (review.Plan, error) {
	for _, plan := range p.plans {
		if plan.ID == id {
			return plan, nil
		}
	}
	return review.Plan{}, review.ErrNotFound
}

func (p plansOf) PlanLetters(ctx context.Context, id string, limit int, cursor string) (review.PlannedLetters, error) {
	plan, err := p.Plan(ctx, id)
	if err != nil {
		return review.PlannedLetters{}, err
	}
	page, next, ok := pageOf(plan.Letters, func(l review.Planned) string { return l.LetterID }, limit, cursor)
	if !ok {
		return review.PlannedLetters{}, review.ErrBadCursor
	}
	return review.PlannedLetters{Letters: page, Next: next, Total: int64(plan.Total)}, nil
}

func (w *world) Plan(_ context.Context, r review.Request) (review.Plan, error) {
	w.asked = append(w.asked, r)
	if w.planErr != nil {
		return review.Plan{}, w.planErr
	}
	return w.plans[0], nil
}

func (w *world) Start(_ context.Context, r review.Request) (review.Redrive, error) {
	w.asked = append(w.asked, r)
	if w.block != nil {
		w.entered <- struct{}{}
		<-w.block
	}
	return w.started, w.err
}

func (w *world) Choices(context.Context, review.Plan) ([]review.Choice, error) { return w.choices, nil }

func (w *world) order(id, what string) (review.Redrive, error) {
	job, err := w.Redrive(context.Background(), id)
	if err == nil {
		w.orders = append(w.orders, what+" "+id)
	}
	return job, err
}

func (w *world) Pause(_ context.Context, id, by string) (review.Redrive, error) {
	return w.order(id, by+": pause")
}

func (w *world) Resume(_ context.Context, id, by string) (review.Redrive, error) {
	return w.order(id, by+": resume")
}

func (w *world) Cancel(_ context.Context, id, by string) (review.Redrive, error) {
	return w.order(id, by+": cancel")
}

func (w *world) SetRate(_ context.Context, id string, perSecond float64, by string) (review.Redrive, error) {
	return w.order(id, fmt.Sprintf("%s: %v a second", by, perSecond))
}

func (w *world) SettleItem(_ context.Context, item string, as review.SettledAs, by string) (review.Item, error) {
	for _, i := range w.items {
		if i.ID == item {
			w.orders = append(w.orders, fmt.Sprintf("%s: %s %s", by, as, item))
			return i, nil
		}
	}
	return review.Item{}, review.ErrNotFound
}

func (w *world) Incidents(_ context.Context, f alerts.IncidentFilter, limit int, cursor string) ([]alerts.Incident, string, error) {
	var of []alerts.Incident
	for _, i := range w.incidents {
		open := i.ResolvedAt.IsZero()
		if (f.Status == alerts.AnyStatus || open == (f.Status == alerts.Open)) && (len(f.Groups) == 0 || slices.Contains(f.Groups, i.Group)) {
			of = append(of, i)
		}
	}
	page, next, ok := pageOf(of, func(i alerts.Incident) string { return i.ID }, limit, cursor)
	if !ok {
		return nil, "", alerts.ErrCursor
	}
	return page, next, w.broken
}

func (w *world) Incident(_ context.Context, id string) (alerts.Incident, error) {
	for _, i := range w.incidents {
		if i.ID == id {
			return i, nil
		}
	}
	return alerts.Incident{}, alerts.ErrNotFound
}

func (w *world) OpenIncidents(context.Context) (map[alerts.Verdict]int, error) {
	out := map[alerts.Verdict]int{}
	for _, i := range w.incidents {
		if i.ResolvedAt.IsZero() {
			out[i.Verdict]++
		}
	}
	return out, w.broken
}

// config is a server's configuration over the world.
func (w *world) config() Config {
	return Config{
		Version: "test", Now: func() time.Time { return thursday }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Board: w, Letters: w, Causes: w, Queues: w, Incidents: w, Redrives: w, Plans: plansOf{w}, Desk: w, Control: w, Settler: w, Clerk: &w.bin, Discards: &w.bin, Audit: &w.bin, Responder: &w.desk, Silences: &w.desk, Tester: &w.desk, Outbox: &w.desk, Inbox: &w.desk,
		Notifiers: []Notifier{{Name: "oncall", Kind: "PagerDuty", Hears: true}, {Name: "second", Kind: "Slack", After: 10 * time.Minute}}, History: &tape{}, Skipper: &w.siding, Skips: &w.siding, Collector: w,
		TimeZone: time.FixedZone("IST", 5*3600+1800),
		Sources: []Source{
			{Name: "payments", Kind: "Kafka, 3 brokers", Every: 15 * time.Second}, {Name: "aws", Kind: "SQS, ap-south-1", Every: 15 * time.Minute},
		},
		Rules: map[string]review.Rules{"payments": {To: sources.Patterns{Include: []string{"*"}}, Names: convention.Parents}},
	}
}

func (w *world) server(t *testing.T) *Server {
	t.Helper()
	return newServer(t, w.config())
}

func newServer(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends one request; header has pairs of name and value.
func ask(s http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080/", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	parsed, err := r.URL.Parse("http://127.0.0.1:8080" + path)
	if err != nil {
		panic(err)
	}
	r.URL = parsed
	r.URL.RawQuery = query
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	return answer
}

func get(s http.Handler, target string) *httptest.ResponseRecorder {
	return ask(s, http.MethodGet, target, "")
}

// object is an answer as a JSON object; it must have the status.
func object(t *testing.T, answer *httptest.ResponseRecorder, status int) map[string]any {
	t.Helper()
	if answer.Code != status {
		t.Fatalf("status %d, want %d: %s", answer.Code, status, answer.Body)
	}
	if kind := answer.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	var out map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, answer.Body)
	}
	return out
}

// at walks into an answer: names of fields and places in lists.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := value.(map[string]any)
			v, there := m[step]
			if !ok || !there {
				t.Fatalf("no field %q in %v", step, value)
			}
			value = v
		case int:
			l, ok := value.([]any)
			if !ok || step >= len(l) {
				t.Fatalf("no row %d in %v", step, value)
			}
			value = l[step]
		}
	}
	return value
}

// refused is the code and the message of an error of the API.
func refused(t *testing.T, answer *httptest.ResponseRecorder, status int) (code, message string) {
	t.Helper()
	o := object(t, answer, status)
	return at(t, o, "error", "code").(string), at(t, o, "error", "message").(string)
}

func ptr[T any](v T) *T { return &v }
