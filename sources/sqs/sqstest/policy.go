package sqstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// redrivePolicy says where a queue's failed messages go, and after how many
// receives.
type redrivePolicy struct {
	target      string // an ARN, "" when there is no policy
	maxReceives int
}

func (q *queue) redrivePolicy() redrivePolicy {
	return parseRedrivePolicy(q.attributes["RedrivePolicy"])
}

func parseRedrivePolicy(text string) redrivePolicy {
	var p struct {
		DeadLetterTargetArn string
		MaxReceiveCount     any // SQS takes it as text and as a number
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return redrivePolicy{}
	}
	n, err := strconv.Atoi(fmt.Sprint(p.MaxReceiveCount))
	if err != nil {
		return redrivePolicy{}
	}
	return redrivePolicy{p.DeadLetterTargetArn, n}
}

// checkRedrivePolicy refuses a target that is not there, is of the other kind
// or does not want this queue's messages.
func (s *Server) checkRedrivePolicy(q *queue, text string) error {
	refuse := func(why string) error {
		return invalidf("Value %s for parameter RedrivePolicy is invalid. Reason: %s", text, why)
	}
	p := parseRedrivePolicy(text)
	target := s.byARN(p.target)
	switch {
	case p.maxReceives < 1 || p.maxReceives > 1000:
		return refuse("Invalid value for maxReceiveCount; it must be between 1 and 1000.")
	case target == nil:
		return refuse("Dead letter target does not exist.")
	case target.fifo != q.fifo:
		return refuse("Dead-letter queue must be same type of queue as the source.")
	case !target.allows(s.ARN(q.name)):
		return refuse("Dead-letter target does not allow this queue to use it.")
	}
	return nil
}

// allowPolicy says whose messages a dead-letter queue takes.
type allowPolicy struct {
	Permission string   `json:"redrivePermission"` // allowAll, denyAll, byQueue
	Sources    []string `json:"sourceQueueArns"`
}

func checkAllowPolicy(text string) error {
	const mostSources = 10
	var p allowPolicy
	if json.Unmarshal([]byte(text), &p) != nil ||
		!slices.Contains([]string{"allowAll", "denyAll", "byQueue"}, p.Permission) ||
		len(p.Sources) > mostSources || (p.Permission == "byQueue") != (len(p.Sources) > 0) {
		return invalidf("Value %s for parameter RedriveAllowPolicy is invalid. Reason: Amazon SQS can't create the redrive allow policy, as it's in an unsupported format.", text)
	}
	return nil
}

func (q *queue) allows(sourceARN string) bool {
	text := q.attributes["RedriveAllowPolicy"]
	var p allowPolicy
	if text == "" || json.Unmarshal([]byte(text), &p) != nil {
		return true
	}
	return p.Permission == "allowAll" || p.Permission == "byQueue" && slices.Contains(p.Sources, sourceARN)
}
