package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// planTold is a plan as the API tells it.
type planTold struct {
	Plan     string
	Total    int
	NotKnown []string `json:"not_known"`
	Warnings []struct {
		Code, Message string
		IDs           []string
		Evidence      []string
		MustConfirm   bool `json:"must_confirm"`
	}
}

func (p planTold) warning(code string) (message string, evidence []string, confirm bool) {
	for _, w := range p.Warnings {
		if w.Code == code {
			return w.Message, w.Evidence, w.MustConfirm
		}
	}
	return "", nil, false
}

func dryRun(t *testing.T, dashboard string, request map[string]any) (p planTold) {
	t.Helper()
	request["dry_run"] = true
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(dashboard+"/api/v1/redrives", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("plan: %d %v", answer.StatusCode, err)
	}
	return p
}

// quietly counts requests by name, from when somebody listens on.
type quietly struct {
	mu    sync.Mutex
	asked map[string]int
}

func (q *quietly) note(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked != nil {
		q.asked[name]++
	}
}

func (q *quietly) listen() (heard func() map[string]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = map[string]int{}
	return func() map[string]int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.asked
	}
}

// TestAPlanSaysWhatItFoundAndTakesNothing plans on both transports: each warning
// that a broker's answer leads to, and not one request that sends, receives,
// commits or joins.
func TestAPlanSaysWhatItFoundAndTakesNothing(t *testing.T) {
	var q quietly
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	cluster.ControlKey(-1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		q.note(kmsg.NameForKey(r.Key()))
		return nil, nil, false
	})
	client := newClient(t, kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	createTopics(t, client, 1, "orders", "orders.dlq", "orders.settled")
	compact := "compact"
	if _, err := kadm.NewClient(client).CreateTopics(t.Context(), 1, 1, map[string]*string{"cleanup.policy": &compact}, "state", "state.dlq"); err != nil {
		t.Fatal(err)
	}
	produce := func(topic, key string, value []byte) {
		r := &kgo.Record{Topic: topic, Value: value}
		if key != "" {
			r.Key = []byte(key)
		}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		produce("orders.dlq", fmt.Sprint("k", i), []byte("v"))
	}
	produce("state.dlq", "a", nil)
	produce("state.dlq", "", []byte("v"))
	produce("orders.settled", "k1", []byte("done"))
	produce("orders.settled", "k3", []byte("done"))
	produce("orders", "k4", []byte("newer"))
	for group, topics := range map[string][]string{"billing": {"orders"}, "email": {"orders"}, "resend": {"orders.dlq"}} {
		var at kadm.Offsets
		at.Add(kadm.Offset{Topic: topics[0], At: 0, LeaderEpoch: -1})
		if _, err := kadm.NewClient(client).CommitOffsets(t.Context(), group, at); err != nil {
			t.Fatal(err)
		}
	}

	server := sqstest.New(sqstest.Options{})
	endpoint := server.Start(t)
	if err := server.CreateDeadLetterQueue("jobs-dlq.fifo", 3, "jobs.fifo"); err != nil {
		t.Fatal(err)
	}
	if err := server.SetAttributes("jobs.fifo", map[string]string{"ContentBasedDeduplication": "true"}); err != nil {
		t.Fatal(err)
	}
	server.Put("jobs-dlq.fifo", sqstest.Message{Body: "{}", Source: "jobs.fifo", Group: "g", Receives: 3})
	server.SetFault(func(c sqstest.Call) *sqstest.Fault { q.note(c.Action); return nil })

	dashboard := startServe(t, fmt.Sprintf(`
sources:
  - {name: payments, kafka: {brokers: [%q], done: [{for: orders, topic: orders.settled, by: key}]}}
  - {name: aws, sqs: {region: us-east-1, endpoint: %q}}
alerts: {poll_every: 1h}
`, cluster.ListenAddrs()[0], endpoint))
	lettersOf(t, dashboard, 8)

	heard := q.listen()
	plan := dryRun(t, dashboard, map[string]any{"filter": map[string]any{}, "keep_timestamps": true})
	counts := heard()
	for _, taking := range []string{
		"Produce", "InitProducerId", "OffsetCommit", "JoinGroup", "ConsumerGroupHeartbeat", "CreateTopics", "DeleteRecords",
		"ReceiveMessage", "SendMessage", "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch", "StartMessageMoveTask",
	} {
		if counts[taking] > 0 {
			t.Errorf("the plan made %d requests %s", counts[taking], taking)
		}
	}
	if counts["Fetch"] == 0 || counts["GetQueueAttributes"] == 0 {
		t.Errorf("it was not listened to: %v", counts)
	}
	if plan.Total != 8 {
		t.Errorf("%+v", plan)
	}
	for code, want := range map[string]struct {
		says    string
		seen    string
		confirm bool
	}{
		"already_done":          {"2 of 8 letters are done already: leave them out", "orders.settled partition 0 offset 0", true},
		"source_read_by_others": {"somebody else reads orders.dlq and may redrive too: 5 letters are from there", "group resend reads orders.dlq: Empty, lag 5", true},
		"newer_same_key":        {"1 letter has newer records of the same key", "orders partition 0 offset 0", false},
		"many_receivers":        {"billing and email will each receive these 5 letters", "billing reads orders: Empty, lag 1", false},
		"no_reader":             {"nobody reads state: 2 letters would wait there", "no group has a member on state", false},
		"tombstone":             {"1 letter has no value: in state, which is compacted, that deletes its key", "", false},
		"key_needed":            {"state is compacted: a key is needed, and 1 letter has none", "", false},
		"fifo_order":            {"1 letter goes to the end of its message group in jobs.fifo", "", false},
		"fifo_dedup":            {"1 letter goes to jobs.fifo, which drops repeats", "content-based deduplication", false},
	} {
		message, evidence, confirm := plan.warning(code)
		if !strings.Contains(message, want.says) || confirm != want.confirm || !slices.ContainsFunc(evidence, func(line string) bool { return strings.Contains(line, want.seen) }) && want.seen != "" {
			t.Errorf("%s: %q %q, must confirm %t", code, message, evidence, confirm)
		}
	}
	if all := strings.Join(plan.NotKnown, "\n"); !strings.Contains(all, "looked through 2 records of orders.settled") || !strings.Contains(all, "who reads jobs.fifo is not known") {
		t.Errorf("%s", all)
	}
}
