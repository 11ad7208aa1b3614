package sqs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// Check tries what can be tried without receiving or sending, and says which
// permission is missing and which it could not confirm.
func (s *Source) Check(ctx context.Context) []sources.Checked {
	queues, err := s.Queues(ctx)
	listed := checked("list the queues", "sqs:ListQueues", err)
	if err != nil {
		return []sources.Checked{listed}
	}
	all := []sources.Checked{listed}
	dead := 0
	for _, q := range queues {
		if q.Err != nil {
			all = append(all, checked("read the attributes of "+q.Name, "sqs:GetQueueAttributes", q.Err))
		}
		if q.Kind == sources.DeadLetterQueue {
			dead++
			all = append(all, s.unconfirmed(q)...)
		}
	}
	all[0].Detail = fmt.Sprintf("%d queues, %d of them dead-letter queues", len(queues), dead)
	return append(all, s.unmatched(queues)...)
}

func checked(what, right string, err error) sources.Checked {
	c := sources.Checked{What: what, Right: right, Outcome: sources.Confirmed}
	switch {
	case err == nil:
	case errors.Is(err, sources.ErrNotAuthorised), errors.Is(err, sources.ErrNoSuchQueue):
		c.Outcome, c.Detail = sources.Denied, err.Error()
	default:
		c.Outcome, c.Detail = sources.Unreachable, err.Error()
	}
	return c
}

// unconfirmed are the rights that only using them would show.
func (s *Source) unconfirmed(q sources.Queue) []sources.Checked {
	all := []sources.Checked{
		{What: "look at the letters of " + q.Name, Right: "sqs:ReceiveMessage and sqs:ChangeMessageVisibility", Outcome: sources.Unconfirmed, Detail: "trying would count as a receive"},
		{What: "take redriven letters off " + q.Name, Right: "sqs:DeleteMessage", Outcome: sources.Unconfirmed, Detail: "trying would delete"},
	}
	targets := slices.Clone(q.FeedsFrom)
	if q.RedriveTo != "" {
		targets = []string{q.RedriveTo}
	}
	for _, to := range targets {
		all = append(all, sources.Checked{What: "redrive to " + to, Right: "sqs:SendMessage", Outcome: sources.Unconfirmed, Detail: "trying would send"})
	}
	return all
}

// unmatched are patterns and routes of the configuration that name nothing that
// is there.
func (s *Source) unmatched(queues []sources.Queue) []sources.Checked {
	var all []sources.Checked
	names := slices.Sorted(maps.Keys(s.inventory.snapshot()))
	for _, pattern := range s.cfg.DeadLetters.Include {
		if !slices.ContainsFunc(names, func(n string) bool { return sources.Glob(pattern, n) }) {
			all = append(all, sources.Checked{What: "dead_letters: " + pattern, Outcome: sources.Unmatched, Detail: fmt.Sprintf("0 of %d queues", len(queues))})
		}
	}
	for _, r := range s.cfg.Routes {
		if !s.inventory.exists(r.To) {
			all = append(all, sources.Checked{What: "redrive to " + r.To, Right: "sqs:SendMessage", Outcome: sources.Denied, Detail: "there is no such queue"})
		}
	}
	return all
}
