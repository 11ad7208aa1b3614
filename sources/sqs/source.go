// Package sqs reads dead-letter queues of Amazon SQS, and sends dead letters
// back. SQS has no way to look: each look is a receive, which hides messages
// for a moment and counts. So a queue is received from only when it holds dead
// letters, rarely, with a short time-out, and every look is accounted for.
//
// What it writes: it receives from dead-letter queues (and releases), it sends
// what is redriven, and deletes that from the dead-letter queue.
package sqs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/sources"
)

// callsAtOnce bounds how many requests are out at the same time.
const callsAtOnce = 8

// Source is one account and region. Its methods may be called at the same time.
type Source struct {
	cfg    Config
	client *sqs.Client
	now    func() time.Time
	run    string // names this run of the program, in cursors and shipments

	inventory inventory

	mu    sync.Mutex
	lines map[string]*line // by the name of the queue
	limit map[string]int   // bytes of a batch that the queue took, where less than usual
	stops map[string]error // FIFO groups of a target in which a message failed
	open  map[string]bool  // items that may have arrived
	known map[string]facts // targets as last asked for

	ending context.Context // ends with Close
	end    context.CancelFunc
	keeper sync.Once
	tasks  sync.WaitGroup
}

// New makes a source. It does not connect: what is wrong is told by the first
// reading, and again by each that fails.
func New(c Config) (*Source, error) {
	if errs := c.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("source %s: %w", c.Name, errors.Join(errs...))
	}
	client, err := c.client()
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", c.Name, err)
	}
	s := &Source{
		cfg: c.withDefaults(), client: client, now: time.Now, run: rand.Text(),
		lines: map[string]*line{}, limit: map[string]int{}, stops: map[string]error{}, open: map[string]bool{}, known: map[string]facts{},
	}
	s.ending, s.end = context.WithCancel(context.Background())
	return s, nil
}

func (c Config) client() (*sqs.Client, error) {
	options := []func(*config.LoadOptions) error{config.WithRegion(c.Region), config.WithHTTPClient(httpClient())}
	if c.Endpoint != "" && !haveCredentials() {
		// An emulator takes any; without some the SDK would look for those of an EC2
		// machine, and wait.
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("unwedge", "unwedge", "")))
	}
	loaded, err := config.LoadDefaultConfig(context.Background(), options...)
	if err != nil {
		return nil, fmt.Errorf("load the AWS settings: %w", err)
	}
	return sqs.NewFromConfig(loaded, func(o *sqs.Options) {
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxBackoff = 2 * time.Second
			r.RateLimiter = ratelimit.None // its quota would end the retries of two thousand queues early
		})
		o.HTTPClient = WholeRequests(loaded.HTTPClient)
		if c.Endpoint != "" {
			o.BaseEndpoint = aws.String(c.Endpoint)
		}
	}), nil
}

// haveCredentials tells whether the environment says where AWS credentials are.
func haveCredentials() bool {
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	_, err := os.Stat(config.DefaultSharedCredentialsFilename())
	return err == nil
}

// Name is the source's name in the configuration.
func (s *Source) Name() string { return s.cfg.Name }

// Close ends what runs, lets a receive that is under way hear its answer, and
// releases all that is held in queues. Nothing is received after it.
func (s *Source) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.tasks.Wait()
	var all errgroup.Group
	all.SetLimit(callsAtOnce)
	for _, l := range s.allLines() {
		all.Go(func() error {
			l.releaseAll(context.Background())
			return nil
		})
	}
	_ = all.Wait() // what could not be released turns visible by itself
}

// inBackground runs f unless the source is closed, which waits for it.
func (s *Source) inBackground(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending.Err() == nil {
		s.tasks.Go(f)
	}
}

// once switches the SDK's own retries off, for calls after whose lost answer
// something may have happened.
func once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }

// queueURL is where requests about a queue go. An emulator may give out URLs
// with a host that only it knows; the path is what counts.
func (s *Source) queueURL(given string) string {
	if s.cfg.Endpoint == "" {
		return given
	}
	u, err := url.Parse(given)
	if err != nil {
		return given
	}
	return strings.TrimSuffix(s.cfg.Endpoint, "/") + u.Path
}

// queueName is the name of the queue of a URL or an ARN.
func queueName(address string) string {
	return address[strings.LastIndexAny(address, "/:")+1:]
}

// Receivers is nil: SQS does not know who reads a queue.
func (s *Source) Receivers(context.Context, string) ([]sources.Receiver, error) { return nil, nil }
