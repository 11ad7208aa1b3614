package kafka

import (
	"slices"
	"strings"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
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
	case convention.KindOf(topic) == sources.RetryQueue:
		return sources.RetryQueue
	}
	return sources.WorkQueue
}

// belongsTo finds the topic that a dead-letter or retry topic belongs to by
// its name. "" when it is not there, or the name does not tell.
func (s *Source) belongsTo(topic string) string {
	owner := s.recogniser.OriginByName(topic)
	if owner == topic || internal(owner) {
		return ""
	}
	return owner
}
