package views

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
)

// The pages tell the story of product.md: Thursday 10 September at 02:49, the
// review on Monday 14, a lost source on Saturday 12; and each page empty.

var india = time.FixedZone("IST", 5*3600+1800)

func ist(day, hour, minute, second int) time.Time {
	return time.Date(2026, 9, day, hour, minute, second, 0, india)
}

func frame(section Section, title string, now time.Time) Frame {
	return Frame{
		Title: title, Section: section, Static: "/static/0123456789ab", Zone: india, Now: now,
		OpenIncidents: 1, OpenLetters: 37, Demo: true,
		Sources: []SourceRead{
			{Name: "payments", ReadAt: now.Add(-6 * time.Second)},
			{Name: "ledger", ReadAt: now.Add(-9 * time.Second)},
			{Name: "aws", ReadAt: now.Add(-4 * time.Minute)},
		},
	}
}

func quietFrame(section Section, title string, now time.Time) Frame {
	f := frame(section, title, now)
	f.OpenIncidents, f.OpenLetters = 0, 0
	return f
}

// downFrame is a frame while the ledger cannot be read.
func downFrame(section Section, title string) Frame {
	f := frame(section, title, ist(12, 16, 20, 10))
	f.Sources[1] = SourceRead{Name: "ledger", ReadAt: ist(12, 16, 16, 5), Error: "dial tcp: lookup ledger-kafka-1: connection refused"}
	return f
}

func text(s string) Bytes { return Bytes{Text: s, Size: int64(len(s))} }

func body(apart string) Body {
	lines := []BodyLine{
		{Text: "{"},
		{Indent: 1, Key: `"payment_id"`, Text: `"pay_7Q2M4X9K",`},
		{Indent: 1, Key: `"merchant_id"`, Text: `"mer_40213",`},
		{Indent: 1, Key: `"amount_minor"`, Text: `149900,`},
		{Indent: 1, Key: `"currency"`, Text: `"INRR",`, Apart: apart},
		{Indent: 1, Key: `"method"`, Text: `"upi",`},
		{Indent: 1, Key: `"payer"`, Text: `{`},
		{Indent: 2, Key: `"vpa"`, Text: `"someone@bank"`},
		{Indent: 1, Text: `},`},
		{Indent: 1, Key: `"requested_at"`, Text: `"2026-09-09T21:06:09.412Z"`},
		{Text: "}"},
	}
	raw := `{"payment_id":"pay_7Q2M4X9K","merchant_id":"mer_40213","amount_minor":149900,"currency":"INRR","method":"upi","payer":{"vpa":"someone@bank"},"requested_at":"2026-09-09T21:06:09.412Z"}`
	return Body{
		Size: int64(len(raw)), Shown: int64(len(raw)), Format: "JSON", Lines: lines, Raw: raw,
		Hex: "0000  7b 22 70 61 79 6d 65 6e  74 5f 69 64 22 3a 22 70  {\"payment_id\":\"p\n0010  61 79 5f 37 51 32 4d 34  58 39 4b 22 2c 22 6d 65  ay_7Q2M4X9K\",\"me",
	}
}

func headRecord() *Record {
	return &Record{
		Topic: "payment.retry.requests", Partition: 3, Offset: 118204, At: ist(10, 2, 36, 9),
		Key: text("pay_7Q2M4X9K"), Headers: 4, Size: 302, Body: body("not seen in the 500 records before it"),
		Apart: []Apart{{"currency", `"INRR"`, "a value not seen in the 500 records before it"}},
	}
}

func lanes() []Lane {
	waiting := []int64{3, 0, 21, 12412, 7, 10}
	list := make([]Lane, len(waiting))
	for i, n := range waiting {
		list[i] = Lane{fmt.Sprint(i), "ok", n}
	}
	list[3].Verdict = "head_of_line_stall"
	return list
}

func known() []Known {
	return []Known{
		{Text: "Restarting will not help: the group starts again at 118,204."},
		{Text: "Its owner is alive: retry-7c9f-3, six members, stable."},
		{Text: "the consumer's own error. Look for 118204 in its log.", Not: true},
	}
}

func cells(n int, verdict string, at ...int) []Cell {
	list := make([]Cell, n)
	for i := range list {
		list[i] = Cell{fmt.Sprint(i), "ok"}
	}
	for _, i := range at {
		list[i].Verdict = verdict
	}
	return list
}

func sourceRows(now time.Time) []SourceRow {
	return []SourceRow{
		{Name: "payments", Kind: "Kafka, 3 brokers", Holds: "13 groups, 128 partitions", ReadAt: now.Add(-6 * time.Second), State: "fresh"},
		{Name: "ledger", Kind: "Kafka, 3 brokers", Holds: "8 groups, 86 partitions", ReadAt: now.Add(-9 * time.Second), State: "fresh"},
		{Name: "aws", Kind: "SQS, ap-south-1", Holds: "11 queues, 5 of them dead-letter", ReadAt: now.Add(-4 * time.Minute), State: "on_time", Note: "scans every 15 min: looking at SQS counts as a receive"},
	}
}

func nowPage() NowPage {
	now := ist(10, 2, 49, 12)
	return NowPage{
		Frame: frame(NowSection, "Partition 3 wedged", now),
		Incidents: []NowIncident{{
			IncidentRef: IncidentRef{"0199303b-7c1e-7a11-8f00-5d2b7a3c9142", 142}, Verdict: "head_of_line_stall",
			Source: "payments", Group: "payment-retry-consumer-group",
			What:  "Partition 3 of payment.retry.requests is wedged at or after offset 118,204",
			Since: ist(10, 2, 36, 42), Waiting: 12412, OldestAt: ist(10, 2, 36, 9), Peers: "The other five partitions are fine.",
			Lanes: lanes(), Head: headRecord(), Known: known(), Owner: "payments",
			Paged: &Paged{At: ist(10, 2, 47, 1), By: "oncall", Others: 1}, Runbook: "https://runbooks.example.com/wedged",
		}},
		Watch: []WatchRow{
			{"payments", "nightly-recon", "stopped", "No members since 00:11. A rule says: no page.", 84210},
			{"payments", "fraud-scoring", "open_transaction", "Partition 11: a producer holds a transaction open. Not the consumer's fault.", 0},
			{"ledger", "ledger-projection", "slow", "Moves, but falls behind by about 210 records a minute.", 31870},
		},
		Groups: 21, Partitions: 214, ReadWithin: 15 * time.Second,
		Letters: NowLetters{
			Since: ist(7, 9, 0, 0), Total: 16, Causes: 6,
			Days: []DayCount{{ist(7, 0, 0, 0), 7}, {ist(8, 0, 0, 0), 3}, {ist(9, 0, 0, 0), 4}, {ist(10, 0, 0, 0), 2}},
			Top: []CauseLine{
				{"c-61", "InvalidCurrencyException", "new", 2},
				{"c-58", "GatewayTimeout from payment-retries", "growing", 3},
				{"c-44", "LedgerAccountNotFound", "back", 6},
			},
		},
		Expiring: NowExpiring{
			Before: ist(14, 9, 0, 0), Total: 2, Of: 16,
			Queues: []ExpiringQueue{{"aws", "webhook-out-dlq", ist(13, 11, 20, 0), 2, 96 * time.Hour}},
		},
		Holds: sourceRows(now),
	}
}

func nowClear() NowPage {
	now := ist(14, 8, 52, 4)
	p := nowPage()
	p.Frame = quietFrame(NowSection, "Now", now)
	p.Incidents, p.Watch, p.Holds = nil, nil, sourceRows(now)
	p.Strips = []GroupStrip{
		{"payments", "payment-retry-consumer-group", cells(6, "")},
		{"payments", "payment-events-processor", cells(16, "")},
		{"payments", "fraud-scoring", cells(24, "")},
		{"ledger", "ledger-projection", cells(12, "slow", 3)},
		{"ledger", "statement-export", cells(1200, "unknown", 700)},
	}
	p.Last = &PastIncident{IncidentRef{"0199303b-7c1e-7a11-8f00-5d2b7a3c9142", 142}, ist(10, 2, 46, 57), ist(10, 3, 1, 20)}
	return p
}

func nowLost() NowPage {
	p := nowPage()
	p.Frame = downFrame(NowSection, "ledger cannot be read")
	p.Incidents, p.Holds = nil, sourceRows(p.Frame.Now)
	p.Lost = []LostSource{{"ledger", "Kafka, 3 brokers", ist(12, 16, 16, 5), "ledger-kafka-1:9092: connection refused\nledger-kafka-2:9092: no answer in 10 s", 8, 86, 15 * time.Second}}
	p.Holds[1].State, p.Holds[1].Error = "down", "connection refused"
	return p
}

func lagPage() LagPage {
	now := ist(10, 2, 49, 12)
	stalled := LineRow{
		Topic: "payment.retry.requests", Partition: 3, Verdict: "head_of_line_stall", Scope: "partition", Position: 118204, End: 130616, StableEnd: 130616,
		Lag: 12412, Behind: 13 * time.Minute, Owner: "retry-7c9f-3 (consumer-retry-3-5f0c)", Since: ist(10, 2, 36, 42),
		Reason: "Nothing moved for 12 min while a record waits and the peers move.", Spark: []int64{0, 0, 0, 0, 1800, 5200, 9000, 12412}, Head: headRecord(),
	}
	well := func(n int32, position, end int64) LineRow {
		return LineRow{Topic: "payment.retry.requests", Partition: n, Verdict: "ok", Position: position, End: end, StableEnd: end, Lag: end - position, Behind: time.Second, Owner: "retry-7c9f-0 (c)", Spark: []int64{2, 3, 2, 3}}
	}
	return LagPage{
		Frame: frame(LagSection, "Lag", now), AllGroups: 21, Partitions: 214, ReadAt: now.Add(-9 * time.Second),
		Filters: []Filter{
			{Text: "All", Count: 21, Href: "/lag", Current: true},
			{Text: "Stuck", Count: 2, Href: "/lag?verdict=stuck", Mark: "stuck"},
			{Text: "Unknown", Count: 1, Href: "/lag?verdict=unknown", Mark: "unknown"},
			{Text: "OK", Count: 18, Href: "/lag?verdict=ok", Mark: "ok"},
		},
		Sources: []Option{{Value: "payments"}, {Value: "ledger"}, {Value: "aws"}},
		Groups: []GroupRow{
			{
				Source: "payments", Group: "payment-retry-consumer-group", Protocol: "classic", State: "Stable", Members: 6, Verdict: "head_of_line_stall",
				Said: "Partition 3 wedged", Why: "Partition 3 is wedged at or after offset 118,204; the other five move.",
				Incident: &IncidentRef{"0199303b-7c1e-7a11-8f00-5d2b7a3c9142", 142}, Lag: 12453, Behind: 13 * time.Minute, Open: true,
				Spark: []int64{0, 0, 10, 12, 1800, Unknown, 9000, 12453},
				Lines: []LineRow{stalled, well(0, 130877, 130880), well(1, 129502, 129502), well(2, 131040, 131061)},
			},
			{
				Source: "payments", Group: "nightly-recon", Protocol: "classic", State: "Empty", Verdict: "stopped", Said: "Stopped, page off by rule",
				Lag: 84210, Behind: 2*time.Hour + 38*time.Minute, Lines: []LineRow{{Topic: "recon", Verdict: "stopped", Position: 1, End: 84211, StableEnd: 84211, Lag: 84210, Behind: time.Hour, Reason: "No members since 00:11."}},
			},
			{
				Source: "payments", Group: "fraud-scoring", Protocol: "consumer", State: "Stable", Members: 8, Verdict: "open_transaction", Said: "Open transaction", Lag: 0, LagUnknown: 1, Behind: -1,
				Lines: []LineRow{
					{Topic: "scores", Verdict: "open_transaction", Position: 7, End: 90, StableEnd: 7, Lag: 0, Reason: "A producer holds a transaction open."},
					{Topic: "features", Partition: 2, Verdict: "ok", Position: Unknown, Note: "no commit yet", End: Unknown, StableEnd: Unknown, Lag: Unknown, Behind: -1, Error: "not authorised to describe topic features"},
				},
			},
			{Source: "ledger", Group: "ledger-streams", Protocol: "streams", State: "Stable", Members: Unknown, Verdict: "unknown", Lag: Unknown, Behind: -1, Error: "not authorised to describe the group"},
			{Source: "ledger", Group: "statement-export", Protocol: "share", State: "Stable", Members: 4, Verdict: "ok", Lag: 14, Behind: time.Second, Lines: []LineRow{well(0, 10, 24)}},
		},
		Pager: Pager{Next: "/lag?cursor=abc", Shown: 5, Total: 21},
	}
}

func lagEmpty() LagPage {
	return LagPage{
		Frame: quietFrame(LagSection, "Lag", ist(10, 2, 49, 12)), Pager: Pager{Total: 0},
		Empty: "payments answers, and has no consumer groups that match “*”. Groups that commit without joining appear with their first commit.",
	}
}

func causeRows() []CauseRow {
	return []CauseRow{
		{ID: "c-61", Title: `InvalidCurrencyException unknown currency "INRR"`, Badge: "new", Sources: []string{"payments"}, Origins: []string{"payment.events"}, Queues: []string{"payment.events.dlq"}, Count: 19, New: 19, Weeks: [4]int{0, 0, 0, 19}, OldestAt: ist(10, 2, 47, 17), ExpiresFirst: ist(24, 2, 47, 17)},
		{ID: "c-58", Title: "GatewayTimeout PaymentCapture v2", Badge: "growing", Why: "SQS recorded no reason; grouped by source, body shape and errorType.", Sources: []string{"aws"}, Origins: []string{"payment-retries"}, Queues: []string{"payment-retries-dlq"}, Count: 8, New: 6, Weeks: [4]int{1, 2, 4, 8}, OldestAt: ist(7, 12, 10, 0), ExpiresFirst: ist(17, 12, 10, 0), Expiring: 5},
		{ID: "c-44", Title: "LedgerAccountNotFound at LedgerWriter.post", Badge: "back", BadgeText: "back after a redrive", Sources: []string{"ledger"}, Origins: []string{"ledger.postings"}, Queues: []string{"ledger.postings.dlq"}, Count: 6, Returned: 6, Weeks: [4]int{3, 4, 6, 6}, OldestAt: ist(7, 9, 41, 0), ExpiresFirst: ist(30, 9, 41, 0), NotBefore: true},
		{ID: "c-12", Title: "DuplicateRefund refund already exists", Badge: "known", Sources: []string{"aws"}, Queues: []string{"refund-requests-dlq.fifo"}, Count: 4, Weeks: [4]int{4, 5, 3, 4}, OldestAt: ist(9, 10, 5, 0)},
	}
}

func reviewPage() ReviewPage {
	return ReviewPage{
		Frame: frame(ReviewSection, "Review", ist(14, 9, 12, 0)), ReviewAt: ist(21, 9, 0, 0), LastAt: ist(14, 9, 0, 0),
		Letters: 37, New: 31, Returned: 6, Expiring: 9, AllCauses: 4, Causes: causeRows(), Pager: Pager{Shown: 4, Total: 4},
		Filters: []Filter{
			{Text: "All", Count: 4, Href: "/review", Current: true},
			{Text: "New", Count: 1, Href: "/review?badge=new", Mark: "new"},
			{Text: "Back", Count: 1, Href: "/review?badge=back", Mark: "back"},
			{Text: "Expiring", Count: 2, Href: "/review?badge=expiring", Mark: "expiring"},
		},
		Sources: []Option{{Value: "payments"}, {Value: "ledger"}, {Value: "aws"}}, Queues: []Option{{Value: "payment.events.dlq"}},
		Status: []Option{{Value: "redriven", Text: "redriven"}, {Value: "all", Text: "all"}},
	}
}

func letterRows() []LetterRow {
	row := LetterRow{
		Source: "payments", Queue: "payment.events.dlq", Status: "open", Attempts: 4, DeadAt: ist(10, 2, 47, 17), Size: 3402, Headers: 18,
		Cause: "InvalidCurrencyException", CauseID: "c-61", Value: Bytes{Text: `{"payment_id":"pay_7Q2M4X9K","currency":"INRR"`, Size: 164, Cut: true},
	}
	list := make([]LetterRow, 6)
	for i := range list {
		list[i] = row
		list[i].ID, list[i].Key, list[i].Place = fmt.Sprintf("l-%d", i), text(fmt.Sprintf("pay_%d", i)), fmt.Sprintf("partition 1, offset 4,41%d", i)
	}
	list[1].Key, list[1].Value = Bytes{Null: true}, Bytes{Null: true}
	list[2].Value, list[2].Returned = Bytes{}, true
	list[3].Value, list[3].Status = text("null"), "redriven"
	list[4].Value = Bytes{Text: "{\"n\":\"\xc3(\xff\x00\x1b\"}", Size: 12, NotUTF8: true}
	list[5].Size, list[5].Headers, list[5].Attempts, list[5].DeadAt = 88_055, 2000, Unknown, time.Time{}
	return list
}

func reviewSearch() ReviewPage {
	p := reviewPage()
	p.Query, p.Causes, p.AllCauses = "pay_7", p.Causes[:1], 1
	p.Found = &LetterList{Rows: letterRows(), Pager: Pager{Shown: 6, Total: 1204, Next: "/review?q=pay_7&cursor=x", First: "/review?q=pay_7"}}
	return p
}

func reviewNone() ReviewPage {
	p := reviewPage()
	p.Query, p.Causes, p.AllCauses, p.Letters, p.Found = "pay_0000", nil, 0, 0, &LetterList{}
	return p
}

func reviewEmpty() ReviewPage {
	return ReviewPage{
		Frame: quietFrame(ReviewSection, "Review", ist(14, 9, 12, 0)), ReviewAt: ist(21, 9, 0, 0), LastAt: ist(14, 9, 0, 0),
		ReadingNow: "payment.events.dlq: 41,200 of about 96,000 records.",
	}
}

func causePage() CausePage {
	return CausePage{
		Frame: frame(ReviewSection, "InvalidCurrencyException", ist(14, 9, 12, 0)), Cause: causeRows()[0],
		Facts:     []Fact{{"Root cause", "com.example.payments.InvalidCurrencyException"}, {"First own frame", "CurrencyParser.parse"}, {"Origin", "payment.events"}},
		FirstSeen: ist(10, 2, 47, 17), LastSeen: ist(11, 17, 58, 0),
		Common: []CommonRow{
			{"currency", "body", `"INRR"`, 19, 19, 0, 500}, {"x-producer-version", "header", "4.18.0", 19, 19, 31, 500}, {"method", "body", `"upi"`, 18, 19, Unknown, 0},
		},
		CommonOf: "19 letters against 500 records of payment.events that passed", CommonNot: "No difference in partition, amount or time of day.",
		Letters:  LetterList{Rows: letterRows(), Pager: Pager{Shown: 6, Total: 19, First: "/causes/c-61", Next: "/causes/c-61?cursor=x"}, Arrived: 2},
		Status:   []Option{{Value: "all", Text: "all"}},
		History:  []Moment{{At: ist(10, 2, 47, 17), Text: "First letter; a new cause", Mark: "new"}, {At: ist(11, 17, 58, 0), Text: "Last letter", Mark: "clock"}},
		Previous: &Link{"GatewayTimeout", "/causes/c-58"}, Next: &Link{"LedgerAccountNotFound", "/causes/c-44"},
	}
}

func causeEmpty() CausePage {
	p := causePage()
	p.Letters, p.Common, p.Facts, p.History, p.Previous, p.Cause.Count, p.Cause.Why = LetterList{}, nil, nil, nil, nil, 0, "Same class and frame."
	return p
}

func headerRows() []HeaderRow {
	rows := []HeaderRow{
		{Name: "traceparent", Value: text("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), Fate: "kept"},
		{Name: "x-tag", Value: text("a"), Fate: "kept"},
		{Name: "other", Value: text("o"), Fate: "kept"},
		{Name: "x-tag", Value: text("b"), Fate: "kept"},
		{Name: "x-tag", Value: text("a"), Fate: "kept"},
		{Name: "a", Value: Bytes{Null: true}, Fate: "kept"},
		{Name: "b", Value: Bytes{}, Fate: "kept"},
		{Name: "c", Value: text("null"), Fate: "kept"},
		{Name: "kafka_original-partition", Value: Bytes{Size: 4, NotUTF8: true}, Meaning: "3", As: "int32", Hex: "00 00 00 03", Fate: "dropped"},
		{Name: "x-signature", Value: Bytes{Size: 32, NotUTF8: true, Text: "\x9cA\x0e"}, Hex: "9c 41 0e b7 52 d8 ff 03 …", Fate: "kept"},
		{Name: "kafka_exception-stacktrace", Value: text(strings.Repeat("at com.example.payments.CurrencyParser.parse(CurrencyParser.java:42)\n", 31)), Fate: "dropped"},
	}
	for range 12 {
		rows = append(rows, HeaderRow{Name: "trace-id", Value: text("6f1d3f0e-5b1d-4a33-9c2a-0f2f4f5a6b7c"), Fate: "kept"})
	}
	return rows
}

func letterPage() LetterPage {
	return LetterPage{
		Frame: frame(ReviewSection, "pay_7Q2M4X9K", ist(14, 9, 12, 0)), ID: "l-0", CauseID: "c-61", CauseTitle: "InvalidCurrencyException", Status: "open",
		Source: "payments", Queue: "payment.events.dlq", Place: "partition 1, offset 4,417", Attempts: 4,
		DeadAt: ist(10, 2, 47, 17), WrittenAt: ist(10, 2, 36, 9).Add(792 * time.Millisecond), ExpiresAt: ist(24, 2, 47, 17), ExpiryIs: "exact",
		Size: 88_512, Key: text("pay_7Q2M4X9K"), Body: body("in 19 of 19 letters of this cause, in 0 of 500 that passed"), Headers: headerRows(),
		Reason:     LetterReason{Class: "org.springframework.kafka.listener.ListenerExecutionFailedException", Root: "com.example.payments.InvalidCurrencyException", Message: `unknown currency "INRR"`, Code: "rejected", Stack: "com.example.payments.InvalidCurrencyException: unknown currency\n\tat com.example.payments.CurrencyParser.parse(CurrencyParser.java:42)\n"},
		Origin:     LetterOrigin{Queue: "payment.events", Partition: 3, Offset: 806683, Group: "payment-events-processor", At: ist(10, 2, 36, 9)},
		Convention: "Spring Kafka retryable topic headers",
		Ways: []Way{
			{Queue: "payment.events.retry-5s", Partition: Unknown, Why: "by rule of this source", Chosen: true, ReceiversKnown: true, Receivers: []Receiver{{"payment-events-processor", "Stable", 4}}},
			{Queue: "payment.events", Partition: 3, Why: "where it came from", ReceiversKnown: true, Receivers: []Receiver{{"payment-events-processor", "Stable", 4}, {"risk-features", "Stable", Unknown}}, Warning: "2 groups would receive it; one of them had no trouble with it the first time."},
		},
		Timeline: []Moment{
			{At: ist(10, 2, 36, 9), Text: "Written to payment.events", Mark: "ok"},
			{At: ist(10, 2, 36, 10), Text: "Attempt 1 failed", More: "sent to retry-5s", Mark: "failed"},
			{At: ist(10, 2, 47, 17), Text: "Attempt 4 failed, dead-lettered", Mark: "failed"},
			{At: ist(24, 2, 47, 17), Text: "The queue forgets it", Mark: "clock"},
		},
		Links:     []OutLink{{"logs", "https://logs.example.com/?q=payment.events"}, {"trap", "javascript:alert(1)"}},
		Previous:  &Link{"pay_1", "/letters/l-1"},
		Next:      &Link{"pay_2", "/letters/l-2"},
		ValueHref: "/api/v1/dead-letters/l-0/value", KeyHref: "/api/v1/dead-letters/l-0/key",
	}
}

// letterBare is a letter of which next to nothing is known.
func letterBare() LetterPage {
	return LetterPage{
		Frame: frame(ReviewSection, "A letter", ist(14, 9, 12, 0)), ID: "l-9", Status: "expired", Source: "aws", Queue: "payment-retries-dlq",
		Place: "message 9f2c1d40", Attempts: Unknown, HeadersAre: "message attributes", Size: Unknown, Key: Bytes{Null: true}, Body: Body{Null: true},
		Origin: LetterOrigin{Partition: Unknown, Offset: Unknown}, NoWay: "Nothing says where it should go.", ReturnedFrom: "l-1", CameBackAs: "l-2",
		System: []Fact{{"ApproximateReceiveCount", "6"}},
	}
}

// letterHuge is a letter whose body is shown in part.
func letterHuge() LetterPage {
	p := letterBare()
	p.Status, p.Outcome, p.Redrive, p.NoWay = "redriven", "consumed", "rd-41", ""
	p.Body = Body{Size: 10_485_760, Shown: 16_384, Format: "text", Note: "not UTF-8, 12 bytes", Raw: "first\nsecond \xc3( line", Hex: "0000  c3 28", FullHref: "/letters/l-9?body=all"}
	p.ExpiresAt, p.ExpiryIs, p.WrittenAt = ist(20, 9, 0, 0), "not before", time.UnixMilli(1665014400)
	p.Ways = []Way{{Queue: "payment-retries", Partition: Unknown, Why: "by its redrive policy", Chosen: true}}
	return p
}

// fixture is a page with something in it.
type fixture struct {
	name string
	page any // one of the page structs
}

func fixtures() []fixture {
	down := lagPage()
	down.Frame = downFrame(LagSection, "Lag")
	queuesDown := queuesPage()
	queuesDown.Frame = downFrame(QueuesSection, "Queues")
	said := reviewPage()
	said.Message = &Notice{Hue: Fine, Text: "The redrive was started.", Link: &Link{"See it", "/redrives/rd-42"}}
	problem := ErrorPage{Frame: downFrame(NoSection, "No such letter"), Status: 404, Code: "not_found", Heading: "No such letter", Message: "There is no letter l-99812.", Do: "It may have been removed with its source.", Links: []Link{{"The review", "/review"}}}
	return append(decisions(), []fixture{
		{"now", nowPage()},
		{"now-clear", nowClear()},
		{"now-lost", nowLost()},
		{"now-empty", NowPage{Frame: Frame{Title: "Now", Section: NowSection, Static: "/static/0123456789ab", Now: ist(10, 2, 49, 12)}}},
		{"lag", lagPage()},
		{"lag-lost", down},
		{"lag-empty", lagEmpty()},
		{"review", said},
		{"review-search", reviewSearch()},
		{"review-none", reviewNone()},
		{"review-empty", reviewEmpty()},
		{"cause", causePage()},
		{"cause-empty", causeEmpty()},
		{"letter", letterPage()},
		{"letter-bare", letterBare()},
		{"letter-huge", letterHuge()},
		{"edit", editLetterPage()},
		{"edit-refused", editRefused()},
		{"edit-huge", editHuge()},
		{"edit-many", editManyPage()},
		{"plan", planPage()},
		{"plan-edited", planEdited()},
		{"plan-refused", planRefused()},
		{"plan-started", planStarted()},
		{"redrive", redrivePage()},
		{"redrive-done", redriveDone()},
		{"redrives", redrivesPage()},
		{"redrives-empty", RedrivesPage{Frame: quietFrame(RedrivesSection, "Redrives", ist(14, 9, 0, 0))}},
		{"incidents", incidentsPage()},
		{"incidents-empty", IncidentsPage{Frame: quietFrame(IncidentsSection, "Incidents", ist(14, 9, 0, 0))}},
		{"incident", incidentPage()},
		{"incident-past", incidentPast()},
		{"queues", queuesPage()},
		{"queues-lost", queuesDown},
		{"queues-empty", QueuesPage{Frame: quietFrame(QueuesSection, "Queues", ist(14, 9, 0, 0))}},
		{"error", problem},
		{"demo", demoPage()},
		{"demo-empty", DemoPage{Frame: quietFrame(DemoSection, "Demo", ist(10, 2, 49, 12)), FixDeployed: true, StallAfter: 10 * time.Second}},
	}...)
}

// component is the page that a struct is for.
func component(t testing.TB, page any) templ.Component {
	t.Helper()
	switch p := page.(type) {
	case NowPage:
		return Now(p)
	case LagPage:
		return Lag(p)
	case EditLetterPage:
		return EditLetter(p)
	case EditManyPage:
		return EditMany(p)
	case ReviewPage:
		return Review(p)
	case CausePage:
		return Cause(p)
	case LetterPage:
		return Letter(p)
	case PlanPage:
		return Plan(p)
	case RedrivePage:
		return Redrive(p)
	case RedrivesPage:
		return Redrives(p)
	case NotifiersPage:
		return Notifiers(p)
	case IncidentsPage:
		return Incidents(p)
	case IncidentPage:
		return Incident(p)
	case QueuesPage:
		return Queues(p)
	case DiscardsPage:
		return Discards(p)
	case DiscardPage:
		return Discard(p)
	case SkipPage:
		return Skip(p)
	case SkipsPage:
		return Skips(p)
	case SilencesPage:
		return Silences(p)
	case TakenPage:
		return Taken(p)
	case AuditPage:
		return Audit(p)
	case ErrorPage:
		return Error(p)
	case DemoPage:
		return Demo(p)
	default:
		t.Fatalf("no page is made from %T", page)
		return nil
	}
}

func render(t testing.TB, page any) string {
	t.Helper()
	var b strings.Builder
	if err := component(t, page).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
