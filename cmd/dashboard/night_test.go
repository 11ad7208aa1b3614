package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

func TestMain(m *testing.M) { sourcetest.Main(m) }

// pager is a PagerDuty that only writes down what it receives.
type pager struct {
	mu       sync.Mutex
	received []pagerEvent
}

type pagerEvent struct {
	Action     string `json:"event_action"`
	DedupKey   string `json:"dedup_key"`
	RoutingKey string `json:"routing_key"`
	Payload    struct{ Summary string }
}

func (p *pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e pagerEvent
	_ = json.NewDecoder(r.Body).Decode(&e)
	p.mu.Lock()
	p.received = append(p.received, e)
	p.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"success"}`)
}

func (p *pager) events() []pagerEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// startServe runs the dashboard on a configuration and gives its address.
func startServe(t *testing.T, text string) string {
	t.Helper()
	address := freeAddress(t)
	path := write(t, "unwedge.yaml", "listen: "+address+"\nstore: "+filepath.Join(t.TempDir(), "unwedge.db")+"\n"+text)
	run(t, address, "serve", "--config", path)
	return "http://" + address
}

// TestTheNight is the story on real brokers: a record that a consumer throws on
// wedges one of six lines of a group of each protocol; there is one page with
// the right offset, and one resolve when the fix is in.
func TestTheNight(t *testing.T) {
	kafka := sourcetest.SharedKafka(t)
	for protocol, opts := range map[string][]kgo.Opt{"classic": nil, "KIP-848": {kgo.ServerSideBalancer()}} {
		t.Run(protocol, func(t *testing.T) {
			name := "night-" + strings.ToLower(protocol)
			producer := newClient(t, kgo.SeedBrokers(kafka.Address), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			createTopics(t, producer, 6, name)
			var fixed atomic.Bool
			for i := range 3 {
				consumer(t, kafka.Address, name, fmt.Sprintf("worker-%d", i), &fixed, opts...)
			}
			stop := traffic(t, producer, name)
			defer stop()
			p := &pager{}
			demo := startServe(t, fmt.Sprintf(`
sources: [{name: payments, kafka: {brokers: [%q], groups: {include: [%q]}}}]
alerts: {poll_every: 1s, stall_after: 10s}
notify: [{name: oncall, pagerduty: {routing_key: 0123456789abcdef0123456789abcdef, url: %q}}]
`, kafka.Address, name, serveHTTP(t, p)))
			eventually(t, time.Minute, "every line moves", func() bool { return verdictsOf(t, demo, name)["ok"] == 6 })

			bad := &kgo.Record{Topic: name, Partition: 3, Value: []byte(`{"payment_id":"pay_bad","currency":"INRR"}`)}
			if err := producer.ProduceSync(t.Context(), bad).FirstErr(); err != nil {
				t.Fatal(err)
			}
			eventually(t, time.Minute, "a page", func() bool { return len(p.events()) > 0 })
			page := p.events()[0]
			for _, word := range []string{"artition 3", fmt.Sprint(bad.Offset), name} {
				if !strings.Contains(strings.ReplaceAll(page.Payload.Summary, ",", ""), word) {
					t.Errorf("the page does not name %q: %s", word, page.Payload.Summary)
				}
			}
			if got := verdictsOf(t, demo, name); got["head_of_line_stall"] != 1 {
				t.Errorf("verdicts: %v", got)
			}
			fixed.Store(true)
			eventually(t, time.Minute, "the resolve", func() bool { return len(p.events()) > 1 })
			if all := p.events(); len(all) != 2 || all[1].Action != "resolve" || all[1].DedupKey != page.DedupKey {
				t.Errorf("the pager received %+v", all)
			}
		})
	}
}

// TestMonday is the review on real brokers: letters of Kafka and of each SQS
// server are listed, redriven, and arrive as the bytes that they were.
func TestMonday(t *testing.T) {
	kafka := sourcetest.SharedKafka(t)
	for server, endpoint := range map[string]string{"ElasticMQ": sourcetest.SharedElasticMQ(t).Endpoint, "LocalStack": sourcetest.SharedLocalStack(t).Endpoint} {
		t.Run(server, func(t *testing.T) {
			name := "monday-" + strings.ToLower(server)
			client := newClient(t, kgo.SeedBrokers(kafka.Address), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			createTopics(t, client, 3, name, name+".dlq")
			letter := &kgo.Record{
				Topic: name + ".dlq", Partition: 2, Key: []byte{0xff, 0}, Value: []byte("{ \"n\" : 23958446825181076828 }\n\x00\xfe"),
				Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("2")}, {Key: "h"}, {Key: "h", Value: []byte{}}, {Key: "h", Value: []byte("1")}},
			}
			if err := client.ProduceSync(t.Context(), letter).FirstErr(); err != nil {
				t.Fatal(err)
			}
			queue := sourcetest.SQSClient(endpoint)
			body := `{ "job" : 9007199254740993 }`
			work := deadLetter(t, queue, name, body)

			dashboard := startServe(t, fmt.Sprintf(`
sources:
  - {name: payments, kafka: {brokers: [%q], groups: {include: [%q]}, dead_letters: {include: [%q]}}}
  - {name: aws, sqs: {region: us-east-1, endpoint: %q, queues: {include: ["%s*"]}, scan_every: 2s}}
`, kafka.Address, name, name+".dlq", endpoint, name))
			ids := lettersOf(t, dashboard, 2)
			redriveAll(t, dashboard, ids)

			got := readOne(t, kafka.Address, name)
			if !bytes.Equal(got.Key, letter.Key) || !bytes.Equal(got.Value, letter.Value) || len(got.Headers) < len(letter.Headers) {
				t.Errorf("the record came as key %q, value %q, %d headers", got.Key, got.Value, len(got.Headers))
			}
			for i, h := range letter.Headers {
				if g := got.Headers[i]; g.Key != h.Key || !bytes.Equal(g.Value, h.Value) || (g.Value == nil) != (h.Value == nil) {
					t.Errorf("header %d came as %s=%q", i, g.Key, g.Value)
				}
			}
			if got := receiveOne(t, queue, work); got != body {
				t.Errorf("the message came as %q", got)
			}
		})
	}
}

func newClient(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func createTopics(t testing.TB, client *kgo.Client, partitions int32, names ...string) {
	t.Helper()
	if _, err := kadm.NewClient(client).CreateTopics(t.Context(), partitions, 1, nil, names...); err != nil {
		t.Fatal(err)
	}
}

// consumer is a member of a group that throws on the malformed currency until
// it is fixed.
func consumer(t *testing.T, broker, name, id string, fixed *atomic.Bool, opts ...kgo.Opt) {
	client := newClient(t, append([]kgo.Opt{
		kgo.SeedBrokers(broker), kgo.ConsumerGroup(name), kgo.ClientID(id), kgo.ConsumeTopics(name), kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(250 * time.Millisecond),
	}, opts...)...)
	go func() {
		for fetches := client.PollFetches(t.Context()); t.Context().Err() == nil && !fetches.IsClientClosed(); fetches = client.PollFetches(t.Context()) {
			again := map[int32]kgo.EpochOffset{}
			var done []*kgo.Record
			fetches.EachRecord(func(r *kgo.Record) {
				if _, stands := again[r.Partition]; stands {
					return
				}
				if bytes.Contains(r.Value, []byte("INRR")) && !fixed.Load() {
					again[r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset}
					return
				}
				done = append(done, r)
			})
			_ = client.CommitRecords(t.Context(), done...)
			if len(again) > 0 {
				client.SetOffsets(map[string]map[int32]kgo.EpochOffset{name: again})
				<-time.After(200 * time.Millisecond)
			}
		}
	}()
}

// traffic writes to all six lines until it is stopped.
func traffic(t *testing.T, client *kgo.Client, topic string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				client.Produce(ctx, &kgo.Record{Topic: topic, Partition: int32(n % 6), Value: fmt.Appendf(nil, `{"payment_id":"pay_%06d","currency":"INR"}`, n)}, nil)
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

func serveHTTP(t *testing.T, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// verdictsOf counts the lines of a group by verdict.
func verdictsOf(t *testing.T, dashboard, group string) map[string]int {
	var lag struct {
		Groups []struct {
			Partitions []struct{ Verdict string }
		}
	}
	get(t, dashboard+"/api/v1/lag?group="+group, &lag)
	out := map[string]int{}
	for _, g := range lag.Groups {
		for _, p := range g.Partitions {
			out[p.Verdict]++
		}
	}
	return out
}

// deadLetter puts a message through a queue until it is dead, and gives the
// queue's address.
func deadLetter(t *testing.T, client *sqs.Client, name, body string) (work *string) {
	t.Helper()
	create := func(name string, attributes map[string]string) *string {
		made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		return made.QueueUrl
	}
	dead := create(name+"-dlq", nil)
	told, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: dead, AttributeNames: []types.QueueAttributeName{"QueueArn"}})
	if err != nil {
		t.Fatal(err)
	}
	policy := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"1"}`, told.Attributes["QueueArn"])
	work = create(name, map[string]string{"RedrivePolicy": policy, "VisibilityTimeout": "0"})
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: work, MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the message is dead", func() bool {
		_, _ = client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: work, VisibilityTimeout: 0})
		told, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: dead, AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages"}})
		return err == nil && told.Attributes["ApproximateNumberOfMessages"] == "1"
	})
	return work
}

func lettersOf(t *testing.T, dashboard string, n int) (ids []string) {
	eventually(t, time.Minute, "the letters are listed", func() bool {
		var page struct {
			DeadLetters []struct{ ID string } `json:"dead_letters"`
		}
		get(t, dashboard+"/api/v1/dead-letters", &page)
		ids = nil
		for _, l := range page.DeadLetters {
			ids = append(ids, l.ID)
		}
		return len(ids) == n
	})
	return ids
}

func redriveAll(t *testing.T, dashboard string, ids []string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"ids": ids})
	answer, err := http.Post(dashboard+"/api/v1/redrives", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var job struct{ ID string }
	if err := json.NewDecoder(answer.Body).Decode(&job); err != nil || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("redrive: %d %v", answer.StatusCode, err)
	}
	eventually(t, time.Minute, "the redrive is done", func() bool {
		var now struct {
			State  string
			Counts map[string]int
		}
		get(t, dashboard+"/api/v1/redrives/"+job.ID, &now)
		return now.State == "done" && now.Counts["confirmed"]+now.Counts["consumed"] == len(ids)
	})
}

// readOne reads the only record of a topic.
func readOne(t *testing.T, broker, topic string) *kgo.Record {
	t.Helper()
	client := newClient(t, kgo.SeedBrokers(broker), kgo.ConsumeTopics(topic), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	records := client.PollFetches(ctx).Records()
	if len(records) != 1 {
		t.Fatalf("%d records in %s", len(records), topic)
	}
	return records[0]
}

func receiveOne(t *testing.T, client *sqs.Client, queue *string) (body string) {
	t.Helper()
	eventually(t, 30*time.Second, "the message is back", func() bool {
		got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, WaitTimeSeconds: 1})
		if err != nil || len(got.Messages) == 0 {
			return false
		}
		body = aws.ToString(got.Messages[0].Body)
		return true
	})
	return body
}
