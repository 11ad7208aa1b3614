package convention

import (
	"slices"
	"strings"
)

// kafkaTable has the conventions of Kafka clients and of Kafka itself.
var kafkaTable = []*convention{
	{
		id: "kafka-share-group-dlq", name: "Apache Kafka share groups (KIP-1191)", on: onKafka,
		any:   []string{"__dlq.errors.topic", "__dlq.errors.offset", "__dlq.errors.group"},
		queue: head("__dlq.errors.topic"), partition: head("__dlq.errors.partition").written(decimal),
		offset: head("__dlq.errors.offset").written(decimal), group: head("__dlq.errors.group"),
		attempts: head("__dlq.errors.delivery.count").written(decimal),
		message:  head("__dlq.errors.message"), code: head("__dlq.errors.message"), codeOf: shareCode,
		repeat: appended, body: headersOnly, failed: true,
		written: []string{"__dlq.errors.*", "_dlq.errors.*"},
		about:   "key and value are null unless errors.deadletterqueue.copy.record.enable is set",
	},
	{
		id: "kafka-connect-dlq", name: "Kafka Connect sink", on: onKafka,
		any:   []string{"__connect.errors.topic", "__connect.errors.connector.name"},
		queue: head("__connect.errors.topic"), partition: head("__connect.errors.partition").written(decimal),
		offset: head("__connect.errors.offset").written(decimal), groupOf: connectGroup,
		class: head("__connect.errors.exception.class.name"), message: head("__connect.errors.exception.message"),
		stack: head("__connect.errors.exception.stacktrace"), code: head("__connect.errors.stage"),
		repeat: appended, clock: ofOriginal, written: []string{"__connect.errors.*"},
		about: "only with errors.deadletterqueue.context.headers.enable=true; the record's timestamp is the original one",
	},
	{
		id: "bakdata-streams-headers", name: "bakdata kafka-error-handling, headers", on: onKafka,
		any:   []string{"__streams.errors.exception.class.name", "__streams.errors.description"},
		queue: head("__streams.errors.topic"), partition: head("__streams.errors.partition").written(decimal),
		offset: head("__streams.errors.offset").written(decimal),
		class:  head("__streams.errors.exception.class.name"), message: head("__streams.errors.exception.message"),
		stack: head("__streams.errors.exception.stack_trace"),
		clock: ofOriginal, written: []string{"__streams.errors.*"},
	},
	{
		id: "kafka-streams-dlq", name: "Kafka Streams (KIP-1034)", on: onKafka,
		any: []string{"__streams.errors.exception"}, weak: []string{"__streams.errors.topic", "__streams.errors.offset"},
		queue: head("__streams.errors.topic"), partition: head("__streams.errors.partition").written(decimal),
		offset: head("__streams.errors.offset").written(decimal),
		class:  head("__streams.errors.exception").written(beforeColon), message: head("__streams.errors.message"),
		stack:  head("__streams.errors.stacktrace"),
		repeat: appended, clock: ofOriginal, written: []string{"__streams.errors.*"},
		about: "no group; the record's timestamp is the original one",
	},
	{
		id: "spring-kafka-retryable-topic", name: "Spring Kafka @RetryableTopic", on: onKafka,
		any:   []string{"retry_topic-attempts", "retry_topic-original-timestamp"},
		weak:  []string{"kafka_original-topic", "kafka_original-offset", "kafka_exception-fqcn", "kafka_exception-message"},
		queue: head("kafka_original-topic"), partition: head("kafka_original-partition").written(int32BE),
		offset: head("kafka_original-offset").written(int64BE), stamp: head("kafka_original-timestamp").written(int64BE),
		group: head("kafka_dlt-original-consumer-group"),
		class: head("kafka_exception-fqcn", "kafka_key-exception-fqcn"), root: head("kafka_exception-cause-fqcn"),
		message: head("kafka_exception-message", "kafka_key-exception-message"),
		stack:   head("kafka_exception-stacktrace", "kafka_key-exception-stacktrace"),
		// The value counts the attempt that would come next.
		attempts: head("retry_topic-attempts").written(int32OrInt8).plus(-1),
		repeat:   appended, reasonOnce: true, keepsFirst: true,
		written: []string{"kafka_original-*", "kafka_exception-*", "kafka_key-exception-*", "kafka_dlt-original-consumer-group", "retry_topic-*"},
	},
	{
		id: "nestjs-kafka-dlt-text", name: "NestJS and others that write Spring's names as text", on: onKafka,
		any: []string{"kafka_dlt-original-topic"}, shape: springAsText,
		queue: head("kafka_dlt-original-topic"), partition: head("kafka_dlt-original-partition").written(decimal),
		offset: head("kafka_dlt-original-offset").written(decimal), stamp: head("kafka_dlt-original-timestamp").written(epochMillis),
		group: head("kafka_dlt-original-consumer-group"),
		class: head("kafka_dlt-exception-fqcn"), root: head("kafka_dlt-exception-cause-fqcn"),
		message: head("kafka_dlt-exception-message"), stack: head("kafka_dlt-exception-stacktrace"),
		written: []string{"kafka_dlt-*", "kafka_nest-*"},
	},
	{
		id: "spring-kafka-dlpr", name: "Spring Kafka DeadLetterPublishingRecoverer", on: onKafka,
		any:   []string{"kafka_dlt-original-topic", "kafka_dlt-exception-fqcn"},
		weak:  []string{"kafka_dlt-original-offset", "kafka_dlt-exception-message", "kafka_dlt-key-exception-fqcn", "kafka_dlt-exception-cause-fqcn"},
		queue: head("kafka_dlt-original-topic"), partition: head("kafka_dlt-original-partition").written(int32BE),
		offset: head("kafka_dlt-original-offset").written(int64BE), stamp: head("kafka_dlt-original-timestamp").written(int64BE),
		group: head("kafka_dlt-original-consumer-group"),
		class: head("kafka_dlt-exception-fqcn", "kafka_dlt-key-exception-fqcn"), root: head("kafka_dlt-exception-cause-fqcn"),
		message:  head("kafka_dlt-exception-message", "kafka_dlt-key-exception-message"),
		stack:    head("kafka_dlt-exception-stacktrace", "kafka_dlt-key-exception-stacktrace"),
		attempts: head("kafka_deliveryAttempt").written(int32BE),
		repeat:   appended, reasonOnce: true,
		written: []string{"kafka_dlt-*", "springDeserializerExceptionKey", "springDeserializerExceptionValue"},
		about:   "springDeserializerException* are Java objects and never read",
	},
	{
		id: "smallrye-delayed-retry", name: "SmallRye, Quarkus: delayed-retry-topic", on: onKafka,
		any:   []string{"delayed-retry-count", "delayed-retry-topic"},
		queue: head("delayed-retry-topic"), partition: head("delayed-retry-partition").written(decimal),
		offset: head("delayed-retry-offset").written(decimal), stamp: head("delayed-retry-original-timestamp").written(epochMillis).ofRecord(),
		class: head("delayed-retry-exception-class-name"), root: head("delayed-retry-cause-class-name"),
		message:  head("delayed-retry-reason"),
		attempts: head("delayed-retry-count").written(decimal).plus(1).ofRecord(),
		repeat:   prepended, written: []string{"delayed-retry-*"},
	},
	{
		id: "smallrye-dlq", name: "SmallRye, Quarkus: dead-letter-queue", on: onKafka,
		any:   []string{"dead-letter-topic", "dead-letter-reason"},
		queue: head("dead-letter-topic"), partition: head("dead-letter-partition").written(decimal),
		offset: head("dead-letter-offset").written(decimal),
		class:  head("dead-letter-exception-class-name"), root: head("dead-letter-cause-class-name"),
		message: head("dead-letter-reason"),
		repeat:  prepended, written: []string{"dead-letter-*", "deserialization-failure-*", "delayed-retry-*"},
		about: "the only common one whose newest header is the first",
	},
	{
		id: "micronaut-dlq", name: "Micronaut Kafka", on: onKafka,
		any:   []string{"micronaut-kafka-original-topic"},
		queue: head("micronaut-kafka-original-topic"), partition: head("micronaut-kafka-original-partition").written(decimal),
		offset: head("micronaut-kafka-original-offset").written(decimal),
		class:  head("micronaut-kafka-exception-class"), message: head("micronaut-kafka-exception-message"),
		attempts: head("micronaut-kafka-retry-attempt").written(decimal).plus(1),
		clock:    ofOriginal, keepsFirst: true, written: []string{"micronaut-kafka-*"},
		about: "the record's timestamp is the original one",
	},
	{
		// The names are those of many others: two of them are asked for.
		id: "wolverine-kafka-dlq", name: "Wolverine (.NET)", on: onKafka,
		any: []string{"original-destination", "failed-at"}, weak: []string{"exception-type", "exception-stack", "wolverine-kafka-retry-source"}, least: 2,
		queue:     head("original-destination").written(uriTail).or(head("wolverine-kafka-retry-source").written(uriTail)),
		partition: head("original-partition").written(decimal), offset: head("original-offset").written(decimal),
		class: head("exception-type", "wolverine-kafka-retry-exception-type"), message: head("exception-message", "wolverine-kafka-retry-exception-message"),
		stack: head("exception-stack"), failedAt: head("failed-at").written(anyTime), attempts: head("attempts").written(decimal),
		written: []string{
			"exception-type", "exception-message", "exception-stack", "failed-at", "original-destination",
			"original-partition", "original-offset", "attempts", "wolverine-kafka-retry-*",
		},
	},
	{
		id: "brighter-kafka", name: "Brighter (.NET)", on: onKafka,
		any: []string{"RejectionReason", "OriginalTopic"}, weak: []string{"RejectionTimestamp", "OriginalType"}, least: 2,
		queue: head("OriginalTopic"), message: head("RejectionMessage"), code: head("RejectionReason"),
		failedAt: head("RejectionTimestamp").written(iso8601), attempts: head("HandledCount").written(decimal),
		written: []string{"OriginalTopic", "RejectionTimestamp", "OriginalType", "RejectionReason", "RejectionMessage"},
	},
	{
		id: "silverback-move", name: "Silverback (.NET) move policy", on: onKafka,
		any:   []string{"x-source-topic", "x-failure-reason"},
		queue: head("x-source-topic"), partition: head("x-source-partition").written(decimal), offset: head("x-source-offset").written(decimal),
		stamp: head("x-source-timestamp").written(anyTime), group: head("x-source-consumer-group-id"),
		class: head("x-failure-reason").written(beforeIn), code: head("x-failure-reason"), attempts: head("x-failed-attempts").written(decimal),
		written: []string{"x-source-*", "x-failure-reason", "x-failed-attempts"},
	},
	{
		id: "spring-cloud-stream-kafka", name: "Spring Cloud Stream Kafka binder", on: onKafka,
		any: []string{"x-original-topic", "x-original-offset"}, weak: []string{"x-exception-fqcn", "x-exception-stacktrace"}, shape: springCloudStream,
		queue: head("x-original-topic"), partition: head("x-original-partition").written(int32BE), offset: head("x-original-offset").written(int64BE),
		stamp: head("x-original-timestamp").written(int64BE), groupOf: groupBehindTopic,
		class: head("x-exception-fqcn"), message: head("x-exception-message"), stack: head("x-exception-stacktrace"),
		repeat: appended, written: []string{"x-original-*", "x-exception-*"},
	},
	{
		id: "watermill-poison", name: "Watermill (Go) poison queue", on: onKafka,
		any:   []string{"reason_poisoned", "topic_poisoned"},
		queue: head("topic_poisoned"), message: head("reason_poisoned"), code: head("reason_poisoned"),
		written: []string{"reason_poisoned", "topic_poisoned", "handler_poisoned", "subscriber_poisoned"},
		about:   "its default marshaler loses the record's key",
	},
	{
		id: "karafka-pro-dlq", name: "Karafka Pro (Ruby)", on: onKafka,
		any: []string{"source_consumer_group", "source_attempts"}, weak: []string{"source_topic", "source_offset"},
		queue: head("source_topic"), partition: head("source_partition").written(decimal), offset: head("source_offset").written(decimal),
		group: head("source_consumer_group"), attempts: head("source_attempts").written(decimal),
		written: []string{"source_topic", "source_partition", "source_offset", "source_consumer_group", "source_attempts", "source_trace_id"},
		about:   "no error text; without Pro nothing is recorded",
	},
	{
		id: "kafkajs-async-retry", name: "kafkajs-async-retry", on: onKafka,
		any:   []string{"asyncRetry"},
		queue: head("asyncRetry").at("/top"), attempts: head("asyncRetry").at("/att").plus(1), groupOf: kafkajsGroup,
		keepsFirst: true, written: []string{"asyncRetry"},
		about: "no error text",
	},
	{
		id: "greyhound-retry", name: "Greyhound (Wix)", on: onKafka,
		any: []string{"GH_RetryAttempt", "GH_OriginalTopic"}, weak: []string{"submitTimestamp", "backOffTimeMs"},
		queue: head("GH_OriginalTopic"), attempts: head("GH_RetryAttempt").written(decimal).plus(1),
		failedAt: head("submitTimestamp").written(epochMillis), groupOf: greyhoundGroup,
		keepsFirst: true, written: []string{"GH_*", "submitTimestamp", "backOffTimeMs"},
	},
	{
		id: "decaton-retry", name: "Decaton (LINE)", on: onKafka,
		any: []string{"dt_meta"}, attempts: head("dt_meta").at("#4"),
		about: "dt_meta is kept: the task needs it",
	},
	{
		id: "confluent-connect-reporter", name: "Confluent Connect Reporter", on: onKafka,
		any:   []string{"input_record_topic", "input_record_offset"},
		queue: head("input_record_topic"), partition: head("input_record_partition").written(decimal),
		offset: head("input_record_offset").written(decimal), stamp: head("input_record_timestamp").written(epochMillis),
		message: head("error_message"), stack: head("exception"), body: aDescription,
		written: []string{"input_record_*", "error_message", "exception", "status_code", "response_content", "payload", "reason_phrase", "url"},
		about:   "the value is an answer or an error text, not the record",
	},
	{
		id: "redpanda-connect-fallback", name: "Redpanda Connect fallback output", on: onKafka,
		any: []string{"fallback_error"}, weak: []string{"kafka_tombstone_message", "kafka_timestamp_unix"},
		queue: head("kafka_topic"), partition: head("kafka_partition").written(decimal), offset: head("kafka_offset").written(decimal),
		stamp: head("kafka_timestamp_ms").written(epochMillis), message: head("fallback_error"),
		written: []string{
			"fallback_error", "kafka_key", "kafka_topic", "kafka_partition", "kafka_offset", "kafka_lag",
			"kafka_timestamp_unix", "kafka_timestamp_ms", "kafka_tombstone_message",
		},
	},
	{
		id: "dapr-pubsub-kafka", name: "Dapr pub/sub deadLetterTopic", on: onKafka,
		all:   []string{"__topic", "__offset"},
		queue: head("__topic"), partition: head("__partition").written(decimal), offset: head("__offset").written(decimal),
		stamp: head("__timestamp").written(epochMillis), repeat: kept, keepsFirst: true,
		written: []string{"__topic", "__partition", "__offset", "__timestamp", "__key"},
		about:   "no error text; an older hop's headers are kept over newer ones",
	},
	{
		id: "masstransit-kafka", name: "MassTransit Kafka rider", on: onKafka,
		any:   []string{"MT-Fault-Message"},
		class: head("MT-Fault-ExceptionType"), message: head("MT-Fault-Message"), stack: head("MT-Fault-StackTrace"),
		failedAt: head("MT-Fault-Timestamp").written(iso8601), written: []string{"MT-Reason", "MT-Fault-*", "MT-Host-*"},
	},
	{
		id: "nservicebus-kafka", name: "NServiceBus over a bridge", on: onKafka,
		any:   []string{"NServiceBus.FailedQ"},
		queue: head("NServiceBus.FailedQ"), class: head("NServiceBus.ExceptionInfo.ExceptionType"),
		root:    head("NServiceBus.ExceptionInfo.InnerExceptionType"),
		message: head("NServiceBus.ExceptionInfo.Message"), stack: head("NServiceBus.ExceptionInfo.StackTrace"),
		failedAt: head("NServiceBus.TimeOfFailure").written(iso8601), written: nserviceBusWritten,
	},
	{
		id: "posthog-dlq", name: "PostHog ingestion, and house-made dlq_*", on: onKafka,
		any:     []string{"dlq_reason", "dlq_step"},
		message: head("dlq_reason"), code: head("dlq_reason"), failedAt: head("dlq_timestamp").written(anyTime),
		queue:     head("dlq_topic", "dlq_original_topic"),
		partition: head("dlq_partition", "dlq_original_partition").written(anyInt), offset: head("dlq_offset", "dlq_original_offset").written(anyInt),
		written: []string{"dlq_*"},
	},
	{
		id: "uber-kafka-client", name: "uber-go/kafka-client", on: onKafka, shape: func(v *view) bool { return uberKey(v) && nanoseconds(v) },
		queue: from(inKey, "2"), partition: from(inKey, "3").written(decimal), offset: from(inKey, "4").written(decimal),
		stamp: from(inKey, "5").written(epochNanos), attempts: from(inKey, "1").written(decimal), key: from(inKey, "6"), groupOf: uberGroup,
		keepsFirst: true, about: "the key is a message of the framework; a redrive restores the original one",
	},
	{
		id: "uber-uforwarder", name: "Uber uForwarder", on: onKafka, shape: uberKey,
		queue: from(inKey, "2"), partition: from(inKey, "3").written(decimal), offset: from(inKey, "4").written(decimal),
		stamp: from(inKey, "5").written(epochMillis), attempts: from(inKey, "1").written(decimal), key: from(inKey, "6"), groupOf: uberGroup,
		keepsFirst: true, about: "the key is a message of the framework; a redrive restores the original one",
	},
	{
		id: "bakdata-deadletter-avro", name: "bakdata kafka-error-handling, DeadLetter value", on: onKafka, shape: bakdataValue,
		queue: from(inAvro, "topic").or(body("/topic")), partition: from(inAvro, "partition").or(body("/partition")).written(decimal),
		offset:  from(inAvro, "offset").or(body("/offset")).written(decimal),
		stamp:   from(inAvro, "input_timestamp").or(body("/input_timestamp")).written(anyTime),
		class:   from(inAvro, "cause.error_class").or(body("/cause/error_class", "/cause/errorClass")),
		message: from(inAvro, "cause.message").or(body("/cause/message")),
		stack:   from(inAvro, "cause.stack_trace").or(body("/cause/stack_trace", "/cause/stackTrace")),
		clock:   ofOriginal, body: aDescription,
	},
	{
		id: "ksqldb-processing-log", name: "ksqlDB processing log", on: onKafka, shape: ksqlLog,
		queue: body("/message/deserializationError/topic"),
		message: body("/message/deserializationError/errorMessage", "/message/recordProcessingError/errorMessage",
			"/message/productionError/errorMessage", "/message/serializationError/errorMessage"),
		stack: body("/message/deserializationError/cause", "/message/recordProcessingError/cause",
			"/message/productionError/cause", "/message/serializationError/cause").written(jsonLines),
		failedAt: body("/time").written(anyTime), body: aDescription, clock: ofDeath, noWay: true,
		about: "a log: no partition and no offset",
	},
	{
		id: "confluent-flink-error-log", name: "Confluent Cloud Flink error_log", on: onKafka, shape: flinkLog,
		queue: body("/source_record/topic"), partition: body("/source_record/partition").written(decimal),
		offset: body("/source_record/offset").written(decimal), stamp: body("/source_record/timestamp").written(anyTime),
		class: body("/error_code"), code: body("/error_reason"), message: body("/error_message"), body: aDescription,
		about: "rows are Avro: without a schema registry only the name of the topic tells",
	},
	{
		id: "vector-reroute-dropped", name: "Vector remap, rerouted when dropped", on: onKafka,
		shape:   func(v *view) bool { return v.mentions(`"dropped"`) && v.finds("/metadata/dropped/reason") },
		message: body("/metadata/dropped/message"), code: body("/metadata/dropped/reason"), clock: ofEvent,
		about: "the event is the body, with metadata.dropped added",
	},
	{
		id: "beam-bad-record", name: "Apache Beam BadRecord", on: onKafka,
		shape: func(v *view) bool {
			return v.mentions(`"exceptionStacktrace"`) && v.finds("/failure/exceptionStacktrace")
		},
		message: body("/failure/exception"), stack: body("/failure/exceptionStacktrace").written(jsonLines), body: aDescription,
	},
	{
		// Both names are generic: they count only when nothing else does.
		id: "arroyo-dlq", name: "Arroyo (Sentry)", on: onKafka, alone: true,
		all:       []string{"original_partition", "original_offset"},
		partition: head("original_partition").written(decimal), offset: head("original_offset").written(decimal),
		repeat: appended, written: []string{"original_partition", "original_offset"},
		about: "no topic and no reason",
	},
}

// shareCode is the short form of the two sentences of KIP-1191.
func shareCode(message string) string {
	switch {
	case strings.Contains(message, "rejected by client"):
		return "client-rejected"
	case strings.Contains(message, "delivery count"):
		return "delivery-count-exceeded"
	}
	return ""
}

// connectGroup is the group of a sink connector, unless consumer.override.group.id says otherwise.
func connectGroup(v *view, _ string) string {
	at := v.at["__connect.errors.connector.name"]
	if len(at) == 0 {
		return ""
	}
	name := text(v.l.Headers[at[len(at)-1]].Value, utf8Text, maxName)
	if name == "" {
		return ""
	}
	return "connect-" + name
}

// groupBehindTopic is the group in error.<topic>.<group>.
func groupBehindTopic(v *view, origin string) string {
	group, ok := strings.CutPrefix(v.l.Queue, "error."+origin+".")
	if !ok || origin == "" {
		return ""
	}
	return group
}

// kafkajsGroup is the group in <group>-dlq and <group>-retry-<n>.
func kafkajsGroup(v *view, _ string) string {
	if group, ok := strings.CutSuffix(v.l.Queue, "-dlq"); ok {
		return group
	}
	if at := strings.LastIndex(v.l.Queue, "-retry-"); at > 0 {
		return v.l.Queue[:at]
	}
	return ""
}

// greyhoundGroup is the group in <topic>-<group>-retry-<n>.
func greyhoundGroup(v *view, origin string) string {
	rest, ok := strings.CutPrefix(v.l.Queue, origin+"-")
	if !ok || origin == "" {
		rest, ok = strings.CutPrefix(v.l.Queue, "__gh_pattern-retry-")
		if at := strings.LastIndex(rest, "-attempt-"); ok && at > 0 {
			return rest[:at]
		}
		return ""
	}
	if at := strings.LastIndex(rest, "-retry-"); at > 0 {
		return rest[:at]
	}
	return ""
}

// uberGroup is the group in <topic>__<group>__dlq.
func uberGroup(v *view, _ string) string {
	if part := strings.Split(v.l.Queue, "__"); len(part) > 2 {
		return part[1]
	}
	return ""
}

// springAsText tells whether numbers under Spring's names are text.
func springAsText(v *view) bool {
	if v.has("kafka_nest-err") {
		return true
	}
	for _, name := range []string{"kafka_dlt-original-partition", "kafka_dlt-original-offset", "kafka_dlt-original-timestamp"} {
		for _, at := range v.at[name] {
			if _, ok := digits(v.l.Headers[at].Value); ok {
				return true
			}
		}
	}
	return false
}

// springCloudStream tells the binder's headers from the same names that people
// make up: it writes the numbers in binary, and always the exception's class.
func springCloudStream(v *view) bool {
	if v.has("x-exception-fqcn") || v.has("x-exception-stacktrace") || v.has("x-original-timestamp-type") {
		return true
	}
	if !v.has("x-original-topic") {
		return false
	}
	for _, name := range []string{"x-original-partition", "x-original-offset", "x-original-timestamp"} {
		for _, at := range v.at[name] {
			value := v.l.Headers[at].Value
			if _, ok := digits(value); !ok && !readable(value) && (len(value) == 4 || len(value) == 8) {
				return true
			}
		}
	}
	return false
}

// uberKey tells whether the key is Uber's DLQMetadata: by the queue's name,
// and by a strict parse, because keys of any bytes may parse as protobuf.
func uberKey(v *view) bool {
	if !strings.HasSuffix(v.l.Queue, "__dlq") && !strings.HasSuffix(v.l.Queue, "__retry") {
		return false
	}
	fields := v.keyFields()
	for _, f := range fields {
		if f.Number > 7 || (f.Number == 2 || f.Number == 6) != (f.Type == 2) || f.Type != 0 && f.Type != 2 {
			return false
		}
	}
	topic, ok := wire(fields, "2")
	name, legal := queueName(string(topic))
	return ok && legal && isTopicName(name)
}

// nanoseconds tells the older client by its unit; of a timestamp of today the
// two are far apart.
func nanoseconds(v *view) bool {
	stamp, ok := wire(v.keyFields(), "5")
	n, number := digits(stamp)
	return ok && number && n > 1e16
}

// isTopicName tells whether Kafka would take the name for a topic.
func isTopicName(s string) bool {
	return len(s) > 0 && len(s) < 250 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

func bakdataValue(v *view) bool {
	if v.deadLetter() != nil {
		return true
	}
	return (v.mentions(`"error_class"`) || v.mentions(`"errorClass"`)) && (v.finds("/cause/error_class") || v.finds("/cause/errorClass"))
}

func ksqlLog(v *view) bool {
	if !v.mentions(`"message"`) || !v.finds("/message/type") {
		return false
	}
	return strings.HasSuffix(v.l.Queue, "ksql_processing_log") || slices.ContainsFunc([]string{
		"deserializationError", "recordProcessingError", "productionError", "serializationError", "kafkaStreamsThreadError",
	}, func(kind string) bool { return v.finds("/message/" + kind) })
}

func flinkLog(v *view) bool {
	if v.mentions(`"source_record"`) && v.finds("/source_record/topic") {
		return true
	}
	framed := len(v.l.Body) > 5 && v.l.Body[0] == 0
	return framed && (v.l.Queue == "error_log" || strings.HasSuffix(v.l.Queue, "_error_log"))
}

// finds tells whether the body is JSON and has a value that is not null there.
func (v *view) finds(pointer string) bool {
	doc, ok := v.json()
	if !ok {
		return false
	}
	_, ok = doc.Text(pointer)
	return ok
}
