package sqstest

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) deleteMessage(q *queue, req *request) (any, error) {
	return nil, s.remove(q, req, req.ReceiptHandle)
}

func (s *Server) deleteBatch(q *queue, req *request) (any, error) {
	return batch(req, func(e *entry) (object, error) { return object{}, s.remove(q, req, e.ReceiptHandle) })
}

func (s *Server) changeVisibility(q *queue, req *request) (any, error) {
	return nil, s.hide(q, req.ReceiptHandle, req.VisibilityTimeout)
}

func (s *Server) changeVisibilityBatch(q *queue, req *request) (any, error) {
	return batch(req, func(e *entry) (object, error) { return object{}, s.hide(q, e.ReceiptHandle, e.VisibilityTimeout) })
}

// byReceipt is the message of a receipt handle, nil when it is gone.
func (s *Server) byReceipt(q *queue, receipt string) (*message, error) {
	text, err := base64.StdEncoding.DecodeString(receipt)
	part := strings.Split(string(text), ":")
	if err != nil || len(part) != 3 || part[0] != q.name {
		return nil, apiErrorf(http.StatusNotFound, "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", "The input receipt handle %q is not a valid receipt handle.", receipt)
	}
	for _, m := range q.messages {
		if m.id == part[1] {
			return m, nil
		}
	}
	return nil, nil
}

// remove deletes a message. With a handle that is not the newest a standard
// queue says yes and does nothing, as SQS may; a FIFO queue refuses one whose
// time is over.
func (s *Server) remove(q *queue, req *request, receipt string) error {
	m, err := s.byReceipt(q, receipt)
	if err != nil || m == nil || req.lie {
		return err
	}
	if q.fifo && !m.visible.After(s.now()) {
		return invalidf("Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.", receipt)
	}
	if m.receipt != receipt {
		return nil
	}
	i := slices.Index(q.messages, m)
	q.messages = slices.Delete(q.messages, i, i+1)
	s.wake()
	return nil
}

func (s *Server) hide(q *queue, receipt string, seconds *int) error {
	if seconds == nil || *seconds < 0 || *seconds > 43_200 {
		return invalidf("Value for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.")
	}
	m, err := s.byReceipt(q, receipt)
	if err != nil {
		return err
	}
	if m == nil || m.receipt != receipt || !m.inFlight || !m.visible.After(s.now()) {
		return legacyf(http.StatusBadRequest, "MessageNotInflight", "The specified message isn't in flight.")
	}
	m.visible = s.now().Add(orSeconds(seconds, 0))
	m.inFlight = *seconds > 0
	s.wake()
	return nil
}
