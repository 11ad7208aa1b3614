package convention

import (
	"slices"
	"strings"

	"github.com/unwedge/unwedge/sources"
)

// The names that people make up, in capitals or not. They say the same in most
// houses; where they do not, a Mapping helps.
var (
	homemadeQueue    = []string{"original-topic", "x-original-topic", "originalTopic", "original_topic", "source-topic", "x-original-queue", "original-queue"}
	homemadeAttempts = []string{"attempt-count", "attempts", "attempt", "x-attempts", "x-attempt", "x-retry-count", "retry-count", "retryCount", "retry_count"}
	homemadeMessage  = []string{"error-message", "x-error-message", "x-exception-message", "exception-message", "error", "x-error", "x-exception"}
	homemadeClass    = []string{"error-class", "x-error-class", "exception-class", "x-exception-class", "exception-type", "x-exception-type", "error-type"}
	homemadeFailed   = []string{"failed-at", "x-failed-at", "error-timestamp", "x-error-timestamp"}
	homemadeStack    = []string{"stacktrace", "x-stacktrace", "stack-trace", "exception-stacktrace", "x-error-stack"}
)

// homemadeTable is what is left when no framework's marks are there.
var homemadeTable = []*convention{
	{
		id: "cloudevents-kafka", name: "CloudEvents", on: onKafka, alone: true, body: aContentShape,
		shape: func(v *view) bool { return v.has("ce_specversion") && !homemade(v) || cloudEvent(v) && !homemade(v) },
		about: "an envelope, not a convention for dead letters: no origin and no reason",
	},
	{
		id: "handrolled-chain", name: "Retry chains and dead letters made at home", on: onKafka | onSQS, alone: true, anyCase: true, shape: homemade,
		queue: head(homemadeQueue...).written(uriTail), partition: head("*original*partition*", "source-partition").written(anyInt),
		offset: head("*original*offset*", "source-offset").written(anyInt), stamp: head("*original*timestamp").written(anyTime),
		group: head("x-consumer-group", "consumer-group", "original-consumer-group", "x-original-consumer-group"),
		class: head(homemadeClass...), message: head(homemadeMessage...), stack: head(homemadeStack...),
		attempts: head(homemadeAttempts...).written(anyInt), failedAt: head(homemadeFailed...).written(anyTime), keepsFirst: true,
		written: slices.Concat([]string{"*original*partition*", "*original*offset*", "*original*timestamp", "source-partition", "source-offset"},
			homemadeQueue, homemadeAttempts, homemadeMessage, homemadeClass, homemadeFailed, homemadeStack),
		about: "attempts are shown as they were written: whether they count from 0 or 1 is not known",
	},
}

// homemade asks for two of the names, or for one in a queue that is called
// like a dead-letter or retry queue.
func homemade(v *view) bool {
	need := 2
	if KindOf(v.l.Queue) != sources.WorkQueue {
		need = 1
	}
	for _, name := range slices.Concat(homemadeQueue, homemadeAttempts, homemadeMessage, homemadeClass, homemadeFailed) {
		if len(v.places(name, true)) > 0 {
			need--
		}
	}
	return need <= 0
}

// cloudEvent is one in structured mode, by its content type.
func cloudEvent(v *view) bool {
	for _, at := range v.places("content-type", true) {
		if strings.HasPrefix(string(v.l.Headers[at].Value), "application/cloudevents") {
			return true
		}
	}
	return false
}
