package pagerduty

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/unwedge/unwedge/alerts"
)

// Inbox takes what PagerDuty tells of incidents: its webhooks v3
// (https://developer.pagerduty.com/docs/webhooks/v3-overview/).
type Inbox struct {
	// Secrets are those of the notifiers' subscriptions, by name, one a line, asked
	// for at each message; while one is replaced both hold.
	Secrets map[string]func() (string, error)
	Hear    func(ctx context.Context, e alerts.Elsewhere) error
}

// Receive takes one message for a notifier. What is none of ours is taken and does
// nothing: PagerDuty disables a subscription that is refused. Errors:
// alerts.ErrNoNotifier, alerts.ErrSignature, alerts.ErrMessage.
func (in *Inbox) Receive(ctx context.Context, notifier string, header http.Header, body []byte) error {
	read := in.Secrets[notifier]
	if read == nil {
		return fmt.Errorf("%w, or it has no webhook_secret: %q", alerts.ErrNoNotifier, notifier)
	}
	secrets, err := read()
	if err != nil {
		return fmt.Errorf("read the webhook secret of %s: %w", notifier, err)
	}
	if !signed(strings.Fields(secrets), header.Values("X-PagerDuty-Signature"), body) {
		return alerts.ErrSignature
	}
	var m callback
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("%w: %w", alerts.ErrMessage, err)
	}
	e, ours := m.elsewhere(notifier)
	if !ours {
		return nil
	}
	return in.Hear(ctx, e)
}

// signed tells whether one of the signatures is that of the body by one of the
// secrets: there are several while a secret is replaced. All are compared, in
// constant time.
func signed(secrets, headers []string, body []byte) bool {
	ok := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write(body) // a hash takes everything
		want := mac.Sum(nil)
		for _, one := range strings.Split(strings.Join(headers, ","), ",") {
			coded, v1 := strings.CutPrefix(strings.TrimSpace(one), "v1=")
			if got, err := hex.DecodeString(coded); v1 && err == nil && hmac.Equal(got, want) {
				ok = true
			}
		}
	}
	return ok
}

// callback is the part of a message that we read.
type callback struct {
	Event struct {
		Type  string `json:"event_type"`
		Agent *struct {
			Summary string `json:"summary"`
		} `json:"agent"`
		Data struct {
			ID  string `json:"id"`
			Key string `json:"incident_key"` // the dedup key of the alert that opened it
		} `json:"data"`
	} `json:"event"`
}

// turns are the events that we take, by their names.
var turns = map[string]alerts.Turned{
	"incident.acknowledged":   alerts.TurnedAcknowledged,
	"incident.unacknowledged": alerts.TurnedUnacknowledged,
	"incident.resolved":       alerts.TurnedClosed,
	"incident.reopened":       alerts.TurnedReopened,
}

// longestName is how many characters of a foreign name are kept.
const longestName = 100

func (m callback) elsewhere(notifier string) (alerts.Elsewhere, bool) {
	what, ours := turns[m.Event.Type]
	by := "somebody"
	if a := m.Event.Agent; a != nil && strings.TrimSpace(a.Summary) != "" {
		by = alerts.Cut(strings.TrimSpace(a.Summary), longestName)
	}
	return alerts.Elsewhere{
		Incident: m.Event.Data.Key, Notifier: notifier, What: what, By: by + " in PagerDuty", Ref: m.Event.Data.ID,
	}, ours && m.Event.Data.Key != ""
}
