package sqstest

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Attribute is a message attribute as it goes over the wire.
type Attribute struct {
	DataType    string  // String, Number or Binary, and what the sender added: "Number.int"
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

// Text is an attribute of type String.
func Text(value string) Attribute { return Attribute{DataType: "String", StringValue: &value} }

func (a Attribute) value() (kind byte, value []byte) {
	const text, bytes = 1, 2
	if a.StringValue != nil {
		return text, []byte(*a.StringValue)
	}
	return bytes, a.BinaryValue
}

type message struct {
	id, body, senderID           string
	group, dedupID, sequence     string // of a FIFO queue; a group also of a standard one
	sourceARN                    string // of the queue that it was dead-lettered from
	attributes, systemAttributes map[string]Attribute
	sent, firstReceived, visible time.Time
	receives                     int
	receipt                      string // the newest receipt handle
	inFlight                     bool
}

// render shows a message to a receiver, with the attributes that were asked
// for.
func (m *message) render(system, names []string) object {
	out := object{"MessageId": m.id, "ReceiptHandle": m.receipt, "Body": m.body, "MD5OfBody": md5hex([]byte(m.body))}
	facts := m.facts()
	maps.DeleteFunc(facts, func(name, value string) bool {
		return value == "" || !slices.Contains(system, "All") && !slices.Contains(system, name)
	})
	if len(facts) > 0 {
		out["Attributes"] = facts
	}
	if chosen := m.chosen(names); len(chosen) > 0 {
		out["MessageAttributes"], out["MD5OfMessageAttributes"] = chosen, md5OfAttributes(chosen)
	}
	return out
}

// facts are what SQS itself says of a message.
func (m *message) facts() map[string]string {
	facts := map[string]string{
		"SenderId":                         m.senderID,
		"SentTimestamp":                    strconv.FormatInt(m.sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.receives),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.firstReceived.UnixMilli(), 10),
		"DeadLetterQueueSourceArn":         m.sourceARN,
		"MessageGroupId":                   m.group,
		"MessageDeduplicationId":           m.dedupID,
		"SequenceNumber":                   m.sequence,
	}
	if trace := m.systemAttributes["AWSTraceHeader"].StringValue; trace != nil {
		facts["AWSTraceHeader"] = *trace
	}
	return facts
}

// chosen are the attributes that were asked for: by name, by a prefix such as
// "trace.*", or all.
func (m *message) chosen(names []string) map[string]Attribute {
	out := map[string]Attribute{}
	for name, a := range m.attributes {
		if slices.ContainsFunc(names, func(wanted string) bool {
			prefix, isPrefix := strings.CutSuffix(wanted, ".*")
			return wanted == "All" || wanted == name || isPrefix && strings.HasPrefix(name, prefix)
		}) {
			out[name] = a
		}
	}
	return out
}

func md5hex(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// md5OfAttributes sums the attributes in the order of their names: name, type,
// one byte for the kind of value, value; all but the byte with their length in
// four bytes before them. "" when there are none.
func md5OfAttributes(attributes map[string]Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	var b []byte
	put := func(p []byte) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...) }
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		kind, value := attributes[name].value()
		put([]byte(name))
		put([]byte(attributes[name].DataType))
		b = append(b, kind)
		put(value)
	}
	return md5hex(b)
}

// size is what counts towards the limits: the body, and name, type and value
// of each attribute.
func (e *entry) size() int {
	n := 0
	if e.MessageBody != nil {
		n = len(*e.MessageBody)
	}
	for name, a := range e.MessageAttributes {
		_, value := a.value()
		n += len(name) + len(a.DataType) + len(value)
	}
	return n
}
