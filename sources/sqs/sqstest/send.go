package sqstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// dedupFor is how long a FIFO queue remembers a deduplication id.
const dedupFor = 5 * time.Minute

// sentID is what a FIFO queue remembers of a deduplication id.
type sentID struct {
	messageID, sequence string
	at                  time.Time
}

func (s *Server) sendMessage(q *queue, req *request) (any, error) {
	return s.send(q, &req.entry)
}

func (s *Server) sendBatch(q *queue, req *request) (any, error) {
	size := 0
	for i := range req.Entries {
		size += req.Entries[i].size()
	}
	if err := checkBatch(req.Entries); err != nil {
		return nil, err
	}
	if size > s.options.BatchBytes {
		return nil, legacyf(http.StatusBadRequest, "BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", s.options.BatchBytes, size)
	}
	return batch(req, func(e *entry) (object, error) { return s.send(q, e) })
}

func (s *Server) send(q *queue, e *entry) (object, error) {
	if err := checkMessage(q, e); err != nil {
		return nil, err
	}
	now := s.now()
	m := &message{
		id: uuid(), body: *e.MessageBody, senderID: s.options.Account, group: e.MessageGroupId, dedupID: e.MessageDeduplicationId,
		attributes: e.MessageAttributes, systemAttributes: e.MessageSystemAttributes,
		sent: now, visible: now.Add(orSeconds(e.DelaySeconds, q.seconds("DelaySeconds"))),
	}
	repeated := false
	if q.fifo {
		var err error
		if repeated, err = q.deduplicate(m, now); err != nil {
			return nil, err
		}
	}
	if !repeated {
		q.messages = append(q.messages, m)
		s.wake()
	}
	return m.sentAnswer(), nil
}

func (m *message) sentAnswer() object {
	out := object{"MessageId": m.id, "MD5OfMessageBody": md5hex([]byte(m.body))}
	if sum := md5OfAttributes(m.attributes); sum != "" {
		out["MD5OfMessageAttributes"] = sum
	}
	if sum := md5OfAttributes(m.systemAttributes); sum != "" {
		out["MD5OfMessageSystemAttributes"] = sum
	}
	if m.sequence != "" {
		out["SequenceNumber"] = m.sequence
	}
	return out
}

func checkMessage(q *queue, e *entry) error {
	const mostAttributes = 10
	if e.MessageBody == nil || *e.MessageBody == "" {
		return missingParameter("MessageBody")
	}
	if most := q.number("MaximumMessageSize"); e.size() > most {
		return invalidf("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", most)
	}
	if n := len(e.MessageAttributes); n > mostAttributes {
		return invalidf("Number of message attributes [%d] exceeds the allowed maximum [%d].", n, mostAttributes)
	}
	if q.fifo && e.DelaySeconds != nil && *e.DelaySeconds != 0 {
		return invalidf("Value %d for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.", *e.DelaySeconds)
	}
	for name := range e.MessageSystemAttributes {
		if name != "AWSTraceHeader" {
			return invalidf("Message system attribute name '%s' is invalid.", name)
		}
	}
	if strings.ContainsFunc(*e.MessageBody, notAllowed) {
		return apiErrorf(http.StatusBadRequest, "InvalidMessageContents", "InvalidMessageContents", "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.")
	}
	return checkAttributes(e.MessageAttributes)
}

func checkAttributes(attributes map[string]Attribute) error {
	for name, a := range attributes {
		kind, _, _ := strings.Cut(a.DataType, ".")
		_, value := a.value()
		switch {
		case kind != "String" && kind != "Number" && kind != "Binary":
			return invalidf("The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
		case len(value) == 0:
			return invalidf("The message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
		case (kind == "Binary") == (a.StringValue != nil):
			return invalidf("The message (user) attribute '%s' with type '%s' must use field '%s'.", name, kind, kind)
		}
	}
	return nil
}

// notAllowed tells the characters that SQS refuses in a body: those that XML
// 1.0 does not have.
func notAllowed(r rune) bool {
	allowed := r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
	return !allowed
}

// deduplicate numbers m, or tells that it was sent within the last five
// minutes: then m gets the id and the number of that one.
func (q *queue) deduplicate(m *message, now time.Time) (repeated bool, err error) {
	if m.group == "" {
		return false, missingParameter("MessageGroupId")
	}
	if m.dedupID == "" {
		if q.attributes["ContentBasedDeduplication"] != "true" {
			return false, invalidf("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
		}
		sum := sha256.Sum256([]byte(m.body)) // of the body alone, not of the attributes
		m.dedupID = hex.EncodeToString(sum[:])
	}
	key := m.dedupID
	if q.attributes["DeduplicationScope"] == "messageGroup" {
		key = m.group + "\x00" + key
	}
	if old, ok := q.sent[key]; ok && now.Sub(old.at) < dedupFor {
		m.id, m.sequence = old.messageID, old.sequence
		return true, nil
	}
	q.forgetSent(now)
	m.sequence = q.nextSequence()
	q.sent[key] = sentID{m.id, m.sequence, now}
	return false, nil
}

// forgetSent keeps the memory of deduplication ids small.
func (q *queue) forgetSent(now time.Time) {
	const many = 10_000
	if len(q.sent) < many {
		return
	}
	for key, old := range q.sent {
		if now.Sub(old.at) >= dedupFor {
			delete(q.sent, key)
		}
	}
}

// nextSequence is a number of 20 digits that grows, not by one.
func (q *queue) nextSequence() string {
	q.sequence++
	return fmt.Sprintf("%020d", 18_870_000_000_000_000_000-1<<62+q.sequence*256)
}

// orSeconds is a number of seconds that a request may leave to the queue.
func orSeconds(asked *int, otherwise time.Duration) time.Duration {
	if asked == nil {
		return otherwise
	}
	return time.Duration(*asked) * time.Second
}
