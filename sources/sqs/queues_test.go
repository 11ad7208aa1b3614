package sqs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

func (w *world) queues() map[string]sources.Queue {
	w.t.Helper()
	list, err := w.Queues(w.t.Context())
	w.must(err)
	out := map[string]sources.Queue{}
	for _, q := range list {
		out[q.Name] = q
	}
	return out
}

func TestQueuesAreToldApart(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{
		Queues: sources.Patterns{Include: []string{"*"}, Exclude: []string{"secret"}}, DeadLetters: sources.Patterns{Include: []string{"sns-*-dlq"}},
		Routes: []sources.Route{{From: "sns-*", To: "a"}},
	})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a", "b"))
	w.must(w.CreateDeadLetterQueue("far-dlq", 3, "secret")) // fed by a queue that we do not read
	w.must(w.CreateQueue("sns-orders-dlq", nil))
	w.must(w.CreateQueue("plain", nil))
	w.put("dlq", "a", 7)
	got := w.queues()
	for name, want := range map[string]string{
		"dlq": "dead_letter [a b] ", "far-dlq": "dead_letter [secret] ", "sns-orders-dlq": "dead_letter [] a", "a": "work [] ", "b": "work [] ", "plain": "work [] ",
	} {
		q := got[name]
		if is := fmt.Sprint(q.Kind, " ", q.FeedsFrom, " ", q.RedriveTo); is != want || q.Err != nil {
			t.Errorf("%s is %s, %v; want %s", name, is, q.Err, want)
		}
	}
	if len(got) != 6 {
		t.Errorf("listed: %v", slices.Sorted(maps.Keys(got)))
	}
	if q := got["dlq"]; q.Count != 7 || q.CountIsExact || q.Retention != 4*24*time.Hour {
		t.Errorf("%+v", q)
	}
}

func TestC122NewQueuesAppearAndDeletedOnesVanish(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("old-dlq", 3, "old"))
	w.queues()
	w.DeleteQueue("old")
	w.must(w.CreateDeadLetterQueue("x-dlq", 3, "x"))
	w.must(w.CreateQueue("plain", nil))
	w.must(w.SetAttributes("plain", map[string]string{"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":1}`, w.ARN("x-dlq"))}))
	w.pass(30 * time.Second)
	got := w.queues()
	if _, there := got["old"]; there || fmt.Sprint(got["x-dlq"].FeedsFrom) != "[plain x]" || got["old-dlq"].Kind != sources.WorkQueue {
		t.Errorf("%+v", got)
	}
}

func TestOneForbiddenQueueHidesNoOther(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a"))
	w.must(w.CreateQueue("forbidden", nil))
	w.put("dlq", "a", 1)
	w.Deny("GetQueueAttributes", "forbidden")
	got := w.queues()
	if q := got["forbidden"]; !errors.Is(q.Err, sources.ErrNotAuthorised) || !strings.Contains(q.Err.Error(), "needs sqs:GetQueueAttributes on forbidden") || q.Count != sources.NotKnown {
		t.Errorf("%+v", q)
	}
	if q := got["dlq"]; q.Err != nil || q.Count != 1 {
		t.Errorf("%+v", q)
	}
	w.Deny("ReceiveMessage", "dlq")
	w.step("dlq")
	if _, err := w.DeadLetters(t.Context(), "dlq", w.cursor["dlq"], 10); !errors.Is(err, sources.ErrNotAuthorised) {
		t.Errorf("%v", err)
	}
}

func TestAMoveTaskOfSQSIsShown(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a"))
	w.put("dlq", "a", 50)
	c := client.New(client.Options{
		Region: "us-east-1", BaseEndpoint: &w.endpoint, HTTPClient: sqs.WholeRequests(http.DefaultClient), Credentials: credentials.NewStaticCredentialsProvider("x", "x", ""),
	})
	_, err := c.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{SourceArn: aws.String(w.ARN("dlq")), MaxNumberOfMessagesPerSecond: aws.Int32(1)})
	w.must(err)
	if q := w.queues()["dlq"]; !strings.HasPrefix(q.Redriving, "a move task of SQS is running: ") || !strings.HasSuffix(q.Redriving, " of about 50 letters moved") {
		t.Errorf("%q", q.Redriving)
	}
}

func TestC124AllGoesToTheConfiguredEndpoint(t *testing.T) {
	w := newWorld(t, sqstest.Options{URLHost: "sqs.inside.example:9324"}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "work"))
	w.put("dlq", "work", 3)
	var mu sync.Mutex
	odd := map[string]int{}
	w.proxy(func(s *sqstest.Server) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			body := readAgain(r)
			if strings.Contains(body, "sqs.inside.example") {
				mu.Lock()
				odd[r.Header.Get("X-Amz-Target")]++
				mu.Unlock()
			}
			s.ServeHTTP(out, r)
		}))
	})
	w.scan("dlq")
	o := w.redrive(w.parcels("work"))
	if len(o.confirmed) != 3 || len(odd) != 0 {
		t.Errorf("%d confirmed, requests with the odd host: %v", len(o.confirmed), odd)
	}
	if q := w.queues()["dlq"]; q.ID != w.ARN("dlq") {
		t.Errorf("shown as %q", q.ID)
	}
}

// readAgain reads a request's body and leaves it to be read again.
func readAgain(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

func TestC129AllOf2097QueuesAreFound(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	for i := range 2096 {
		name := fmt.Sprintf("q-%04d", i)
		if i == 2050 {
			w.must(w.CreateDeadLetterQueue(name, 3, "zz-source"))
			continue
		}
		w.must(w.CreateQueue(name, nil))
	}
	w.put("q-2050", "zz-source", 2)
	var mu sync.Mutex
	out, most, throttles := 0, 0, 40
	w.proxy(func(s *sqstest.Server) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueueAttributes") {
				s.ServeHTTP(rw, r)
				return
			}
			mu.Lock()
			out++
			most = max(most, out)
			throttle := throttles > 0
			throttles--
			mu.Unlock()
			defer func() { mu.Lock(); out--; mu.Unlock() }()
			if throttle {
				rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
				rw.Header().Set("X-Amzn-Query-Error", "RequestThrottled;Sender")
				rw.WriteHeader(http.StatusForbidden)
				_, _ = rw.Write([]byte(`{"__type":"com.amazonaws.sqs#RequestThrottled","message":"slower"}`))
				return
			}
			s.ServeHTTP(rw, r)
		}))
	})
	got := w.queues()
	failed := 0
	for _, q := range got {
		if q.Err != nil {
			failed++
		}
	}
	if len(got) != 2097 || failed != 0 || most > 8 {
		t.Errorf("%d queues, %d without their attributes, %d requests at once", len(got), failed, most)
	}
	before := w.calls("GetQueueAttributes", "*")
	w.queues()
	if n := w.calls("GetQueueAttributes", "*") - before; n > 10 {
		t.Errorf("%d attribute calls of the second reading", n)
	}
	if w.scan("q-2050"); len(w.letters) != 2 {
		t.Errorf("%d letters in number 2,050", len(w.letters))
	}
}

func TestFindingsOfRetention(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("short", 3, "a"))
	w.must(w.CreateDeadLetterQueue("long", 3, "b"))
	w.must(w.SetAttributes("long", map[string]string{"MessageRetentionPeriod": "1209600"}))
	all, err := w.Findings(t.Context())
	w.must(err)
	got := map[string]string{}
	for _, f := range all {
		got[f.Kind] += f.Queue
		if f.ID == "" || f.Advice == "" {
			t.Errorf("%+v", f)
		}
	}
	if got[sqs.RetentionTooShort] != "short" || got[sqs.ForgetsTooSoon] != "short" || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{DeadLetters: sources.Patterns{Include: []string{"none-*"}}, Routes: []sources.Route{{From: "dlq", To: "nowhere"}}})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a"))
	w.Deny("GetQueueAttributes", "a")
	by := map[sources.Outcome][]string{}
	for _, c := range w.Check(t.Context()) {
		by[c.Outcome] = append(by[c.Outcome], strings.TrimSpace(c.What+" "+c.Right))
	}
	if got := by[sources.Denied]; !slices.Contains(got, "read the attributes of a sqs:GetQueueAttributes") || !slices.Contains(got, "redrive to nowhere sqs:SendMessage") {
		t.Errorf("missing: %q", got)
	}
	if got := by[sources.Unconfirmed]; !slices.Contains(got, "take redriven letters off dlq sqs:DeleteMessage") {
		t.Errorf("unconfirmed: %q", got)
	}
	if got := by[sources.Unmatched]; !slices.Equal(got, []string{"dead_letters: none-*"}) {
		t.Errorf("patterns that match nothing: %q", got)
	}
	w.config.Endpoint = "http://127.0.0.1:1"
	w.restart()
	if got := w.Check(t.Context()); len(got) != 1 || got[0].Outcome != sources.Unreachable {
		t.Errorf("away: %+v", got)
	}
}

func TestMistakesInTheConfiguration(t *testing.T) {
	errs := sqs.Config{Endpoint: "sqs:9324", Routes: []sources.Route{{From: "x"}}, ScanEvery: -1, DrainFIFO: true}.Validate()
	text := fmt.Sprint(errors.Join(errs...))
	for _, key := range []string{"region:", "endpoint:", "redrive[0]:", "scan_every:", "drain_fifo:"} {
		if !strings.Contains(text, key) {
			t.Errorf("%s is not named in:\n%s", key, text)
		}
	}
}
