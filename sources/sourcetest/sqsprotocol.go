package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	adapter "github.com/unwedge/unwedge/sources/sqs"
)

// patience is how long a server may take to do what it does on its own.
const patience = 20 * time.Second

// SQSClient is a client of the AWS SDK for an endpoint that takes any
// credentials.
func SQSClient(endpoint string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, HTTPClient: adapter.WholeRequests(http.DefaultClient), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

// SQSProtocol checks that an endpoint answers as AWS does: our own must, and
// the others tell what the adapter has to cope with. A known difference that is
// no more fails too, so that the list of them stays true.
func SQSProtocol(t *testing.T, endpoint string, differs map[string]string) {
	p := &protocol{
		t: t, Client: SQSClient(endpoint), differs: differs, met: map[string]bool{},
		prefix: fmt.Sprintf("t%d-", time.Now().UnixNano()%1e9),
	}
	p.queues()
	p.attributes()
	p.deadLetters()
	p.lists()
	p.moves()
	p.batches()
	p.fifo()
	p.limits()
	p.done()
}

// protocol is one run of the checks.
type protocol struct {
	*sqs.Client
	t             *testing.T
	prefix        string
	dlq, work     *string // queue URLs
	dlqARN        string
	sent          *sqs.SendMessageOutput
	passed        int
	differs       map[string]string
	met           map[string]bool // differences that were met
	firstReceived types.Message
}

// sometimes begins a difference that is not met each time.
const sometimes = "sometimes "

// check notes one check. A server that is known to fail it must.
func (p *protocol) check(name string, ok bool, detail any) {
	p.t.Helper()
	instead, known := p.differs[name]
	switch {
	case ok && known && !strings.HasPrefix(instead, sometimes):
		p.t.Errorf("%s: is as on AWS now; take it off the known differences", name)
	case !ok && known:
		p.met[name] = true
		p.t.Logf("%s: known to differ: %s", name, instead)
	case !ok:
		p.t.Errorf("%s: %v", name, detail)
	default:
		p.passed++
	}
}

func (p *protocol) done() {
	for name := range p.differs {
		if !p.met[name] && !strings.HasPrefix(p.differs[name], sometimes) {
			p.t.Errorf("%s: a known difference that no check met", name)
		}
	}
	p.t.Logf("%d checks as on AWS, %d otherwise", p.passed, len(p.met))
}

func (p *protocol) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *protocol) ctx() context.Context { return p.t.Context() }

func (p *protocol) create(name string, attributes map[string]string) *string {
	p.t.Helper()
	out, err := p.CreateQueue(p.ctx(), &sqs.CreateQueueInput{QueueName: aws.String(p.prefix + name), Attributes: attributes, Tags: map[string]string{"team": "pay"}})
	p.must(err)
	return out.QueueUrl
}

// receive receives for so many seconds with everything that can be asked for.
func (p *protocol) receive(queue *string, wait, hidden int32) []types.Message {
	p.t.Helper()
	out, err := p.ReceiveMessage(p.ctx(), &sqs.ReceiveMessageInput{
		QueueUrl: queue, MaxNumberOfMessages: 10, WaitTimeSeconds: wait, VisibilityTimeout: hidden,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"},
	})
	p.must(err)
	return out.Messages
}

// one receives the only message of a queue, when it comes.
func (p *protocol) one(queue *string) types.Message {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if got := p.receive(queue, 2, 30); len(got) > 0 {
			return got[0]
		}
	}
	p.t.Fatalf("nothing came in %s", aws.ToString(queue))
	return types.Message{}
}

func (p *protocol) get(queue *string, names ...types.QueueAttributeName) map[string]string {
	p.t.Helper()
	out, err := p.GetQueueAttributes(p.ctx(), &sqs.GetQueueAttributesInput{QueueUrl: queue, AttributeNames: names})
	p.must(err)
	return out.Attributes
}

func errorCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		code := api.ErrorCode()
		return code[strings.LastIndexByte(code, '#')+1:] // ElasticMQ gives the whole shape
	}
	if err != nil {
		return "no answer of SQS: " + err.Error()
	}
	return ""
}

// is tells whether an error has one of these codes.
func is(err error, codes ...string) bool {
	for _, c := range codes {
		if errorCode(err) == c {
			return true
		}
	}
	return false
}

func (p *protocol) queues() {
	p.dlq = p.create("dlq", nil)
	all := p.get(p.dlq, "All")
	p.dlqARN = all["QueueArn"]
	p.check("attributes: ARN, creation", p.dlqARN != "" && all["CreatedTimestamp"] != "", all)
	p.check("attributes: retention", all["MessageRetentionPeriod"] == "345600", all)
	_, hidden := all["ApproximateNumberOfMessagesNotVisible"]
	_, delayed := all["ApproximateNumberOfMessagesDelayed"]
	p.check("attributes: the three counts", all["ApproximateNumberOfMessages"] == "0" && hidden && delayed, all)
	p.work = p.create("src", map[string]string{
		"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":"2"}`, p.dlqARN), "VisibilityTimeout": "1",
	})
	_, err := p.CreateQueue(p.ctx(), &sqs.CreateQueueInput{QueueName: aws.String(p.prefix + "src"), Attributes: map[string]string{"VisibilityTimeout": "99"}})
	p.check("create: another queue of that name", is(err, "QueueNameExists", "QueueAlreadyExists"), err)
	_, err = p.GetQueueUrl(p.ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(p.prefix + "nope")})
	var missing *types.QueueDoesNotExist
	p.check("a missing queue is told by its type", errors.As(err, &missing), err)
	found, err := p.GetQueueUrl(p.ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(p.prefix + "src")})
	p.check("get queue URL", err == nil && aws.ToString(found.QueueUrl) == aws.ToString(p.work), err)
}

const body = "hello é {\"a\":1}"

func (p *protocol) attributes() {
	var err error
	p.sent, err = p.SendMessage(p.ctx(), &sqs.SendMessageInput{
		QueueUrl: p.work, MessageBody: aws.String(body),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"trace": {DataType: aws.String("String"), StringValue: aws.String("abc")},
			"n":     {DataType: aws.String("Number.int"), StringValue: aws.String("42")},
			"bin":   {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 0xff}},
		},
		MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
		},
	})
	p.must(err) // the SDK has checked the MD5 of the body
	p.check("send: MD5 of the attributes", aws.ToString(p.sent.MD5OfMessageAttributes) != "", p.sent)
	m := p.one(p.work)
	p.firstReceived = m
	bin, n := m.MessageAttributes["bin"], m.MessageAttributes["n"]
	p.check("receive: the body", aws.ToString(m.Body) == body, aws.ToString(m.Body))
	p.check("receive: the attributes", len(m.MessageAttributes) == 3 && string(bin.BinaryValue) == "\x00\x01\xff" && aws.ToString(n.DataType) == "Number.int", m.MessageAttributes)
	p.check("receive: MD5 of the attributes", aws.ToString(m.MD5OfMessageAttributes) == aws.ToString(p.sent.MD5OfMessageAttributes), m)
	p.check("receive: count 1", m.Attributes["ApproximateReceiveCount"] == "1", m.Attributes)
	p.check("receive: sent in milliseconds", len(m.Attributes["SentTimestamp"]) == 13, m.Attributes)
	p.check("receive: first received", m.Attributes["ApproximateFirstReceiveTimestamp"] != "", m.Attributes)
	p.check("receive: sender", m.Attributes["SenderId"] != "", m.Attributes)
	p.check("receive: trace header", m.Attributes["AWSTraceHeader"] != "", m.Attributes)
}

func (p *protocol) deadLetters() {
	p.release(p.work, p.firstReceived)
	second := p.one(p.work)
	p.check("receive again: count 2", second.Attributes["ApproximateReceiveCount"] == "2", second.Attributes)
	p.release(p.work, second)
	p.check("the third receive moves it", len(p.receive(p.work, 1, 30)) == 0, "received a third time")
	dead := p.one(p.dlq)
	p.check("dead letter: origin", strings.HasSuffix(dead.Attributes["DeadLetterQueueSourceArn"], ":"+p.prefix+"src"), dead.Attributes)
	p.check("dead letter: keeps its id", aws.ToString(dead.MessageId) == aws.ToString(p.sent.MessageId), aws.ToString(dead.MessageId))
	p.check("dead letter: keeps when it was sent", dead.Attributes["SentTimestamp"] == p.firstReceived.Attributes["SentTimestamp"], dead.Attributes)
	p.check("dead letter: keeps its receive count", dead.Attributes["ApproximateReceiveCount"] == "3", dead.Attributes)
	counts := p.get(p.dlq, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
	p.check("counts: one is hidden", counts["ApproximateNumberOfMessagesNotVisible"] == "1" && counts["ApproximateNumberOfMessages"] == "0" && len(counts) == 2, counts)
	p.release(p.dlq, dead)
	chosen, err := p.ReceiveMessage(p.ctx(), &sqs.ReceiveMessageInput{
		QueueUrl: p.dlq, VisibilityTimeout: 30, WaitTimeSeconds: 2, MessageAttributeNames: []string{"tr.*"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"ApproximateReceiveCount", "DeadLetterQueueSourceArn"},
	})
	p.must(err)
	p.check("receive: only the attributes asked for", len(chosen.Messages) == 1 && len(chosen.Messages[0].Attributes) == 2 && len(chosen.Messages[0].MessageAttributes) == 1, chosen.Messages)
	for _, m := range chosen.Messages {
		p.release(p.dlq, m)
	}
}

func (p *protocol) release(queue *string, m types.Message) {
	p.t.Helper()
	_, err := p.ChangeMessageVisibility(p.ctx(), &sqs.ChangeMessageVisibilityInput{QueueUrl: queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0})
	p.must(err)
}

func (p *protocol) lists() {
	sources, err := p.ListDeadLetterSourceQueues(p.ctx(), &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: p.dlq})
	p.check("list: dead-letter source queues", err == nil && len(sources.QueueUrls) == 1, err)
	list, err := p.ListQueues(p.ctx(), &sqs.ListQueuesInput{QueueNamePrefix: &p.prefix})
	p.check("list: by prefix", err == nil && len(list.QueueUrls) == 2, err)
	list, err = p.ListQueues(p.ctx(), &sqs.ListQueuesInput{MaxResults: aws.Int32(1), QueueNamePrefix: &p.prefix})
	p.check("list: pages", err == nil && len(list.QueueUrls) == 1 && list.NextToken != nil, err)
	tags, err := p.ListQueueTags(p.ctx(), &sqs.ListQueueTagsInput{QueueUrl: p.work})
	p.check("list: tags", err == nil && tags.Tags["team"] == "pay", err)
}

func (p *protocol) moves() {
	_, err := p.CancelMessageMoveTask(p.ctx(), &sqs.CancelMessageMoveTaskInput{TaskHandle: aws.String("bogus")})
	p.check("move: a task that is not there", !strings.HasPrefix(errorCode(err), "no answer") && err != nil, err)
	_, err = p.StartMessageMoveTask(p.ctx(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(strings.Replace(p.dlqARN, "dlq", "src", 1))})
	p.check("move: from a queue of no dead letters", err != nil && !strings.HasPrefix(errorCode(err), "no answer"), err)
	started, err := p.StartMessageMoveTask(p.ctx(), &sqs.StartMessageMoveTaskInput{SourceArn: &p.dlqARN, MaxNumberOfMessagesPerSecond: aws.Int32(50)})
	p.check("move: start", err == nil && aws.ToString(started.TaskHandle) != "", err)
	if err != nil {
		return
	}
	back := p.one(p.work)
	p.check("move: begins a new life", back.Attributes["ApproximateReceiveCount"] == "1" && aws.ToString(back.Body) == body, back.Attributes)
	var state string
	for end := time.Now().Add(patience); state != "COMPLETED" && time.Now().Before(end); {
		tasks, err := p.ListMessageMoveTasks(p.ctx(), &sqs.ListMessageMoveTasksInput{SourceArn: &p.dlqARN, MaxResults: aws.Int32(10)})
		p.must(err)
		if len(tasks.Results) == 1 && tasks.Results[0].ApproximateNumberOfMessagesMoved == 1 {
			state = aws.ToString(tasks.Results[0].Status)
		}
		p.receive(p.dlq, 1, 0)
	}
	p.check("move: completed", state == "COMPLETED", state)
	_, err = p.DeleteMessage(p.ctx(), &sqs.DeleteMessageInput{QueueUrl: p.work, ReceiptHandle: back.ReceiptHandle})
	p.check("delete", err == nil, err)
}

func (p *protocol) batches() {
	queue := p.create("batches", nil)
	value := types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("v")}
	out, err := p.SendMessageBatch(p.ctx(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: aws.String("1")},
		{Id: aws.String("b"), MessageBody: aws.String("2"), MessageAttributes: map[string]types.MessageAttributeValue{"k": value}},
		{Id: aws.String("c"), MessageBody: aws.String("bad\x0bchar")},
	}})
	p.check("batch: a bad entry fails alone", err == nil && len(out.Successful) == 2 && len(out.Failed) == 1, err)
	twice := []types.SendMessageBatchRequestEntry{{Id: aws.String("a"), MessageBody: aws.String("1")}, {Id: aws.String("a"), MessageBody: aws.String("1")}}
	_, err = p.SendMessageBatch(p.ctx(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: twice})
	var notDistinct *types.BatchEntryIdsNotDistinct
	p.check("batch: ids twice, by its type", errors.As(err, &notDistinct), err)
	_, err = p.SendMessageBatch(p.ctx(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: []types.SendMessageBatchRequestEntry{}})
	p.check("batch: an empty one", err != nil, "accepted")
	var eleven []types.SendMessageBatchRequestEntry
	for i := range 11 {
		eleven = append(eleven, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String("1")})
	}
	_, err = p.SendMessageBatch(p.ctx(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: eleven})
	var tooMany *types.TooManyEntriesInBatchRequest
	p.check("batch: eleven, by its type", errors.As(err, &tooMany), err)
	var entries []types.DeleteMessageBatchRequestEntry
	for end := time.Now().Add(patience); len(entries) < 2 && time.Now().Before(end); {
		for _, m := range p.receive(queue, 2, 60) {
			entries = append(entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(len(entries))), ReceiptHandle: m.ReceiptHandle})
		}
	}
	entries = append(entries, types.DeleteMessageBatchRequestEntry{Id: aws.String("bogus"), ReceiptHandle: aws.String("bogus")})
	gone, err := p.DeleteMessageBatch(p.ctx(), &sqs.DeleteMessageBatchInput{QueueUrl: queue, Entries: entries})
	p.check("batch: a bad handle fails alone", err == nil && len(gone.Successful) == 2 && len(gone.Failed) == 1, err)
	_, err = p.ChangeMessageVisibilityBatch(p.ctx(), &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: queue, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: aws.String("x"), ReceiptHandle: aws.String("bogus"), VisibilityTimeout: 1},
	}})
	p.check("batch: visibility of a bad handle", err == nil, err)
}

func (p *protocol) fifo() {
	queue := p.create("f.fifo", map[string]string{"FifoQueue": "true"})
	send := func(text, group, dedup string) (*sqs.SendMessageOutput, error) {
		in := &sqs.SendMessageInput{QueueUrl: queue, MessageBody: &text, MessageGroupId: &group}
		if dedup != "" {
			in.MessageDeduplicationId = &dedup
		}
		return p.SendMessage(p.ctx(), in)
	}
	_, err := send("x", "g", "")
	p.check("FIFO: no deduplication id", err != nil, "accepted")
	first, err := send("1", "g", "d1")
	p.check("FIFO: a number", err == nil && aws.ToString(first.SequenceNumber) != "", err)
	p.must(err)
	again, err := send("1", "g", "d1")
	p.must(err)
	p.check("FIFO: the same id again", aws.ToString(first.MessageId) == aws.ToString(again.MessageId), aws.ToString(again.MessageId))
	for i := 2; i <= 12; i++ {
		_, err := send(strconv.Itoa(i), "g", fmt.Sprint("d", i))
		p.must(err)
	}
	_, err = send("other", "h", "e1")
	p.must(err)
	got := p.receive(queue, 2, 30)
	var order []string
	for _, m := range got {
		order = append(order, aws.ToString(m.Body))
	}
	p.check("FIFO: ten of a group, in order", strings.Join(order, " ") == "1 2 3 4 5 6 7 8 9 10", order)
	p.check("FIFO: attributes", len(got) > 0 && got[0].Attributes["MessageGroupId"] == "g" && got[0].Attributes["MessageDeduplicationId"] == "d1" && got[0].Attributes["SequenceNumber"] != "", got)
	second := p.receive(queue, 1, 30)
	p.check("FIFO: the group is closed, others are not", len(second) == 1 && aws.ToString(second[0].Body) == "other", second)
}

func (p *protocol) limits() {
	queue := p.create("limits", nil)
	set := func(name, value string) error {
		_, err := p.SetQueueAttributes(p.ctx(), &sqs.SetQueueAttributesInput{QueueUrl: queue, Attributes: map[string]string{name: value}})
		return err
	}
	err := set("RedriveAllowPolicy", `{"redrivePermission":"allowAll"}`)
	p.check("set: redrive allow policy", err == nil && p.get(queue, "All")["RedriveAllowPolicy"] != "", err)
	p.check("set: retention", set("MessageRetentionPeriod", "1209600") == nil, err)
	send := func(n int) error {
		_, err := p.SendMessage(p.ctx(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String(strings.Repeat("x", n))})
		return err
	}
	p.check("limits: 300 kB are taken", send(300_000) == nil, "refused")
	p.check("limits: one byte over 1 MiB is not", send(1<<20+1) != nil, "accepted")
	nowhere := fmt.Sprintf(`{"deadLetterTargetArn":"%s-nowhere","maxReceiveCount":"2"}`, p.dlqARN)
	p.check("limits: a redrive policy to a queue that is not there", set("RedrivePolicy", nowhere) != nil, "accepted")
	p.check("limits: an unknown attribute", set("Colour", "red") != nil, "accepted")
	p.check("limits: a character that XML lacks", func() error {
		_, err := p.SendMessage(p.ctx(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String("\x0b")})
		return err
	}() != nil, "accepted")
	_, err = p.ReceiveMessage(p.ctx(), &sqs.ReceiveMessageInput{QueueUrl: queue, MaxNumberOfMessages: 11})
	p.check("limits: eleven in one receive", err != nil, "accepted")
	_, err = p.DeleteMessage(p.ctx(), &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: aws.String("bogus")})
	p.check("delete: a bad handle", is(err, "ReceiptHandleIsInvalid"), err)
	_, err = p.PurgeQueue(p.ctx(), &sqs.PurgeQueueInput{QueueUrl: queue})
	p.check("purge", err == nil, err)
	_, err = p.DeleteQueue(p.ctx(), &sqs.DeleteQueueInput{QueueUrl: queue})
	p.check("delete a queue", err == nil, err)
	_, err = p.GetQueueUrl(p.ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(p.prefix + "limits")})
	p.check("a deleted queue is not there", is(err, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"), err)
}
