package convention

import (
	"fmt"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

var chain = []string{"payment.events", "payment.events.retry-5s", "payment.events.retry-1m", "payment.events.retry-10m", "payment.events.dlq"}

// TestHopByHop is the chain of the story: without a header that counts, the
// place in the chain tells the attempts.
func TestHopByHop(t *testing.T) {
	for queue, want := range map[string]int{
		"payment.events.retry-5s": 1, "payment.events.retry-1m": 2, "payment.events.retry-10m": 3, "payment.events.dlq": 4,
	} {
		l := recognised(sources.DeadLetter{Queue: queue}, chain...)
		if l.Attempts == nil || *l.Attempts != want || l.Origin.Queue != "payment.events" || l.Convention != NameRule || l.RedriveTo != "payment.events" {
			t.Errorf("%s: attempts %v, want %d, from %q by %q", queue, value(l.Attempts), want, l.Origin.Queue, l.Convention)
		}
		if fmt.Sprint(l.Inferred) != "[origin attempts]" {
			t.Errorf("%s: that it was inferred is said: %v", queue, l.Inferred)
		}
	}
}

func value(n *int) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

func TestAttemptsByTheHopThatAHeaderNames(t *testing.T) {
	for origin, want := range map[string]string{
		"payment.events.retry-5s": "2", "payment.events.retry-10m": "4",
		"payment.events": "unknown", // gave up in place, after attempts that nobody counted
		"other":          "unknown",
	} {
		l := recognised(sources.DeadLetter{Queue: "payment.events.dlq", Headers: headers("kafka_dlt-original-topic", origin, "kafka_dlt-exception-fqcn", "E")}, chain...)
		if value(l.Attempts) != want {
			t.Errorf("from %s: %s attempts, want %s", origin, value(l.Attempts), want)
		}
	}
	l := recognised(sources.DeadLetter{Queue: "payment.events.dlq", Headers: headers("original-topic", "payment.events")}, chain...)
	if value(l.Attempts) != "4" {
		t.Errorf("a home-made header keeps the first queue, whatever the hops: %s", value(l.Attempts))
	}
	l = recognised(sources.DeadLetter{Queue: "payment.events.dlq", Headers: headers("original-topic", "payment.events", "attempt-count", "7")}, chain...)
	if value(l.Attempts) != "7" || l.Inferred != nil {
		t.Errorf("a header tells better than a name: %s, %v", value(l.Attempts), l.Inferred)
	}
}

func TestChainsOfAllSpellings(t *testing.T) {
	for _, c := range [][]string{
		{"orders", "orders-retry-0", "orders-retry-1", "orders-retry-2", "orders-dlt"},
		{"orders", "orders-retry-1000", "orders-retry-2000", "orders-retry-10000", "orders-dlt"},
		{"captures", "captures_retry_10000", "captures_retry_20000", "captures_retry_50000", "captures.dlq"},
		{"jobs", "jobs.retry.1s", "jobs.retry.30s", "jobs.retry.1h", "jobs.DLQ"},
		{"o.fifo", "o-retry-5s.fifo", "o-retry-1m.fifo", "o-retry-1h.fifo", "o-dlq.fifo"},
		{"t", "t-retry-1000-0", "t-retry-1000-1", "t-retry-1000-2", "t-dlt"},
	} {
		for place, queue := range c[1:] {
			l := recognised(sources.DeadLetter{Queue: queue}, c...)
			if value(l.Attempts) != fmt.Sprint(place+1) || l.Origin.Queue != c[0] {
				t.Errorf("%s: %s attempts, want %d, from %q", queue, value(l.Attempts), place+1, l.Origin.Queue)
			}
		}
	}
}

func TestADeadLetterQueueWithoutAChainCountsNothing(t *testing.T) {
	l := recognised(sources.DeadLetter{Queue: "orders.dlq"}, "orders", "orders.dlq")
	if l.Attempts != nil || l.Origin.Queue != "orders" || l.Convention != NameRule {
		t.Errorf("%+v", l)
	}
}

func TestNameRulesNameOnlyQueuesThatAreThere(t *testing.T) {
	for dead, want := range map[string]string{
		"orders.dlq": "orders", "orders-dlt": "orders", "orders.DLT": "orders", "orders.DLT.DLT": "orders.DLT", "orders_dlq": "orders",
		"ordersDLQ": "orders", "orders-dead-letter": "orders", "orders-deadletter": "orders", "orders_error": "orders", "orders-dead-letter-queue": "orders",
		"dlq.orders": "orders", "dlq-orders": "orders", "error.orders.billing": "orders", "error.orders": "orders", "orders__billing__dlq": "orders",
		"orders-retry-0-dlt": "orders", "dead-letter-topic-orders": "orders", "orders-dlq.fifo": "", "orders.fifo-dlq": "",
		"nothing.dlq": "", "orders": "", "dlq": "", ".dlq": "", "": "", "bestellungen-ü.dlq": "bestellungen-ü",
	} {
		known := []string{"orders", "orders.DLT", "bestellungen-ü", dead}
		if got := New(nil, func() []string { return known }).OriginByName(dead); got != want {
			t.Errorf("%s: %q, want %q", dead, got, want)
		}
	}
	l := recognised(sources.DeadLetter{Queue: "orders.dlq"})
	if l.Origin.Queue != "" || l.Convention != "" || l.RedriveTo != "" {
		t.Errorf("orders is not there, and yet: %+v", l)
	}
}

func TestAWordInANameIsNoRule(t *testing.T) {
	for _, name := range []string{"payment.retry.requests", "retry", "retry-queue", "payments.errors.stats", "deadline", "erroneous", "dltransactions", "dead-stock-levels"} {
		if KindOf(name) != sources.WorkQueue {
			t.Errorf("%s is taken for a %s queue", name, KindOf(name))
		}
	}
	// The story's own topic takes letters back, although it says retry.
	l := recognised(sources.DeadLetter{Queue: "payment.retry.requests.dlq", Headers: headers("original-topic", "payment.retry.requests", "error", "boom")})
	if l.RedriveTo != "payment.retry.requests" {
		t.Errorf("back to %q", l.RedriveTo)
	}
	l = recognised(sources.DeadLetter{Queue: "payment-retries-dlq", Headers: headers("original-topic", "payment-retries", "error", "boom")})
	if l.RedriveTo != "payment-retries" {
		t.Errorf("back to %q", l.RedriveTo)
	}
}

func TestTheWayBackPassesRetryQueues(t *testing.T) {
	l := recognised(sources.DeadLetter{Queue: "orders-dlt", Headers: headers("kafka_dlt-original-topic", "orders-retry-1000", "kafka_dlt-exception-fqcn", "E")}, "orders", "orders-retry-1000", "orders-dlt")
	if l.RedriveTo != "orders" {
		t.Errorf("back to %q", l.RedriveTo)
	}
	l = recognised(sources.DeadLetter{Queue: "orders-dlt", Headers: headers("kafka_dlt-original-topic", "orders-retry-1000", "kafka_dlt-exception-fqcn", "E")})
	if l.RedriveTo != "" {
		t.Errorf("only a retry topic is known, somebody must say where to: %q", l.RedriveTo)
	}
}
