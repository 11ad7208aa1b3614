package sqs

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// looks tells how many receives of a letter were looks of ours, and how many
// attempts its consumer made: SQS counts both together, across queues.
//
// The attempts are right for a letter that is seen for the first time. The
// looks are those since the letter was last told of.
func (l *line) looks(m types.Message, c cursor, now time.Time) (looks int, attempts *int) {
	id := deref(m.MessageId)
	l.mu.Lock()
	looks = 1 + l.extra[id]
	delete(l.extra, id)
	l.mu.Unlock()
	receives, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return looks, nil
	}
	looks += l.unstored(m, c.Lost, receives-looks, now)
	if n := receives - looks; n > 0 {
		return looks, &n
	}
	return looks, nil // it was sent here by somebody, not by a redrive policy
}

// unstored is how many looks an earlier run made at a letter without storing
// it. receives is the count without the looks that are known. What can be known:
//
//   - A message that was sent since then was not looked at.
//   - The source queue's redrive policy gives up after so many receives. What is
//     above is ours.
//   - What was looked at stayed hidden for a while: a letter that is handed out
//     before that is over was not.
//
// For the rest a look is assumed where a step was under way: it is never told
// as an attempt.
func (l *line) unstored(m types.Message, lost *lost, receives int, now time.Time) int {
	if lost == nil || receives <= 0 {
		return 0
	}
	if sent := millis(m.Attributes["SentTimestamp"]); sent.After(lost.Until) {
		return 0
	}
	if allowed := l.allowedAttempts(queueName(m.Attributes["DeadLetterQueueSourceArn"])); allowed > 0 {
		if more := receives - allowed; more >= 0 && more <= lost.Steps {
			return more
		}
	}
	if !lost.Sure || now.Before(lost.Until) {
		return 0
	}
	return 1
}

// allowedAttempts is the maxReceiveCount of a queue that feeds this one, 0 when
// it is not known.
func (l *line) allowedAttempts(source string) int {
	p := l.s.inventory.snapshot()[source].policy
	if p.target != l.facts().arn {
		return 0
	}
	return p.maxReceives
}
