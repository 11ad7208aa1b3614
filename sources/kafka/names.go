package kafka

import (
	"slices"
	"strings"

	"github.com/unwedge/unwedge/sources"
)

// DefaultGroups are all groups but those that the console consumer makes up
// for each run.
var DefaultGroups = sources.Patterns{Include: []string{"*"}, Exclude: []string{"console-consumer-*"}}

// DefaultDeadLetters are the names that frameworks and people give to topics
// of dead letters: Spring's .DLT and -dlt (spring-kafka issues 2335 and 3839),
// .dlq in its spellings, SmallRye's dead-letter-topic-*, Spring Cloud Stream's
// error.<destination>.<group>, the dlq.<group> of KIP-1191.
var DefaultDeadLetters = sources.Patterns{Include: slices.Concat(
	spelled("dlq", "dlt", "deadletter", "deadletters", "dead-letter", "dead-letters", "dead_letter", "dead_letters"),
	[]string{"*dead-letter-*", "*dead_letter_*", "*DeadLetter*", "error.*.*", "poison", "*.poison", "*-poison", "*_poison"},
)}

// retryNames are topics in which records wait for another attempt.
var retryNames = sources.Patterns{Include: append(spelled("retry", "retries"), "*.retry-*", "*_retry-*", "*-retry.*")}

// spelled gives patterns for words as a whole name, as its end, its beginning, or
// a part of it, in small letters and in capitals.
func spelled(words ...string) []string {
	var out []string
	for _, w := range words {
		for _, w := range []string{w, strings.ToUpper(w)} {
			out = append(out, w)
			for _, sep := range separators {
				out = append(out, "*"+sep+w, w+sep+"*", "*"+sep+w+sep+"*")
			}
		}
	}
	return out
}

var separators = []string{".", "-", "_"}

// kindOf tells what a topic is for by its name. What the configuration selects
// holds dead letters, whatever it is called; nothing else does.
func (s *Source) kindOf(topic string) sources.QueueKind {
	switch {
	case internal(topic):
		return sources.WorkQueue
	case s.cfg.DeadLetters.Match(topic):
		return sources.DeadLetterQueue
	case retryNames.Match(topic):
		return sources.RetryQueue
	}
	return sources.WorkQueue
}

// markers are the words that set a dead-letter or retry topic's name apart
// from that of the topic that it belongs to.
var markers = []string{"dead-letters", "dead_letters", "dead-letter", "dead_letter", "deadletters", "deadletter", "retries", "retry", "dlq", "dlt", "error", "poison"}

// ownerNames are the names that the topic of a dead-letter or retry topic may
// have, likeliest first: its own name up to the marker, or past it.
func ownerNames(topic string) []string {
	lower := strings.ToLower(topic)
	var out []string
	for _, m := range markers {
		for _, sep := range separators {
			if i := strings.LastIndex(lower, sep+m); i > 0 && endsAt(lower, i+len(sep+m)) {
				out = append(out, topic[:i])
			}
			if rest, found := strings.CutPrefix(lower, m+sep); found {
				out = append(out, topic[len(topic)-len(rest):])
			}
		}
	}
	// The shortest first part is what remains of a name with several markers,
	// such as orders-retry-dlt.
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}

// endsAt tells whether a word ends at an index of a name.
func endsAt(name string, i int) bool {
	return i == len(name) || strings.ContainsAny(name[i:i+1], ".-_0123456789")
}

// belongsTo finds the topic that a dead-letter or retry topic belongs to by
// its name: the first of its possible owners that is there and is itself a
// topic of work. "" when there is none.
func (s *Source) belongsTo(c *cluster, topic string) string {
	seen := map[string]bool{topic: true}
	for queue := ownerNames(topic); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, there := c.topics[name]; there && s.kindOf(name) == sources.WorkQueue && !internal(name) {
			return name
		}
		queue = append(queue, ownerNames(name)...)
	}
	return ""
}
