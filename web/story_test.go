package web

import (
	"errors"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

const evil = `<script>alert(1)</script><img src=x onerror=alert(2)>`

// story is the night of product.md: one wedged partition of six, one incident,
// letters of both sources, a plan and a job.
func story() *world {
	group := sources.Partition{Source: "payments", Group: "payment-retry-consumer-group", Topic: "payment.retry.requests"}
	view := alerts.GroupView{
		Source: group.Source, Group: group.Group, Protocol: sources.Classic, State: "Stable", Verdict: alerts.HeadOfLineStall,
		Lag: 12412, Members: 6, ReadAt: thursday.Add(-6 * time.Second),
	}
	for n := range int32(6) {
		line := group
		line.Number = n
		l := alerts.LineView{
			Judgement: alerts.Judgement{Partition: line, Verdict: alerts.OK, Reason: "it moves", Lag: 0},
			Position:  100, Start: 0, End: 100, StableEnd: 100, Owner: "retry (m-1)", Spark: []int64{0, 0, 0},
		}
		if n == 3 {
			l.Verdict, l.Scope, l.Since, l.Reason, l.Lag = alerts.HeadOfLineStall, alerts.PartitionScope, thursday.Add(-13*time.Minute), "it stands at 118,204", 12412
			l.Position, l.End, l.StableEnd, l.Behind, l.Spark = 118204, 130616, 130616, 13*time.Minute, []int64{10, 5000, 12412}
		}
		view.Lines = append(view.Lines, l)
	}
	dark := alerts.GroupView{
		Source: "payments", Group: "a/b%", Verdict: alerts.Unknown, Lag: sources.NotKnown, NotKnown: 1, Members: 0, Err: "GROUP_AUTHORIZATION_FAILED",
		Lines: []alerts.LineView{{
			Judgement: alerts.Judgement{Partition: sources.Partition{Source: "payments", Group: "a/b%", Topic: "secret"}, Verdict: alerts.Unknown, Reason: "no fresh reading", Lag: sources.NotKnown},
			Position:  sources.NoCommit, Start: sources.NotKnown, End: sources.NotKnown, StableEnd: sources.NotKnown, Behind: -1, Err: "TOPIC_AUTHORIZATION_FAILED",
		}},
	}
	w := &world{
		board:     alerts.Board{Sources: []alerts.SourceRead{{Source: "payments", ReadAt: thursday.Add(-6 * time.Second)}}, Groups: []alerts.GroupView{view, dark}},
		incidents: []alerts.Incident{stall(view.Lines[3].Partition), ended()},
		letters:   letters(),
		summary:   review.Summary{Causes: 2, Letters: 3, New: 2, Returned: 1, Expiring: 1, LastReview: thursday.AddDate(0, 0, -3), NextReview: thursday.AddDate(0, 0, 4)},
		findings:  []review.Finding{{Finding: sources.Finding{ID: "f-1", Kind: "forgets_before_review", Source: "aws", Queue: "jobs-dlq", Message: "It keeps letters for 4 days.", Advice: "Set 14 days.", Evidence: map[string]any{"retention_days": 4}}, Since: thursday}},
	}
	w.causes = []review.Cause{
		{ID: "c-61", Title: "InvalidCurrencyException " + evil, Why: "same class", Count: 2, New: 2, FirstSeen: thursday.Add(-time.Hour), LastSeen: thursday, Oldest: thursday.Add(-time.Hour), Sources: []string{"payments"}, Origins: []string{"orders"}, Queues: []string{"orders.dlq"}, Weeks: [4]int{0, 0, 0, 2}},
		{ID: "c-44", Title: "LedgerAccountNotFound", Why: "same class", Count: 1, Returned: 1, Expiring: 1, ExpiresFirst: thursday.AddDate(0, 0, 2), FirstSeen: thursday.AddDate(0, 0, -20), LastSeen: thursday, Sources: []string{"aws"}, Queues: []string{"jobs-dlq"}},
	}
	w.queues = []review.Queue{
		{Queue: sources.Queue{Source: "payments", Name: "orders.dlq", Kind: sources.DeadLetterQueue, Partitions: 3, Count: 2, CountIsExact: true, Retention: 14 * 24 * time.Hour, FeedsFrom: []string{"orders"}, ReadAt: thursday}, ScannedAt: thursday, OldestAt: thursday, Counts: map[review.Status]int64{review.Open: 2}},
		{Queue: sources.Queue{Source: "aws", Name: "jobs-dlq", Kind: sources.DeadLetterQueue, Count: sources.NotKnown, Err: errors.New("AccessDenied"), Retention: -1}},
	}
	w.plans = []review.Plan{planOfTwo()}
	w.jobs = []review.Redrive{{ID: "rd_1", State: review.JobRunning, By: "local", CreatedAt: thursday, Total: 2, Counts: map[review.ItemState]int{review.Confirmed: 1, review.Planning: 1}}}
	w.items = []review.Item{
		{ID: "it_1", Redrive: "rd_1", LetterID: "dl_json", State: review.Confirmed, Target: sources.Target{Queue: "orders"}, Receipt: sources.Receipt{Item: "it_1", Partition: 1, Offset: 90331}},
		{ID: "it_2", Redrive: "rd_1", LetterID: "a/b%", State: review.Planning, Target: sources.Target{Queue: "jobs"}},
	}
	w.started = w.jobs[0]
	return w
}

func stall(line sources.Partition) alerts.Incident {
	return alerts.Incident{
		ID: "01991f2e-0000-7000-8000-000000000142", Number: 142, Source: line.Source, Group: line.Group, Verdict: alerts.HeadOfLineStall, Scope: alerts.PartitionScope,
		Lines: []sources.Partition{line}, Severity: "critical", Pages: true, Title: "Partition 3 is wedged", Reason: "it stands at 118,204", OpenedAt: thursday.Add(-2 * time.Minute),
		Evidence: alerts.Evidence{
			Head:     &sources.Record{Topic: line.Topic, Partition: 3, Offset: 118204, Key: []byte("pay_7Q2M4X9K"), Body: []byte(`{"currency":"INRR","items":[{"sku":"x"}]}`)},
			Suspects: []alerts.Suspect{{Offset: 118204, Apart: []alerts.Apart{{Field: "currency", Value: `"INRR"`, Usual: `"INR" in 500 of 500`}}}},
			Waiting:  12400, Peers: "the other five move", Owner: "retry (m-1)", Sample: 500, Line: line, Position: 118204, Since: thursday.Add(-13 * time.Minute),
		},
		Deliveries: []alerts.Delivery{{Notifier: "oncall", Event: "trigger", State: alerts.Accepted, AcceptedAt: thursday.Add(-time.Minute), Attempts: 1}},
	}
}

func ended() alerts.Incident {
	return alerts.Incident{
		ID: "01991f2e-0000-7000-8000-000000000141", Number: 141, Source: "payments", Group: "kyc-screening", Verdict: alerts.Stopped, Scope: alerts.GroupScope, Pages: true,
		Title: "All 8 partitions of kyc.events", OpenedAt: thursday.AddDate(0, 0, -6), ResolvedAt: thursday.AddDate(0, 0, -6).Add(9 * time.Minute), Resolution: "it moves again",
		Evidence: alerts.Evidence{Waiting: sources.NotKnown},
	}
}

// letters have every kind of bytes that a letter can have; one has an id that
// is hard on paths.
func letters() []review.Letter {
	kafka := func(id string, offset int64) review.Letter {
		return review.Letter{
			ID: id, CauseID: "c-61", Status: review.Open, FoundAt: thursday, BodyKept: true,
			DeadLetter: sources.DeadLetter{Source: "payments", Queue: "orders.dlq", Place: sources.Place{Partition: 1, Offset: offset}, DeadAt: thursday},
		}
	}
	json := kafka("dl_json", 4417)
	json.Key, json.Body = []byte("k"), []byte("{ \"n\" : 9007199254740993, \"d\": 1.10, \"e\":1E400 }\n")
	json.Headers = []sources.Header{{Name: "h", Value: []byte("2")}, {Name: "h"}, {Name: "h", Value: []byte{}}, {Name: "kafka_dlt-original-partition", Value: []byte{0, 0, 0, 3}}}
	json.Origin = sources.Origin{Queue: "orders", Partition: ptr(int32(3)), Offset: ptr(int64(404269))}
	json.Reason = sources.Reason{Class: "InvalidCurrencyException", Message: "unknown currency"}
	json.Attempts, json.Convention, json.ErrorHeaders = ptr(4), "spring-retryable", []string{"kafka_dlt-original-partition"}
	null := kafka("dl_null", 4418)
	null.Size = sources.NotKnown
	empty := kafka("dl_empty", 4419)
	empty.Key, empty.Body = []byte{}, []byte{}
	binary := kafka("dl_binary", 4420)
	binary.Key, binary.Body = []byte{0xff, 0}, []byte{0, 1, 0xfe, 0xff}
	bad := kafka("dl_evil", 4421)
	bad.Key, bad.Body, bad.Headers = []byte(evil), []byte(evil), []sources.Header{{Name: evil, Value: []byte(evil)}}
	forgotten := kafka("dl_forgotten", 4422)
	forgotten.BodyKept, forgotten.Size = false, 164
	sqs := review.Letter{
		ID: "a/b%", CauseID: "c-44", Status: review.Open, BodyKept: true, ReturnedFrom: "dl_json",
		DeadLetter: sources.DeadLetter{
			Source: "aws", Queue: "jobs-dlq", Place: sources.Place{MessageID: "9f2c"}, Body: []byte(`{"error":"card declined","error_code":50002}`), ExpiresAt: thursday.AddDate(0, 0, 2), ExpiryIs: "not before",
			Headers: []sources.Header{{Name: "tries", Value: []byte("3"), Type: "Number"}}, System: map[string]string{"SentTimestamp": "1"},
		},
	}
	return []review.Letter{json, null, empty, binary, bad, forgotten, sqs}
}

func planOfTwo() review.Plan {
	return review.Plan{
		ID: "pl_1", CreatedAt: thursday, Total: 2,
		Letters: []review.Planned{
			{LetterID: "dl_json", Target: &sources.Target{Queue: "orders", Partition: ptr(int32(3))}, Why: "configured", Kept: []string{"h", "h", "h"}, Dropped: []string{"kafka_dlt-original-partition"}, Added: []string{"unwedge-redrive"}},
			{LetterID: "a/b%", Refused: "no_target", Warnings: []string{"returned_before"}},
		},
		Receivers: []sources.Receiver{{Queue: "orders", Group: "billing", State: "Stable", Lag: sources.NotKnown}},
		Warnings:  []review.Warning{{Code: "returned_before", Message: "1 letter came back twice", LetterIDs: []string{"a/b%"}, MustConfirm: true}},
	}
}
