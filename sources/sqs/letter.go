package sqs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
)

// letter is a received message as a dead letter.
func (l *line) letter(m types.Message, c cursor, now time.Time) sources.DeadLetter {
	d := sources.DeadLetter{
		Source: l.s.cfg.Name, Queue: l.name, Place: sources.Place{MessageID: deref(m.MessageId)},
		Body: []byte(deref(m.Body)), Headers: headers(m.MessageAttributes), System: m.Attributes,
		Timestamp: millis(m.Attributes["SentTimestamp"]),
	}
	if origin := m.Attributes["DeadLetterQueueSourceArn"]; origin != "" {
		d.Origin.Queue = queueName(origin)
	}
	d.ExpiresAt, d.ExpiryIs = l.expiry(d.Timestamp)
	d.Looks, d.Attempts = l.looks(m, c, now)
	if l.s.cfg.Recogniser != nil {
		l.s.cfg.Recogniser.Recognise(&d)
	}
	return d
}

// headers are message attributes, by name: SQS keeps no order.
func headers(attributes map[string]types.MessageAttributeValue) []sources.Header {
	var out []sources.Header
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		h := sources.Header{Name: name, Type: deref(a.DataType), Value: a.BinaryValue}
		if a.StringValue != nil {
			h.Value = []byte(*a.StringValue)
		}
		out = append(out, h)
	}
	return out
}

// millis is an instant in milliseconds since 1970, zero when it was not given.
func millis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// expiry is when SQS forgets a letter. A standard queue counts from when the
// message was first sent, whatever happened since; a FIFO queue from when it
// was dead-lettered, which SQS does not tell, so there it is the earliest that
// it can be (SQS developer guide, dead-letter queues).
func (l *line) expiry(sent time.Time) (at time.Time, is string) {
	retention := l.facts().retention
	switch {
	case sent.IsZero() || retention == 0:
		return time.Time{}, ""
	case l.fifo:
		return sent.Add(retention), "not before"
	}
	return sent.Add(retention), "exact"
}

// PayloadIn is where the payload of a letter lies whose body only points to it,
// such as "s3://bucket/key"; "" for every other body. The pair is what the
// extended client libraries of SQS write, and what their consumers need: it is
// redriven as it is.
func PayloadIn(body []byte) string {
	var pair []json.RawMessage
	if json.Unmarshal(body, &pair) != nil || len(pair) != 2 {
		return ""
	}
	var class string
	var pointer struct {
		Bucket string `json:"s3BucketName"`
		Key    string `json:"s3Key"`
	}
	if json.Unmarshal(pair[0], &class) != nil || !strings.HasSuffix(class, "S3Pointer") ||
		json.Unmarshal(pair[1], &pointer) != nil || pointer.Bucket == "" {
		return ""
	}
	return fmt.Sprintf("s3://%s/%s", pointer.Bucket, pointer.Key)
}
