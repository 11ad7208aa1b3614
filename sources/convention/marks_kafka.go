package convention

import (
	"slices"
	"strings"
)

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

// springAsText tells whether the numbers under Spring's names are text, all of
// them: Spring itself may write text into one that somebody overrode.
func springAsText(v *view) bool {
	if v.has("kafka_nest-err") {
		return true
	}
	some := false
	for _, name := range []string{"kafka_dlt-original-partition", "kafka_dlt-original-offset", "kafka_dlt-original-timestamp"} {
		for _, at := range v.at[name] {
			value := v.l.Headers[at].Value
			if _, ok := digits(value); !ok && len(value) > 0 {
				return false
			}
			some = some || len(value) > 0
		}
	}
	return some
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
