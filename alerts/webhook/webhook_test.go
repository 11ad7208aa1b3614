package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // of the standard's own example

var night = time.Date(2026, 9, 9, 21, 16, 57, 0, time.UTC)

type received struct {
	header http.Header
	body   []byte
}

func receive(t *testing.T) (*Notifier, *[]received) {
	var all []received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all = append(all, received{r.Header, body})
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return &Notifier{
		URL:    func() (string, error) { return server.URL + "/hook", nil },
		Secret: func() (string, error) { return secret + "\n", nil },
		Client: alerts.NewClient(),
	}, &all
}

func wedge() alerts.Incident {
	line := sources.Partition{Source: "payments", Group: "retry", Topic: "requests", Number: 3}
	return alerts.Incident{
		ID: "0199abcd-0000-7000-8000-000000000001", Source: "payments", Group: "retry", Verdict: alerts.HeadOfLineStall, Severity: "critical",
		Pages: true, Title: "Partition 3 of requests is wedged", OpenedAt: night, Lines: []sources.Partition{line},
		Evidence: alerts.Evidence{Line: line, Position: 118204, Head: &sources.Record{Offset: 118204, Body: []byte("SECRET")}},
	}
}

func TestTheSignatureIsThatOfTheStandard(t *testing.T) {
	// The example of the standard's own libraries.
	header, err := Sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if err != nil || header.Get("webhook-signature") != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%v %v", header, err)
	}
}

func TestC94OpenedAndResolvedHaveOneIdAndAStatus(t *testing.T) {
	n, all := receive(t)
	in := wedge()
	events := []alerts.Event{alerts.Wording{}.Event(in, alerts.Trigger, false)}
	in.ResolvedAt = night.Add(time.Hour)
	events = append(events, alerts.Wording{}.Event(in, alerts.Resolve, false))
	for _, e := range events {
		if err := n.Notify(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct{ kind, status, at string }{
		{"incident.opened", "firing", "2026-09-09T21:16:57Z"}, {"incident.resolved", "resolved", "2026-09-09T22:16:57Z"},
	} {
		r := (*all)[i]
		var got body
		if err := json.Unmarshal(r.body, &got); err != nil {
			t.Fatal(err)
		}
		if got.Type != want.kind || got.Data.Status != want.status || got.Timestamp != want.at || got.Data.ID != in.ID {
			t.Errorf("%+v", got)
		}
		if strings.Contains(string(r.body), "SECRET") || len(r.body) > 20_000 {
			t.Errorf("%d bytes: %s", len(r.body), r.body)
		}
		verify(t, r)
	}
	if (*all)[0].header.Get("webhook-id") == (*all)[1].header.Get("webhook-id") {
		t.Error("two events share an id: the receiver drops the second")
	}
}

// verify checks a signature as a receiver does.
func verify(t *testing.T, r received) {
	t.Helper()
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.body)
	if got, want := r.header.Get("webhook-signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
	if id := r.header.Get("webhook-id"); id == "" || strings.Contains(id, ".") {
		t.Errorf("webhook-id %q", id)
	}
}

func TestAnEventKeepsItsIdAtEveryAttempt(t *testing.T) {
	n, all := receive(t)
	for range 2 {
		if err := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(), alerts.Trigger, false)); err != nil {
			t.Fatal(err)
		}
	}
	if (*all)[0].header.Get("webhook-id") != (*all)[1].header.Get("webhook-id") {
		t.Error("a second attempt has another id: the receiver takes it for another event")
	}
}

func TestWhatPagesNobodyIsToldAsAWarning(t *testing.T) {
	in := wedge()
	in.Pages = false
	if got := message(alerts.Wording{}.Event(in, alerts.Trigger, false)); got.Data.Severity != "warning" {
		t.Errorf("%+v", got.Data)
	}
}

func TestSecrets(t *testing.T) {
	for given, ok := range map[string]bool{secret: true, "raw bytes": true, "": false, "whsec_": false, "whsec_%%": false} {
		if _, err := Sign(given, "id", night, nil); (err == nil) != ok {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestAnErrorNamesNoAddress(t *testing.T) {
	n := &Notifier{
		URL:    func() (string, error) { return "http://127.0.0.1:1/token-of-the-hook", nil },
		Secret: func() (string, error) { return secret, nil }, Client: alerts.NewClient(),
	}
	err := n.Notify(t.Context(), alerts.Wording{}.Event(wedge(), alerts.Trigger, false))
	if err == nil || strings.Contains(err.Error(), "token-of-the-hook") || errors.Is(err, alerts.ErrPermanent) {
		t.Errorf("%v", err)
	}
}

// TestAReceiverThatGivesTheSecretBackLeaksNothing: what a receiver answers is
// foreign text, and may be what it was sent.
func TestAReceiverThatGivesTheSecretBackLeaksNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "cannot check "+secret)
	}))
	t.Cleanup(server.Close)
	value := func(s string) func() (string, error) { return func() (string, error) { return s, nil } }
	n := Notifier{URL: value(server.URL), Secret: value(secret), Client: alerts.NewClient()}
	err := n.Notify(t.Context(), alerts.Event{ID: "x"})
	if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "cannot check ***") {
		t.Errorf("%v", err)
	}
}
