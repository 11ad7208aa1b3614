package sqstest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// endpoint is a server with a client of its bare protocol.
type endpoint struct {
	*sqstest.Server
	t   *testing.T
	url string
}

func start(t *testing.T, o sqstest.Options) endpoint {
	t.Helper()
	s := sqstest.New(o)
	return endpoint{s, t, s.Start(t)}
}

func (e endpoint) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// ask sends one request; queue is the name of the queue of its URL.
func (e endpoint) ask(action, queue string, in map[string]any) (status int, out map[string]any) {
	e.t.Helper()
	status, out, err := e.try(action, queue, in)
	e.must(err)
	return status, out
}

func (e endpoint) try(action, queue string, in map[string]any) (int, map[string]any, error) {
	if in == nil {
		in = map[string]any{}
	}
	if queue != "" {
		in["QueueUrl"] = "http://some.other.host/000000000000/" + queue
	}
	body, err := json.Marshal(in)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	out := map[string]any{}
	return resp.StatusCode, out, json.Unmarshal(text, &out)
}

// refused asks for what is refused, and gives the shape of the error.
func (e endpoint) refused(action, queue string, in map[string]any) string {
	e.t.Helper()
	status, out := e.ask(action, queue, in)
	if status < 400 {
		e.t.Fatalf("%s was not refused: %v", action, out)
	}
	_, shape, _ := strings.Cut(fmt.Sprint(out["__type"]), "#")
	return shape
}

func (e endpoint) receive(queue string, hidden int) []map[string]any {
	e.t.Helper()
	_, out := e.ask("ReceiveMessage", queue, map[string]any{
		"MaxNumberOfMessages": 10, "VisibilityTimeout": hidden, "AttributeNames": []string{"All"},
	})
	var got []map[string]any
	list, _ := out["Messages"].([]any)
	for _, m := range list {
		got = append(got, m.(map[string]any))
	}
	return got
}

func bodies(ms []map[string]any) string {
	var out []string
	for _, m := range ms {
		out = append(out, m["Body"].(string))
	}
	return strings.Join(out, " ")
}

func TestDeadLettersMoveAtTheNextReceive(t *testing.T) {
	e := start(t, sqstest.Options{})
	e.must(e.CreateDeadLetterQueue("dlq", 2, "work"))
	id := e.Put("work", sqstest.Message{Body: "x"})
	for range 2 {
		e.receive("work", 30)
		e.Advance(31 * time.Second)
	}
	if n := len(e.Messages("dlq")); n != 0 {
		t.Fatalf("%d moved before the next receive", n)
	}
	if got := e.receive("work", 30); len(got) != 0 {
		t.Fatalf("received a third time: %v", got)
	}
	dead := e.Messages("dlq")
	if len(dead) != 1 || dead[0].ID != id || dead[0].Receives != 2 || dead[0].Source != "work" {
		t.Errorf("in the dead-letter queue: %+v", dead)
	}
}

func TestAFIFOGroupIsClosedWhileOneOfItIsInFlight(t *testing.T) {
	e := start(t, sqstest.Options{})
	e.must(e.CreateQueue("q.fifo", map[string]string{"FifoQueue": "true"}))
	for i := range 12 {
		e.Put("q.fifo", sqstest.Message{Body: fmt.Sprint("a", i), Group: "a"})
	}
	e.Put("q.fifo", sqstest.Message{Body: "b0", Group: "b"})
	if got := bodies(e.receive("q.fifo", 30)); got != "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9" {
		t.Errorf("first: %s", got)
	}
	if got := bodies(e.receive("q.fifo", 30)); got != "b0" {
		t.Errorf("while ten of a are in flight: %s", got)
	}
}

func TestTheContentIsTheDeduplicationID(t *testing.T) {
	e := start(t, sqstest.Options{})
	e.must(e.CreateQueue("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"}))
	send := func() string {
		_, out := e.ask("SendMessage", "q.fifo", map[string]any{"MessageBody": "x", "MessageGroupId": "g"})
		return fmt.Sprint(out["MessageId"])
	}
	first, again := send(), send()
	if first != again || len(e.Messages("q.fifo")) != 1 {
		t.Errorf("ids %s and %s, %d messages", first, again, len(e.Messages("q.fifo")))
	}
	const sha256OfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	if got := e.Messages("q.fifo")[0].DedupID; got != sha256OfX {
		t.Errorf("deduplication id %s", got)
	}
	e.Advance(5 * time.Minute)
	if send() == first {
		t.Error("the id is still remembered after five minutes")
	}
}

func TestLimitsOfAWS(t *testing.T) {
	e := start(t, sqstest.Options{BatchBytes: 262_144, MaxInFlight: 1})
	e.must(e.CreateDeadLetterQueue("dlq", 2, "work"))
	e.must(e.CreateQueue("f.fifo", map[string]string{"FifoQueue": "true"}))
	e.must(e.SetAttributes("dlq", map[string]string{"RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`}))
	big := strings.Repeat("x", 140_000)
	policy := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"2"}`, e.ARN("dlq"))
	toFIFO := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"2"}`, e.ARN("f.fifo"))
	for _, c := range []struct {
		what, action, queue, want string
		in                        map[string]any
	}{
		{"retention below a minute", "SetQueueAttributes", "work", "InvalidAttributeValue", map[string]any{"Attributes": map[string]string{"MessageRetentionPeriod": "59"}}},
		{"an unknown attribute", "SetQueueAttributes", "work", "InvalidAttributeName", map[string]any{"Attributes": map[string]string{"Colour": "red"}}},
		{"a target that allows nobody", "SetQueueAttributes", "work", "InvalidParameterValueException", map[string]any{"Attributes": map[string]string{"RedrivePolicy": policy}}},
		{"a FIFO target of a standard queue", "SetQueueAttributes", "work", "InvalidParameterValueException", map[string]any{"Attributes": map[string]string{"RedrivePolicy": toFIFO}}},
		{"a batch over its bytes", "SendMessageBatch", "work", "BatchRequestTooLong", map[string]any{"Entries": []any{
			map[string]any{"Id": "a", "MessageBody": big}, map[string]any{"Id": "b", "MessageBody": big},
		}}},
		{"an entry without an id", "SendMessageBatch", "work", "InvalidBatchEntryId", map[string]any{"Entries": []any{map[string]any{"MessageBody": "x"}}}},
		{"an empty body", "SendMessage", "work", "MissingParameter", map[string]any{"MessageBody": ""}},
		{"a character that XML lacks", "SendMessage", "work", "InvalidMessageContents", map[string]any{"MessageBody": "\x0b"}},
		{"an attribute of no type", "SendMessage", "work", "InvalidParameterValueException", map[string]any{"MessageBody": "x", "MessageAttributes": map[string]any{"a": map[string]any{"StringValue": "v"}}}},
	} {
		if got := e.refused(c.action, c.queue, c.in); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	e.Put("work", sqstest.Message{Body: "1"})
	e.Put("work", sqstest.Message{Body: "2"})
	if got := e.receive("work", 30); len(got) != 1 {
		t.Errorf("%d in flight where one may be", len(got))
	}
	if got := e.refused("ReceiveMessage", "work", nil); got != "OverLimit" {
		t.Errorf("with too many in flight: %s", got)
	}
}

func TestC129OnlyThoseWhoAskForPagesGetAToken(t *testing.T) {
	e := start(t, sqstest.Options{})
	for i := range 1001 {
		e.must(e.CreateQueue(fmt.Sprintf("q-%04d", i), nil))
	}
	_, all := e.ask("ListQueues", "", nil)
	if n := len(all["QueueUrls"].([]any)); n != 1000 || all["NextToken"] != nil {
		t.Errorf("%d queues, token %v", n, all["NextToken"])
	}
	_, page := e.ask("ListQueues", "", map[string]any{"MaxResults": 1000})
	_, rest := e.ask("ListQueues", "", map[string]any{"MaxResults": 1000, "NextToken": page["NextToken"]})
	if n := len(rest["QueueUrls"].([]any)); n != 1 {
		t.Errorf("%d queues on the second page", n)
	}
}

func TestFaults(t *testing.T) {
	e := start(t, sqstest.Options{})
	e.must(e.CreateQueue("work", nil))
	send := map[string]any{"Entries": []any{
		map[string]any{"Id": "a", "MessageBody": "1"}, map[string]any{"Id": "b", "MessageBody": "2"},
	}}
	e.SetFault(func(sqstest.Call) *sqstest.Fault {
		return &sqstest.Fault{Entries: map[int]sqstest.EntryFailed{1: {Code: "InternalError", Message: "try again"}}}
	})
	_, out := e.ask("SendMessageBatch", "work", send)
	if len(out["Failed"].([]any)) != 1 || len(e.Messages("work")) != 1 {
		t.Errorf("one entry fails: %v, %d sent", out, len(e.Messages("work")))
	}
	e.SetFault(func(sqstest.Call) *sqstest.Fault { return &sqstest.Fault{Drop: true, After: true} })
	if _, _, err := e.try("SendMessageBatch", "work", send); err == nil || len(e.Messages("work")) != 3 {
		t.Errorf("a lost answer: %v, %d sent", err, len(e.Messages("work")))
	}
	e.SetFault(nil)
	e.Deny("SendMessage", "w*")
	if got := e.refused("SendMessageBatch", "work", send); got != "AccessDeniedException" {
		t.Errorf("without the permission: %s", got)
	}
}

func TestQueueURLsCanHaveAnOddHost(t *testing.T) {
	e := start(t, sqstest.Options{URLHost: "sqs.inside:9324"})
	e.must(e.CreateQueue("work", nil))
	_, out := e.ask("GetQueueUrl", "", map[string]any{"QueueName": "work"})
	if out["QueueUrl"] != "http://sqs.inside:9324/000000000000/work" {
		t.Errorf("%v", out)
	}
}
