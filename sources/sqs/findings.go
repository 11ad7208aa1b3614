package sqs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// The kinds of findings.
const (
	OwnRedrivePolicy  = "own_redrive_policy"
	MissingTarget     = "redrive_policy_target_missing"
	RetentionTooShort = "dead_letter_retention_too_short"
	ForgetsTooSoon    = "forgets_before_review"
	MoveTaskFailed    = "move_task_failed"
)

// reviewedWithin is how long a letter must last to be seen on the next Monday:
// a week and a day.
const reviewedWithin = 8 * 24 * time.Hour

// Findings are the risks in the set-up of the queues as they were last listed.
func (s *Source) Findings(ctx context.Context) ([]sources.Finding, error) {
	all := s.inventory.snapshot()
	if len(all) == 0 {
		if err := s.refresh(ctx); err != nil {
			return nil, err
		}
		all = s.inventory.snapshot()
	}
	feeds := feedsOf(all)
	out := []sources.Finding{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		out = append(out, s.missingTarget(f)...)
		if s.isDeadLetters(name, feeds[name]) {
			out = append(out, s.ownPolicy(f)...)
			out = append(out, s.tooShort(f, feeds[name], all)...)
			out = append(out, s.forgets(f)...)
			out = append(out, s.moveFailed(f)...)
		}
	}
	return out, nil
}

func (s *Source) finding(kind string, f facts, message, advice string, evidence map[string]any) []sources.Finding {
	return []sources.Finding{{
		ID: kind + ":" + s.cfg.Name + ":" + f.name, Kind: kind, Source: s.cfg.Name, Queue: f.name,
		Message: message, Advice: advice, Evidence: evidence,
	}}
}

// ownPolicy: looking at such a queue moves its letters on.
func (s *Source) ownPolicy(f facts) []sources.Finding {
	if f.policy.target == "" {
		return nil
	}
	return s.finding(OwnRedrivePolicy, f,
		fmt.Sprintf("%s holds dead letters and has a redrive policy of its own: viewing counts as a receive, %d of %d left, and the next one moves a letter on to %s",
			f.name, max(f.policy.maxReceives-1, 0), f.policy.maxReceives, queueName(f.policy.target)),
		"Take the redrive policy off the dead-letter queue. To have it scanned all the same, name it under dead_letters.",
		map[string]any{"maxReceiveCount": f.policy.maxReceives, "deadLetterTargetArn": f.policy.target})
}

// missingTarget: messages that fail are received for ever, and never set aside.
func (s *Source) missingTarget(f facts) []sources.Finding {
	target := f.policy.target
	account := f.arn[:strings.LastIndexByte(f.arn, ':')+1]
	if target == "" || account == "" || !strings.HasPrefix(target, account) || s.inventory.exists(queueName(target)) {
		return nil
	}
	return s.finding(MissingTarget, f,
		fmt.Sprintf("the redrive policy of %s points to a missing queue: %s", f.name, queueName(target)),
		"Create the queue again, or point the policy to another one: until then a message that fails comes back for ever.",
		map[string]any{"deadLetterTargetArn": target})
}

// tooShort: on a standard queue the clock of the retention goes on running
// from when the message was first sent.
func (s *Source) tooShort(f facts, feeds []string, all map[string]facts) []sources.Finding {
	if f.fifo || f.retention == 0 {
		return nil
	}
	var longer []string
	for _, name := range feeds {
		if r := all[name].retention; r > 0 && r >= f.retention {
			longer = append(longer, name)
		}
	}
	if len(longer) == 0 {
		return nil
	}
	return s.finding(RetentionTooShort, f,
		fmt.Sprintf("%s keeps letters for %s, no longer than %s keeps messages, and counts from when a message was first sent: one that fails late is forgotten at once",
			f.name, days(f.retention), strings.Join(longer, ", ")),
		"Set the retention of the dead-letter queue to 14 days, the most that SQS has.",
		map[string]any{"retention_seconds": int64(f.retention / time.Second), "sources": longer})
}

// forgets: the default of four days is over before the next review.
func (s *Source) forgets(f facts) []sources.Finding {
	if f.retention == 0 || f.retention >= reviewedWithin {
		return nil
	}
	return s.finding(ForgetsTooSoon, f,
		fmt.Sprintf("%s forgets letters after %s: one that comes on a Tuesday is gone before the next Monday's review", f.name, days(f.retention)),
		"Set the retention to 14 days, the most that SQS has.",
		map[string]any{"retention_seconds": int64(f.retention / time.Second)})
}

// moveFailed: somebody started a move task at SQS that did not end well.
func (s *Source) moveFailed(f facts) []sources.Finding {
	if f.moveFailed == "" {
		return nil
	}
	return s.finding(MoveTaskFailed, f,
		fmt.Sprintf("the last move task that somebody started at SQS for %s failed: %s", f.name, f.moveFailed),
		"What it moved is in the other queue under new ids, the rest is here. Redrive the rest from here: that moves letter by letter, and says which.",
		map[string]any{"failure": f.moveFailed})
}

func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 && d > day {
		return fmt.Sprintf("%d days", d/day)
	}
	return fmt.Sprintf("%g hours", d.Hours())
}
