package sqstest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type queue struct {
	name       string
	fifo       bool
	attributes map[string]string // those that can be set
	tags       map[string]string
	created    time.Time
	modified   time.Time
	purged     time.Time
	messages   []*message // in the order in which they are handed out
	sequence   uint64
	sent       map[string]sentID // deduplication ids of a FIFO queue
}

// pauseAfter is how long SQS refuses to purge a queue again, and to make one
// again that was deleted.
const pauseAfter = time.Minute

var defaults = map[string]string{
	"VisibilityTimeout":             "30",
	"MaximumMessageSize":            "1048576",
	"MessageRetentionPeriod":        "345600",
	"DelaySeconds":                  "0",
	"ReceiveMessageWaitTimeSeconds": "0",
	"SqsManagedSseEnabled":          "true",
}

// ranges are those of the attributes that are numbers.
var ranges = map[string][2]int{
	"VisibilityTimeout":             {0, 43_200},
	"MaximumMessageSize":            {1_024, 1_048_576},
	"MessageRetentionPeriod":        {60, 1_209_600},
	"DelaySeconds":                  {0, 900},
	"ReceiveMessageWaitTimeSeconds": {0, 20},
	"KmsDataKeyReusePeriodSeconds":  {60, 86_400},
}

// textAttributes are the other ones that can be set.
var textAttributes = []string{
	"Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "SqsManagedSseEnabled",
	"FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit",
}

func (s *Server) createQueue(req *request) (any, error) {
	name := req.QueueName
	fifo := strings.HasSuffix(name, ".fifo")
	if !validID(strings.TrimSuffix(name, ".fifo")) || len(name) > 80 || fifo != (req.Attributes["FifoQueue"] == "true") {
		return nil, invalidf("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	answer := object{"QueueUrl": req.base + name}
	if q := s.queues[name]; q != nil {
		for k, v := range req.Attributes {
			if q.attributes[k] != v {
				return nil, apiErrorf(http.StatusBadRequest, "QueueNameExists", "QueueAlreadyExists", "A queue already exists with the same name and a different value for attribute %s", k)
			}
		}
		return answer, nil
	}
	if at, was := s.deleted[name]; was && s.now().Sub(at) < pauseAfter {
		return nil, legacyf(http.StatusBadRequest, "QueueDeletedRecently", "You must wait 60 seconds after deleting a queue before you can create another with the same name.")
	}
	q := &queue{name: name, fifo: fifo, attributes: maps.Clone(defaults), tags: req.Tags, created: s.now(), sent: map[string]sentID{}}
	if err := s.setAttributes(q, req.Attributes); err != nil {
		return nil, err
	}
	s.queues[name] = q
	return answer, nil
}

// validID is the alphabet of queue names and of batch entry ids.
func validID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return id != "" && len(id) <= 80 && strings.Trim(id, letters) == ""
}

func (s *Server) setQueueAttributes(q *queue, req *request) (any, error) {
	return nil, s.setAttributes(q, req.Attributes)
}

// setAttributes sets all or none. An empty value takes an attribute away.
func (s *Server) setAttributes(q *queue, attributes map[string]string) error {
	for name, value := range attributes {
		if err := s.checkAttribute(q, name, value); err != nil {
			return err
		}
	}
	for name, value := range attributes {
		if value == "" {
			delete(q.attributes, name)
		} else {
			q.attributes[name] = value
		}
	}
	q.modified = s.now()
	return nil
}

func (s *Server) checkAttribute(q *queue, name, value string) error {
	span, isNumber := ranges[name]
	switch {
	case isNumber:
		n, err := strconv.Atoi(value)
		if err != nil || n < span[0] || n > span[1] {
			return apiErrorf(http.StatusBadRequest, "InvalidAttributeValue", "InvalidAttributeValue", "Invalid value for the parameter %s.", name)
		}
	case !slices.Contains(textAttributes, name):
		return apiErrorf(http.StatusBadRequest, "InvalidAttributeName", "InvalidAttributeName", "Unknown Attribute %s.", name)
	case name == "RedrivePolicy" && value != "":
		return s.checkRedrivePolicy(q, value)
	case name == "RedriveAllowPolicy" && value != "":
		return checkAllowPolicy(value)
	}
	return nil
}

func (q *queue) seconds(attribute string) time.Duration {
	return time.Duration(q.number(attribute)) * time.Second
}

// number is an attribute that was checked when it was set.
func (q *queue) number(attribute string) int {
	n, err := strconv.Atoi(q.attributes[attribute])
	if err != nil {
		return 0
	}
	return n
}

func (s *Server) getAttributes(q *queue, req *request) (any, error) {
	now := s.now()
	q.expire(now)
	visible, inFlight, delayed := q.counts(now)
	all := map[string]string{
		"QueueArn":                              s.ARN(q.name),
		"CreatedTimestamp":                      strconv.FormatInt(q.created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(q.modified.Unix(), 10),
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(inFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
	}
	maps.Copy(all, q.attributes)
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !slices.Contains(req.AttributeNames, "All") && !slices.Contains(req.AttributeNames, name)
	})
	return object{"Attributes": all}, nil
}

func (q *queue) counts(now time.Time) (visible, inFlight, delayed int) {
	for _, m := range q.messages {
		switch {
		case !m.visible.After(now):
			visible++
		case m.inFlight:
			inFlight++
		default:
			delayed++
		}
	}
	return visible, inFlight, delayed
}

// expire forgets the messages whose retention has passed.
func (q *queue) expire(now time.Time) {
	keep := q.seconds("MessageRetentionPeriod")
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return now.Sub(m.sent) > keep })
}

func (s *Server) queueURL(req *request) (any, error) {
	if s.queues[req.QueueName] == nil {
		return nil, noSuchQueue()
	}
	return object{"QueueUrl": req.base + req.QueueName}, nil
}

func (s *Server) deleteQueue(q *queue, _ *request) (any, error) {
	delete(s.queues, q.name)
	s.deleted[q.name] = s.now()
	return nil, nil
}

func (s *Server) purgeQueue(q *queue, _ *request) (any, error) {
	if s.now().Sub(q.purged) < pauseAfter {
		return nil, legacyf(http.StatusForbidden, "PurgeQueueInProgress", "Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.name)
	}
	q.messages, q.purged = nil, s.now()
	return nil, nil
}

func (s *Server) listTags(q *queue, _ *request) (any, error) { return object{"Tags": q.tags}, nil }

func (s *Server) tag(q *queue, req *request) (any, error) {
	if q.tags == nil {
		q.tags = map[string]string{}
	}
	maps.Copy(q.tags, req.Tags)
	return nil, nil
}

func (s *Server) untag(q *queue, req *request) (any, error) {
	for _, key := range req.TagKeys {
		delete(q.tags, key)
	}
	return nil, nil
}
