package pagerduty

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

const routingKey = "0123456789abcdef0123456789ABCDEF"

var night = time.Date(2026, 9, 9, 21, 16, 57, 0, time.UTC) // 02:46:57 IST

// receiver is a fake of the Events API: it keeps the bodies and answers as told.
type receiver struct {
	*httptest.Server
	bodies [][]byte
	status int
	header http.Header
	answer string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusAccepted, answer: `{"status":"success"}`, header: http.Header{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.bodies = append(r.bodies, body)
		for k, v := range r.header {
			w.Header()[k] = v
		}
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) notifier() *Notifier {
	return &Notifier{URL: r.URL + "/v2/enqueue", Client: alerts.NewClient(), Key: func() (string, error) { return routingKey + "\n", nil }}
}

// last is the last body as it was sent.
func (r *receiver) last(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(r.bodies[len(r.bodies)-1], &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func wedge(lines int) alerts.Incident {
	in := alerts.Incident{
		ID: "0199abcd-0000-7000-8000-000000000001", Number: 142, Source: "payments", Group: "payment-retry-consumer-group",
		Verdict: alerts.HeadOfLineStall, Scope: alerts.PartitionScope, Severity: "critical", Owner: "payments", Runbook: "https://wiki.example.com/wedge",
		Pages: true, Title: "Partition 3 of payment.retry.requests is wedged", Reason: "offset 118,204 has waited", OpenedAt: night,
		Evidence: alerts.Evidence{
			Head: &sources.Record{
				Topic: "payment.retry.requests", Partition: 3, Offset: 118204, Key: []byte("SECRET-KEY"), Body: []byte("SECRET-BODY"),
				Headers: []sources.Header{{Name: "SECRET-NAME", Value: []byte("SECRET-VALUE")}},
			},
			Suspects: []alerts.Suspect{{Offset: 118204, Apart: []alerts.Apart{{Field: "currency", Value: `"INRR"`, Usual: `"INR" in 500 of 500`}}}},
			Sample:   500, Waiting: 12411, Peers: "the other 5 partitions move", Owner: "worker-3 (worker-3-7c9f)",
			Since: night.Add(-10 * time.Minute), Position: 118204,
		},
	}
	for i := range lines {
		in.Lines = append(in.Lines, sources.Partition{Topic: "payment.retry.requests", Number: int32(3 + i)})
	}
	in.Evidence.Line = in.Lines[0]
	return in
}

func ist(t *testing.T) *time.Location {
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func get(m any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		object, _ := m.(map[string]any)
		m = object[step]
	}
	return m
}

func TestThePageSaysWhatSomebodyWokenUpNeeds(t *testing.T) {
	r := newReceiver(t)
	w := alerts.Wording{BaseURL: "https://ops.example.com/dlq/", Zone: ist(t)}
	if err := r.notifier().Notify(t.Context(), w.Event(wedge(1), alerts.Trigger, false)); err != nil {
		t.Fatal(err)
	}
	sent := r.last(t)
	for path, want := range map[string]string{
		"routing_key":            routingKey,
		"event_action":           "trigger",
		"dedup_key":              "0199abcd-0000-7000-8000-000000000001",
		"payload.source":         "payments",
		"payload.severity":       "critical",
		"payload.component":      "payment.retry.requests",
		"payload.group":          "payment-retry-consumer-group",
		"payload.class":          "head_of_line_stall",
		"payload.timestamp":      "2026-09-09T21:16:57Z",
		"client":                 "Unwedge",
		"client_url":             "https://ops.example.com/dlq/incidents/0199abcd-0000-7000-8000-000000000001",
		"payload.custom_details": "",
	} {
		if got := get(sent, path); want != "" && got != want {
			t.Errorf("%s is %v, want %s", path, got, want)
		}
	}
	summary, _ := get(sent, "payload.summary").(string)
	const want = `Partition 3 of payment.retry.requests is wedged at or after offset 118,204 since 02:36 IST (group payment-retry-consumer-group); ` +
		`12,412 records wait; the other 5 partitions move. At its head: currency is "INRR", unlike the 500 records before it ("INR" in 500 of 500).`
	if summary != want {
		t.Errorf("the summary is\n%s\nwant\n%s", summary, want)
	}
}

func TestNothingOfARecordLeavesButWhatSetsItApart(t *testing.T) {
	r := newReceiver(t)
	for _, kind := range []alerts.EventKind{alerts.Trigger, alerts.Acknowledge, alerts.Resolve} {
		if err := r.notifier().Notify(t.Context(), alerts.Wording{}.Event(wedge(1), kind, false)); err != nil {
			t.Fatal(err)
		}
		if body := string(r.bodies[len(r.bodies)-1]); strings.Contains(body, "SECRET") || !strings.Contains(body, "INRR") {
			t.Errorf("%s: %s", kind, body)
		}
	}
}

func TestC84TenThousandPartitionsAreOneEvent(t *testing.T) {
	r := newReceiver(t)
	in := wedge(10_000)
	in.Title = strings.Repeat("🛑", 5000)
	in.Reason = strings.Repeat("é", 1_000_000)
	in.Verdict = alerts.GroupStall
	if err := r.notifier().Notify(t.Context(), alerts.Wording{}.Event(in, alerts.Trigger, false)); err != nil {
		t.Fatal(err)
	}
	body := r.bodies[0]
	if len(r.bodies) != 1 || len(body) >= bodyBytes || !utf8.Valid(body) {
		t.Fatalf("%d events, %d bytes", len(r.bodies), len(body))
	}
	sent := r.last(t)
	summary, _ := get(sent, "payload.summary").(string)
	if n := utf8.RuneCountInString(summary); n > 1024 || !strings.HasSuffix(summary, "…") {
		t.Errorf("a summary of %d characters: …%q", n, summary[max(0, len(summary)-20):])
	}
	names, _ := get(sent, "payload.custom_details.partitions").([]any)
	if len(names) != 21 || names[20] != "and 9,980 more" {
		t.Errorf("partitions: %v", names)
	}
}

func TestDetailsGoBeforeThePageDoes(t *testing.T) {
	big := message(routingKey, alerts.Wording{}.Event(wedge(1), alerts.Trigger, false))
	big.Payload.Details.Runbook = strings.Repeat("x", bodyBytes)
	body, err := encode(big)
	if err != nil || len(body) > bodyBytes || !strings.Contains(string(body), "is wedged") {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestC92WithoutABaseURLThereIsNoLink(t *testing.T) {
	r := newReceiver(t)
	in := wedge(1)
	in.Runbook = ""
	if err := r.notifier().Notify(t.Context(), alerts.Wording{}.Event(in, alerts.Trigger, false)); err != nil {
		t.Fatal(err)
	}
	if body := string(r.bodies[0]); strings.Contains(body, "http") {
		t.Errorf("a link that leads nowhere: %s", body)
	}
}

func TestC94TheEndCarriesTheKeyAndTheRouteOfTheBeginning(t *testing.T) {
	r := newReceiver(t)
	in, n := wedge(1), r.notifier()
	open := alerts.Wording{}.Event(in, alerts.Trigger, false)
	in.ResolvedAt, in.Resolution = night.Add(time.Hour), "it moved on"
	for _, e := range []alerts.Event{open, alerts.Wording{}.Event(in, alerts.Resolve, false)} {
		if err := n.Notify(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var first map[string]any
	_ = json.Unmarshal(r.bodies[0], &first)
	second := r.last(t)
	if get(second, "event_action") != "resolve" {
		t.Errorf("%v", second)
	}
	for _, path := range []string{"routing_key", "dedup_key", "payload.source", "payload.component", "payload.group", "payload.class", "payload.severity"} {
		if get(first, path) != get(second, path) {
			t.Errorf("%s was %v, is %v", path, get(first, path), get(second, path))
		}
	}
}

func TestASeverityThatTheAPIDoesNotKnowIsTheGravest(t *testing.T) {
	for given, want := range map[string]string{"": "critical", "P1": "critical", "Warning": "warning", "info": "info", "error": "error"} {
		if got := severity(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}

func TestTheLeastOfAnEventIsWhatMustBeThere(t *testing.T) {
	r := newReceiver(t)
	if err := r.notifier().Notify(t.Context(), alerts.Wording{BaseURL: "https://x.example"}.Event(wedge(1), alerts.Trigger, true)); err != nil {
		t.Fatal(err)
	}
	sent := r.last(t)
	p, _ := sent["payload"].(map[string]any)
	if len(sent) != 4 || len(p) != 3 {
		t.Errorf("%v", sent)
	}
}

func TestWhatAnAnswerMeans(t *testing.T) {
	r := newReceiver(t)
	for _, c := range []struct {
		status    int
		answer    string
		after     string
		permanent bool
		wait      time.Duration
	}{
		{status: 400, answer: `{"errors":["length of 'payload.summary' is more than 1024"]}`, permanent: true},
		{status: 413, permanent: true},
		{status: 400, answer: `{"errors":["Invalid routing key"]}`},
		{status: 401},
		{status: 404},
		{status: 500},
		{status: 503, after: "7", wait: 7 * time.Second},
		{status: 429, after: "3", wait: 3 * time.Second},
		{status: 307},
	} {
		t.Run(fmt.Sprint(c.status, c.answer), func(t *testing.T) {
			r.status, r.answer, r.header = c.status, c.answer, http.Header{}
			if c.after != "" {
				r.header.Set("Retry-After", c.after)
			}
			if c.status/100 == 3 {
				r.header.Set("Location", r.URL+"/elsewhere")
			}
			sent := len(r.bodies)
			err := r.notifier().Notify(t.Context(), alerts.Wording{}.Event(wedge(1), alerts.Trigger, false))
			if err == nil || errors.Is(err, alerts.ErrPermanent) != c.permanent {
				t.Errorf("%v", err)
			}
			var asked *alerts.RetryAfter
			if errors.As(err, &asked) != (c.wait > 0) || asked != nil && asked.After != c.wait {
				t.Errorf("wait: %+v", asked)
			}
			if c.permanent && c.answer != "" && !strings.Contains(err.Error(), "1024") {
				t.Errorf("the answer is not told: %v", err)
			}
			if len(r.bodies) != sent+1 {
				t.Errorf("%d requests: a redirect was followed", len(r.bodies)-sent)
			}
		})
	}
}

func TestAWrongKeyIsWaitedForAndNotSent(t *testing.T) {
	r := newReceiver(t)
	n := r.notifier()
	for _, key := range []string{"", "short", routingKey[:31] + "-"} {
		n.Key = func() (string, error) { return key, nil }
		err := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(1), alerts.Trigger, false))
		if err == nil || errors.Is(err, alerts.ErrPermanent) || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if len(r.bodies) != 0 {
		t.Error("it was sent")
	}
}

func TestAnErrorNamesNoAddress(t *testing.T) {
	r := newReceiver(t)
	n := r.notifier()
	n.URL = r.URL + "/secret-path"
	r.Close()
	err := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(1), alerts.Trigger, false))
	if err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("%v", err)
	}
}

func TestATestPageIsResolved(t *testing.T) {
	r := newReceiver(t)
	if err := alerts.SendTest(t.Context(), r.notifier()); err != nil {
		t.Fatal(err)
	}
	var first map[string]any
	_ = json.Unmarshal(r.bodies[0], &first)
	if second := r.last(t); len(r.bodies) != 2 || first["event_action"] != "trigger" || second["event_action"] != "resolve" || first["dedup_key"] != second["dedup_key"] {
		t.Errorf("%s", r.bodies)
	}
}
