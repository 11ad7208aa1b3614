package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
	"github.com/unwedge/unwedge/store"
)

// sqsLanes is how many batches are out at the same time, of the redrive and of the
// plain client.
const sqsLanes = 8

func sqsLetters(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("UNWEDGE_BENCH_LETTERS")); err == nil {
		return n
	}
	return otherwise
}

// BenchmarkRedriveSQS redrives letters of about a kilobyte through the real desk,
// ledger, worker and adapter, and compares that with plain client code in the same
// run, on the same server: the same messages in batches of ten, sent and then
// deleted, eight batches at a time, by the same SDK with the same settings. The
// receipts are in its hand: how it came by them is not in its time, while the
// redrive's has the receives that take hold of the letters in it, and its whole
// ledger. ratio-receiving compares with plain code that receives its batches too.
//
// sqstest-10ms is our own endpoint with ten milliseconds for every request, which
// is what SQS takes: there the requests count, and not the processor that the
// server and the client share.
func BenchmarkRedriveSQS(b *testing.B) {
	slow := sourcetest.SQSEndpoint{Name: "sqstest-10ms", Start: func(t testing.TB) string {
		s := sqstest.New(sqstest.Options{})
		s.SetFault(func(sqstest.Call) *sqstest.Fault { return &sqstest.Fault{Delay: 10 * time.Millisecond} })
		return s.Start(t)
	}}
	for _, server := range append([]sourcetest.SQSEndpoint{slow}, sourcetest.SQSEndpoints()...) {
		b.Run(server.Name, func(b *testing.B) {
			endpoint := server.Start(b)
			var ratios, receiving []float64
			for run := 0; b.Loop(); run++ {
				r := newSQSBench(b, endpoint, run, sqsLetters(5000))
				_, work := r.redrive(b)
				r.count(b, r.work, r.letters)
				r.count(b, r.dead, 0)
				plain, all := r.plain(b)
				b.Logf("%d letters: redriven in %s (%.0f a second), sent and deleted plainly in %s, and received in %s", r.letters, work, float64(r.letters)/work.Seconds(), plain, all)
				ratios = append(ratios, plain.Seconds()/work.Seconds())
				receiving = append(receiving, all.Seconds()/work.Seconds())
				r.close()
			}
			for name, all := range map[string][]float64{"ratio": ratios, "ratio-receiving": receiving} {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2], name+"-median")
				b.ReportMetric(all[len(all)-1], name+"-best")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// sqsBench is a redriveBench of a queue of SQS.
type sqsBench struct {
	redriveBench
	work, dead string
	client     *client.Client
}

func newSQSBench(b *testing.B, endpoint string, run, letters int) *sqsBench {
	b.Helper()
	prefix := fmt.Sprintf("bench-%d-%d-", time.Now().UnixNano()%1e9, run)
	r := &sqsBench{redriveBench: redriveBench{letters: letters, queue: prefix + "dead"}, work: prefix + "work", dead: prefix + "dead", client: plainClient(endpoint)}
	r.queues(b)
	r.fill(b, r.dead)
	source, err := sqs.New(sqs.Config{Name: "bench", Region: "us-east-1", Endpoint: endpoint, Queues: sources.Patterns{Include: []string{prefix + "*"}}})
	if err != nil {
		b.Fatal(err)
	}
	r.source = source
	path := filepath.Join(b.TempDir(), "unwedge.db")
	if r.db, err = store.Open(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	r.collect(b)
	waitIndexed(b, path, r.letters)
	return r
}

func (r *sqsBench) close() {
	r.source.Close()
	_ = r.db.Close() // the directory goes with the benchmark
}

func plainClient(endpoint string) *client.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * sqsLanes
	return client.New(client.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, HTTPClient: sqs.WholeRequests(&http.Client{Transport: transport}),
		Credentials: credentials.NewStaticCredentialsProvider("unwedge", "unwedge", ""),
	})
}

func (r *sqsBench) queues(b *testing.B) {
	b.Helper()
	made, err := r.client.CreateQueue(b.Context(), &client.CreateQueueInput{QueueName: &r.dead})
	must(b, err)
	got, err := r.client.GetQueueAttributes(b.Context(), &client.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{"QueueArn"}})
	must(b, err)
	_, err = r.client.CreateQueue(b.Context(), &client.CreateQueueInput{QueueName: &r.work, Attributes: map[string]string{
		"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"3"}`, got.Attributes["QueueArn"]),
	}})
	must(b, err)
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (r *sqsBench) url(b *testing.B, queue string) *string {
	b.Helper()
	out, err := r.client.GetQueueUrl(b.Context(), &client.GetQueueUrlInput{QueueName: &queue})
	must(b, err)
	return out.QueueUrl
}

// fill sends letters to a queue.
func (r *sqsBench) fill(b *testing.B, queue string) {
	b.Helper()
	url := r.url(b, queue)
	r.lanes(b, func(lane int) error {
		for i := lane * 10; i < r.letters; i += sqsLanes * 10 {
			in := &client.SendMessageBatchInput{QueueUrl: url}
			for n := i; n < min(i+10, r.letters); n++ {
				in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
					Id: aws.String(strconv.Itoa(n)), MessageBody: aws.String(string(payment(n))),
					MessageAttributes: map[string]types.MessageAttributeValue{"content-type": {DataType: aws.String("String"), StringValue: aws.String("application/json")}},
				})
			}
			if out, err := r.client.SendMessageBatch(b.Context(), in); err != nil || len(out.Failed) > 0 {
				return fmt.Errorf("%v %w", out, err)
			}
		}
		return nil
	})
}

func (r *sqsBench) lanes(b *testing.B, f func(lane int) error) time.Duration {
	b.Helper()
	begun := time.Now()
	var all errgroup.Group
	for lane := range sqsLanes {
		all.Go(func() error { return f(lane) })
	}
	must(b, all.Wait())
	return time.Since(begun)
}

// plain does what the redrive did with nothing but the client, and tells how long
// sending and deleting took, and how long with the receives that come before.
func (r *sqsBench) plain(b *testing.B) (send, all time.Duration) {
	b.Helper()
	r.fill(b, r.dead)
	dead, work := r.url(b, r.dead), r.url(b, r.work)
	batches := make([][][]types.Message, sqsLanes)
	receive := r.lanes(b, func(lane int) error {
		for n := 0; n*sqsLanes*10 < r.letters; {
			got, err := r.client.ReceiveMessage(b.Context(), &client.ReceiveMessageInput{
				QueueUrl: dead, MaxNumberOfMessages: 10, VisibilityTimeout: 300, MessageAttributeNames: []string{"All"},
				MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
			})
			if err != nil {
				return err
			}
			n++
			if len(got.Messages) > 0 {
				batches[lane] = append(batches[lane], got.Messages)
			}
		}
		return nil
	})
	send = r.lanes(b, func(lane int) error {
		for _, batch := range batches[lane] {
			if err := r.sendAndDelete(b.Context(), batch, dead, work); err != nil {
				return err
			}
		}
		return nil
	})
	return send, receive + send
}

func (r *sqsBench) sendAndDelete(ctx context.Context, batch []types.Message, dead, work *string) error {
	send, remove := &client.SendMessageBatchInput{QueueUrl: work}, &client.DeleteMessageBatchInput{QueueUrl: dead}
	for i, m := range batch {
		id := aws.String(strconv.Itoa(i))
		send.Entries = append(send.Entries, types.SendMessageBatchRequestEntry{Id: id, MessageBody: m.Body, MessageAttributes: m.MessageAttributes})
		remove.Entries = append(remove.Entries, types.DeleteMessageBatchRequestEntry{Id: id, ReceiptHandle: m.ReceiptHandle})
	}
	if out, err := r.client.SendMessageBatch(ctx, send); err != nil || len(out.Failed) > 0 {
		return fmt.Errorf("%v %w", out, err)
	}
	out, err := r.client.DeleteMessageBatch(ctx, remove)
	if err != nil || len(out.Failed) > 0 {
		return fmt.Errorf("%v %w", out, err)
	}
	return nil
}

func (r *sqsBench) count(b *testing.B, queue string, want int) {
	b.Helper()
	got, err := r.client.GetQueueAttributes(b.Context(), &client.GetQueueAttributesInput{QueueUrl: r.url(b, queue), AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}})
	must(b, err)
	n := 0
	for _, text := range got.Attributes {
		one, err := strconv.Atoi(text)
		must(b, err)
		n += one
	}
	if n != want {
		b.Fatalf("%d messages in %s, want %d", n, queue, want)
	}
}
