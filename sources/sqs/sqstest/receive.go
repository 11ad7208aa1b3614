package sqstest

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"time"
)

// receive hands out messages, and waits for some where the request or the
// queue says so. The lock is held when it is called and when it returns.
func (s *Server) receive(ctx context.Context, q *queue, req *request) (any, error) {
	n, err := wantedMessages(req)
	if err != nil {
		return nil, err
	}
	hidden := orSeconds(req.VisibilityTimeout, q.seconds("VisibilityTimeout"))
	wait := orSeconds(req.WaitTimeSeconds, q.seconds("ReceiveMessageWaitTimeSeconds"))
	// The wait is real time: a clock that stands still must not hold a client.
	for deadline := time.Now().Add(wait); ; {
		taken, next := s.take(q, n, hidden)
		left := time.Until(deadline)
		if len(taken) == 0 && wait == 0 && !q.fifo && s.full(q) {
			return nil, apiErrorf(http.StatusForbidden, "OverLimit", "OverLimit", "Too many messages in flight.")
		}
		if len(taken) > 0 || left <= 0 {
			return receivedAnswer(taken, req), nil
		}
		if !s.waitForMessage(ctx, min(left, next)) {
			return nil, nil
		}
	}
}

func wantedMessages(req *request) (int, error) {
	const most = 10
	n := 1
	if req.MaxNumberOfMessages != nil {
		n = *req.MaxNumberOfMessages
	}
	if n < 1 || n > most {
		return 0, invalidf("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", n)
	}
	if v := req.VisibilityTimeout; v != nil && (*v < 0 || *v > 43_200) {
		return 0, invalidf("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.", *v)
	}
	if w := req.WaitTimeSeconds; w != nil && (*w < 0 || *w > 20) {
		return 0, invalidf("Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", *w)
	}
	return n, nil
}

func receivedAnswer(taken []*message, req *request) any {
	if len(taken) == 0 {
		return nil // SQS leaves Messages out
	}
	system := slices.Concat(req.AttributeNames, req.MessageSystemAttributeNames)
	var out []object
	for _, m := range taken {
		out = append(out, m.render(system, req.MessageAttributeNames))
	}
	return object{"Messages": out}
}

// waitForMessage lets go of the lock until something changes or the time is
// over; false when the client went away.
func (s *Server) waitForMessage(ctx context.Context, d time.Duration) bool {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// take puts up to n messages in flight for as long as hidden says. Those that
// were received as often as the redrive policy allows move to the dead-letter
// queue instead: at this receive, not when their last time-out passed
// (localstack issue 8234). next is how long until a hidden one turns visible.
func (s *Server) take(q *queue, n int, hidden time.Duration) (taken []*message, next time.Duration) {
	now := s.now()
	q.expire(now)
	policy := q.redrivePolicy()
	dlq := s.byARN(policy.target) // nil also when it was deleted since
	locked := q.lockedGroups(now)
	room := min(n, s.options.MaxInFlight-q.inFlight(now))
	next = time.Hour
	kept := q.messages[:0:0]
	for _, m := range q.messages {
		if m.visible.After(now) {
			next = min(next, max(m.visible.Sub(now), time.Millisecond))
			kept = append(kept, m)
			continue
		}
		m.inFlight = false
		if dlq != nil && m.receives >= policy.maxReceives && !locked[m.group] {
			s.deadLetter(q, dlq, m)
			continue
		}
		kept = append(kept, m)
		if len(taken) < room && !locked[m.group] {
			m.handOut(q.name, now, hidden)
			taken = append(taken, m)
		}
	}
	q.messages = kept
	return taken, next
}

func (m *message) handOut(queue string, now time.Time, hidden time.Duration) {
	m.receives++
	if m.firstReceived.IsZero() {
		m.firstReceived = now
	}
	m.visible, m.inFlight = now.Add(hidden), hidden > 0
	m.receipt = base64.StdEncoding.EncodeToString([]byte(queue + ":" + m.id + ":" + uuid()))
}

func (q *queue) inFlight(now time.Time) int {
	_, n, _ := q.counts(now)
	return n
}

func (s *Server) full(q *queue) bool { return q.inFlight(s.now()) >= s.options.MaxInFlight }

// lockedGroups are the groups of a FIFO queue that have a message in flight.
// No other message of theirs is handed out: with at most ten in one receive, a
// group never has more than ten out.
func (q *queue) lockedGroups(now time.Time) map[string]bool {
	locked := map[string]bool{}
	for _, m := range q.messages {
		if q.fifo && m.inFlight && m.visible.After(now) {
			locked[m.group] = true
		}
	}
	return locked
}

// deadLetter moves a message. It keeps its id, its receive count and, on a
// standard queue, the time at which it was sent; a FIFO queue begins that time
// anew and takes the message id for the deduplication id.
func (s *Server) deadLetter(from, dlq *queue, m *message) {
	m.sourceARN, m.receipt = s.ARN(from.name), ""
	if dlq.fifo {
		m.sent, m.dedupID, m.sequence = s.now(), m.id, dlq.nextSequence()
	}
	dlq.messages = append(dlq.messages, m)
	s.wake()
}
