package convention

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

func headers(pairs ...string) []sources.Header {
	var out []sources.Header
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, sources.Header{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return out
}

func recognised(l sources.DeadLetter, queues ...string) *sources.DeadLetter {
	New(nil, func() []string { return queues }).Recognise(&l)
	return &l
}

func TestC07BinaryOriginOfSpring(t *testing.T) {
	l := recognised(sources.DeadLetter{Queue: "orders-dlt", Headers: headers(
		"kafka_dlt-original-topic", "orders", "kafka_dlt-original-partition", "\x00\x00\x00\x03",
		"kafka_dlt-original-offset", "\x00\x00\x00\x00\x00\x06\x2b\x2d", "kafka_dlt-original-timestamp", "\x00\x00\x01\x85\x71\x8c\x56\xb8",
		"kafka_dlt-exception-fqcn", "com.acme.E")})
	at := l.Origin.Timestamp.Format(time.RFC3339Nano)
	if l.Origin.Queue != "orders" || *l.Origin.Partition != 3 || *l.Origin.Offset != 404269 || at != "2023-01-02T08:15:00.792Z" || l.RedriveTo != "orders" {
		t.Errorf("%+v at %s, back to %s", l.Origin, at, l.RedriveTo)
	}
}

func TestC15AHeaderCalledErrorIsNoReasonByItself(t *testing.T) {
	l := recognised(sources.DeadLetter{Queue: "orders", Headers: headers("error", "1"), Body: []byte(`{"error":"card declined"}`)})
	if l.Convention != "" || l.Reason.Message != "" {
		t.Errorf("%+v", l)
	}
	l = recognised(sources.DeadLetter{Queue: "orders.dlq", Headers: headers("error", "1")})
	if l.Reason.Message != "" {
		t.Errorf("a number became the message %q", l.Reason.Message)
	}
}

func TestC64APointerGoesBackAsItIs(t *testing.T) {
	l := recognised(sources.DeadLetter{
		Queue: "q-dlq", Place: sources.Place{MessageID: "m"}, System: map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:r:0:q"},
		Headers: headers("ExtendedPayloadSize", "300000"), Body: []byte(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`),
	})
	if l.Convention != "sqs-extended-client" || l.NotTheOriginal || len(l.ErrorHeaders) > 0 || l.Origin.Queue != "q" || l.RedriveTo != "q" {
		t.Errorf("%+v", l)
	}
}

func TestC81ConnectWithAndWithoutContextHeaders(t *testing.T) {
	a := recognised(sources.DeadLetter{Queue: "dlq.sink", Headers: headers(
		"__connect.errors.topic", "data-topic", "__connect.errors.partition", "0", "__connect.errors.offset", "404269",
		"__connect.errors.stage", "VALUE_CONVERTER", "__connect.errors.connector.name", "sink",
		"__connect.errors.exception.class.name", "a.B", "__connect.errors.exception.message", "m", "__connect.errors.exception.stacktrace", "s")})
	if a.Origin.Queue != "data-topic" || *a.Origin.Partition != 0 || *a.Origin.Offset != 404269 || a.Reason.Code != "VALUE_CONVERTER" || a.Reason.Class != "a.B" || a.Origin.Group != "connect-sink" {
		t.Errorf("%+v %+v", a.Origin, a.Reason)
	}
	b := recognised(sources.DeadLetter{Queue: "dlq.sink"}, "data-topic", "dlq.sink")
	if b.Origin.Queue != "" || b.RedriveTo != "" || b.Convention != "" || b.Attempts != nil {
		t.Errorf("nothing can be told, and yet: %+v", b)
	}
}

func TestC82BothHeaderFamiliesGiveTheSameOrigin(t *testing.T) {
	for _, prefix := range []string{"kafka_dlt-original-", "kafka_original-"} {
		l := recognised(sources.DeadLetter{Queue: "orders-dlt", Headers: headers(
			prefix+"topic", "orders", prefix+"partition", "\x00\x00\x00\x02", prefix+"offset", "\x00\x00\x00\x00\x00\x00\x00\x09")})
		if l.Origin.Queue != "orders" || *l.Origin.Partition != 2 || *l.Origin.Offset != 9 || l.Convention == "" {
			t.Errorf("%s: %+v by %q", prefix, l.Origin, l.Convention)
		}
	}
	for name, kind := range map[string]sources.QueueKind{
		"orders.DLT": sources.DeadLetterQueue, "orders-dlt": sources.DeadLetterQueue, "orders-retry-0": sources.RetryQueue,
		"orders.dlq": sources.DeadLetterQueue, "dead-letters": sources.DeadLetterQueue, "orders": sources.WorkQueue,
	} {
		if got := KindOf(name); got != kind {
			t.Errorf("%s is %s, want %s", name, got, kind)
		}
	}
}

// TestTwoConventionsAtOnce: a letter that went through two frameworks has both
// headers; the newest hop leads.
func TestTwoConventionsAtOnce(t *testing.T) {
	spring := headers("kafka_dlt-original-topic", "orders", "kafka_dlt-original-partition", "\x00\x00\x00\x03",
		"kafka_dlt-exception-fqcn", "com.acme.E", "kafka_dlt-exception-message", "first failure")
	connect := headers("__connect.errors.topic", "orders-dlt", "__connect.errors.partition", "1", "__connect.errors.offset", "5",
		"__connect.errors.connector.name", "dlt-sink", "__connect.errors.exception.class.name", "a.Sink", "__connect.errors.exception.message", "second failure")
	l := recognised(sources.DeadLetter{Queue: "dlq.dlt-sink", Headers: slices.Concat(headers("x-tag", "a"), spring, connect)})
	if l.Convention != "kafka-connect-dlq" || l.Origin.Queue != "orders-dlt" || l.Reason.Message != "second failure" || l.RedriveTo != "orders" {
		t.Errorf("%s: %+v, %+v, back to %s", l.Convention, l.Origin, l.Reason, l.RedriveTo)
	}
	if len(l.Earlier) != 1 || l.Earlier[0].Queue != "orders" || *l.Earlier[0].Partition != 3 {
		t.Errorf("earlier: %+v", l.Earlier)
	}
	if slices.Contains(l.ErrorHeaders, "x-tag") || len(l.ErrorHeaders) != len(spring)+len(connect) {
		t.Errorf("drops %q", l.ErrorHeaders)
	}

	smallrye := headers("dead-letter-reason", "second failure", "dead-letter-topic", "orders-dlt", "dead-letter-partition", "1", "dead-letter-offset", "5")
	l = recognised(sources.DeadLetter{Queue: "dead-letter-topic-x", Headers: slices.Concat(smallrye, spring)})
	if l.Convention != "smallrye-dlq" || l.Reason.Message != "second failure" || l.RedriveTo != "orders" {
		t.Errorf("%s: %+v, back to %s", l.Convention, l.Reason, l.RedriveTo)
	}
	back := headers("dead-letter-reason", "first failure", "dead-letter-topic", "orders")
	again := headers("kafka_dlt-original-topic", "dead-letter-topic-x", "kafka_dlt-exception-fqcn", "com.acme.E", "kafka_dlt-exception-message", "second failure")
	l = recognised(sources.DeadLetter{Queue: "dead-letter-topic-x-dlt", Headers: slices.Concat(back, again)})
	if l.Convention != "spring-kafka-dlpr" || l.Reason.Message != "second failure" || l.RedriveTo != "orders" {
		t.Errorf("%s: %+v, back to %s", l.Convention, l.Reason, l.RedriveTo)
	}
}

func TestANullMessageIsNotAnOlderOne(t *testing.T) {
	one := headers("__connect.errors.topic", "orders", "__connect.errors.connector.name", "c", "__connect.errors.exception.message", "old")
	two := headers("__connect.errors.topic", "dlq.orders", "__connect.errors.connector.name", "c")
	two = append(two, sources.Header{Name: "__connect.errors.exception.message"})
	l := recognised(sources.DeadLetter{Queue: "dlq.two", Headers: slices.Concat(one, two)})
	if l.Reason.Message != "" || l.Origin.Queue != "dlq.orders" {
		t.Errorf("%q from %s", l.Reason.Message, l.Origin.Queue)
	}
	one = headers("dead-letter-reason", "new", "dead-letter-topic", "t-dlq")
	two = headers("dead-letter-reason", "old", "dead-letter-cause-class-name", "a.Old", "dead-letter-topic", "t")
	if l := recognised(sources.DeadLetter{Queue: "q", Headers: slices.Concat(one, two)}); l.Reason.RootClass != "" || l.Reason.Message != "new" {
		t.Errorf("%+v", l.Reason)
	}
}

func TestShareGroups(t *testing.T) {
	for text, code := range map[string]string{
		"Offset delivery count exceeded the threshold.": "delivery-count-exceeded", "Offset rejected by client.": "client-rejected", "Something new.": "",
	} {
		l := recognised(sources.DeadLetter{Queue: "dlq.g", Headers: headers("__dlq.errors.topic", "t", "__dlq.errors.message", text)})
		if l.Reason.Code != code || !l.NotTheOriginal {
			t.Errorf("%q: code %q, not the original: %v", text, l.Reason.Code, l.NotTheOriginal)
		}
	}
	id := "Xk3vNpQ2S_e0Zr5tYb-7iA" // the text of a topic id stands in for a name that is gone
	l := recognised(sources.DeadLetter{Queue: "dlq.g", Key: []byte("k"), Body: []byte("v"), Headers: headers("__dlq.errors.topic", id)})
	if l.Origin.Queue != id || l.RedriveTo != "" || l.NotTheOriginal {
		t.Errorf("%+v back to %q", l.Origin, l.RedriveTo)
	}
	if isTopicID("payment-retry-requests") {
		t.Error("a name of 22 characters is taken for an id")
	}
}

func TestTheRootCause(t *testing.T) {
	for name, c := range map[string]struct{ class, stack, want string }{
		"Java":            {"a.Outer", "a.Outer: x\n\tat a.B.c(B.java:1)\nCaused by: b.Middle: y\n\t... 1 more\nCaused by: c.Inner: z\n\tat c.D.e(D.java:2)\n", "c.Inner"},
		"without message": {"a.Outer", "a.Outer\nCaused by: c.Inner\n\tat c.D.e(D.java:2)\n", "c.Inner"},
		".NET":            {"System.Outer", "System.Outer: x\n ---> System.IO.Inner: y\n   at A.B()\n   --- End of inner exception stack trace ---\n", "System.IO.Inner"},
		"itself":          {"a.B", "a.B: x\n\tat a.B.c(B.java:1)\n", ""},
		"a message":       {"a.B", "a.B: Caused by: you\n", ""},
		"nothing":         {"", "", ""},
	} {
		l := recognised(sources.DeadLetter{Queue: "t-dlt", Headers: headers("kafka_dlt-original-topic", "t", "kafka_dlt-exception-fqcn", c.class, "kafka_dlt-exception-stacktrace", c.stack)})
		if l.Reason.RootClass != c.want {
			t.Errorf("%s: %q, want %q", name, l.Reason.RootClass, c.want)
		}
	}
}

func TestBodiesThatAreNotTheRecord(t *testing.T) {
	describing := []string{"confluent-connect-reporter", "ksqldb-processing-log", "bakdata-deadletter-avro", "confluent-flink-error-log", "beam-bad-record", "lambda-destination", "lambda-esm-stream", "lambda-esm-kafka", "eventbridge-custom-bus-dlq"}
	for _, row := range facts(t) {
		if slices.Contains(silentIDs(), row.ID) {
			continue
		}
		l := made(row, first)
		New(nil, nil).Recognise(l)
		if want := slices.Contains(describing, row.ID); l.NotTheOriginal != want {
			t.Errorf("%s: not the original %v, want %v", row.ID, l.NotTheOriginal, want)
		}
	}
}

func TestSQSAttemptsAreThoseOfTheAdapter(t *testing.T) {
	at := func(system map[string]string, preset *int, headers []sources.Header) *sources.DeadLetter {
		l := sources.DeadLetter{Queue: "q-dlq", Place: sources.Place{MessageID: "m"}, System: system, Attempts: preset, Headers: headers}
		New(nil, nil).Recognise(&l)
		return &l
	}
	five := 5
	moved := map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:r:0:q", "ApproximateReceiveCount": "9"}
	if l := at(moved, &five, nil); *l.Attempts != 5 || l.Convention != "sqs-native-redrive" {
		t.Errorf("%d by %s", *l.Attempts, l.Convention)
	}
	if l := at(moved, nil, nil); *l.Attempts != 9 {
		t.Errorf("%d", *l.Attempts)
	}
	if l := at(map[string]string{"ApproximateReceiveCount": "9"}, nil, nil); l.Attempts != nil || l.Convention != "" {
		t.Errorf("looks at the dead-letter queue are no attempts: %d by %q", *l.Attempts, l.Convention)
	}
	// An emulator that does not write the ARN: the policy tells the adapter.
	l := sources.DeadLetter{Queue: "q-dlq", Place: sources.Place{MessageID: "m"}, Attempts: &five, Origin: sources.Origin{Queue: "q"}, Convention: "policy"}
	New(nil, nil).Recognise(&l)
	if *l.Attempts != 5 || l.Origin.Queue != "q" || l.Convention != "policy" || l.RedriveTo != "q" {
		t.Errorf("%+v", l)
	}
	// MassTransit's own count does not stand against SQS's, its reason does.
	l = *at(moved, &five, headers("MT-Fault-Message", "boom", "MT-Fault-InputAddress", "amazonsqs://h/q"))
	if *l.Attempts != 5 || l.Reason.Message != "boom" || l.Convention != "masstransit-sqs" || l.Origin.Queue != "q" {
		t.Errorf("%+v", l)
	}
}

func TestSQSTimes(t *testing.T) {
	system := map[string]string{"SentTimestamp": "1789373730125"}
	l := recognised(sources.DeadLetter{Queue: "x", Place: sources.Place{MessageID: "m"}, System: system, Headers: headers("reason_poisoned", "r", "topic_poisoned", "t")})
	if l.DeadAt.UnixMilli() != 1789373730125 {
		t.Errorf("an application that dead-letters sends then: %s", l.DeadAt)
	}
	system["DeadLetterQueueSourceArn"] = "arn:aws:sqs:r:0:q"
	l = recognised(sources.DeadLetter{Queue: "x", Place: sources.Place{MessageID: "m"}, System: system})
	if !l.DeadAt.IsZero() || l.Origin.Timestamp.UnixMilli() != 1789373730125 {
		t.Errorf("SQS keeps the time of the first send: %s, %s", l.DeadAt, l.Origin.Timestamp)
	}
}

func TestAnEnvelopeOfASubscribedQueueDiedInTheQueue(t *testing.T) {
	body := []byte(`{"Type":"Notification","TopicArn":"arn:aws:sns:r:0:paid","Message":"{}"}`)
	system := map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:r:0:q"}
	l := recognised(sources.DeadLetter{Queue: "q-dlq", Place: sources.Place{MessageID: "m"}, System: system, Body: body})
	if l.Convention != "sqs-native-redrive" || l.Origin.Queue != "q" {
		t.Errorf("%s, %+v", l.Convention, l.Origin)
	}
	l = recognised(sources.DeadLetter{Queue: "sub-dlq", Place: sources.Place{MessageID: "m"}, Body: body})
	if l.Convention != "sns-subscription-dlq" || l.Origin.Queue != "paid" || l.RedriveTo != "" {
		t.Errorf("%s, %+v, back to %q: publishing would reach every subscriber", l.Convention, l.Origin, l.RedriveTo)
	}
}

func TestLettersOfSeveralGoroutines(t *testing.T) {
	names := []string{"orders", "orders.dlq"}
	r := New(nil, func() []string { return names })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l := sources.DeadLetter{Queue: "orders.dlq"}
				r.Recognise(&l)
				if l.Origin.Queue != "orders" {
					t.Errorf("%+v", l.Origin)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzRecognise: hostile letters of every convention end in no panic, and in
// names and numbers that can be.
func FuzzRecognise(f *testing.F) {
	for _, c := range table {
		for _, name := range slices.Concat(c.any, c.all, c.weak) {
			f.Add("q-dlq", name, []byte("\x00\x00\x00\x03"), name, []byte(`{"a":[1]}`), []byte(`{"Type":"Notification","TopicArn":"a"}`), []byte("k"), true)
		}
	}
	f.Add("t__g__dlq", "a", []byte(nil), "b", []byte{}, []byte("\x00\x00\x00\x00\x05"), []byte("\x08\x03\x12\x01t"), false)
	f.Fuzz(func(t *testing.T, queue, one string, a []byte, two string, b []byte, body, key []byte, viaSQS bool) {
		l := sources.DeadLetter{Queue: queue, Key: key, Body: body, Headers: []sources.Header{{Name: one, Value: a}, {Name: two, Value: b}, {Name: one, Value: b}, {Name: one}}}
		if viaSQS {
			l.System = map[string]string{one: string(a), two: string(b), "DeadLetterQueueSourceArn": string(body)}
		}
		before := fmt.Sprintf("%q %q %q", l.Headers, l.Body, l.Key)
		New([]Mapping{{Queue: "*", Origin: OriginMapping{Queue: "header:" + one, Offset: "json:/a"}, Attempts: "header:" + two}}, func() []string { return []string{queue, one} }).Recognise(&l)
		if before != fmt.Sprintf("%q %q %q", l.Headers, l.Body, l.Key) {
			t.Fatal("the letter's bytes changed")
		}
		if l.Origin.Partition != nil && *l.Origin.Partition < 0 || l.Origin.Offset != nil && *l.Origin.Offset < 0 || l.Attempts != nil && *l.Attempts < 0 {
			t.Fatalf("%+v", l.Origin)
		}
		for _, s := range []string{l.Origin.Queue, l.RedriveTo} {
			if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }) || len(s) > maxName {
				t.Fatalf("the queue %q", s)
			}
		}
	})
}

func BenchmarkRecognise(b *testing.B) {
	names := make([]string, 1200)
	for i := range names {
		names[i] = fmt.Sprintf("topic-%d", i)
	}
	r := New(nil, func() []string { return names })
	l := sources.DeadLetter{Queue: "orders-dlt", Body: []byte(`{"payment_id":"pay_1","amount":1,"currency":"INR"}`), Headers: headers(
		"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"kafka_dlt-original-topic", "orders", "kafka_dlt-original-partition", "\x00\x00\x00\x03", "kafka_dlt-original-offset", "\x00\x00\x00\x00\x00\x06\x2b\x2d",
		"kafka_dlt-exception-fqcn", "com.acme.E", "kafka_dlt-exception-message", "m", "kafka_dlt-exception-stacktrace", strings.Repeat("\tat a.B.c(D.java:1)\n", 60))}
	for b.Loop() {
		one := l
		r.Recognise(&one)
	}
}

func TestSpringWithOneDamagedNumberIsStillSpring(t *testing.T) {
	l := recognised(sources.DeadLetter{Queue: "t-dlt", Headers: headers("kafka_dlt-original-topic", "t",
		"kafka_dlt-original-partition", "\x00\x00\x03", "kafka_dlt-original-offset", "12345678", "kafka_dlt-original-timestamp", "\xff\xff\xff\xff\xff\xff\xff\xff",
		"kafka_dlt-exception-message", "caf\xe9")})
	if l.Convention != "spring-kafka-dlpr" || l.Origin.Partition != nil || *l.Origin.Offset != 12345678 || !l.Origin.Timestamp.IsZero() || l.Reason.Message != "caf\uFFFD" {
		t.Errorf("%s: %+v %+v", l.Convention, l.Origin, l.Reason)
	}
	l = recognised(sources.DeadLetter{Queue: "t-dlt", Headers: headers("kafka_dlt-original-topic", "bad\xffname", "kafka_dlt-exception-fqcn", "E")})
	if l.Origin.Queue != "" || l.RedriveTo != "" {
		t.Errorf("a damaged name sends a letter nowhere: %q", l.Origin.Queue)
	}
}

func TestHugeHeadersAreCutAndTimeIsLinear(t *testing.T) {
	var many []sources.Header
	for i := range 50000 {
		many = append(many, sources.Header{Name: fmt.Sprintf("kafka_dlt-x%d", i)}, sources.Header{Name: "kafka_dlt-original-topic", Value: []byte("t")})
	}
	many = append(many, headers("kafka_dlt-exception-message", strings.Repeat("x", 10<<20))...)
	start := time.Now()
	l := recognised(sources.DeadLetter{Queue: "t-dlt", Headers: many})
	if len(l.Reason.Message) != maxMessage || len(l.Earlier) != maxHops-1 {
		t.Errorf("%d bytes of message, %d hops", len(l.Reason.Message), len(l.Earlier))
	}
	if took := time.Since(start); took > 20*time.Second { // a square of the headers would take minutes
		t.Errorf("took %s", took)
	}
}
