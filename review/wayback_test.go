package review

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

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

func TestChecks(t *testing.T) {
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	good := func() candidate {
		return candidate{
			letter: Letter{ID: "dl_1", BodyKept: true, DeadLetter: sources.DeadLetter{Queue: "orders.dlq"}},
			way:    Way{Queue: "orders"}, rules: Rules{To: sources.Patterns{Include: []string{"*"}}},
			receivers: []sources.Receiver{{Group: "billing"}}, asked: true, now: now,
		}
	}
	missing := fmt.Errorf("topic orders: %w", sources.ErrNoSuchQueue)
	for what, c := range map[string]struct {
		change   func(*candidate)
		refused  string
		warnings []string
	}{
		"nothing to say":             {change: func(*candidate) {}},
		"the body is forgotten":      {change: func(c *candidate) { c.letter.BodyKept = false }, refused: "payload_gone"},
		"a description":              {change: func(c *candidate) { c.sent.NotTheOriginal = true }, refused: "not_the_original"},
		"an edit that cannot be":     {change: func(c *candidate) { c.editErr = errors.New("the value has no /a") }, refused: "edit_fails"},
		"no way back":                {change: func(c *candidate) { c.way = Way{} }, refused: "no_target"},
		"a name, and no such queue":  {change: func(c *candidate) { c.way.Guess, c.aimed = true, missing }, refused: "no_target"},
		"the target is not there":    {change: func(c *candidate) { c.aimed = missing }, refused: "target_missing"},
		"not allowed":                {change: func(c *candidate) { c.rules = Rules{} }, refused: "target_forbidden"},
		"the broker's own":           {change: func(c *candidate) { c.way.Queue = "__consumer_offsets" }, refused: "target_forbidden"},
		"too large":                  {change: func(c *candidate) { c.aimed = sources.ErrTooLarge }, refused: "too_large"},
		"a dead-letter queue":        {change: func(c *candidate) { c.kind = sources.DeadLetterQueue }, warnings: []string{"into_itself"}},
		"C71: the queue it lies in":  {change: func(c *candidate) { c.way.Queue = "orders.dlq" }, warnings: []string{"into_itself"}},
		"came back once":             {change: func(c *candidate) { c.letter.Returns = 1 }},
		"came back twice":            {change: func(c *candidate) { c.letter.Returns = 2 }, warnings: []string{"returned_before"}},
		"a hint":                     {change: func(c *candidate) { c.way.Hint = true }, warnings: []string{"target_from_header"}},
		"C76: two groups":            {change: func(c *candidate) { c.receivers = append(c.receivers, sources.Receiver{Group: "search"}) }, warnings: []string{"many_receivers"}},
		"nobody":                     {change: func(c *candidate) { c.receivers = nil }, warnings: []string{"no_reader"}},
		"nobody can tell who":        {change: func(c *candidate) { c.receivers, c.asked = nil, false }},
		"expires tonight":            {change: func(c *candidate) { c.letter.ExpiresAt = now.Add(23 * time.Hour) }, warnings: []string{"expires_soon"}},
		"expires the day after":      {change: func(c *candidate) { c.letter.ExpiresAt = now.Add(25 * time.Hour) }},
		"warnings add up":            {change: func(c *candidate) { c.way.Hint, c.receivers = true, nil }, warnings: []string{"target_from_header", "no_reader"}},
		"a refusal is all that says": {change: func(c *candidate) { c.way.Hint, c.aimed = true, missing }, refused: "target_missing"},
	} {
		one := good()
		c.change(&one)
		if refused, warnings := judge(one); refused != c.refused || !slices.Equal(warnings, c.warnings) {
			t.Errorf("%s: %q %v, want %q %v", what, refused, warnings, c.refused, c.warnings)
		}
	}
}

func TestWarningsNameAThousandLettersAndCountAll(t *testing.T) {
	told := warned{}
	for i := range 1500 {
		told.add(fmt.Sprint(i), []string{"into_itself"})
	}
	told.add("1", []string{"no_reader"})
	all := told.warnings()
	if len(all) != 2 || all[0].Count != 1500 || len(all[0].LetterIDs) != 1000 || !all[0].MustConfirm || all[1].MustConfirm ||
		all[0].Message != "1500 letters would go to a dead-letter queue" {
		t.Errorf("%d warnings: %s", len(all), all[0].Message)
	}
}

func TestDifference(t *testing.T) {
	part := func(n int32) *int32 { return &n }
	at := func(queue, id string, p *int32) Planned {
		return Planned{LetterID: "dl_1", Target: &sources.Target{Queue: queue, TopicID: id, Partition: p}}
	}
	for what, c := range map[string]struct {
		was, is Planned
		want    string
	}{
		"the same":             {at("a", "1", part(2)), at("a", "1", part(2)), ""},
		"any partition":        {at("a", "1", nil), at("a", "1", nil), ""},
		"no target as before":  {Planned{}, Planned{}, ""},
		"gone":                 {at("a", "1", nil), Planned{}, "a, the target of letter dl_1, is gone"},
		"made again":           {at("a", "1", part(2)), at("a", "2", part(2)), "a was deleted and made again"},
		"more partitions":      {at("a", "1", part(2)), at("a", "1", part(4)), "a has other partitions: letter dl_1 would go to another one"},
		"another queue":        {at("a", "1", nil), at("b", "1", nil), "letter dl_1 would go to b now, not to a"},
		"a target that is new": {Planned{LetterID: "dl_1"}, at("b", "1", nil), "letter dl_1 has a target now: b"},
	} {
		if got := difference(c.was, c.is); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	was := []sources.Receiver{{Queue: "a", Group: "billing", Lag: 1}, {Queue: "a", Group: "search"}}
	is := []sources.Receiver{{Queue: "a", Group: "billing", Lag: 900, State: "Empty"}, {Queue: "a", Group: "email"}}
	if got := newcomers(was, is); !slices.Equal(got, []string{"group email reads a now", "group search does not read a any more"}) {
		t.Errorf("%v", got)
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
