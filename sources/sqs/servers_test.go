package sqs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs"
)

func TestMain(m *testing.M) { sourcetest.Main(m) }

// TestEveryServer is what the adapter does on each server that speaks SQS: our
// own endpoint, ElasticMQ, and LocalStack.
func TestEveryServer(t *testing.T) {
	for _, server := range sourcetest.SQSEndpoints() {
		t.Run(server.Name, func(t *testing.T) {
			t.Parallel()
			endpoint := server.Start(t)
			suite := map[string]func(*testing.T, *real){
				"lettersOfConsumers":      lettersOfConsumers,
				"C58FIFOKeepsItsGroups":   fifoKeepsItsGroups,
				"FIFOGroupsAreTenDeep":    fifoGroupsAreTenDeep,
				"KilledInASweep":          killedInASweep,
				"GoneAndTakenBySomebody":  goneAndTaken,
				"C129PagesAndMissing":     pagesAndMissing,
				"LookingLeavesWorkQueues": lookingLeavesWorkQueues,
			}
			for name, test := range suite {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, newReal(t, server, endpoint))
				})
			}
		})
	}
}

// real is a server with a client of its own beside our source.
type real struct {
	*world
	*client.Client
	sourcetest.SQSEndpoint
	prefix string
}

func newReal(t *testing.T, server sourcetest.SQSEndpoint, endpoint string) *real {
	prefix := fmt.Sprintf("r%d-", time.Now().UnixNano()%1e10)
	w := &world{
		t: t, cursor: map[string][]byte{}, letters: map[string]sources.DeadLetter{}, looks: map[string]int{}, endpoint: endpoint,
		config: sqs.Config{
			Name: "aws", Region: "us-east-1", Endpoint: endpoint, ScanEvery: time.Nanosecond,
			Queues: sources.Patterns{Include: []string{prefix + "*"}},
		},
	}
	w.restart()
	return &real{world: w, Client: sourcetest.SQSClient(endpoint), SQSEndpoint: server, prefix: prefix}
}

// pair makes a work queue and its dead-letter queue, and gives their names.
func (r *real) pair(suffix string, tries int) (work, dlq string) {
	r.t.Helper()
	attributes := map[string]string{}
	if suffix == ".fifo" {
		attributes["FifoQueue"] = "true"
	}
	dlq = r.prefix + "dlq" + suffix
	work = r.prefix + "work" + suffix
	made, err := r.CreateQueue(r.t.Context(), &client.CreateQueueInput{QueueName: &dlq, Attributes: attributes})
	r.must(err)
	got, err := r.GetQueueAttributes(r.t.Context(), &client.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{"QueueArn"}})
	r.must(err)
	attributes["VisibilityTimeout"] = "0" // the SDK leaves out a zero of a receive
	attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"%d"}`, got.Attributes["QueueArn"], tries)
	_, err = r.CreateQueue(r.t.Context(), &client.CreateQueueInput{QueueName: &work, Attributes: attributes})
	r.must(err)
	return work, dlq
}

func (r *real) url(name string) *string {
	r.t.Helper()
	out, err := r.GetQueueUrl(r.t.Context(), &client.GetQueueUrlInput{QueueName: &name})
	r.must(err)
	return out.QueueUrl
}

// send sends messages with bodies 00, 01, … and attributes of each type.
func (r *real) send(queue string, n int, group func(int) string) {
	r.t.Helper()
	for i := range n {
		in := &client.SendMessageInput{
			QueueUrl: r.url(queue), MessageBody: aws.String(text(i)),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"text":   {DataType: aws.String("String"), StringValue: aws.String("é" + fmt.Sprint(i))},
				"number": {DataType: aws.String("Number.int"), StringValue: aws.String("9007199254740993")},
				"bin":    {DataType: aws.String("Binary"), BinaryValue: []byte{0, 0xff, byte(i)}},
			},
		}
		if group != nil {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(group(i)), aws.String(fmt.Sprint("d", i))
		}
		_, err := r.SendMessage(r.t.Context(), in)
		r.must(err)
	}
}

func text(i int) string { return fmt.Sprintf("{ \"n\" : %02d, \"é\": 9007199254740993 }\n", i) }

// fail receives from a work queue and gives up, until n are dead letters.
func (r *real) fail(work, dlq string, n int) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		_, err := r.ReceiveMessage(r.t.Context(), &client.ReceiveMessageInput{QueueUrl: r.url(work), MaxNumberOfMessages: 10})
		r.must(err)
		if r.count(dlq) == n {
			return
		}
	}
	r.t.Fatalf("%d of %d became dead letters", r.count(dlq), n)
}

func (r *real) count(queue string) (n int) {
	r.t.Helper()
	got, err := r.GetQueueAttributes(r.t.Context(), &client.GetQueueAttributesInput{QueueUrl: r.url(queue), AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}})
	r.must(err)
	for _, v := range got.Attributes {
		var one int
		_, _ = fmt.Sscan(v, &one)
		n += one
	}
	return n
}

// drain receives and deletes all.
func (r *real) drain(queue string) (all []types.Message) {
	r.t.Helper()
	for empties := 0; empties < 2; {
		got, err := r.ReceiveMessage(r.t.Context(), &client.ReceiveMessageInput{
			QueueUrl: r.url(queue), MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 30, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		})
		r.must(err)
		if len(got.Messages) == 0 {
			empties++
		}
		for _, m := range got.Messages {
			all = append(all, m)
			_, err := r.DeleteMessage(r.t.Context(), &client.DeleteMessageInput{QueueUrl: r.url(queue), ReceiptHandle: m.ReceiptHandle})
			r.must(err)
		}
	}
	return all
}

func lettersOfConsumers(t *testing.T, r *real) {
	const n, tries = 25, 2
	work, dlq := r.pair("", tries)
	r.send(work, n, nil)
	r.fail(work, dlq, n)
	r.scan(dlq)
	if len(r.letters) != n || len(r.last.Present) != n || r.last.Note != "" {
		t.Errorf("%d letters, %d present, %q", len(r.letters), len(r.last.Present), r.last.Note)
	}
	for _, l := range r.letters {
		wantInt(t, "attempts (received "+l.System["ApproximateReceiveCount"]+" times)", l.Attempts, tries)
		if l.Origin.Queue != work || l.Timestamp.IsZero() || (l.ExpiryIs == "exact") != r.TellsRetention {
			t.Errorf("origin %q, sent %s, expires %q %s", l.Origin.Queue, l.Timestamp, l.ExpiryIs, l.ExpiresAt)
		}
	}
	before := len(r.letters)
	if r.scan(dlq); len(r.letters) != before {
		t.Errorf("%d letters after a second scan", len(r.letters))
	}
	o := r.redrive(r.parcels(work))
	if len(o.confirmed) != n || r.count(dlq) != 0 {
		t.Errorf("%d confirmed, %d left, failed: %v", len(o.confirmed), r.count(dlq), o.failed)
	}
	r.arrived(r.drain(work), n)
}

// arrived checks that each message is there once, byte for byte.
func (r *real) arrived(got []types.Message, n int) {
	r.t.Helper()
	times := map[string]int{}
	for _, m := range got {
		times[aws.ToString(m.Body)]++
		a := m.MessageAttributes
		if bin := a["bin"].BinaryValue; len(bin) != 3 || aws.ToString(m.Body) != text(int(bin[2])) ||
			aws.ToString(a["text"].StringValue) != fmt.Sprint("é", bin[2]) || aws.ToString(a["number"].StringValue) != "9007199254740993" ||
			aws.ToString(a["number"].DataType) != "Number.int" {
			r.t.Errorf("%s arrived with %+v", aws.ToString(m.Body), a)
		}
	}
	for i := range n {
		if times[text(i)] != 1 {
			r.t.Errorf("message %d arrived %d times", i, times[text(i)])
		}
	}
}

func fifoKeepsItsGroups(t *testing.T, r *real) {
	const n = 6
	work, dlq := r.pair(".fifo", 1)
	r.send(work, n, func(i int) string { return fmt.Sprint("g", i%2) })
	r.fail(work, dlq, n)
	r.scan(dlq)
	if len(r.letters) != n {
		t.Fatalf("%d letters: %q", len(r.letters), r.last.Note)
	}
	o := r.redrive(r.parcels(work))
	if len(o.confirmed) != n || r.count(dlq) != 0 {
		t.Fatalf("%d confirmed, %d left, failed: %v", len(o.confirmed), r.count(dlq), o.failed)
	}
	got := r.drain(work)
	r.arrived(got, n)
	order := map[string][]string{}
	for _, m := range got {
		g := m.Attributes["MessageGroupId"]
		order[g] = append(order[g], aws.ToString(m.Body))
	}
	for g := range 2 {
		list := order[fmt.Sprint("g", g)]
		if len(list) != n/2 || !slices.IsSorted(list) || list[0] != text(g) {
			t.Errorf("group g%d: %q", g, list)
		}
	}
}

func fifoGroupsAreTenDeep(t *testing.T, r *real) {
	const n = 13
	work, dlq := r.pair(".fifo", 1)
	r.send(work, n, func(int) string { return "g" })
	r.fail(work, dlq, n)
	r.scan(dlq)
	if len(r.letters) != 10 || !strings.HasPrefix(r.last.Note, "10 of about 13") {
		t.Fatalf("%d letters, %q", len(r.letters), r.last.Note)
	}
	if o := r.redrive(r.parcels(work)); len(o.confirmed) != 10 {
		t.Errorf("%d confirmed, failed: %v", len(o.confirmed), o.failed)
	}
	if r.scan(dlq); len(r.letters) != n {
		t.Errorf("%d letters once those in front are off", len(r.letters))
	}
}

func killedInASweep(t *testing.T, r *real) {
	const n, tries = 30, 2
	work, dlq := r.pair("", tries)
	r.send(work, n, nil)
	r.fail(work, dlq, n)
	r.step(dlq)
	_, err := r.DeadLetters(t.Context(), dlq, r.cursor[dlq], 10)
	r.must(err)
	r.restart()
	r.scan(dlq) // waits for what the dead run hides
	r.wantAttempts(n, tries)
}

func goneAndTaken(t *testing.T, r *real) {
	work, dlq := r.pair("", 1)
	r.send(work, 3, nil)
	r.fail(work, dlq, 3)
	r.scan(dlq)
	parcels := r.parcels(work)
	taken := r.drain(dlq) // by somebody
	r.send(work, 1, nil)
	r.fail(work, dlq, 1)
	o := r.redrive(parcels)
	if len(taken) != 3 || len(o.failed) != 3 || r.count(dlq) != 1 {
		t.Errorf("%d taken, failed: %v, %d left", len(taken), o.failed, r.count(dlq))
	}
	for _, err := range o.failed {
		if !errors.Is(err, sources.ErrGone) {
			t.Error(err)
		}
	}
	if r.scan(dlq); len(r.last.Present) != 1 {
		t.Errorf("present: %v, %q", r.last.Present, r.last.Note)
	}
}

func pagesAndMissing(t *testing.T, r *real) {
	work, dlq := r.pair("", 1)
	got := r.queues()
	if q := got[dlq]; q.Kind != sources.DeadLetterQueue || fmt.Sprint(q.FeedsFrom) != "["+work+"]" || q.Err != nil || q.Redriving != "" || (q.Retention > 0) != r.TellsRetention {
		t.Errorf("%+v", q)
	}
	if q := got[work]; q.Kind != sources.WorkQueue || q.Err != nil {
		t.Errorf("%+v", q)
	}
	if _, _, err := r.Aim(t.Context(), r.prefix+"nowhere", sources.DeadLetter{}); !errors.Is(err, sources.ErrNoSuchQueue) {
		t.Errorf("aim at a queue that is not there: %v", err)
	}
	if _, err := r.DeadLetters(t.Context(), r.prefix+"nowhere", nil, 10); !errors.Is(err, sources.ErrNoSuchQueue) {
		t.Errorf("letters of a queue that is not there: %v", err)
	}
}

func lookingLeavesWorkQueues(t *testing.T, r *real) {
	work, dlq := r.pair("", 1)
	r.send(work, 1, nil)
	r.queues()
	r.scan(dlq)
	_, err := r.Findings(t.Context())
	r.must(err)
	r.Check(t.Context())
	if m := r.drain(work); len(m) != 1 || m[0].Attributes["ApproximateReceiveCount"] != "1" {
		t.Errorf("a message of a work queue: %+v", m)
	}
}
