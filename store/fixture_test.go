package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// newStore opens a new store in a file of the test.
func newStore(t testing.TB) *Store {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "unwedge.db"))
}

func reopen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// payment is a dead letter as a payment consumer writes it: about 1 kB of JSON,
// with the headers of Spring's recoverer and of a tracer.
func payment(i int) sources.DeadLetter {
	partition, offset := int32(i%6), int64(100_000+i)
	body := fmt.Sprintf(`{"payment_id":"pay_%06d","amount_minor":%d,"currency":"INR","created_at":"2026-09-14T02:%02d:%02d.%03dZ",`+
		`"payer":{"vpa":"user%d@okbank","name":"Asha Rao %d","device":{"id":"d-%08x","os":"android 15","app":"4.18.%d"}},`+
		`"payee":{"merchant_id":"m_%05d","mcc":"5812","name":"Hotel Sagar %d","settlement":{"account":"XXXXXX%04d","ifsc":"HDFC0%06d"}},`+
		`"method":"upi","attempt":%d,"risk":{"score":0.%02d,"rules":["velocity","geo","amount"],"decision":"allow"},`+
		`"metadata":{"order":"ord_%08d","cart":"%032x","campaign":"diwali-2026","note":"deliver to the back door, ring twice"},`+
		`"callbacks":[{"url":"https://merchant-%d.example/cb","retries":3},{"url":"https://ledger.example/postings","retries":5}],`+
		`"items":[{"sku":"sku-%05d","qty":2,"price_minor":%d},{"sku":"sku-%05d","qty":1,"price_minor":%d}],"fx":{"rate":"1.000000","source":"none"}}`,
		i, 1000+i, i/60%60, i%60, i%1000, i, i%97, i*2654435761, i%20, i%500, i%500, i%10000, i%1000, i%5, i%100, i, i*31, i%500, i%30000, i*3%9973, (i+7)%30000, i*7%9973)
	header := func(name, value string) sources.Header { return sources.Header{Name: name, Value: []byte(value)} }
	attempts := 5
	at := time.Date(2026, 9, 14, 2, 0, 0, 0, time.UTC).Add(time.Duration(i) * 37 * time.Millisecond)
	return sources.DeadLetter{
		Source: "payments", Queue: "payment.events.dlq",
		Place: sources.Place{TopicID: "topic-1", Partition: partition, Offset: int64(i / 6)},
		Key:   fmt.Appendf(nil, "user-%d", i%5000), Body: []byte(body),
		Headers: []sources.Header{
			header("traceparent", fmt.Sprintf("00-%032x-%016x-01", i*7919, i)), header("tenant", "acme"),
			header("kafka_dlt-original-topic", "payment.events"), header("kafka_dlt-exception-fqcn", "org.springframework.kafka.listener.ListenerExecutionFailedException"),
			header("kafka_dlt-exception-message", fmt.Sprintf("payment pay_%06d: currency is not known", i)), header("content-type", "application/json"),
		},
		Timestamp: at, DeadAt: at, FailedAt: at, ExpiresAt: at.Add(14 * 24 * time.Hour), ExpiryIs: "not before",
		Origin:       sources.Origin{Queue: "payment.events", Partition: &partition, Offset: &offset, Group: "payment-events-processor", Timestamp: at},
		Reason:       sources.Reason{Class: "com.acme.UnknownCurrency", Message: fmt.Sprintf("payment pay_%06d: currency is not known", i)},
		Attempts:     &attempts,
		Convention:   "spring-kafka-dlpr",
		ErrorHeaders: []string{"kafka_dlt-original-topic", "kafka_dlt-exception-fqcn", "kafka_dlt-exception-message"},
	}
}

// look is a look that brought letters, each in the cause that the function names.
func look(letters []sources.DeadLetter, at time.Time, cause func(int) string) review.Look {
	l := review.Look{Source: letters[0].Source, Queue: letters[0].Queue, At: at, Cursor: fmt.Appendf(nil, "after %d", len(letters))}
	named := map[string]bool{}
	for i, d := range letters {
		id := cause(i)
		if !named[id] {
			named[id] = true
			l.Causes = append(l.Causes, review.Cause{ID: id, Title: "title of " + id, Why: "why " + id})
		}
		l.Letters = append(l.Letters, review.Letter{ID: review.LetterID(d), DeadLetter: d, CauseID: id, Status: review.Open, FoundAt: at, BodyKept: true})
	}
	return l
}

func payments(from, n int) []sources.DeadLetter {
	list := make([]sources.DeadLetter, n)
	for i := range list {
		list[i] = payment(from + i)
	}
	return list
}

func oneCause(int) string { return "ca_one" }

// eventually waits for a condition.
func eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	tick, timeout := time.NewTicker(2*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
