package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/alerts"
)

const path = "/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX"

var night = time.Date(2026, 9, 9, 21, 16, 57, 0, time.UTC)

// channel is a fake of an incoming webhook: it keeps the texts and answers as told.
type channel struct {
	*httptest.Server
	texts  []string
	status int
	header http.Header
	answer string
}

func newChannel(t *testing.T) *channel {
	c := &channel{status: http.StatusOK, answer: "ok", header: http.Header{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct{ Text string }
		if err := json.Unmarshal(body, &m); err != nil || r.URL.Path != path {
			t.Errorf("%s %s: %v", r.URL.Path, body, err)
		}
		c.texts = append(c.texts, m.Text)
		for k, v := range c.header {
			w.Header()[k] = v
		}
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.answer)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *channel) notifier() *Notifier {
	return &Notifier{URL: func() (string, error) { return c.URL + path + "\n", nil }, Client: alerts.NewClient()}
}

func wedge() alerts.Incident {
	return alerts.Incident{
		ID: "0199abcd-0000-7000-8000-000000000001", Group: "retry", Verdict: alerts.GroupStall, Severity: "critical", Owner: "payments",
		Pages: true, Title: "Group retry stands still", OpenedAt: night, Runbook: "https://wiki.example.com/wedge?a=1&b=2",
	}
}

func TestAMessageSaysWhatItIsOfAndWhichEvent(t *testing.T) {
	c := newChannel(t)
	w := alerts.Wording{BaseURL: "https://ops.example.com/dlq"}
	in := wedge()
	for _, kind := range []alerts.EventKind{alerts.Trigger, alerts.Acknowledge, alerts.Resolve} {
		if kind == alerts.Acknowledge {
			in.AcknowledgedBy, in.AcknowledgedAt = "anna", night
		}
		if kind == alerts.Resolve {
			in.ResolvedAt, in.Resolution = night.Add(time.Hour), "it moved on"
		}
		if err := c.notifier().Notify(t.Context(), w.Event(in, kind, false)); err != nil {
			t.Fatal(err)
		}
		text := c.texts[len(c.texts)-1]
		for _, word := range []string{
			map[alerts.EventKind]string{alerts.Trigger: "*critical, payments:*", alerts.Acknowledge: "*Taken, payments:* Acknowledged by anna", alerts.Resolve: "*Resolved, payments:*"}[kind],
			"Group retry stands still", "<https://ops.example.com/dlq/incidents/" + in.ID + "|", "_" + in.ID + "-" + string(kind) + "_",
		} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %q in\n%s", kind, word, text)
			}
		}
	}
}

// What a topic is called, and what stood in a record, rings nobody and links
// nowhere.
func TestTextOfOthersStaysText(t *testing.T) {
	c := newChannel(t)
	in := wedge()
	in.Title = `<!channel> <!here> <@U012AB3CD> <http://evil.example.com|our dashboard> a & b`
	in.Owner = "<!everyone>"
	if err := c.notifier().Notify(t.Context(), alerts.Wording{}.Event(in, alerts.Trigger, false)); err != nil {
		t.Fatal(err)
	}
	text := c.texts[0]
	if strings.ContainsAny(text, "<>") || !strings.Contains(text, "&lt;!channel&gt;") || !strings.Contains(text, "a &amp; b") {
		t.Error(text)
	}
}

func TestALongTextIsCutBetweenCharacters(t *testing.T) {
	c := newChannel(t)
	in := wedge()
	for n := range 8 {
		in.Title = strings.Repeat("x", n) + strings.Repeat("🛑&", 4000)
		if err := c.notifier().Notify(t.Context(), alerts.Wording{}.Event(in, alerts.Trigger, false)); err != nil {
			t.Fatal(err)
		}
		text := c.texts[n]
		body, foot, _ := strings.Cut(text, "…\n")
		if utf8.RuneCountInString(text) > textCharacters || !strings.HasSuffix(foot, "-trigger_") {
			t.Errorf("%d characters, ends %q", utf8.RuneCountInString(text), foot)
		}
		if !strings.HasSuffix(body, "🛑") && !strings.HasSuffix(body, "&amp;") {
			t.Errorf("cut in the middle: …%q", body[len(body)-12:])
		}
	}
}

func TestC85WhatAnswersMean(t *testing.T) {
	for _, test := range []struct {
		name, answer, after string
		status              int
		taken, permanent    bool
		wait                time.Duration
	}{
		{name: "ok", status: 200, answer: "ok", taken: true},
		{name: "nothing", status: 200, taken: true},
		{name: "an imitation", status: 200, answer: `{"success":true}`, taken: true},
		{name: "200 and not ok", status: 200, answer: `{"ok":false,"error":"channel_not_found"}`},
		{name: "200 and a bad text", status: 200, answer: `{"ok":false,"error":"invalid_blocks"}`, permanent: true},
		{name: "a sign-in page", status: 200, answer: "<html>Please sign in</html>"},
		{name: "a bad text", status: 400, answer: "invalid_payload", permanent: true},
		{name: "a token that was revoked", status: 403, answer: "invalid_token"},
		{name: "a service that is gone", status: 404, answer: "no_service"},
		{name: "an archived channel", status: 410, answer: "channel_is_archived"},
		{name: "too many, by header", status: 429, after: "3", wait: 3 * time.Second},
		{name: "too many, by body", status: 429, answer: `{"ok":false,"error":"ratelimited","retry_after":30}`, wait: 30 * time.Second},
		{name: "trouble", status: 503},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newChannel(t)
			c.status, c.answer = test.status, test.answer
			if test.after != "" {
				c.header.Set("Retry-After", test.after)
			}
			err := c.notifier().Notify(t.Context(), alerts.Wording{}.Event(wedge(), alerts.Trigger, false))
			if (err == nil) != test.taken || errors.Is(err, alerts.ErrPermanent) != test.permanent {
				t.Fatalf("%v", err)
			}
			var asked *alerts.RetryAfter
			if errors.As(err, &asked) != (test.wait > 0) || asked != nil && asked.After != test.wait {
				t.Errorf("%v", err)
			}
		})
	}
}

// The address is the credential: neither an answer that repeats it nor an error
// of the network gives it away.
func TestTheAddressIsInNoError(t *testing.T) {
	c := newChannel(t)
	c.status, c.answer = 404, "no_service at "+c.URL+path+" or "+strings.TrimPrefix(path, "/services/")
	n := c.notifier()
	answered := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(), alerts.Trigger, false))
	c.Close()
	away := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(), alerts.Trigger, false))
	for _, err := range []error{answered, away} {
		if err == nil || strings.Contains(err.Error(), "XXXX") {
			t.Errorf("%v", err)
		}
	}
}
