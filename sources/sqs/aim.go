package sqs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/unwedge/unwedge/sources"
)

// ErrNoWayBack is a letter of which nobody knows the queue that it came from.
var ErrNoWayBack = errors.New("no way back: no route is configured, and SQS does not say where it came from")

// Aim says what a letter meets in a queue, and why it goes there. An empty
// queue is the letter's own way back: the configured route, else the queue that
// SQS says it was dead-lettered from. Nothing is sent.
func (s *Source) Aim(ctx context.Context, queue string, letter sources.DeadLetter) (sources.Target, string, error) {
	why := ""
	if queue == "" {
		if queue, why = s.wayBackOf(letter); queue == "" {
			return sources.Target{}, "", ErrNoWayBack
		}
	}
	f, err := s.target(ctx, queue)
	if err != nil {
		return sources.Target{Queue: queue}, why, err
	}
	if n := size(letter.Body, letter.Headers); f.largest > 0 && n > f.largest {
		return sources.Target{Queue: queue}, why, fmt.Errorf("%s takes messages of up to %d bytes, and this one has %d: %w", queue, f.largest, n, sources.ErrTooLarge)
	}
	if f.fifo {
		group, own := groupOf(letter.System, letter.Place)
		words := "message group " + group
		if own {
			words = "a message group of its own, for it has none"
		}
		why = strings.TrimPrefix(why+"; "+words, "; ")
	}
	return sources.Target{Queue: queue}, why, nil
}

// About tells what a queue takes. sources.ErrNoSuchQueue: it is not there. What
// we may not read of it is not known.
func (s *Source) About(ctx context.Context, queue string) (sources.Destination, error) {
	f, err := s.target(ctx, queue)
	if err != nil {
		return sources.Destination{}, err
	}
	return sources.Destination{MaxBytes: f.largest, Retention: f.retention, FIFO: f.fifo, DefaultDedup: f.fifo && f.sumsBodies}, nil
}

func (s *Source) wayBackOf(letter sources.DeadLetter) (queue, why string) {
	if to := s.cfg.wayBack(letter.Queue); to != "" {
		return to, "configured"
	}
	if origin := letter.System["DeadLetterQueueSourceArn"]; origin != "" {
		return queueName(origin), "SQS says that it came from there"
	}
	if feeds := feedsOf(s.inventory.snapshot())[letter.Queue]; len(feeds) == 1 {
		return feeds[0], "its redrive policy names this dead-letter queue"
	}
	return "", ""
}

// target is what is known of a queue to send to, which need not be one that
// the configuration selects for reading.
func (s *Source) target(ctx context.Context, name string) (facts, error) {
	known, listed := s.inventory.one(name)
	for _, f := range []facts{known, s.knownTarget(name)} {
		if !f.readAt.IsZero() && s.now().Sub(f.readAt) < shortest && f.err == nil {
			s.knowTarget(f)
			return f, nil
		}
	}
	out, err := s.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if isDenied(err) && listed {
		return known, nil // its URL is known from the list
	}
	if err != nil {
		return facts{}, readable("GetQueueUrl", name, err)
	}
	f := facts{name: name, url: s.queueURL(deref(out.QueueUrl)), fifo: strings.HasSuffix(name, ".fifo")}
	if s.read(ctx, &f); errors.Is(f.err, sources.ErrNoSuchQueue) {
		return facts{}, f.err
	}
	s.knowTarget(f)
	return f, nil // without the right to read its attributes its limits are not known
}

// sendTo is a target that a shipment was packed for: where it is does not change,
// and a send tells whether it is there.
func (s *Source) sendTo(ctx context.Context, name string) (facts, error) {
	if f := s.knownTarget(name); f.url != "" {
		return f, nil
	}
	return s.target(ctx, name)
}

func (s *Source) knownTarget(name string) facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[name]
}

func (s *Source) knowTarget(f facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[f.name] = f
}

// groupOf is the message group that a letter goes to in a FIFO queue. One that
// has none gets a group of its own: it then waits for nobody.
func groupOf(system map[string]string, place sources.Place) (group string, own bool) {
	if g := system["MessageGroupId"]; g != "" {
		return g, false
	}
	return place.MessageID, true
}

// size is what counts towards the limits of SQS: the body, and name, type and
// value of each attribute.
func size(body []byte, attributes []sources.Header) int {
	n := len(body)
	for _, h := range attributes {
		n += len(h.Name) + len(dataType(h)) + len(h.Value)
	}
	return n
}

func dataType(h sources.Header) string {
	if h.Type == "" {
		return "String"
	}
	return h.Type
}

// dedupWindow is how long a FIFO queue drops a second message with the same
// deduplication id, less a margin for the way there (SQS API, SendMessage: five
// minutes).
const dedupWindow = 5*time.Minute - 30*time.Second
