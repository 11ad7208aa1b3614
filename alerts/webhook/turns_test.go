package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

func TestEachTurnHasItsTypeAndTheIncidentItsStatus(t *testing.T) {
	n, all := receive(t)
	in := wedge()
	for i, c := range []struct {
		kind       alerts.EventKind
		what, says string
	}{
		{alerts.Trigger, "incident.opened", "firing"},
		{alerts.Update, "incident.updated", "firing"},
		{alerts.Acknowledge, "incident.acknowledged", "acknowledged"},
		{alerts.Resolve, "incident.resolved", "resolved"},
	} {
		if c.kind == alerts.Acknowledge {
			in.AcknowledgedAt, in.AcknowledgedBy = night.Add(time.Minute), "anna in PagerDuty"
		}
		if err := n.Notify(t.Context(), alerts.Wording{}.Event(in, c.kind, false)); err != nil {
			t.Fatal(err)
		}
		var got body
		if err := json.Unmarshal((*all)[i].body, &got); err != nil {
			t.Fatal(err)
		}
		if got.Type != c.what || got.Data.Status != c.says || got.Data.ID != in.ID {
			t.Errorf("%s: %s of %s is %s", c.kind, got.Type, got.Data.ID, got.Data.Status)
		}
		if taken := got.Data.TakenBy; (taken != nil) != (i >= 2) {
			t.Errorf("%s: acknowledged by %v", c.kind, taken)
		}
	}
}

// While a secret is replaced, a receiver that knows either takes the event.
func TestEachSecretSigns(t *testing.T) {
	at, text := time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	header, err := Sign(secret+"\nanother\n", "msg_p5jXN8AQM9LWM0D4loKWxJek", at, text)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := Sign("another", "msg_p5jXN8AQM9LWM0D4loKWxJek", at, text)
	want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= " + other.Get("webhook-signature")
	if got := header.Get("webhook-signature"); got != want || strings.Count(got, "v1,") != 2 {
		t.Errorf("%s, want %s", got, want)
	}
}
