package pagerduty

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
)

var oldKey, newKey = strings.Repeat("a", 32), strings.Repeat("b", 32)

// tell sends an event that goes with the key of a fingerprint, and is the key that
// it was sent with.
func tell(t *testing.T, r *receiver, n *Notifier, kind alerts.EventKind, print string) (string, error) {
	t.Helper()
	e := alerts.Wording{}.Event(wedge(1), kind, false)
	e.Key = print
	before := len(r.bodies)
	err := n.Notify(t.Context(), e)
	if len(r.bodies) == before {
		return "", err
	}
	return r.last(t)["routing_key"].(string), err
}

func TestTheEndGoesWithTheKeyOfItsPage(t *testing.T) {
	r := newReceiver(t)
	file := oldKey
	n := &Notifier{URL: r.URL, Client: alerts.NewClient(), Key: func() (string, error) { return file, nil }}
	print, err := n.Fingerprint()
	if err != nil || strings.Contains(oldKey, print) {
		t.Fatalf("%q %v", print, err)
	}
	if key, err := tell(t, r, n, alerts.Trigger, print); err != nil || key != oldKey {
		t.Fatalf("the page went with %s: %v", key, err)
	}
	file = newKey
	if key, err := tell(t, r, n, alerts.Resolve, print); err != nil || key != oldKey {
		t.Errorf("after the key was replaced, the end went with %s: %v", key, err)
	}
	fresh, _ := n.Fingerprint()
	if key, err := tell(t, r, n, alerts.Trigger, fresh); err != nil || key != newKey {
		t.Errorf("a new page went with %s: %v", key, err)
	}
	// Another process: it knows what is in the file, and no more.
	again := &Notifier{URL: r.URL, Client: alerts.NewClient(), Key: func() (string, error) { return file, nil }}
	if key, err := tell(t, r, again, alerts.Resolve, print); !errors.Is(err, alerts.ErrPermanent) || !errors.Is(err, errStranded) || key != "" {
		t.Errorf("an end that PagerDuty would drop was sent with %q: %v", key, err)
	}
	file = newKey + "\n" + oldKey + "\n"
	if key, err := tell(t, r, again, alerts.Resolve, print); err != nil || key != oldKey {
		t.Errorf("with the old key below the new one, the end went with %s: %v", key, err)
	}
}

func TestAReplacedKeyThatIsRefusedIsNotTriedForEver(t *testing.T) {
	r := newReceiver(t)
	r.status, r.answer = http.StatusBadRequest, `{"status":"invalid event","errors":["Invalid routing key"]}`
	n := &Notifier{URL: r.URL, Client: alerts.NewClient(), Key: func() (string, error) { return newKey + "\n" + oldKey, nil }}
	if _, err := tell(t, r, n, alerts.Resolve, fingerprint(oldKey)); !errors.Is(err, alerts.ErrPermanent) || !errors.Is(err, errStranded) {
		t.Errorf("the old key: %v", err)
	}
	if _, err := tell(t, r, n, alerts.Resolve, fingerprint(newKey)); err == nil || errors.Is(err, alerts.ErrPermanent) {
		t.Errorf("the current key can be mended: %v", err)
	}
}
