package review

import (
	"slices"
	"strings"

	"github.com/unwedge/unwedge/sources"
)

// Rules say what the configuration of a source allows and knows of redrives.
type Rules struct {
	Routes      []sources.Route    // the ways back that somebody configured; the first that matches wins
	To          sources.Patterns   // queues that may be written to
	DropHeaders []string           // headers to leave out, besides those of the convention
	Done        []sources.Finished // where finished work is written down
	// Names are the queues that a dead-letter queue may belong to by its name
	// alone, the likeliest first; nil: no name says anything.
	Names func(deadLetterQueue string) []string
}

// Allowed tells whether a redrive may write to a queue. Topics that start with
// two underscores are the broker's own, and never may.
func (r Rules) Allowed(queue string) bool {
	return !strings.HasPrefix(queue, "__") && r.To.Match(queue)
}

// Way is a way back: a queue, and how sure it is.
type Way struct {
	Queue string // "" when there is none
	Why   string
	Hint  bool // only a header says so: anybody who can write the record can write it
	Guess bool // only the dead-letter queue's name says so: such a queue may never have been
}

// WayBack finds the queue that a letter goes back to: where it was asked to go,
// else the configured way, else where the queue's redrive policy says that it
// came from, else what the convention's headers and the queue's name say. A
// header alone is a hint, never an authority.
func WayBack(l sources.DeadLetter, q sources.Queue, to string, rules Rules) Way {
	if to != "" {
		return Way{Queue: to, Why: "asked for"}
	}
	for _, r := range rules.Routes {
		if sources.Glob(r.From, l.Queue) {
			return Way{Queue: r.To, Why: "configured: " + r.From + " goes to " + r.To}
		}
	}
	if way, ok := byPolicy(l, q); ok {
		return way
	}
	return byName(l, rules)
}

// byPolicy is the way that the broker itself vouches for: on SQS the queue that
// this message was dead-lettered from, which the broker writes on each message,
// or the only queue whose policy names this one.
func byPolicy(l sources.DeadLetter, q sources.Queue) (Way, bool) {
	if arn := l.System["DeadLetterQueueSourceArn"]; arn != "" {
		return Way{Queue: arn[strings.LastIndexByte(arn, ':')+1:], Why: "SQS says that it came from there"}, true
	}
	if q.RedriveTo != "" {
		return Way{Queue: q.RedriveTo, Why: "the redrive policy names it"}, true
	}
	if l.Place.MessageID != "" && len(q.FeedsFrom) == 1 {
		return Way{Queue: q.FeedsFrom[0], Why: "its redrive policy names this dead-letter queue"}, true
	}
	return Way{}, false
}

// byName goes by the convention's headers, confirmed by the name of the
// dead-letter queue where that says the same, else by one of them alone.
func byName(l sources.DeadLetter, rules Rules) Way {
	hint := l.RedriveTo
	if hint == "" {
		hint = l.Origin.Queue
	}
	var names []string
	if rules.Names != nil {
		names = rules.Names(l.Queue)
	}
	switch {
	case hint == "" && len(names) == 0:
		return Way{Why: "no route, policy, header or name rule says where it came from"}
	case hint == "":
		return Way{Queue: names[0], Why: "by the name of " + l.Queue, Guess: true}
	case slices.Contains(names, hint):
		return Way{Queue: hint, Why: "its headers and the name of " + l.Queue + " say so"}
	case strings.HasPrefix(l.Convention, "mapping"):
		return Way{Queue: hint, Why: "the configured mapping says so"}
	}
	return Way{Queue: hint, Why: "only its headers say so", Hint: true}
}
