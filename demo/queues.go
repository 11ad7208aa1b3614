package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

// The queues of the story: a bad message bounces and lands in the dead-letter
// queue by itself.
const (
	captures     = "payment-captures"
	capturesDead = "payment-captures-dlq"
	refunds      = "refund-requests.fifo"
	refundsDead  = "refund-requests-dlq.fifo"
	maxReceives  = 3
)

// Region is where the embedded SQS says it is.
const Region = "ap-south-1"

// slowGateway is the one that does not answer until the fix is deployed.
const slowGateway = "gw-legacy"

// queueWorld is the SQS side of the story.
type queueWorld struct {
	server   *sqstest.Server
	endpoint string
	stop     func()
	client   *sqs.Client
}

func startQueues() (*queueWorld, error) {
	q := &queueWorld{server: sqstest.New(sqstest.Options{Region: Region})}
	var err error
	if q.endpoint, q.stop, err = q.server.Listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	for dead, work := range map[string]string{capturesDead: captures, refundsDead: refunds} {
		if err := q.server.CreateDeadLetterQueue(dead, maxReceives, work); err != nil {
			q.stop()
			return nil, fmt.Errorf("create the queues %s and %s: %w", work, dead, err)
		}
	}
	twoWeeks := map[string]string{"MessageRetentionPeriod": "1209600"}
	if err := q.server.SetAttributes(capturesDead, twoWeeks); err != nil {
		q.stop()
		return nil, fmt.Errorf("set up %s: %w", capturesDead, err)
	}
	q.client = sqs.New(sqs.Options{
		Region: Region, BaseEndpoint: &q.endpoint, HTTPClient: adapter.WholeRequests(&http.Client{}),
		Credentials: credentials.NewStaticCredentialsProvider("demo", "demo", ""),
	})
	return q, nil
}

func (q *queueWorld) close() { q.stop() }

// seed puts in the letters that the story begins with.
func (q *queueWorld) seed(now time.Time) {
	for i := range 8 {
		q.server.Put(capturesDead, sqstest.Message{
			Body: capture(slowGateway, i%3 == 0), Source: captures, Receives: maxReceives,
			Sent: now.Add(-13*day + time.Duration(i)*36*hour), Attributes: map[string]sqstest.Attribute{"producer": sqstest.Text("checkout/4.18.0")},
		})
	}
	for i := range 4 {
		q.server.Put(refundsDead, sqstest.Message{
			Body:   fmt.Sprintf(`{"type":"RefundRequested","refund_id":"ref_%04d","payment_id":%q,"amount_minor":%d}`, 310+i, name("pay_", 8), 100*rand.IntN(900)),
			Source: refunds, Receives: maxReceives, Group: fmt.Sprintf("mer_%05d", 40210+i%2), DedupID: name("", 12), Sent: now.Add(-2*day + time.Duration(i)*hour),
		})
	}
}

func capture(gateway string, timedOut bool) string {
	kind := "GatewayTimeout"
	if !timedOut {
		kind = "GatewayUnavailable"
	}
	return fmt.Sprintf(`{"type":"PaymentCapture","version":2,"payment_id":%q,"gateway":%q,"errorType":%q,"amount_minor":%d}`, name("pay_", 8), gateway, kind, 100*rand.IntN(5000))
}

// traffic sends captures until the demo ends, now and then one that its
// consumer cannot do.
func (q *queueWorld) traffic(ctx context.Context) {
	n := 0
	every(ctx, 2*time.Second, func() {
		n++
		body := capture("gw-1", true)
		if n%30 == 0 {
			body = capture(slowGateway, true)
		}
		_, _ = q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: q.url(captures), MessageBody: &body}) // one capture less
	})
}

// work is the consumer of the captures: what it throws on it does not delete.
func (q *queueWorld) work(ctx context.Context, fixed func() bool) {
	for ctx.Err() == nil {
		got, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.url(captures), MaxNumberOfMessages: 10, VisibilityTimeout: 2, WaitTimeSeconds: 5})
		if err != nil {
			wait(ctx, patience)
			continue
		}
		for _, m := range got.Messages {
			if !strings.Contains(aws.ToString(m.Body), slowGateway) || fixed() {
				q.delete(ctx, m)
			}
		}
	}
}

func (q *queueWorld) delete(ctx context.Context, m types.Message) {
	_, _ = q.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: q.url(captures), ReceiptHandle: m.ReceiptHandle}) // it comes again
}

func (q *queueWorld) url(name string) *string {
	return aws.String(q.endpoint + "/000000000000/" + name)
}
