package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

func (d *duty) SendTest(_ context.Context, name, by string) error {
	if name != "oncall" && name != "second" {
		return fmt.Errorf("%w: %q", alerts.ErrNoNotifier, name)
	}
	if d.refuse != nil {
		return &alerts.TestError{Notifier: name, Err: d.refuse}
	}
	d.tested = append(d.tested, name+" by "+by)
	return nil
}

func (d *duty) Undelivered(context.Context) ([]alerts.Backlog, error) { return d.waiting, nil }

func (d *duty) Receive(_ context.Context, notifier string, header http.Header, body []byte) error {
	if header.Get("X-PagerDuty-Signature") != "right" {
		return alerts.ErrSignature
	}
	d.heard = append(d.heard, notifier+" "+string(body))
	return nil
}

func TestATestPageIsSentByName(t *testing.T) {
	w := story()
	s := w.server(t)
	answer := object(t, ask(s, http.MethodPost, "/api/v1/notifiers/oncall/test", ""), http.StatusOK)
	if at(t, answer, "notifier") != "oncall" || !slices.Equal(w.desk.tested, []string{"oncall by " + localUser}) {
		t.Errorf("%v, %v", answer, w.desk.tested)
	}
	if code, _ := refused(t, ask(s, http.MethodPost, "/api/v1/notifiers/nobody/test", ""), http.StatusNotFound); code != codeNotFound {
		t.Error(code)
	}
	w.desk.refuse = errors.New("send a test page: answered 502")
	if code, message := refused(t, ask(s, http.MethodPost, "/api/v1/notifiers/oncall/test", ""), http.StatusServiceUnavailable); code != codeUnavailable || !strings.Contains(message, "answered 502") {
		t.Errorf("%s: %s", code, message)
	}
}

func TestATestPageIsSentFromThePageOfNotifiers(t *testing.T) {
	w := story()
	s := w.server(t)
	page := get(s, "/notifiers")
	for _, words := range []string{`action="/notifiers/oncall/test"`, "after 10 min", "PagerDuty"} {
		if !strings.Contains(page.Body.String(), words) {
			t.Errorf("no %s on the page", words)
		}
	}
	sent := post(s, "/notifiers/oncall/test", "")
	if sent.Code != http.StatusSeeOther {
		t.Fatal(sent.Code)
	}
	if page := get(s, sent.Header().Get("Location")); !strings.Contains(page.Body.String(), "oncall accepted a test page") {
		t.Error(page.Body)
	}
	w.desk.refuse = errors.New("answered 502")
	if page := post(s, "/notifiers/second/test", ""); page.Code != http.StatusServiceUnavailable || !strings.Contains(page.Body.String(), "answered 502") {
		t.Errorf("%d %s", page.Code, page.Body)
	}
}

// The banner of C88: whoever looks at any page sees that pages do not get out.
func TestC88PagesSayThatAlertsAreNotDelivered(t *testing.T) {
	w := story()
	w.desk.waiting = []alerts.Backlog{
		{Notifier: "oncall", Events: 2, Oldest: thursday.Add(-40 * time.Minute), Err: "answered 502"},
		{Notifier: "second", Events: 1, Oldest: thursday.Add(-time.Second)},
	}
	s := w.server(t)
	for _, path := range []string{"/", "/incidents", "/lag", "/notifiers"} {
		text := get(s, path).Body.String()
		if !strings.Contains(text, "Alerts are not delivered") || !strings.Contains(text, "answered 502") || strings.Contains(text, "to second since") {
			t.Errorf("%s does not say that alerts are not delivered, or says it of one that has just been written", path)
		}
	}
}

// What PagerDuty sends proves itself by its signature, wherever it seems to come
// from, and by nothing else.
func TestPagerDutyIsHeardByItsSignature(t *testing.T) {
	w := story()
	s := w.server(t)
	foreign := []string{"Origin", "https://elsewhere.example.com", "Sec-Fetch-Site", "cross-site"}
	if a := ask(s, http.MethodPost, "/api/v1/pagerduty/oncall", "{}", append(foreign, "X-PagerDuty-Signature", "right")...); a.Code != http.StatusNoContent {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if code, _ := refused(t, ask(s, http.MethodPost, "/api/v1/pagerduty/oncall", "{}"), http.StatusUnauthorized); code != codeUnauthorised {
		t.Error(code)
	}
	if !slices.Equal(w.desk.heard, []string{"oncall {}"}) {
		t.Errorf("heard %v", w.desk.heard)
	}
	if a := ask(s, http.MethodPost, "/api/v1/notifiers/oncall/test", "", foreign...); a.Code != http.StatusForbidden {
		t.Errorf("another route took a foreign origin: %d", a.Code)
	}
}
