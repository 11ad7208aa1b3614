package review

import (
	"errors"
	"testing"

	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/sources/convention"
)

func TestWayBack(t *testing.T) {
	routes := Rules{Routes: []sources.Route{{From: "payment.events.dlq", To: "payment.events.retry-5s"}, {From: "payment.*", To: "payment.any"}}}
	arn := map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:ap-south-1:000000000000:orders"}
	for what, c := range map[string]struct {
		letter sources.DeadLetter
		queue  sources.Queue
		to     string
		rules  Rules
		want   string
		hint   bool
		guess  bool
	}{
		"asked for wins over all":                    {letter: sources.DeadLetter{Queue: "payment.events.dlq", System: arn}, to: "x", rules: routes, want: "x"},
		"the first route that matches":               {letter: sources.DeadLetter{Queue: "payment.events.dlq", System: arn}, rules: routes, want: "payment.events.retry-5s"},
		"a route by pattern":                         {letter: sources.DeadLetter{Queue: "payment.x"}, rules: routes, want: "payment.any"},
		"what SQS says of the message":               {letter: sources.DeadLetter{Queue: "shared-dlq", System: arn, RedriveTo: "elsewhere"}, want: "orders"},
		"the only queue that feeds it":               {letter: sources.DeadLetter{Queue: "dlq", Place: sources.Place{MessageID: "m"}}, queue: sources.Queue{FeedsFrom: []string{"orders"}}, want: "orders"},
		"of two that feed it nobody knows":           {letter: sources.DeadLetter{Queue: "jobs", Place: sources.Place{MessageID: "m"}}, queue: sources.Queue{FeedsFrom: []string{"a", "b"}}, want: ""},
		"a header that the name confirms":            {letter: sources.DeadLetter{Queue: "orders-dlt", RedriveTo: "orders"}, want: "orders"},
		"a header alone is a hint":                   {letter: sources.DeadLetter{Queue: "dead-letters", RedriveTo: "orders"}, want: "orders", hint: true},
		"a header that the name contradicts":         {letter: sources.DeadLetter{Queue: "orders-dlt", RedriveTo: "payroll"}, want: "payroll", hint: true},
		"the origin, when no redrive target is told": {letter: sources.DeadLetter{Queue: "orders.DLT", Origin: sources.Origin{Queue: "orders"}}, want: "orders"},
		"a mapping is no hint":                       {letter: sources.DeadLetter{Queue: "legacy", RedriveTo: "orders", Convention: "mapping"}, want: "orders"},
		"the name alone is a guess":                  {letter: sources.DeadLetter{Queue: "orders.dlq"}, want: "orders", guess: true},
		"a FIFO name keeps its ending":               {letter: sources.DeadLetter{Queue: "refund-requests-dlq.fifo"}, want: "refund-requests.fifo", guess: true},
		"C81: nothing says where it came from":       {letter: sources.DeadLetter{Queue: "connect-errors"}, want: ""},
		"a queue called .dlq has no name before it":  {letter: sources.DeadLetter{Queue: ".dlq"}, want: ""},
	} {
		c.rules.Names = convention.Parents
		got := WayBack(c.letter, c.queue, c.to, c.rules)
		if got.Queue != c.want || got.Hint != c.hint || got.Guess != c.guess || got.Why == "" {
			t.Errorf("%s: %+v, want %q, hint %t, guess %t", what, got, c.want, c.hint, c.guess)
		}
	}
}

func TestTheBrokersOwnTopicsAreNeverWrittenTo(t *testing.T) {
	all := Rules{To: sources.Patterns{Include: []string{"*"}, Exclude: []string{"secret-*"}}}
	for queue, want := range map[string]bool{"orders": true, "__consumer_offsets": false, "__x": false, "_x": true, "secret-1": false} {
		if all.Allowed(queue) != want {
			t.Errorf("%s: %t", queue, !want)
		}
	}
	if (Rules{}).Allowed("orders") {
		t.Error("without an include nothing is allowed")
	}
}

func TestARequestSelectsInOneWay(t *testing.T) {
	for what, r := range map[string]Request{
		"nothing":         {},
		"two ways":        {Selection: Selection{IDs: []string{"a"}, Cause: "b"}},
		"a negative rate": {Selection: Selection{IDs: []string{"a"}}, Options: Options{Pace: Pace{RatePerSecond: -1}}},
	} {
		if err := valid(r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := valid(Request{Selection: Selection{Filter: &Filter{}}}); err != nil {
		t.Errorf("an empty filter means all open letters: %v", err)
	}
}
