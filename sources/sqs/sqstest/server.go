// Package sqstest is an SQS endpoint in the same process: AWS JSON 1.0 over
// HTTP, as the SDK speaks it, with nothing but the standard library. Tests and
// the demo run on it.
//
// It behaves as AWS does, down to what surprises: a message moves to the
// dead-letter queue at the receive after the last allowed one, a FIFO group is
// closed while one of its messages is in flight, ListQueues gives a token only
// to those who ask for pages. And it has what a real queue has not: put a
// message with any history, look without receiving, move the clock, answer
// with faults.
package sqstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of AWS that a test may lower.
const (
	// MaxBatchBytes is the size of all messages of one SendMessageBatch.
	MaxBatchBytes = 1 << 20
	// MaxInFlight is how many messages of one queue may be in flight.
	MaxInFlight = 120_000
)

// Options is how a server differs from AWS in us-east-1. The zero value is AWS.
type Options struct {
	Region  string           // us-east-1 when empty
	Account string           // 000000000000 when empty
	Now     func() time.Time // time.Now when nil; Server.Advance is added to it
	// URLHost replaces the host of the queue URLs that are given out, as
	// emulators in containers do: "localhost:9324". Requests go by the path of
	// a queue URL, whatever its host.
	URLHost     string
	BatchBytes  int // MaxBatchBytes when 0
	MaxInFlight int // MaxInFlight when 0
}

// Server answers SQS requests for one account in one region.
type Server struct {
	options Options

	mu      sync.Mutex
	ahead   time.Duration // how far Advance has moved the clock
	queues  map[string]*queue
	deleted map[string]time.Time // when queues that are gone were deleted
	tasks   []*moveTask
	changed chan struct{} // closed and replaced whenever a message may have turned visible
	fault   func(Call) *Fault
	denied  []denial
	calls   []Call
}

// New makes a server without queues.
func New(o Options) *Server {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Account == "" {
		o.Account = "000000000000"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = MaxBatchBytes
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = MaxInFlight
	}
	return &Server{options: o, queues: map[string]*queue{}, deleted: map[string]time.Time{}, changed: make(chan struct{})}
}

// now is the time on the server's clock. The lock is held.
func (s *Server) now() time.Time { return s.options.Now().Add(s.ahead) }

// Advance moves the server's clock on: what is hidden turns visible, and what
// is old expires.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
	s.wake()
}

// wake has those who wait for a message look again. The lock is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	req, raw, err := decode(w, r)
	if err != nil {
		writeAnswer(w, nil, apiErrorf(http.StatusBadRequest, "SerializationException", "MalformedInput", "%v", err))
		return
	}
	call := Call{At: time.Now(), Action: action, Queue: req.queueName(), Body: raw}
	fault := s.record(call)
	if fault == nil {
		fault = &Fault{}
	}
	if !fault.pause(r) {
		return
	}
	var out any
	if fault.lets() {
		req.faults, req.lie = fault.Entries, fault.Lie
		out, err = s.do(r, action, req)
	}
	if fault.Drop {
		panic(http.ErrAbortHandler) // net/http closes the connection without a word
	}
	if fault.Status != 0 {
		out, err = nil, fault.asError()
	}
	writeAnswer(w, out, err)
}

// do does what a request asks for.
func (s *Server) do(r *http.Request, action string, req *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.permit(action, req.queueName()); err != nil {
		return nil, err
	}
	req.base = s.base(r.Host)
	if f := accountActions[action]; f != nil {
		return f(s, req)
	}
	f := queueActions[action]
	if f == nil && action != "ReceiveMessage" {
		return nil, apiErrorf(http.StatusBadRequest, "InvalidAction", "InvalidAction", "The action %s is not valid for this endpoint.", action)
	}
	q := s.queues[lastPart(req.QueueUrl, '/')]
	if q == nil {
		return nil, noSuchQueue()
	}
	if f == nil {
		return s.receive(r.Context(), q, req)
	}
	return f(s, q, req)
}

// accountActions are the requests that name no queue by its URL.
var accountActions = map[string]func(*Server, *request) (any, error){
	"CreateQueue":           (*Server).createQueue,
	"ListQueues":            (*Server).listQueues,
	"GetQueueUrl":           (*Server).queueURL,
	"StartMessageMoveTask":  (*Server).startMove,
	"ListMessageMoveTasks":  (*Server).listMoves,
	"CancelMessageMoveTask": (*Server).cancelMove,
}

// queueActions are the requests of one queue, but for ReceiveMessage, which
// waits.
var queueActions = map[string]func(*Server, *queue, *request) (any, error){
	"DeleteQueue":                  (*Server).deleteQueue,
	"PurgeQueue":                   (*Server).purgeQueue,
	"GetQueueAttributes":           (*Server).getAttributes,
	"SetQueueAttributes":           (*Server).setQueueAttributes,
	"ListQueueTags":                (*Server).listTags,
	"TagQueue":                     (*Server).tag,
	"UntagQueue":                   (*Server).untag,
	"ListDeadLetterSourceQueues":   (*Server).listSources,
	"SendMessage":                  (*Server).sendMessage,
	"SendMessageBatch":             (*Server).sendBatch,
	"DeleteMessage":                (*Server).deleteMessage,
	"DeleteMessageBatch":           (*Server).deleteBatch,
	"ChangeMessageVisibility":      (*Server).changeVisibility,
	"ChangeMessageVisibilityBatch": (*Server).changeVisibilityBatch,
}

// base is what queue URLs begin with, for a client that asked by that host.
func (s *Server) base(host string) string {
	if s.options.URLHost != "" {
		host = s.options.URLHost
	}
	return "http://" + host + "/" + s.options.Account + "/"
}

// ARN is the address of the queue of that name, which need not exist.
func (s *Server) ARN(name string) string {
	return "arn:aws:sqs:" + s.options.Region + ":" + s.options.Account + ":" + name
}

// byARN is the queue of that address, nil when there is none.
func (s *Server) byARN(arn string) *queue {
	name := lastPart(arn, ':')
	if s.ARN(name) != arn {
		return nil
	}
	return s.queues[name]
}

func lastPart(s string, separator byte) string {
	return s[strings.LastIndexByte(s, separator)+1:]
}

// decode reads a request; raw is its body as it came.
func decode(w http.ResponseWriter, r *http.Request) (*request, json.RawMessage, error) {
	const most = 16 << 20 // a batch of ten of the largest messages, base64 and all
	var raw json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&raw); err != nil {
		return nil, nil, err
	}
	req := &request{}
	return req, raw, json.Unmarshal(raw, req)
}
