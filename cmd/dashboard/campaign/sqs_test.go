package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// sqs is a dead-letter queue and its target on a server that speaks SQS.
type sqs struct {
	kind     string
	name     string // of the target, without .fifo
	fifo     bool
	endpoint string // as the program is told
	client   *sdk.Client
	url      map[string]string

	got []arrival // what was taken off the target so far
}

const region = "us-east-1"

// newSQS makes the two queues. direct is the server's own address, and
// endpoint the one that the program is given.
func newSQS(ctx context.Context, kind, direct, endpoint, name string, fifo bool) (*sqs, error) {
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
	})
	s := &sqs{
		kind: kind, name: name, fifo: fifo, endpoint: endpoint, url: map[string]string{},
		client: sdk.New(sdk.Options{Region: region, BaseEndpoint: &direct, Credentials: keys}),
	}
	attributes := map[string]string{}
	if fifo {
		attributes["FifoQueue"] = "true"
	}
	if err := s.create(ctx, s.queue(), attributes); err != nil {
		return nil, err
	}
	url := s.url[s.queue()]
	got, err := s.client.GetQueueAttributes(ctx, &sdk.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return nil, err
	}
	attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":"5"}`, got.Attributes["QueueArn"])
	return s, s.create(ctx, s.target(), attributes)
}

func (s *sqs) create(ctx context.Context, name string, attributes map[string]string) error {
	made, err := s.client.CreateQueue(ctx, &sdk.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	s.url[name] = *made.QueueUrl
	return nil
}

func (s *sqs) suffix() string {
	if s.fifo {
		return ".fifo"
	}
	return ""
}

func (s *sqs) target() string { return s.name + s.suffix() }

func (s *sqs) queue() string { return s.name + "-dlq" + s.suffix() }

func (s *sqs) promises() promises {
	if s.fifo {
		return promises{kind: s.kind + " FIFO", ordered: true}
	}
	return promises{kind: s.kind + " standard", ambiguous: true}
}

func (s *sqs) source() string {
	return fmt.Sprintf(`  - name: sqs
    sqs:
      region: %s
      endpoint: %s
      queues: {include: ["%s*"]}
      scan_every: 24h
`, region, s.endpoint, s.name)
}

// groupSize is how many letters a FIFO group has: a receive of ten takes whole
// groups, and hides no part of one behind the other.
const groupSize = 5

func (s *sqs) fill(ctx context.Context, rnd *rand.Rand, n int) ([]*letter, error) {
	all := make([]*letter, n)
	for i := range all {
		all[i] = sqsLetter(rnd, s.name, i)
		if s.fifo {
			all[i].group = fmt.Sprintf("group-%d", i/groupSize)
		}
	}
	url := s.url[s.queue()]
	for part := range slices.Chunk(all, 10) {
		in := &sdk.SendMessageBatchInput{QueueUrl: &url}
		for i, l := range part {
			in.Entries = append(in.Entries, l.entry(i))
		}
		out, err := s.client.SendMessageBatch(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("dead-letter: %w", err)
		}
		if len(out.Failed) > 0 {
			return nil, fmt.Errorf("dead-letter: %s %s", *out.Failed[0].Code, *out.Failed[0].Message)
		}
		for _, ok := range out.Successful {
			i, _ := strconv.Atoi(*ok.Id)
			part[i].where = *ok.MessageId
		}
	}
	return all, nil
}

func (l *letter) entry(i int) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(string(l.body))}
	if len(l.headers) > 0 {
		e.MessageAttributes = map[string]types.MessageAttributeValue{}
	}
	for _, h := range l.headers {
		v := types.MessageAttributeValue{DataType: aws.String(h.kind)}
		if strings.HasPrefix(h.kind, "Binary") {
			v.BinaryValue = h.value
		} else {
			v.StringValue = aws.String(string(h.value))
		}
		e.MessageAttributes[h.name] = v
	}
	if l.system != "" {
		e.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {DataType: aws.String("String"), StringValue: &l.system}}
	}
	if l.group != "" {
		e.MessageGroupId, e.MessageDeduplicationId = &l.group, aws.String(fmt.Sprintf("first-life-%d", l.number))
	}
	return e
}

// arrived takes everything off the target, as its consumers do, and gives all
// that ever was there.
func (s *sqs) arrived(ctx context.Context) ([]arrival, error) {
	got, err := s.drain(ctx, s.target())
	for _, m := range got {
		s.got = append(s.got, arrivalOfMessage(m))
	}
	return s.got, err
}

func arrivalOfMessage(m types.Message) arrival {
	a := arrival{where: *m.MessageId, group: m.Attributes["MessageGroupId"], order: m.Attributes["SequenceNumber"], size: len(*m.Body)}
	var kept []header
	for name, v := range m.MessageAttributes {
		value := v.BinaryValue
		if v.StringValue != nil {
			value = []byte(*v.StringValue)
		}
		if a.size += len(name) + len(value); name == lineageHeader {
			a.lineage = string(value)
			continue
		}
		kept = append(kept, header{name, aws.ToString(v.DataType), value})
	}
	slices.SortFunc(kept, func(a, b header) int { return strings.Compare(a.name, b.name) })
	a.print = fingerprint(nil, []byte(*m.Body), kept, m.Attributes["AWSTraceHeader"])
	return a
}

func (s *sqs) left(ctx context.Context) (map[string]bool, error) {
	got, err := s.drain(ctx, s.queue())
	all := map[string]bool{}
	for _, m := range got {
		all[*m.MessageId] = true
	}
	return all, err
}

// readers is how many receive from a standard queue at the same time.
const readers = 4

// drain receives and deletes until the queue says that it is empty: what a
// killed run has hidden is waited for.
func (s *sqs) drain(ctx context.Context, name string) (all []types.Message, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		before := len(all)
		got, err := s.receiveAll(ctx, name)
		if all = append(all, got...); err != nil {
			return all, err
		}
		n, err := s.count(ctx, name)
		if err != nil || n == 0 && len(all) == before {
			return all, err
		}
	}
}

func (s *sqs) receiveAll(ctx context.Context, name string) (all []types.Message, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	n := readers
	if s.fifo {
		n = 1
	}
	for range n {
		wait.Go(func() {
			for {
				got, failed := s.receive(ctx, name)
				mu.Lock()
				all, err = append(all, got...), errors.Join(err, failed)
				mu.Unlock()
				if len(got) == 0 || failed != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return all, err
}

func (s *sqs) receive(ctx context.Context, name string) ([]types.Message, error) {
	url := s.url[name]
	got, err := s.client.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 120, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil || len(got.Messages) == 0 {
		return nil, err
	}
	in := &sdk.DeleteMessageBatchInput{QueueUrl: &url}
	for i, m := range got.Messages {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
	}
	out, err := s.client.DeleteMessageBatch(ctx, in)
	if err == nil && len(out.Failed) > 0 {
		err = fmt.Errorf("take a message off %s: %s", name, *out.Failed[0].Message)
	}
	return got.Messages, err
}

func (s *sqs) count(ctx context.Context, name string) (n int, err error) {
	url := s.url[name]
	got, err := s.client.GetQueueAttributes(ctx, &sdk.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	}})
	if err != nil {
		return 0, err
	}
	for _, v := range got.Attributes {
		one, _ := strconv.Atoi(v)
		n += one
	}
	return n, nil
}
