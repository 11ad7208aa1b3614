package views

import (
	"fmt"
	"time"
)

// The pages of the work itself: plans, redrives, incidents, queues, the demo.

func planPage() PlanPage {
	p := PlanPage{
		Frame: frame(ReviewSection, "Redrive, before it starts", ist(14, 9, 14, 2)), ID: "pl_0199", FixedAt: ist(14, 9, 14, 2), Total: 37, Canary: true, Rate: 5,
		NotKnown: []string{"Nobody can tell who reads an SQS queue."}, Choices: []Choice{{"payment.events.retry-1m", "a retry topic of the chain"}},
		Warnings: []PlanWarning{
			{Code: "returned_before", Message: "2 letters have come back twice or more", Letters: []string{"l-1", "l-2"}, Count: 2, MustConfirm: true},
			{Code: "newer_same_key", Message: "1 letter has a newer record with its key at its target: it would be applied after it", Letters: []string{"l-3"}, Count: 1, Evidence: []string{"pay_3: ledger.postings partition 2 offset 90,331, written at 09:12:40 UTC"}},
			{Code: "expires_soon", Message: "the broker forgets 37 letters within a day", Count: 37},
		},
		Targets: []TargetRow{
			{Count: 18, Source: "payments", Queue: "payment.events.retry-5s", Why: "by rule of this source", Causes: []string{"InvalidCurrencyException"}, ReceiversKnown: true, Receivers: []Receiver{{"payment-events-processor", "Stable", 4}}, Promise: "Once", PromiseMore: "never sent twice by us"},
			{Count: 8, Source: "aws", Kind: "SQS standard", Queue: "payment-retries", Why: "by its redrive policy", Promise: "At least once", PromiseMore: "ambiguous sends are flagged"},
			{Count: 6, Source: "ledger", Queue: "ledger.postings", Why: "where they came from", ReceiversKnown: true, Receivers: []Receiver{{"ledger-postings", "Stable", 1}, {"ledger-projection", "Stable", 2}}, Promise: "Once"},
			{Count: 5, Source: "ledger", Queue: "ledger.archive", ReceiversKnown: true, Promise: "Once"},
		},
	}
	for i := range 5 {
		p.Letters = append(p.Letters, PlanLetter{
			ID: fmt.Sprintf("l-%d", i), Key: text(fmt.Sprintf("pay_%d", i)), Queue: "payment.events.dlq", Place: fmt.Sprintf("partition 1, offset 4,41%d", i),
			Target: "payment.events.retry-5s", Partition: Unknown, Why: "by rule of this source", Headers: 18, Size: 3402,
			Kept: []string{"traceparent", "x-tag", "x-tag"}, Dropped: []string{"kafka_exception-message"}, Added: []string{"unwedge-redrive"}, Warnings: []string{"newer_same_key"},
		})
	}
	return p
}

func planRefused() PlanPage {
	p := planPage()
	p.Refused, p.Problem, p.Changed, p.Expired = 2, "2 letters cannot be sent.", []string{"pay_3 is no longer open", "payment.events.retry-5s has 12 partitions, and had 6"}, true
	p.Letters[0].Refused, p.Letters[0].Target = "too_large", ""
	p.Letters[1].Refused, p.Letters[1].Target, p.Letters[1].Key = "no_target", "", Bytes{Null: true}
	return p
}

func planStarted() PlanPage {
	p := planPage()
	p.Total, p.Letters, p.Targets, p.Warnings, p.Started = 1, p.Letters[:1], p.Targets[:1], nil, "rd-42"
	return p
}

func redrivePage() RedrivePage {
	return RedrivePage{
		Frame: frame(RedrivesSection, "Redrive", ist(14, 9, 23, 11)),
		Job:   JobRow{ID: "rd-42", Of: "InvalidCurrencyException, GatewayTimeout", State: "running", By: "ops-1", CreatedAt: ist(14, 9, 17, 20), Total: 27, Counts: Counts{Consumed: 14, Confirmed: 3, Returned: 1, Unknown: 1, Failed: 1, Planned: 7}},
		Rate:  5,
		Items: []ItemRow{
			{ID: "i-1", LetterID: "l-1", Key: text("pay_2K7XE4UB"), State: "returned", Target: "payment.events.retry-5s", What: "dead-lettered again: MerchantBlocked", CameBack: "l-77"},
			{ID: "i-2", LetterID: "l-2", Key: text("cap_88104"), State: "unknown", Target: "payment-retries", Error: "no answer to the send: it may or may not have arrived"},
			{ID: "i-3", LetterID: "l-3", Key: Bytes{Null: true}, State: "consumed", Target: "payment.events.retry-5s", Place: "partition 1, offset 90,331"},
			{ID: "i-4", LetterID: "l-4", Key: text("pay_4"), State: "planned", Target: "payment.events.retry-5s"},
		},
		Filters: []Filter{{Text: "All", Count: 27, Href: "/redrives/rd-42", Current: true}, {Text: "Came back", Count: 1, Href: "/redrives/rd-42?state=returned", Mark: "returned"}},
		Notices: []Notice{{Hue: NotKnown, Text: "1 send to payment-retries timed out.", More: "It may or may not have arrived. We do not send it again by ourselves.", Link: &Link{"The letter", "/letters/l-2"}}},
		Pager:   Pager{Shown: 4, Total: 27, Next: "/redrives/rd-42?cursor=x"},
	}
}

func redriveDone() RedrivePage {
	p := redrivePage()
	p.Job.State, p.Job.EndedAt, p.Job.By, p.Job.Of = "done", ist(14, 9, 20, 0), "", ""
	p.Job.Counts, p.Verdict, p.Items, p.Notices, p.Rate = Counts{Consumed: 27}, "27 redriven: all passed.", nil, nil, 0
	return p
}

func redrivesPage() RedrivesPage {
	return RedrivesPage{
		Frame: frame(RedrivesSection, "Redrives", ist(14, 9, 23, 11)),
		Jobs: []JobRow{
			redrivePage().Job,
			{ID: "rd-41", Of: "LedgerAccountNotFound", State: "done", By: "ops-2", CreatedAt: ist(7, 9, 39, 2), EndedAt: ist(7, 9, 40, 0), Total: 6, Counts: Counts{Returned: 6}},
		},
		Pager: Pager{Shown: 2, Total: 2},
	}
}

func deliveries() []DeliveryRow {
	return []DeliveryRow{
		{Notifier: "oncall", Event: "trigger", AcceptedAt: ist(10, 2, 47, 1), Attempts: 1},
		{Notifier: "hook", Event: "trigger", AcceptedAt: ist(10, 2, 47, 1), Attempts: 2, Error: "no answer in 10 s"},
		{Notifier: "late", Event: "trigger", Attempts: 3, Error: "503 Service Unavailable"},
	}
}

func incidentRow() IncidentRow {
	return IncidentRow{
		IncidentRef: IncidentRef{"0199303b-7c1e-7a11-8f00-5d2b7a3c9142", 142}, Title: "Partition 3 of payment.retry.requests",
		Source: "payments", Group: "payment-retry-consumer-group", Verdict: "head_of_line_stall", Severity: "critical", OpenedAt: ist(10, 2, 46, 57), Pages: true, Deliveries: deliveries(),
	}
}

func incidentsPage() IncidentsPage {
	past := incidentRow()
	past.IncidentRef, past.Title, past.Verdict, past.OpenedAt, past.ResolvedAt = IncidentRef{"0199-2", 141}, "All 8 partitions of kyc.events", "stopped", ist(4, 14, 12, 30), ist(4, 14, 21, 40)
	past.Resolution, past.Deliveries, past.Pages = "All lines moved on.", nil, false
	return IncidentsPage{
		Frame: frame(IncidentsSection, "Incidents", ist(10, 2, 49, 12)), Open: []IncidentRow{incidentRow()}, Past: []IncidentRow{past}, Already: []IncidentRow{past},
		Filters: []Filter{{Text: "All", Count: Unknown, Href: "/incidents", Current: true}, {Text: "Open", Count: 1, Href: "/incidents?status=open", Mark: "stuck"}},
		Pager:   Pager{Shown: 1, Total: 12, Next: "/incidents?cursor=x"},
	}
}

func incidentPage() IncidentPage {
	return IncidentPage{
		Frame: frame(IncidentsSection, "Partition 3 wedged", ist(10, 2, 49, 12)), Incident: incidentRow(),
		What: "Partition 3 of payment.retry.requests is wedged at or after offset 118,204", Since: ist(10, 2, 36, 42), Scope: "partition",
		Reason: "Nothing moved for 10 min while a record waits and the peers move.", Owner: "payments", Runbook: "https://runbooks.example.com/wedged", Waiting: 12412, Peers: "The other five partitions are fine.",
		LineOf: "retry-7c9f-3 (consumer-retry-3-5f0c)", Lanes: lanes(), Known: known(), Head: headRecord(), Sample: 500,
		Suspects: []SuspectRow{{Offset: 118204, Apart: headRecord().Apart}, {Offset: 118207, Links: []OutLink{{"logs", "https://logs.example.com/118207"}}}},
		Timeline: []Moment{
			{At: ist(10, 2, 36, 42), Text: "The position last rose, to 118,204", More: "the clock starts: a readable record waits there", Mark: "ok"},
			{At: ist(10, 2, 46, 57), Text: "Opened, after 10 min without movement", Mark: "head_of_line_stall"},
			{At: ist(10, 2, 47, 1), Text: "oncall accepted the page", Mark: "bell", Link: &Link{"how", "/incidents"}},
		},
		Lines: []IncidentLine{{
			Name: "3", Verdict: "head_of_line_stall", Position: 118204, Waiting: 12412, Grows: 1240, Since: ist(10, 2, 36, 42), RetentionAt: ist(10, 9, 14, 0),
			Owner: "retry-7c9f-3 (consumer-retry-3-5f0c)", Reason: "offset 118,204 has waited since 02:36",
		}},
		LinesMore: 1, Cost: &Cost{Blocked: 12*time.Minute + 30*time.Second, Worst: 12412, Last: 12412, RecordMinutes: 77575}, ReportHref: "/api/v1/incidents/0199303b-7c1e-7a11-8f00-5d2b7a3c9142/report",
		Chart:   &Chart{From: ist(10, 2, 20, 0), To: ist(10, 2, 49, 0), Since: ist(10, 2, 36, 42), Line: []int64{0, 3, 2, Unknown, 2000, 7000, 12412}, Others: []int64{5, 9, 2, 3, 4, 9, 41}, LineName: "Partition 3"},
		LagHref: "/lag?group=payment-retry-consumer-group", Links: []OutLink{{"logs", "https://logs.example.com"}},
	}
}

func incidentPast() IncidentPage {
	p := incidentPage()
	p.Incident.ResolvedAt, p.Incident.Resolution = ist(10, 3, 1, 20), "Partition 3 moved for 4 min."
	p.Lines, p.LinesMore, p.Cost = nil, 0, &Cost{Blocked: 20 * time.Minute, Worst: 30100, RecordMinutes: 301000}
	p.Incident.Title, p.Head, p.HeadWhy, p.Suspects, p.Chart, p.Incident.Deliveries = "Partition 3 of payment.retry.requests was wedged for 20 minutes", nil, "The record was gone when we looked: retention passed it.", nil, nil, nil
	return p
}

func queuesPage() QueuesPage {
	now := ist(14, 9, 6, 11)
	return QueuesPage{
		Frame: frame(QueuesSection, "Queues", now), Letters: 37,
		Findings: []FindingRow{
			{ID: "f-1", Kind: "forgets_before_review", Source: "aws", Queue: "webhook-out-dlq", Message: "webhook-out-dlq forgets before Monday.", Advice: "It keeps letters for 4 days. Set 14 days.", Hue: Stuck, Evidence: []Fact{{"retention", "345600 s"}}},
			{ID: "f-2", Kind: "own_redrive_policy", Source: "aws", Queue: "kyc-events-dlq", Message: "kyc-events-dlq is not read.", Advice: "Looking would move letters on.", Hue: NotKnown},
		},
		Queues: []QueueRow{
			{Source: "aws", Name: "webhook-out-dlq", Kind: "dead_letter", Count: 0, Open: 0, Retention: 96 * time.Hour, FeedsFrom: []string{"webhook-out"}, ScannedAt: now.Add(-9 * time.Minute), Findings: []string{"Forgets before Monday"}},
			{Source: "aws", Name: "refund-requests-dlq.fifo", Kind: "dead_letter", Count: 400, Open: 10, OldestAt: ist(9, 10, 5, 0), Retention: 168 * time.Hour, FeedsFrom: []string{"refund-requests.fifo"}, RedriveTo: "refund-requests.fifo", ScannedAt: now.Add(-9 * time.Minute), Note: "10 of about 400: a FIFO group hands out at most ten", Redriving: "a move to refund-requests.fifo runs at AWS"},
			{Source: "payments", Name: "payment.events.dlq", Kind: "dead_letter", Count: 4018, AtMost: true, Open: 18, OldestAt: ist(10, 2, 47, 17), Retention: -1, FeedsFrom: []string{"payment.events"}, ScannedAt: now.Add(-8 * time.Second), Older: 4000},
			{Source: "payments", Name: "payment.events.retry-5s", Kind: "retry", Count: 3, CountIsExact: true, ScannedAt: now.Add(-8 * time.Second)},
			{Source: "aws", Name: "kyc-events-dlq", Kind: "dead_letter", Count: Unknown, Open: 0, Error: "not authorised: sqs:ReceiveMessage"},
		},
		Pager: Pager{Shown: 5, Total: 5},
	}
}

func demoPage() DemoPage {
	return DemoPage{
		Frame: frame(DemoSection, "Demo", ist(10, 2, 49, 12)), WorkersRunning: true, BadWritten: 2, StallAfter: 10 * time.Second,
		Story: []Moment{{At: ist(10, 2, 36, 9), Text: "A bad record was written to partition 3", Mark: "failed"}},
		Received: []PagerMessage{
			{At: ist(10, 2, 47, 1), Event: "trigger", Summary: "Partition 3 of payment.retry.requests is wedged", Severity: "critical", DedupKey: "0199303b", Incident: &IncidentRef{"0199303b", 142}, Body: "{\n  \"event_action\": \"trigger\"\n}"},
			{At: ist(10, 2, 48, 1), Event: "resolve", Summary: "It moves again", DedupKey: "0199303b", Body: "{}"},
		},
	}
}
