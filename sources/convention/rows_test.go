package convention

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// wantOf is what must be read from a letter that tells a story by a row.
func wantOf(row factRow, s story, without ...string) map[string]string {
	out := map[string]string{"convention": row.ID}
	for name, f := range row.Fields {
		if slices.Contains(without, name) {
			continue
		}
		switch name {
		case "original_topic":
			out["queue"] = s.topic
		case "original_partition":
			out["partition"] = fmt.Sprint(s.partition)
		case "original_offset":
			out["offset"] = fmt.Sprint(s.offset)
		case "original_timestamp":
			out["stamp"] = fmt.Sprint(s.stamp)
		case "consumer_group":
			out["group"] = s.group
		case "exception_class":
			out["class"] = s.class
		case "exception_code":
			if row.Fields["exception_class"].Name == "" {
				out["class"] = s.class
			}
		case "root_cause_class":
			out["root"] = s.root
		case "exception_message":
			out["message"] = s.message
		case "stacktrace":
			out["stack"] = s.stack
		case "failed_at":
			out["failed"] = fmt.Sprint(s.failed)
		case "attempts":
			out["attempts"] = fmt.Sprint(s.attempts + int64(f.Adjust))
		}
	}
	for name, value := range exceptions[row.ID] {
		out[name] = value
		if value == "" {
			delete(out, name)
		}
	}
	return out
}

// exceptions are where a row of the facts says more in its notes than in its
// table of fields; "" is nothing.
var exceptions = map[string]map[string]string{
	"kafka-share-group-dlq":      {"failed": "1789373999000"}, // the record's own time
	"kafka-connect-dlq":          {"stamp": "1789373999000", "group": "connect-some-connector"},
	"kafka-streams-dlq":          {"stamp": "1789373999000"},
	"bakdata-streams-headers":    {"stamp": "1789373999000"},
	"micronaut-dlq":              {"stamp": "1789373999000"},
	"spring-cloud-stream-kafka":  {"group": ""},                                                                         // in the name error.<topic>.<group> only
	"lambda-async-dlq":           {"class": ""},                                                                         // an HTTP status is no class
	"lambda-esm-stream":          {"partition": "", "offset": ""},                                                       // a shard and 184 bits
	"confluent-flink-error-log":  {"queue": "", "partition": "", "offset": "", "stamp": "", "class": "", "message": ""}, // Avro without its schema
	"uber-uforwarder":            {"group": "ledger-writer"},                                                            // in the name of the topic
	"uber-kafka-client":          {"group": "ledger-writer"},
	"kafkajs-async-retry":        {"group": "captured"},
	"lambda-esm-kafka":           {"attempts": "", "partition": "3"},
	"confluent-connect-reporter": {"stack": "some-exception_detail"},
	"nservicebus-kafka":          {"queue": "ledger"},
}

func gotOf(l *sources.DeadLetter) map[string]string {
	out := map[string]string{}
	set := func(name, value string) {
		if value != "" && value != "<nil>" {
			out[name] = value
		}
	}
	set("convention", l.Convention)
	set("queue", l.Origin.Queue)
	set("group", l.Origin.Group)
	set("class", l.Reason.Class)
	set("root", l.Reason.RootClass)
	set("message", l.Reason.Message)
	set("stack", l.Reason.Stack)
	if l.Origin.Partition != nil {
		set("partition", fmt.Sprint(*l.Origin.Partition))
	}
	if l.Origin.Offset != nil {
		set("offset", fmt.Sprint(*l.Origin.Offset))
	}
	if l.Attempts != nil {
		set("attempts", fmt.Sprint(*l.Attempts))
	}
	if !l.Origin.Timestamp.IsZero() {
		set("stamp", fmt.Sprint(l.Origin.Timestamp.UnixMilli()))
	}
	if !l.FailedAt.IsZero() {
		set("failed", fmt.Sprint(l.FailedAt.UnixMilli()))
	}
	return out
}

func compare(t *testing.T, what string, l *sources.DeadLetter, want map[string]string) {
	t.Helper()
	got := gotOf(l)
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %q, want %q", what, name, got[name], want[name])
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing, want %q", what, name, want[name])
		}
	}
}

// silentIDs are rows of the facts that write nothing.
func silentIDs() []string {
	var out []string
	for _, s := range silent {
		out = append(out, s.ID)
	}
	return out
}

// storyFor is the story in the units of the row.
func storyFor(row factRow) story {
	s := first
	if row.ID == "uber-kafka-client" {
		s.stamp = first.stamp * 1e6
	}
	return s
}

func wantFor(row factRow, s story, without ...string) map[string]string {
	want := wantOf(row, s, without...)
	if row.ID == "uber-kafka-client" && want["stamp"] != "" {
		want["stamp"] = fmt.Sprint(first.stamp)
	}
	if row.ID == "cloudevents-kafka" || row.ID == "s3-event" || row.ID == "sqs-extended-client" {
		delete(want, "queue")
	}
	return want
}

func TestEveryRowOfTheFactsIsRecognised(t *testing.T) {
	rows := facts(t)
	if len(rows) != 60 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if slices.Contains(silentIDs(), row.ID) {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			s := storyFor(row)
			l := made(row, s)
			New(nil, nil).Recognise(l)
			compare(t, "whole", l, wantFor(row, s))
			for _, h := range l.Headers {
				if strip := matchesAny(row.Strip, h.Name, false); strip && !slices.Contains(l.ErrorHeaders, h.Name) {
					t.Errorf("a redrive would keep %s", h.Name)
				}
			}
		})
	}
}

func TestEveryRowIsKnownToTheDocs(t *testing.T) {
	all := map[string]bool{}
	for _, c := range Conventions() {
		if c.Framework == "" || c.Transport == "" || all[c.ID] {
			t.Errorf("%+v", c)
		}
		all[c.ID] = true
	}
	for _, row := range facts(t) {
		if !all[row.ID] {
			t.Errorf("%s of the facts is not in the table", row.ID)
		}
	}
}

// marks are the fields without which a row of that kind is not recognised.
var marks = map[string][]string{
	"wolverine-kafka-dlq": {"original_topic", "failed_at"}, "brighter-kafka": {"reason"},
	"dapr-pubsub-kafka": {"original_topic", "original_offset"}, "arroyo-dlq": {"original_partition", "original_offset"},
	"kafka-streams-dlq": {"exception_class"}, "bakdata-streams-headers": {"exception_class", "description"},
	"spring-cloud-stream-kafka": {"original_topic", "original_offset", "original_timestamp_type", "exception_class", "stacktrace"},
	"lambda-async-dlq":          {"request_id", "exception_code", "exception_message"},
	"nestjs-kafka-dlt-text":     {"original_partition", "original_offset", "original_topic", "original_timestamp"},
	"sqs-native-redrive":        {"original_topic"}, "symfony-messenger": {"exception_class", "exception_message", "exception_code"},
	"uber-uforwarder": {"original_topic", "original_timestamp", "original_key"}, "uber-kafka-client": {"original_topic", "original_timestamp", "original_key"},
	"nservicebus-sqs": {"original_topic"}, "lambda-destination": {"function"}, "beam-bad-record": {"stacktrace"}, "vector-reroute-dropped": {"reason"},
	"smallrye-delayed-retry": {"attempts", "original_topic"}, "spring-kafka-retryable-topic": {"attempts", "first_seen"},
	"redpanda-connect-fallback": {"exception_message"}, "masstransit-kafka": {"exception_message"}, "micronaut-dlq": {"original_topic"},
	"decaton-retry": {"attempts"}, "eventbridge-custom-bus-dlq": {}, "kafkajs-async-retry": {"retry_due"}, "shoryuken": {"worker"},
	"spring-cloud-aws-sqs": {"java_type"}, "brighter-sqs": {"original_topic", "reason"}, "eventbridge-scheduler-dlq": {"original_topic"},
	"handrolled-chain": {"original_topic", "exception_message"}, "silverback-move": {"original_topic", "exception_class"},
	"lambda-esm-stream": {"original_topic"}, "sns-subscription-dlq": {"original_topic"}, "masstransit-sqs": {"input_address"}, "lambda-esm-kafka": {"original_topic", "original_offset", "reason"},
	"posthog-dlq": {"reason", "exception_message", "step"}, "watermill-poison": {"reason", "original_topic"}, "watermill-sqs": {"reason", "original_topic", "exception_message"},
}

// TestAFieldLessIsAFieldLess leaves each field out that does not mark its row:
// the others must be read as before.
func TestAFieldLessIsAFieldLess(t *testing.T) {
	fixed := []string{
		"ksqldb-processing-log", "bakdata-deadletter-avro", "confluent-flink-error-log", "celery-kombu-sqs", "lambda-esm-kafka",
		"laravel-sqs", "s3-event", "nservicebus-kafka", "sqs-extended-client", "cloudevents-kafka", "watermill-poison", "watermill-sqs", "posthog-dlq",
	}
	for _, row := range facts(t) {
		if slices.Contains(silentIDs(), row.ID) || slices.Contains(fixed, row.ID) {
			continue
		}
		for name := range row.Fields {
			if slices.Contains(marks[row.ID], name) || strings.Contains(row.Fields[name].Name, "Stamp") || name == "connector" || row.ID == "wolverine-sqs" && name == "original_topic" {
				continue
			}
			s := storyFor(row)
			l := made(row, s, name)
			New(nil, nil).Recognise(l)
			want := wantFor(row, s, name)
			if strings.HasPrefix(row.ID, "spring") && name == "exception_class" && want["class"] == "" && row.Fields["key_exception_class"].Name != "" {
				want["class"] = "some-key_exception_class" // the key's own failure stands in
			}
			for part, stand := range map[string]string{"exception_message": "message", "stacktrace": "stack"} {
				if name == part && row.Fields["key_"+part].Name != "" {
					want[stand] = "some-key_" + part
				}
				if name == "exception_message" && row.Fields["key_exception_message"].Name == "" && strings.HasPrefix(row.ID, "spring-kafka-retry") {
					delete(want, "message")
				}
			}
			if name == "attempts" && row.Transport == "sqs" && row.Fields["attempts"].Name == "ApproximateReceiveCount" {
				want["attempts"] = "1" // the count that every message has
			}
			if name == "original_timestamp" && row.ID == "sqs-native-redrive" {
				want["stamp"] = "1789373999000"
			}
			if row.ID == "confluent-connect-reporter" && name == "exception_detail" {
				delete(want, "stack")
			}
			if row.ID == "masstransit-sqs" && name == "original_topic" {
				want["queue"] = s.topic // by the same header
			}
			compare(t, row.ID+" without "+name, l, want)
		}
	}
}

// TestTheNewestHopLeads writes the headers of two hops, one before the other as
// the row's rule for duplicates has it.
func TestTheNewestHopLeads(t *testing.T) {
	for _, row := range facts(t) {
		if row.Transport != "kafka" || !slices.Contains([]string{"last-wins", "first-wins", "first-hop-wins", "single"}, row.Duplicates) {
			continue
		}
		older, newer := made(row, first), made(row, second)
		if len(older.Headers) == 0 || slices.Contains(silentIDs(), row.ID) || row.ID == "cloudevents-kafka" || row.ID == "decaton-retry" {
			continue
		}
		l := *newer
		l.Headers = slices.Concat(older.Headers, newer.Headers)
		want := wantFor(row, second)
		switch row.Duplicates {
		case "first-wins":
			l.Headers = slices.Concat(newer.Headers, older.Headers)
		case "first-hop-wins":
			want = wantFor(row, first)
		}
		if row.ID == "smallrye-delayed-retry" {
			l.Headers = slices.DeleteFunc(l.Headers, perRecord) // a count and two times, once
			l.Headers = append(l.Headers, slices.DeleteFunc(slices.Clone(newer.Headers), func(h sources.Header) bool { return !perRecord(h) })...)
		}
		New(nil, nil).Recognise(&l)
		compare(t, row.ID, &l, want)
		if row.Duplicates == "last-wins" || row.Duplicates == "first-wins" {
			if back := first.topic; row.ID != "arroyo-dlq" && row.ID != "handrolled-chain" && l.RedriveTo != back {
				t.Errorf("%s: goes back to %q, want %q past the dead-letter queue", row.ID, l.RedriveTo, back)
			}
		}
	}
}

func perRecord(h sources.Header) bool {
	return slices.Contains([]string{"delayed-retry-count", "delayed-retry-original-timestamp", "delayed-retry-first-processing-timestamp"}, h.Name)
}

// TestDamagedValuesAreUnknown: every number of every row with bytes that are
// none; everything else stays readable.
func TestDamagedValuesAreUnknown(t *testing.T) {
	damaged := [][]byte{nil, {}, {1, 2, 3}, []byte("12 apples"), []byte("-1"), []byte("99999999999999999999"), []byte("+5"), {0xff, 0xff, 0xff, 0xff}, []byte("0x10"), []byte(strings.Repeat("9", 70000))}
	for _, row := range facts(t) {
		for _, name := range []string{"original_partition", "original_offset"} {
			f := row.Fields[name]
			if f.Name == "" || strings.ContainsAny(f.Encoding, ":") || row.Transport != "kafka" || strings.Contains(f.Encoding, "avro") || f.Encoding == "protobuf" {
				continue
			}
			header := strings.NewReplacer("*original*partition*", "x-original-partition", "*original*offset*", "x-original-offset").Replace(f.Name)
			for _, value := range damaged {
				l := made(row, first)
				setHeader(l, header, value)
				New(nil, nil).Recognise(l)
				if name == "original_partition" && l.Origin.Partition != nil || name == "original_offset" && l.Origin.Offset != nil {
					t.Errorf("%s: %.20q reads as a number of %s", row.ID, value, name)
				}
				if want := wantFor(row, first)["queue"]; row.ID != "arroyo-dlq" && l.Origin.Queue != want {
					t.Errorf("%s: with %.20q as %s the queue is %q, want %q", row.ID, value, name, l.Origin.Queue, want)
				}
			}
		}
	}
}

func TestEightDigitsAreText(t *testing.T) {
	for raw, want := range map[string]int64{"12345678": 12345678, "1234": 1234, "0": 0, "\x00\x00\x00\x03": 3, "\x00\x00\x00\x00\x00\x06\x2b\x2d": 404269} {
		for _, as := range []encoding{int32BE, int64BE, anyInt} {
			if n, ok := number([]byte(raw), as); !ok || n != want {
				t.Errorf("%q: %d, %v, want %d", raw, n, ok, want)
			}
		}
	}
	for _, raw := range []string{"abcd", "abcdefgh", "\x01\x02\x03", ""} {
		if n, ok := number([]byte(raw), anyInt); ok {
			t.Errorf("%q reads as %d", raw, n)
		}
	}
	if n, ok := number([]byte("\x00\x00\x00\x07"), decimal); ok {
		t.Errorf("a convention that writes text wrote four bytes, and they read as %d", n)
	}
	six := binary.BigEndian.AppendUint64(nil, 1789373730125)[2:]
	if n, ok := number(six, bigint); !ok || n != 1789373730125 {
		t.Errorf("six bytes of a BigInteger: %d, %v", n, ok)
	}
}

func TestTimesInAllTheirSpellings(t *testing.T) {
	want := time.Date(2026, 9, 14, 8, 15, 42, 500000000, time.UTC)
	for _, raw := range []string{
		"2026-09-14T08:15:42.5Z", "2026-09-14T08:15:42.5000000Z", "2026-09-14T10:15:42.500+02:00", "2026-09-14 08:15:42:500000 Z",
		"2026-09-14T08:15:42.500", "2026-09-14 08:15:42.5", "1789373742500",
	} {
		if got := instant([]byte(raw), anyTime); !got.Equal(want) {
			t.Errorf("%s: %s", raw, got)
		}
	}
	if got := instant([]byte("1789373742"), anyTime); got.Unix() != 1789373742 {
		t.Errorf("seconds: %s", got)
	}
	for _, raw := range []string{"-1", "", "yesterday", "9223372036854775807", "2026-99-99T00:00:00Z", strings.Repeat("2", 100)} {
		if got := instant([]byte(raw), anyTime); !got.IsZero() {
			t.Errorf("%q: %s", raw, got)
		}
	}
}
