package pagerduty

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
)

const ourID = "0199abcd-0000-7000-8000-000000000001"

// message is a webhook as PagerDuty's documentation shows it.
func callbackOf(kind, agent string) []byte {
	return fmt.Appendf(nil, `{"event":{"id":"01BH","event_type":%q,"resource_type":"incident","occurred_at":"2026-09-09T21:20:00.000Z","agent":%s,"client":null,
		"data":{"id":"PGR0VU2","type":"incident","number":2,"status":"acknowledged","incident_key":%q,"title":"wedged","urgency":"high","resolve_reason":null}}}`,
		kind, agent, ourID)
}

func signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

func inboxOf(heard *[]alerts.Elsewhere) *Inbox {
	return &Inbox{
		Secrets: map[string]func() (string, error){"oncall": func() (string, error) { return "old\nnew\n", nil }},
		Hear: func(_ context.Context, e alerts.Elsewhere) error {
			*heard = append(*heard, e)
			return nil
		},
	}
}

func TestWhatPagerDutyTellsIsTakenByItsSignature(t *testing.T) {
	body := callbackOf("incident.acknowledged", `{"id":"PLH1HKV","summary":"Anna","type":"user_reference"}`)
	right := signature("new", body)
	for name, c := range map[string]struct {
		signatures []string
		body       []byte
		want       error
	}{
		"right":                                {[]string{right}, body, nil},
		"by the secret before":                 {[]string{signature("old", body)}, body, nil},
		"one of several":                       {[]string{signature("other", body) + "," + right}, body, nil},
		"one of several headers":               {[]string{signature("other", body), right}, body, nil},
		"none":                                 {nil, body, alerts.ErrSignature},
		"of another secret":                    {[]string{signature("other", body)}, body, alerts.ErrSignature},
		"of another body":                      {[]string{right}, append(body, ' '), alerts.ErrSignature},
		"of another version":                   {[]string{strings.Replace(right, "v1", "v2", 1)}, body, alerts.ErrSignature},
		"half of one":                          {[]string{right[:20]}, body, alerts.ErrSignature},
		"right, and the body is no JSON":       {[]string{signature("new", []byte("{"))}, []byte("{"), alerts.ErrMessage},
		"right, and the body tells of nothing": {[]string{signature("new", []byte("{}"))}, []byte("{}"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []alerts.Elsewhere
			err := inboxOf(&heard).Receive(t.Context(), "oncall", http.Header{"X-Pagerduty-Signature": c.signatures}, c.body)
			if !errors.Is(err, c.want) || (len(heard) == 1) != (c.want == nil && len(c.body) > 2) {
				t.Errorf("%v, heard %v", err, heard)
			}
		})
	}
}

func TestWhoDidWhatInPagerDuty(t *testing.T) {
	for _, c := range []struct {
		kind, agent string
		want        alerts.Turned
		by          string
	}{
		{"incident.acknowledged", `{"summary":"Anna"}`, alerts.TurnedAcknowledged, "Anna in PagerDuty"},
		{"incident.resolved", `null`, alerts.TurnedClosed, "somebody in PagerDuty"},
		{"incident.reopened", `{"summary":" "}`, alerts.TurnedReopened, "somebody in PagerDuty"},
		{"incident.unacknowledged", `null`, alerts.TurnedUnacknowledged, "somebody in PagerDuty"},
		{"incident.triggered", `null`, "", ""},
		{"pagey.ping", `null`, "", ""},
	} {
		var heard []alerts.Elsewhere
		body := callbackOf(c.kind, c.agent)
		err := inboxOf(&heard).Receive(t.Context(), "oncall", http.Header{"X-Pagerduty-Signature": {signature("new", body)}}, body)
		if err != nil || (len(heard) == 1) != (c.want != "") {
			t.Fatalf("%s: %v, %v", c.kind, heard, err)
		}
		if len(heard) == 1 && heard[0] != (alerts.Elsewhere{Incident: ourID, Notifier: "oncall", What: c.want, By: c.by, Ref: "PGR0VU2"}) {
			t.Errorf("%s: %+v", c.kind, heard[0])
		}
	}
}

func TestOnlyANotifierWithASecretHears(t *testing.T) {
	if err := inboxOf(nil).Receive(t.Context(), "second", nil, nil); !errors.Is(err, alerts.ErrNoNotifier) {
		t.Error(err)
	}
}
