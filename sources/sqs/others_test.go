package sqs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// others reads the queues, and asks who else takes letters off dlq. Asking
// receives nothing.
func (w *world) others() []string {
	w.t.Helper()
	w.queues()
	before := len(w.Calls())
	list, err := w.OtherReaders(w.t.Context(), "dlq")
	w.must(err)
	if slices.ContainsFunc(w.Calls()[before:], func(c sqstest.Call) bool { return strings.HasPrefix(c.Action, "ReceiveMessage") }) {
		w.t.Error("asking received")
	}
	return list
}

// TestWhoElseTakesLettersOff: nobody, we ourselves who hold some to redrive them,
// somebody else who holds one, and a move task of the broker.
func TestWhoElseTakesLettersOff(t *testing.T) {
	w := newWorld(t, sqstest.Options{}, sqs.Config{})
	w.must(w.CreateDeadLetterQueue("dlq", 3, "a"))
	w.put("dlq", "a", 50)
	w.scan("dlq")
	if list := w.others(); len(list) > 0 {
		t.Errorf("nobody: %q", list)
	}
	_, _, err := w.Pack(t.Context(), w.parcels("a")[:1])
	w.must(err)
	if list := w.others(); len(list) > 0 {
		t.Errorf("what we hold ourselves: %q", list)
	}
	c := client.New(client.Options{
		Region: "us-east-1", BaseEndpoint: &w.endpoint, HTTPClient: sqs.WholeRequests(http.DefaultClient), Credentials: credentials.NewStaticCredentialsProvider("x", "x", ""),
	})
	queue, err := c.GetQueueUrl(t.Context(), &client.GetQueueUrlInput{QueueName: aws.String("dlq")})
	w.must(err)
	_, err = c.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: queue.QueueUrl, MaxNumberOfMessages: 2, VisibilityTimeout: 600})
	w.must(err)
	if list := w.others(); !slices.Equal(list, []string{"about 2 messages of dlq are in flight: somebody else has received them"}) {
		t.Errorf("somebody else: %q", list)
	}
	_, err = c.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{SourceArn: aws.String(w.ARN("dlq")), MaxNumberOfMessagesPerSecond: aws.Int32(1)})
	w.must(err)
	if list := w.others(); len(list) == 0 || !strings.HasPrefix(list[0], "a move task of SQS is running: ") {
		t.Errorf("a move task: %q", list)
	}
	if list, err := w.OtherReaders(t.Context(), "no-such-queue"); err != nil || len(list) > 0 {
		t.Errorf("a queue that is gone: %q, %v", list, err)
	}
}
