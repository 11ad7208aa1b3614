package sqstest

import (
	"encoding/json"
	"net/http"
	"path"
	"time"
)

// Call is one request that came in.
type Call struct {
	At     time.Time
	Action string // such as ReceiveMessage
	Queue  string // the name of the queue that it is about, "" for none
	Body   json.RawMessage
}

// Fault is what a request meets instead of its plain answer.
type Fault struct {
	Delay   time.Duration       // before anything is done
	Status  int                 // answer this HTTP status, such as 503, and do nothing
	Code    string              // the shape and code of the error; ServiceUnavailable when empty
	Message string              // of the error
	Entries map[int]EntryFailed // entries of a batch that fail, by their place in it
	Drop    bool                // close the connection without an answer
	After   bool                // with Status or Drop: do what was asked first, so that the caller cannot know
	Lie     bool                // say that a message was deleted, and leave it: as SQS may with a receipt whose time is over
}

// EntryFailed is the failure of one entry inside the 200 of a batch.
type EntryFailed struct {
	Code        string
	Message     string
	SenderFault bool
	After       bool // do it all the same
}

// SetFault has f look at every request; it answers nil to let one pass. A nil
// f ends the faults.
func (s *Server) SetFault(f func(Call) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Calls are the requests that came so far, without their bodies.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// maxCalls bounds the journal: a demo runs for days.
const maxCalls = 50_000

// record keeps a call in the journal and asks for its fault.
func (s *Server) record(c Call) *Fault {
	s.mu.Lock()
	fault := s.fault
	if len(s.calls) == maxCalls {
		s.calls = append(s.calls[:0], s.calls[maxCalls/2:]...)
	}
	s.calls = append(s.calls, Call{At: c.At, Action: c.Action, Queue: c.Queue})
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(c)
}

// pause waits for the fault's delay; false when the client went away.
func (f *Fault) pause(r *http.Request) bool {
	if f.Delay == 0 {
		return true
	}
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// lets tells whether what was asked is done in spite of the fault.
func (f *Fault) lets() bool { return f.After || f.Status == 0 && !f.Drop }

func (f *Fault) asError() *apiError {
	code := f.Code
	if code == "" {
		code = "ServiceUnavailable"
	}
	message := f.Message
	if message == "" {
		message = "A fault that was asked for."
	}
	return apiErrorf(f.Status, code, code, "%s", message)
}

// denial is a permission that the caller lacks.
type denial struct{ action, queue string }

// Deny refuses an action on the queues that a pattern matches, as a missing
// IAM permission does. Both are globs; "*" is every one.
func (s *Server) Deny(action, queue string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, denial{action, queue})
}

// AllowAll ends all denials.
func (s *Server) AllowAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = nil
}

// batchRight is the permission that a batch needs: IAM knows no batch actions.
var batchRight = map[string]string{
	"SendMessageBatch":             "SendMessage",
	"DeleteMessageBatch":           "DeleteMessage",
	"ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
}

// permit refuses what is denied.
func (s *Server) permit(action, queue string) error {
	if right := batchRight[action]; right != "" {
		action = right
	}
	for _, d := range s.denied {
		act, _ := path.Match(d.action, action)
		on, _ := path.Match(d.queue, queue)
		if act && on {
			return apiErrorf(http.StatusForbidden, "AccessDeniedException", "AccessDenied",
				"User: arn:aws:iam::%s:user/test is not authorized to perform: sqs:%s on resource: %s because no identity-based policy allows the sqs:%s action",
				s.options.Account, action, s.ARN(queue), action)
		}
	}
	return nil
}
