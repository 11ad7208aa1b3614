package sqstest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// TB is what Start needs of a *testing.T. The demo is built without the
// testing package.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
}

// Message is a message as a test puts it into a queue or looks at it.
type Message struct {
	ID               string // made up when empty
	Body             string
	Attributes       map[string]Attribute
	SystemAttributes map[string]Attribute
	SenderID         string    // the account when empty
	Sent             time.Time // now when zero
	FirstReceived    time.Time
	Receives         int    // what ApproximateReceiveCount was at the last receive
	Source           string // the name of the queue that it was dead-lettered from
	Group            string // MessageGroupId
	DedupID          string // MessageDeduplicationId
	InFlight         bool   // somebody holds it; only when looking
}

// Start serves the endpoint on loopback until the test ends, and gives its
// address.
func (s *Server) Start(t TB) string {
	t.Helper()
	endpoint, stop, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return endpoint
}

// Listen serves the endpoint on an address until stop is called. endpoint is
// what a client is given.
func (s *Server) Listen(address string) (endpoint string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("serve SQS on %s: %w", address, err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // always the error of Close
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		<-done
	}, nil
}

// CreateQueue makes a queue with these attributes; a name that ends in .fifo
// needs FifoQueue to be true.
func (s *Server) CreateQueue(name string, attributes map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.createQueue(&request{QueueName: name, Attributes: attributes})
	return err
}

// CreateDeadLetterQueue makes the queue dlq, and each of the source queues
// with a redrive policy that points at it. They are FIFO queues when their
// names say so.
func (s *Server) CreateDeadLetterQueue(dlq string, maxReceives int, sources ...string) error {
	attributes := map[string]string{}
	if strings.HasSuffix(dlq, ".fifo") {
		attributes["FifoQueue"] = "true"
	}
	if err := s.CreateQueue(dlq, attributes); err != nil {
		return err
	}
	attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":%d}`, s.ARN(dlq), maxReceives)
	for _, source := range sources {
		if err := s.CreateQueue(source, attributes); err != nil {
			return err
		}
	}
	return nil
}

// SetAttributes sets attributes of a queue.
func (s *Server) SetAttributes(queue string, attributes map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[queue]
	if q == nil {
		return noSuchQueue()
	}
	return s.setAttributes(q, attributes)
}

// DeleteQueue deletes a queue and its messages; redrive policies that name it
// stay as they are.
func (s *Server) DeleteQueue(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queues, name)
}

// Put puts a message into a queue just as it is, without checks or
// deduplication, and gives its id. It panics when there is no such queue.
func (s *Server) Put(queue string, m Message) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[queue]
	if q == nil {
		panic("sqstest: no queue " + queue)
	}
	in := &message{
		id: m.ID, body: m.Body, senderID: m.SenderID, group: m.Group, dedupID: m.DedupID,
		attributes: m.Attributes, systemAttributes: m.SystemAttributes,
		sent: m.Sent, firstReceived: m.FirstReceived, visible: s.now(), receives: m.Receives,
	}
	if in.id == "" {
		in.id = uuid()
	}
	if in.senderID == "" {
		in.senderID = s.options.Account
	}
	if in.sent.IsZero() {
		in.sent = s.now()
	}
	if m.Source != "" {
		in.sourceARN = s.ARN(m.Source)
	}
	if q.fifo {
		in.sequence = q.nextSequence()
	}
	q.messages = append(q.messages, in)
	s.wake()
	return in.id
}

// Messages looks at all messages of a queue, in their order, and receives
// none.
func (s *Server) Messages(queue string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[queue]
	if q == nil {
		return nil
	}
	now := s.now()
	q.expire(now)
	var out []Message
	for _, m := range q.messages {
		out = append(out, Message{
			ID: m.id, Body: m.body, Attributes: m.attributes, SystemAttributes: m.systemAttributes, SenderID: m.senderID,
			Sent: m.sent, FirstReceived: m.firstReceived, Receives: m.receives, Source: lastPart(m.sourceARN, ':'),
			Group: m.group, DedupID: m.dedupID, InFlight: m.inFlight && m.visible.After(now),
		})
	}
	return out
}

// SetMove has SQS tell of a move task from a queue, which stands still.
func (s *Server) SetMove(queue, status string, moved, toMove int, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, &moveTask{source: s.ARN(queue), status: status, moved: moved, toMove: toMove, failure: failure, started: s.now()})
}
