package sqstest

import (
	"encoding/base64"
	"slices"
	"time"
)

// moveTask is a StartMessageMoveTask that runs or has run.
type moveTask struct {
	handle, source, destination string // destination "": each message's own source queue
	status, failure             string
	perSecond                   int
	moved, toMove               int
	started                     time.Time
}

// The states of a task.
const (
	running    = "RUNNING"
	completed  = "COMPLETED"
	cancelling = "CANCELLING"
	cancelled  = "CANCELLED"
	failed     = "FAILED"
)

func (s *Server) startMove(req *request) (any, error) {
	source := s.byARN(req.SourceArn)
	if source == nil {
		return nil, noResource("SourceArn")
	}
	if err := s.mayMove(source, req); err != nil {
		return nil, err
	}
	t := &moveTask{
		handle: base64.StdEncoding.EncodeToString([]byte(`{"taskId":"` + uuid() + `","sourceArn":"` + req.SourceArn + `"}`)),
		source: req.SourceArn, destination: req.DestinationArn, status: running,
		perSecond: req.MaxNumberOfMessagesPerSecond, toMove: len(source.messages), started: s.now(),
	}
	s.tasks = append(s.tasks, t)
	go s.runMove(t)
	return object{"TaskHandle": t.handle}, nil
}

func (s *Server) mayMove(source *queue, req *request) error {
	isTarget := false
	for _, q := range s.queues {
		isTarget = isTarget || q.redrivePolicy().target == req.SourceArn
	}
	if !isTarget {
		return invalidf("Source queue must be configured as a Dead Letter Queue.")
	}
	if to := req.DestinationArn; to != "" {
		destination := s.byARN(to)
		if destination == nil {
			return noResource("DestinationArn")
		}
		if destination.fifo != source.fifo {
			return invalidf("Destination queue must be same type of queue as the source.")
		}
	}
	if n := req.MaxNumberOfMessagesPerSecond; n < 0 || n > 500 {
		return invalidf("Value %d for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: Must be between 1 and 500.", n)
	}
	for _, t := range s.tasks {
		if t.source == req.SourceArn && (t.status == running || t.status == cancelling) {
			return legacyf(400, "UnsupportedOperation", "There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
		}
	}
	return nil
}

// runMove moves one message after the other, at the task's rate.
func (s *Server) runMove(t *moveTask) {
	gap := time.Millisecond
	if t.perSecond > 0 {
		gap = time.Second / time.Duration(t.perSecond)
	}
	tick := time.NewTicker(gap)
	defer tick.Stop()
	for range tick.C {
		if !s.moveOne(t) {
			return
		}
	}
}

// moveOne moves the oldest visible message; false when the task has ended.
func (s *Server) moveOne(t *moveTask) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	source := s.byARN(t.source)
	switch {
	case t.status == cancelling:
		t.status = cancelled
		return false
	case source == nil:
		return t.fail()
	}
	now := s.now()
	i := slices.IndexFunc(source.messages, func(m *message) bool {
		return !m.visible.After(now) && (t.destination != "" || m.sourceARN != "")
	})
	if i < 0 {
		t.status = completed
		return false
	}
	m := source.messages[i]
	destination := s.byARN(t.destination)
	if t.destination == "" {
		destination = s.byARN(m.sourceARN)
	}
	if destination == nil {
		return t.fail()
	}
	source.messages = slices.Delete(source.messages, i, i+1)
	destination.messages = append(destination.messages, m.afresh(destination, now))
	t.moved++
	s.wake()
	return true
}

func (t *moveTask) fail() bool {
	t.status, t.failure = failed, "AWS.SimpleQueueService.NonExistentQueue"
	return false
}

// afresh is a message that begins a new life: with a new id, and neither
// receives nor an origin.
func (m *message) afresh(to *queue, now time.Time) *message {
	n := &message{
		id: uuid(), body: m.body, senderID: m.senderID, group: m.group, dedupID: m.dedupID,
		attributes: m.attributes, systemAttributes: m.systemAttributes, sent: now, visible: now,
	}
	if to.fifo {
		n.sequence = to.nextSequence()
	}
	return n
}

func (s *Server) listMoves(req *request) (any, error) {
	if s.byARN(req.SourceArn) == nil {
		return nil, noResource("SourceArn")
	}
	most := 1
	if req.MaxResults != nil {
		most = *req.MaxResults
	}
	if most < 1 || most > 10 {
		return nil, invalidf("Value %d for parameter MaxResults is invalid. Reason: Must be between 1 and 10.", most)
	}
	out := []object{}
	for _, t := range slices.Backward(s.tasks) {
		if t.source == req.SourceArn && len(out) < most {
			out = append(out, t.render())
		}
	}
	return object{"Results": out}, nil
}

func (t *moveTask) render() object {
	out := object{
		"SourceArn": t.source, "Status": t.status, "StartedTimestamp": t.started.UnixMilli(),
		"ApproximateNumberOfMessagesMoved": t.moved, "ApproximateNumberOfMessagesToMove": t.toMove,
	}
	if t.status == running {
		out["TaskHandle"] = t.handle
	}
	if t.destination != "" {
		out["DestinationArn"] = t.destination
	}
	if t.perSecond > 0 {
		out["MaxNumberOfMessagesPerSecond"] = t.perSecond
	}
	if t.failure != "" {
		out["FailureReason"] = t.failure
	}
	return out
}

func (s *Server) cancelMove(req *request) (any, error) {
	for _, t := range s.tasks {
		if t.handle == req.TaskHandle && t.status == running {
			t.status = cancelling
			return object{"ApproximateNumberOfMessagesMoved": t.moved}, nil
		}
	}
	return nil, noResource("TaskHandle")
}
