package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// facts are what is known of one queue.
type facts struct {
	name, url, arn string
	fifo           bool
	retention      time.Duration // 0: not told (ElasticMQ)
	largest        int           // bytes of a message; 0: not told
	visibility     time.Duration // for which a receive hides a message if it does not say; 0: not told
	sumsBodies     bool          // ContentBasedDeduplication: without an id, the body is what counts
	policy         redrivePolicy
	feeds          []string // queues whose redrive policies name this one
	counts         counts
	moving         string    // a move task that runs, in words
	moveFailed     string    // the last move task, if it failed, in the words of SQS
	readAt         time.Time // when the attributes were read
	err            error     // why they could not be
}

// counts are approximate: they are right about a minute after the last change.
type counts struct{ visible, inFlight, delayed int64 }

func (c counts) all() int64 { return c.visible + c.inFlight + c.delayed }

// redrivePolicy says where a queue's failed messages go, and after how many
// receives.
type redrivePolicy struct {
	target      string // an ARN; "" when there is no policy
	maxReceives int
}

// parsePolicy reads a RedrivePolicy, whose number may be text.
func parsePolicy(text string) redrivePolicy {
	var p struct {
		Target string `json:"deadLetterTargetArn"`
		Max    any    `json:"maxReceiveCount"`
	}
	if text == "" || json.Unmarshal([]byte(text), &p) != nil {
		return redrivePolicy{}
	}
	n, err := strconv.Atoi(fmt.Sprint(p.Max))
	if err != nil {
		n = 0
	}
	return redrivePolicy{p.Target, n}
}

// givesUpAfter is how long a message that fails every time stays in the queue
// before the redrive policy sets it aside, when each attempt takes the whole
// visibility timeout; 0: not known.
func (f facts) givesUpAfter() time.Duration {
	return time.Duration(f.policy.maxReceives) * f.visibility
}

// read asks for the attributes of a queue.
func (s *Source) read(ctx context.Context, f *facts) {
	a, err := s.attributes(ctx, f.url, types.QueueAttributeNameAll)
	f.readAt, f.err = s.now(), readable("GetQueueAttributes", f.name, err)
	if err != nil {
		return
	}
	f.arn = a["QueueArn"]
	f.retention = time.Duration(number(a["MessageRetentionPeriod"])) * time.Second
	f.largest = int(number(a["MaximumMessageSize"]))
	f.visibility = time.Duration(number(a["VisibilityTimeout"])) * time.Second
	f.sumsBodies = a["ContentBasedDeduplication"] == "true"
	f.policy = parsePolicy(a["RedrivePolicy"])
	f.counts = countsOf(a)
}

func countsOf(a map[string]string) counts {
	return counts{
		visible:  number(a["ApproximateNumberOfMessages"]),
		inFlight: number(a["ApproximateNumberOfMessagesNotVisible"]),
		delayed:  number(a["ApproximateNumberOfMessagesDelayed"]),
	}
}

// number is an attribute that is a number, 0 when it was not given.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// attributes asks for attributes of a queue, patiently: with thousands of
// queues SQS may put some of the calls off.
func (s *Source) attributes(ctx context.Context, url string, names ...types.QueueAttributeName) (map[string]string, error) {
	var out *sqs.GetQueueAttributesOutput
	err := patiently(ctx, func() (err error) {
		out, err = s.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// askCounts asks for the counts of a queue alone.
func (s *Source) askCounts(ctx context.Context, url, name string) (counts, error) {
	a, err := s.attributes(ctx, url,
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed)
	if err != nil {
		return counts{}, readable("GetQueueAttributes", name, err)
	}
	return countsOf(a), nil
}

// readFeeds asks which queues' redrive policies name this one. It sees those
// whose attributes we may not read.
func (s *Source) readFeeds(ctx context.Context, f *facts) {
	f.feeds = nil
	pages := sqs.NewListDeadLetterSourceQueuesPaginator(s.client, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &f.url, MaxResults: pageSize()})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return // the policies of the queues that we can read say the same
		}
		for _, url := range page.QueueUrls {
			f.feeds = append(f.feeds, queueName(url))
		}
	}
}

// readMove asks for a move task of the broker's own, which takes letters away
// while we look. We start none: it moves the whole queue, tells nobody which
// letters went, and gives them new ids.
func (s *Source) readMove(ctx context.Context, f *facts) {
	f.moving, f.moveFailed = "", ""
	if f.arn == "" || !s.inventory.asksMoves(s.now()) {
		return
	}
	out, err := s.client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &f.arn}, once)
	if err != nil {
		if code(err) == "" && !errors.Is(err, context.Canceled) || code(err) == "UnsupportedOperation" {
			s.inventory.noMoves(s.now()) // ElasticMQ has no move tasks, and says so with a page that is no JSON
		}
		return
	}
	if len(out.Results) == 0 {
		return
	}
	newest := out.Results[0]
	progress := fmt.Sprintf("%d of about %s letters moved", newest.ApproximateNumberOfMessagesMoved, thousands(deref(newest.ApproximateNumberOfMessagesToMove)))
	switch state := deref(newest.Status); state {
	case "RUNNING", "CANCELLING":
		f.moving = fmt.Sprintf("a move task of SQS is %s: %s", strings.ToLower(state), progress)
	case "FAILED":
		f.moveFailed = fmt.Sprintf("%s; %s", deref(newest.FailureReason), progress)
	}
}

// thousands is a number with a comma between its thousands.
func thousands(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// deref is what a pointer points to, or the zero value.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
