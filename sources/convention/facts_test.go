package convention

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// factRow is a convention as the facts describe it: testdata/conventions.json
// is written from them, and not from the table.
type factRow struct {
	ID, Transport, Duplicates string
	Markers                   []string
	Weak                      []string `json:"weak_markers"`
	Strip                     []string `json:"strip_on_redrive"`
	Fields                    map[string]factField
}

type factField struct {
	Name, Encoding, Path, Scope string
	Optional, Nullable          bool
	Adjust                      int
}

func facts(t *testing.T) []factRow {
	t.Helper()
	text, err := os.ReadFile("testdata/conventions.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []factRow
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// story is what a letter is made to say.
type story struct {
	topic, group, class, root, message, stack, code string
	partition, offset, stamp, failed, attempts      int64
}

var first = story{
	topic: "payments.captured", group: "ledger-writer", class: "com.acme.LedgerException", root: "java.io.IOException",
	message: "the period is closed", stack: "com.acme.LedgerException: the period\n\tat com.acme.Ledger.post(Ledger.java:7)\n", code: "fault",
	partition: 3, offset: 404269, stamp: 1789373730125, failed: 1789373742500, attempts: 4,
}

var second = story{
	topic: "payments.captured-dlq", group: "replayer", class: "com.acme.OtherException", root: "java.net.SocketTimeoutException",
	message: "it timed out", stack: "com.acme.OtherException: it timed out\n", code: "other",
	partition: 1, offset: 118, stamp: 1789373742500, failed: 1789373752500, attempts: 2,
}

// value is the bytes of a field of the story.
func (s story) value(name string, f factField) []byte {
	switch name {
	case "original_topic":
		return s.topicAs(f)
	case "original_partition":
		return numberAs(s.partition, f.Encoding)
	case "original_offset":
		return numberAs(s.offset, f.Encoding)
	case "original_timestamp":
		return numberAs(s.stamp, f.Encoding)
	case "failed_at":
		return numberAs(s.failed, f.Encoding)
	case "attempts":
		return numberAs(s.attempts, f.Encoding)
	case "consumer_group":
		return []byte(s.group)
	case "exception_class", "exception_code":
		return []byte(s.class)
	case "root_cause_class":
		return []byte(s.root)
	case "exception_message":
		return []byte(s.message)
	case "stacktrace":
		return []byte(s.stack)
	case "reason", "stage":
		return []byte(s.code)
	case "input_address": // is the origin, too
		return []byte("amazonsqs://host/scope/" + s.topic)
	}
	return []byte("some-" + name)
}

func (s story) topicAs(f factField) []byte {
	switch {
	case strings.HasSuffix(f.Encoding, "uri") || f.Encoding == "envelope-header":
		return []byte("amazonsqs://host/scope/" + s.topic)
	case f.Encoding == "sqs-system" || strings.HasSuffix(f.Path, "treamArn") || f.Path == "TopicArn":
		service := map[string]string{"TopicArn": "sns"}[f.Path]
		if service == "" {
			service = "sqs"
		}
		return []byte("arn:aws:" + service + ":eu-north-1:000000000000:" + s.topic)
	}
	return []byte(s.topic)
}

func numberAs(n int64, encoding string) []byte {
	at := time.UnixMilli(n).UTC()
	switch encoding {
	case "int32be", "int32be-or-int8":
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	case "int64be":
		return binary.BigEndian.AppendUint64(nil, uint64(n))
	case "bigint-be":
		return big.NewInt(n).Bytes()
	case "iso8601-utf8":
		return []byte(at.Format("2006-01-02T15:04:05.0000000Z")) // seven digits, as .NET writes
	}
	return fmt.Append(nil, n)
}

// made is a letter made from a row of the facts, without the fields left out.
func made(row factRow, s story, without ...string) *sources.DeadLetter {
	l := &sources.DeadLetter{Queue: queueFor(row), Timestamp: time.UnixMilli(1789373999000).UTC(), Body: []byte(`{"id":1}`), Key: []byte("k")}
	if row.Transport == "sqs" {
		l.Place.MessageID, l.System = "m-1", map[string]string{"SentTimestamp": "1789373999000", "ApproximateReceiveCount": "1"}
	}
	tree := map[string]any{}
	var key []byte
	for _, name := range fieldNames(row) {
		f := row.Fields[name]
		if slices.Contains(without, name) || name == "reason" && f.Name == row.Fields["exception_message"].Name {
			continue // the message is the reason
		}
		value := s.value(name, f)
		switch header := strings.Split(f.Name, " | ")[0]; {
		case strings.HasPrefix(f.Encoding, "sqs-system"):
			l.System[f.Name] = string(value)
		case f.Encoding == "protobuf" && strings.HasPrefix(f.Name, "key."):
			key = appendWire(key, f.Path, value)
		case f.Encoding == "protobuf":
			l.Headers = append(l.Headers, sources.Header{Name: f.Name, Value: appendWire(nil, f.Path, value)})
		case slices.Contains(headersWithJSON, f.Name) || strings.Contains(f.Name, "Stamp"):
			addToHeader(l, f, value)
		case f.Encoding == "json" || strings.HasPrefix(f.Encoding, "json-") || f.Encoding == "envelope-header":
			put(tree, pathOf(f), string(value))
		case strings.Contains(f.Encoding, "avro"):
		default:
			header = strings.NewReplacer("*original*partition*", "x-original-partition", "*original*offset*", "x-original-offset", "(s)", "s").Replace(header)
			setHeader(l, header, value)
		}
	}
	if len(tree) > 0 {
		l.Body, _ = json.Marshal(tree)
	}
	if key != nil {
		l.Key = key
	}
	finish(row, s, l)
	return l
}

// fieldNames are the fields in the order of the names on the wire.
func fieldNames(row factRow) []string {
	var out []string
	for name := range row.Fields {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

var headersWithJSON = []string{"asyncRetry", "bag"}

func queueFor(row factRow) string {
	for _, m := range row.Markers {
		switch {
		case strings.HasPrefix(m, "queue:"):
			return m[len("queue:"):]
		case strings.HasPrefix(m, "key:"):
			return "payments.captured__ledger-writer__dlq"
		}
	}
	return "captured-dlq"
}

// finish adds what marks a body besides its fields.
func finish(row factRow, s story, l *sources.DeadLetter) {
	switch row.ID {
	case "sns-subscription-dlq":
		l.Body = bytes.Replace(l.Body, []byte(`{`), []byte(`{"Type":"Notification",`), 1)
	case "lambda-esm-kafka":
		l.Body = fmt.Appendf(nil, `{"requestContext":{"condition":"fault","functionArn":"f"},"KafkaBatchInfo":{"recordsInfo":{"%s-%d":{"firstRecordOffset":%d}}}}`, s.topic, s.partition, s.offset)
	case "eventbridge-custom-bus-dlq":
		l.Body = bytes.Replace(l.Body, []byte(`{`), []byte(`{"subscriberArn":"s","failedMessages":[{"eventId":"e"}],`), 1)
	case "s3-event":
		l.Body = []byte(`{"Records":[{"eventSource":"aws:s3","s3":{"bucket":{"name":"b"}}}]}`)
	case "sqs-extended-client":
		l.Body = []byte(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`)
	case "celery-kombu-sqs":
		l.Body = []byte(base64.StdEncoding.EncodeToString([]byte(`{"headers":{"task":"t"},"properties":{"delivery_info":{"routing_key":"` + s.topic + `"}}}`)))
	case "laravel-sqs":
		l.Body = []byte(`{"job":"j","displayName":"d","data":{"commandName":"c","command":"O:1:\"x\":0:{}"}}`)
	case "lambda-async-dlq":
		setHeader(l, "ErrorCode", []byte("200"))
	case "cloudevents-kafka":
		setHeader(l, "ce_specversion", []byte("1.0"))
	case "nservicebus-kafka":
		setHeader(l, "NServiceBus.FailedQ", []byte("ledger"))
	case "bakdata-deadletter-avro":
		l.Body = avroLetter(s)
	case "confluent-flink-error-log":
		l.Queue, l.Body = "error_log", append([]byte{0, 0, 0, 0, 7}, "row"...)
	case "ksqldb-processing-log":
		l.Queue, l.Body = "defaultksql_processing_log", fmt.Appendf(nil,
			`{"logger":"q","time":%d,"message":{"type":0,"deserializationError":{"errorMessage":%q,"topic":%q}}}`, s.failed, s.message, s.topic)
	}
}

// avroLetter is bakdata's DeadLetter behind the framing of a schema registry.
func avroLetter(s story) []byte {
	out := []byte{0, 0, 0, 0, 9}
	text := func(v string) {
		out = binary.AppendVarint(out, int64(len(v)))
		out = append(out, v...)
	}
	some := func() { out = binary.AppendVarint(out, 1) }
	some()
	text("rendered input")
	some()
	text(s.topic)
	some()
	out = binary.AppendVarint(out, s.partition)
	some()
	out = binary.AppendVarint(out, s.offset)
	text("what failed")
	for _, v := range []string{s.class, s.message, s.stack} {
		some()
		text(v)
	}
	some()
	return binary.AppendVarint(out, s.stamp)
}

func setHeader(l *sources.DeadLetter, name string, value []byte) {
	for i := range l.Headers {
		if l.Headers[i].Name == name {
			l.Headers[i].Value = value
			return
		}
	}
	l.Headers = append(l.Headers, sources.Header{Name: name, Value: value, Type: "String"})
}

// addToHeader puts a field into the JSON that a header holds.
func addToHeader(l *sources.DeadLetter, f factField, value []byte) {
	name, path := f.Name, strings.TrimPrefix(f.Path, "bag->")
	if at := strings.LastIndexByte(f.Name, '\\'); at >= 0 {
		name = stampPrefix + f.Name[at+1:]
		path = strings.TrimPrefix(path, "[last].")
		setHeader(l, name, fmt.Appendf(nil, `[{"%s":"old"},{"%s":%q}]`, path, path, value))
		if strings.Contains(name, "ErrorDetails") { // three fields share this one
			setHeader(l, name, fmt.Appendf(nil, `[{},{"exceptionClass":%q,"exceptionMessage":%q,"exceptionCode":0}]`, first.class, first.message))
		}
		return
	}
	tree := map[string]any{}
	for _, h := range l.Headers {
		if h.Name == name {
			_ = json.Unmarshal(h.Value, &tree)
		}
	}
	tree[path] = json.RawMessage(fmt.Sprintf("%q", value))
	if _, ok := digits(value); ok {
		tree[path] = json.RawMessage(value)
	}
	text, _ := json.Marshal(tree)
	setHeader(l, name, text)
}

func pathOf(f factField) []string {
	path := strings.Split(f.Path, " | ")[0]
	if path == "" {
		path = f.Name
	}
	path = strings.NewReplacer("*.", "KinesisBatchInfo.", "[]", "").Replace(path)
	if rest, ok := strings.CutPrefix(path, "Headers.NServiceBus."); ok {
		return []string{"Headers", "NServiceBus." + rest}
	}
	return strings.Split(path, ".")
}

func put(tree map[string]any, path []string, value string) {
	for _, p := range path[:len(path)-1] {
		next, ok := tree[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[p] = next
		}
		tree = next
	}
	tree[path[len(path)-1]] = value
}

func appendWire(out []byte, number string, value []byte) []byte {
	n, _ := digits([]byte(number))
	if v, ok := digits(value); ok {
		return binary.AppendUvarint(binary.AppendUvarint(out, uint64(n)<<3), uint64(v))
	}
	out = binary.AppendUvarint(out, uint64(n)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}
