package pagerduty

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/unwedge/unwedge/alerts"
)

// keyring is the routing keys that we know. PagerDuty drops the end of an alert
// in silence when it comes with another key than its beginning
// (https://developer.pagerduty.com/docs/events-api-v2/trigger-events/), so a key
// that was replaced still ends what went out with it: as long as it stands in the
// file below the new one, or this program runs.
type keyring struct {
	mu    sync.Mutex
	known map[string]string // by fingerprint
}

// errStranded is an alert that nobody can end any more but a person.
var errStranded = errors.New("the routing key that its page went with is not known any more, or refused: resolve it in PagerDuty by hand, or put the old key below the new one in routing_key_file before the next page")

// current reads the keys, one a line, and is the first: that of new pages.
func (r *keyring) current(read func() (string, error)) (string, error) {
	text, err := read()
	if err != nil {
		return "", fmt.Errorf("read the routing key: %w", err)
	}
	keys := strings.Fields(text)
	if len(keys) == 0 {
		return "", errors.New("the routing key is empty")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if !routable(key) {
			return "", errors.New("the routing key is not one: it has 32 letters and digits")
		}
		if r.known == nil {
			r.known = map[string]string{}
		}
		r.known[fingerprint(key)] = key
	}
	return keys[0], nil
}

// of is the key of a fingerprint.
func (r *keyring) of(print string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, known := r.known[print]
	return key, known
}

// fingerprint tells keys apart and gives none away: they are random.
func fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// Fingerprint is that of the key which a new page goes with.
func (n *Notifier) Fingerprint() (string, error) {
	key, err := n.keys.current(n.Key)
	if err != nil {
		return "", err
	}
	return fingerprint(key), nil
}

// keyFor is the key that an event goes with, and whether it is the current one.
func (n *Notifier) keyFor(e alerts.Event) (key string, current bool, err error) {
	now, err := n.keys.current(n.Key)
	if err != nil || e.Key == "" || e.Key == fingerprint(now) {
		return now, true, err
	}
	if old, known := n.keys.of(e.Key); known {
		return old, false, nil
	}
	return "", false, fmt.Errorf("%w: %w", alerts.ErrPermanent, errStranded)
}

// routable tells whether a key can be one at all, so that a wrong file is told
// from a wrong event, and the page waits for it to be mended.
func routable(key string) bool {
	return len(key) == 32 && !strings.ContainsFunc(key, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// mendable takes a refusal of the current key for no refusal of the event: no
// other body would be taken, and with another key this one is. A key that was
// replaced will not be mended.
func mendable(err error, current bool) error {
	if !errors.Is(err, alerts.ErrPermanent) || !strings.Contains(strings.ReplaceAll(strings.ToLower(err.Error()), "_", " "), "routing key") {
		return err
	}
	if !current {
		return fmt.Errorf("%w: %w", err, errStranded)
	}
	return errors.New(err.Error())
}
