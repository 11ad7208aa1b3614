package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// channelOf is a Slack channel, or a heartbeat's receiver: it keeps what it is
// sent.
type channelOf struct {
	mu     sync.Mutex
	bodies []string
}

func (c *channelOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.bodies = append(c.bodies, string(body))
	c.mu.Unlock()
	_, _ = io.WriteString(w, "ok")
}

func (c *channelOf) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bodies)
}

// tellAs sends a webhook as PagerDuty does, and is the status of the answer.
func tellAs(t *testing.T, dashboard, secret, kind, incident string) int {
	t.Helper()
	body := fmt.Sprintf(`{"event":{"event_type":%q,"agent":{"summary":"Anna"},"data":{"id":"PGR0VU2","incident_key":%q}}}`, kind, incident)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, body)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, dashboard+"/api/v1/pagerduty/oncall", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-PagerDuty-Signature", "v1="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// wedgeOne starts a group of one member, whose only line is wedged.
func wedgeOne(t *testing.T, fixed *atomic.Bool) (address string) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "payments"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	address = cluster.ListenAddrs()[0]
	producer := newClient(t, kgo.SeedBrokers(address), kgo.DefaultProduceTopic("payments"))
	for _, value := range []string{`{"currency":"INR"}`, `{"currency":"INRR"}`, `{"currency":"INR"}`} {
		if err := producer.ProduceSync(t.Context(), &kgo.Record{Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	consumer(t, address, "payments", "worker-1", fixed)
	return address
}

// TestClosedByHandInPagerDuty is the whole of it in one program: a page, a test
// page, a second channel, a heartbeat, an incident that is closed by hand while it
// stands, and its end, with the key that is replaced meanwhile.
func TestClosedByHandInPagerDuty(t *testing.T) {
	var fixed atomic.Bool
	address := wedgeOne(t, &fixed)
	p, channel, heart := &pager{}, &channelOf{}, &channelOf{}
	keyFile := write(t, "key", strings.Repeat("a", 32)+"\n")
	dashboard := startServe(t, fmt.Sprintf(`
sources: [{name: payments, kafka: {brokers: [%q]}}]
alerts: {poll_every: 200ms, stall_after: 1s, repeat_after: 2s}
notify:
  - {name: oncall, pagerduty: {routing_key_file: %q, url: %q, webhook_secret: s3cret}}
  - {name: second, slack: {url: %q}, after: 1s}
heartbeat: {url: %q, every: 1s}
`, address, keyFile, serveHTTP(t, p), serveHTTP(t, channel), serveHTTP(t, heart)))

	eventually(t, time.Minute, "a page", func() bool { return len(p.events()) == 1 })
	page := p.events()[0]
	eventually(t, time.Minute, "the second channel is told, because nobody acknowledged", func() bool { return channel.count() == 1 })
	eventually(t, time.Minute, "the heart beats", func() bool { return heart.count() > 1 })

	if got := tellAs(t, dashboard, "wrong", "incident.resolved", page.DedupKey); got != http.StatusUnauthorized {
		t.Errorf("a wrong signature was answered with %d", got)
	}
	if err := os.WriteFile(keyFile, []byte(strings.Repeat("b", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tellAs(t, dashboard, "s3cret", "incident.resolved", page.DedupKey); got != http.StatusNoContent {
		t.Errorf("answered with %d", got)
	}
	var in struct {
		By string `json:"acknowledged_by"`
	}
	get(t, dashboard+"/api/v1/incidents/"+page.DedupKey, &in)
	if in.By != "Anna in PagerDuty" {
		t.Errorf("acknowledged by %q", in.By)
	}
	eventually(t, time.Minute, "a page again", func() bool { return len(p.events()) == 2 })
	fixed.Store(true)
	eventually(t, time.Minute, "the resolve", func() bool { return len(p.events()) == 3 })
	for i, want := range []struct{ action, key string }{{"trigger", "a"}, {"trigger", "b"}, {"resolve", "b"}} {
		got := p.events()[i]
		if got.Action != want.action || got.DedupKey != page.DedupKey || got.RoutingKey != strings.Repeat(want.key, 32) {
			t.Errorf("event %d: %+v, want %+v", i+1, got, want)
		}
	}

	answer, err := http.Post(dashboard+"/api/v1/notifiers/oncall/test", "", nil) //nolint:noctx // a test
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", answer, err)
	}
	_ = answer.Body.Close()
	if all := p.events(); len(all) != 5 || all[3].Action != "trigger" || all[4].Action != "resolve" || all[3].DedupKey == page.DedupKey {
		t.Errorf("the test page: %+v", all)
	}
	var audit struct{ Entries []struct{ By, Action string } }
	get(t, dashboard+"/api/v1/audit", &audit)
	text, _ := json.Marshal(audit)
	for _, want := range []string{`"incident.closed"`, `"Anna in PagerDuty"`, `"notifier.test"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the audit has no %s: %s", want, text)
		}
	}
}
