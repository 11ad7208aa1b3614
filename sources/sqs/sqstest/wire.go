package sqstest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// request has the fields of all requests: SQS gives no name two meanings.
type request struct {
	QueueName, QueueUrl, QueueNamePrefix, NextToken string
	Attributes                                      map[string]string
	Tags                                            map[string]string
	TagKeys                                         []string
	MaxResults                                      *int
	AttributeNames, MessageAttributeNames           []string // AttributeNames is also the old name of the next
	MessageSystemAttributeNames                     []string
	MaxNumberOfMessages, WaitTimeSeconds            *int
	Entries                                         []entry
	SourceArn, DestinationArn, TaskHandle           string
	MaxNumberOfMessagesPerSecond                    int
	entry

	base   string              // what queue URLs begin with
	faults map[int]EntryFailed // entries that a Fault fails
	lie    bool                // of the fault
}

// entry is one message of a batch, or the only one of a request.
type entry struct {
	Id                      string
	MessageBody             *string
	DelaySeconds            *int
	MessageAttributes       map[string]Attribute
	MessageSystemAttributes map[string]Attribute
	MessageGroupId          string
	MessageDeduplicationId  string
	ReceiptHandle           string
	VisibilityTimeout       *int
}

// queueName is the queue that a request is about, "" when it names none.
func (r *request) queueName() string {
	switch {
	case r.QueueUrl != "":
		return lastPart(r.QueueUrl, '/')
	case r.SourceArn != "":
		return lastPart(r.SourceArn, ':')
	}
	return r.QueueName
}

// object is an answer.
type object map[string]any

func writeAnswer(w http.ResponseWriter, out any, err error) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", uuid())
	if err == nil {
		if out == nil {
			out = object{}
		}
		_ = json.NewEncoder(w).Encode(out) // a client that has gone does not read it
		return
	}
	var e *apiError
	if !errors.As(err, &e) {
		e = apiErrorf(http.StatusInternalServerError, "InternalFailure", "InternalFailure", "%v", err)
	}
	w.Header().Set("X-Amzn-Query-Error", e.queryCode+";"+e.whose())
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(object{"__type": "com.amazonaws.sqs#" + e.shape, "message": e.message})
}

// apiError is an error as SQS answers it: the SDK makes a type of the shape,
// and gives the query code as the error's code.
type apiError struct {
	status                    int
	shape, queryCode, message string
}

func (e *apiError) Error() string { return e.shape + ": " + e.message }

func (e *apiError) whose() string {
	if e.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

func apiErrorf(status int, shape, queryCode, format string, args ...any) *apiError {
	return &apiError{status, shape, queryCode, fmt.Sprintf(format, args...)}
}

// legacyf is an error whose query code has the long prefix of old.
func legacyf(status int, shape, format string, args ...any) *apiError {
	return apiErrorf(status, shape, "AWS.SimpleQueueService."+shape, format, args...)
}

func invalidf(format string, args ...any) *apiError {
	return apiErrorf(http.StatusBadRequest, "InvalidParameterValueException", "InvalidParameterValue", format, args...)
}

func missingParameter(name string) *apiError {
	return apiErrorf(http.StatusBadRequest, "MissingParameter", "MissingParameter", "The request must contain the parameter %s.", name)
}

func noSuchQueue() *apiError {
	return apiErrorf(http.StatusBadRequest, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.")
}

func noResource(parameter string) *apiError {
	return apiErrorf(http.StatusNotFound, "ResourceNotFoundException", "ResourceNotFoundException",
		"The resource that you specified for the %s parameter doesn't exist.", parameter)
}

// batch does f for each entry: one that fails does not fail the others.
func batch(req *request, f func(*entry) (object, error)) (any, error) {
	if err := checkBatch(req.Entries); err != nil {
		return nil, err
	}
	done, failed := []object{}, []object{}
	for i := range req.Entries {
		e := &req.Entries[i]
		fault, faulty := req.faults[i]
		var out object
		var err error
		if !faulty || fault.After {
			out, err = f(e)
		}
		var refused *apiError
		switch {
		case faulty:
			failed = append(failed, object{"Id": e.Id, "Code": fault.Code, "Message": fault.Message, "SenderFault": fault.SenderFault})
		case errors.As(err, &refused):
			failed = append(failed, object{"Id": e.Id, "Code": refused.queryCode, "Message": refused.message, "SenderFault": true})
		default:
			out["Id"] = e.Id
			done = append(done, out)
		}
	}
	return object{"Successful": done, "Failed": failed}, nil
}

func checkBatch(entries []entry) error {
	const most = 10
	if len(entries) == 0 {
		return legacyf(http.StatusBadRequest, "EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(entries) > most {
		return legacyf(http.StatusBadRequest, "TooManyEntriesInBatchRequest", "Maximum number of entries per request are %d. You have sent %d.", most, len(entries))
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if !validID(e.Id) {
			return legacyf(http.StatusBadRequest, "InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[e.Id] {
			return legacyf(http.StatusBadRequest, "BatchEntryIdsNotDistinct", "Id %s repeated.", e.Id)
		}
		seen[e.Id] = true
	}
	return nil
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
