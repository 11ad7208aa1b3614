package views

import "time"

// The pages of what is decided about letters: discards, orders to redrives,
// selections that are taken, the audit.

func discardRow(state string) DiscardRow {
	d := DiscardRow{
		ID: "di_0199", State: state, Reason: "Duplicates of the 2 September import, checked against the ledger", By: "ops-1",
		At: ist(14, 9, 40, 12), Total: 9, Messages: 4, Left: 4, UndoUntil: ist(14, 9, 50, 12), CanUndo: state == "discarded",
	}
	if state == "draft" {
		d.Reason = ""
	}
	return d
}

func discardPage(state string) DiscardPage {
	p := DiscardPage{
		Frame: frame(ReviewSection, "Discard", ist(14, 9, 41, 0)), Discard: discardRow(state), Pager: Pager{Shown: 3, Total: 9, Next: "/discards/di_0199?cursor=x"},
		Items: []DiscardItem{
			{LetterID: "dl_1", Key: text("pay_2K7XE4UB"), Queue: "payment.events.dlq", Place: "partition 1, offset 4,410", State: state},
			{LetterID: "dl_2", Key: Bytes{Null: true}, Queue: "payment.events.dlq", Place: "partition 2, offset 17", State: state},
			{LetterID: "dl_3", Queue: "payment-retries-dlq", Place: "message 5f2a…", State: state, Deletes: true},
		},
	}
	return p
}

func discardRefused() DiscardPage {
	p := discardPage("draft")
	p.Problem = "Say why: a discard without a reason is no decision."
	return p
}

func discardUndone() DiscardPage {
	p := discardPage("undone")
	p.Discard.UndoneAt, p.Discard.UndoneBy, p.Discard.Messages = ist(14, 9, 44, 0), "ops-2", 0
	return p
}

func discardFailed() DiscardPage {
	p := discardPage("done")
	p.Discard.Left, p.Discard.Failed = 0, 1
	p.Items[2].State, p.Items[2].Error = "failed", "delete from payment-retries-dlq: not authorised: sqs:DeleteMessage"
	return p
}

func discardsPage() DiscardsPage {
	undone := discardUndone().Discard
	return DiscardsPage{
		Frame: frame(ReviewSection, "Discards", ist(14, 9, 41, 0)), Discards: []DiscardRow{discardRow("discarded"), undone, discardFailed().Discard},
		Pager: Pager{Shown: 3, Total: 3},
	}
}

func redriveIn(state string) RedrivePage {
	p := redrivePage()
	p.Job.State = state
	return p
}

func redrivePaused() RedrivePage {
	p := redriveIn("paused")
	p.Reason = "Paused by itself: the program ended three times in a row while it ran."
	p.Incident, p.Notices = "0199303b-7c1e-7a11-8f00-5d2b7a3c9142", nil
	p.Items[1].Decide = true
	return p
}

func redriveWaiting() RedrivePage {
	p := redriveIn("waiting")
	p.Reason = "Waits until 5 canaries were consumed and have not come back; gives up at 10:17."
	p.Options = []string{"edited: 1 change of the value", "to payment.events.retry-1m"}
	p.ReturnsIn, p.ReturnsWhy = 12*60*1e9, "the usual time of this queue's letters"
	p.Job.Counts = Counts{Consumed: 1, Confirmed: 5, Planned: 21}
	return p
}

func letterRedriven() LetterPage {
	p := letterPage()
	p.Lives = []Life{
		{LetterID: "dl_0", Redrive: "rd-40", By: "ops-2", At: ist(7, 9, 39, 2), Target: "payment.events.retry-5s", State: "returned", CameBackAs: "dl_1", ReturnedAt: ist(7, 9, 51, 2)},
		{Redrive: "rd-42", By: "ops-1", At: ist(14, 9, 17, 20), Target: "payment.events.retry-5s", State: "unknown", Error: "no answer to the send"},
	}
	return p
}

func takenPage() TakenPage {
	return TakenPage{
		Frame: frame(ReviewSection, "Taken", ist(14, 9, 41, 0)), Total: 44, Taken: 42, Free: []string{"dl_8", "dl_9"},
		Holds: []HoldRow{{Text: "40 are in redrive rd-42 by ops-2", Redrive: "rd-42"}, {Text: "2 were discarded by ops-1"}},
	}
}

func auditPage() AuditPage {
	return AuditPage{
		Frame: frame(AuditSection, "Audit", ist(14, 9, 41, 0)),
		Entries: []AuditRow{
			{At: ist(14, 9, 40, 12), By: "ops-1", Action: "discard", On: "di_0199", Outcome: "9 letters: duplicates of the import"},
			{At: ist(14, 9, 17, 21), By: "ops-1", Action: "redrive.confirmed", On: "dl_2K7XE4UB", Outcome: "payment.events.retry-5s partition 1 offset 90,331"},
			{At: ist(14, 9, 17, 20), By: "ops-1", Action: "redrive.start", On: "rd_42", Outcome: "27 letters"},
		},
		Pager: Pager{Shown: 3, Total: Unknown, Next: "/audit?cursor=x"},
	}
}

func silencesPage() SilencesPage {
	return SilencesPage{
		Frame: frame(IncidentsSection, "Silences", ist(14, 9, 41, 0)), Form: SilenceForm{Group: "payment-retry-consumer-group", Hours: "4"},
		Silences: []SilenceRow{
			{ID: "si_2", Source: "*", Group: "nightly-*", Topic: "*", Reason: "migration of the ledger", By: "ops-2", From: ist(14, 22, 0, 0), Until: ist(15, 4, 0, 0)},
			{ID: "si_1", Source: "payments", Group: "payment-retry-consumer-group", Topic: "*", By: "ops-1", From: ist(14, 9, 0, 0), Until: ist(14, 11, 0, 0)},
			{ID: "si_0", Source: "*", Group: "*", Topic: "*", By: "ops-1", From: ist(13, 9, 0, 0), Until: ist(13, 11, 0, 0)},
		},
		Pager: Pager{Shown: 3, Total: Unknown},
	}
}

func silencesRefused() SilencesPage {
	p := silencesPage()
	p.Silences, p.All, p.Problem = nil, true, "Say for how many hours: more than 0, at most 672."
	return p
}

func notifiersPage() NotifiersPage {
	f := frame(IncidentsSection, "Notifiers", ist(10, 3, 30, 0))
	f.NotDelivered = []NotDelivered{{Notifier: "oncall", Events: 2, Since: ist(10, 2, 47, 0), Error: "answered 502 Bad Gateway: try later"}}
	return NotifiersPage{
		Frame: f, Said: &Notice{Hue: Stuck, Text: "The test page was not taken.", More: "oncall: send a test page: answered 502 Bad Gateway."},
		Notifiers: []NotifierRow{
			{Name: "oncall", Kind: "PagerDuty", Hears: true, Waiting: 2, Since: ist(10, 2, 47, 0), Error: "answered 502 Bad Gateway: try later"},
			{Name: "hook", Kind: "webhook"},
			{Name: "second", Kind: "Slack", After: 10 * time.Minute},
		},
	}
}

func incidentTaken() IncidentPage {
	p := incidentPage()
	p.AcknowledgedBy, p.AcknowledgedAt = "ops-1", ist(10, 2, 48, 30)
	p.Skip, p.Skips = "/skips/new?group=payment-retry-consumer-group&partition=3", skipsPage().Skips[:2]
	p.Silences = []SilenceRow{{ID: "si_1", Source: "*", Group: "payment-*", Topic: "*", By: "ops-1", Reason: "known, the fix is on its way", From: ist(10, 2, 48, 0), Until: ist(10, 4, 0, 0)}}
	p.Incident.Deliveries = []DeliveryRow{
		{Notifier: "oncall", Event: "trigger", State: "accepted", AcceptedAt: ist(10, 2, 47, 1), Attempts: 1},
		{Notifier: "second", Event: "trigger", State: "held", Error: "silenced until 2026-09-09T22:30:00Z"},
		{Notifier: "hook", Event: "trigger", State: "gave_up", Attempts: 2, Error: "refused for good: answered 422"},
		{Notifier: "oncall", Event: "trigger", State: "needless", Error: "it was over before it was to be told"},
	}
	return p
}

func skipPlan() SkipPage {
	head := headRecord()
	return SkipPage{
		Frame: frame(IncidentsSection, "Park and skip", ist(10, 2, 52, 4)), Source: "payments", Group: "payment-retry-consumer-group", Topic: "payment.retry.requests", Partition: 3,
		From: 118204, To: 118205, End: 133494, Queue: "payment.retry.requests.dlq", Head: head, Incident: &IncidentRef{"0199303b-7c1e-7a11-8f00-5d2b7a3c9142", 142},
		WaitsFor: "Stop group payment-retry-consumer-group: it still has 6 members (retry-7c9f-0, retry-7c9f-1, retry-7c9f-2, retry-7c9f-3, retry-7c9f-4 and 1 more). Kafka takes a new position only while there are none.",
		Parked:   []ParkedRow{{Offset: 118204, Key: head.Key, At: head.At, Size: head.Size}},
	}
}

func skipMany() SkipPage {
	p := skipPlan()
	p.To, p.ToOffset, p.Stoppable = 118207, "118207", true
	p.Parked = append(p.Parked, ParkedRow{Offset: 118205, Key: Bytes{Null: true}, Size: 12}, ParkedRow{Offset: 118206, Key: text("pay_3"), Size: 512})
	return p
}

func skipRefused() SkipPage {
	p := skipPlan()
	p.Parked, p.Head, p.WaitsFor, p.Problem = nil, nil, "", "Partition 3 of payment.retry.requests for group payment-retry-consumer-group stands at 118206 by now, not at 118204."
	return p
}

func skipArmed() SkipPage {
	p := skipPlan()
	p.ID, p.State, p.By, p.ArmedAt, p.ExpiresAt = "sk_0199", "armed", "ops-1", ist(10, 2, 52, 4), ist(10, 3, 22, 4)
	return p
}

func skipDone() SkipPage {
	p := skipArmed()
	p.State, p.Outcome, p.WaitsFor, p.EndedAt = "done", "freed", "", ist(10, 2, 54, 0)
	p.Parked[0].Place = "payment.retry.requests.dlq, partition 0, offset 12"
	return p
}

func skipFailed() SkipPage {
	p := skipArmed()
	p.State, p.WaitsFor, p.EndedAt, p.Error = "failed", "", ist(10, 3, 22, 5), "Its time is over. Stop group payment-retry-consumer-group: it still has 6 members."
	return p
}

func skipsPage() SkipsPage {
	row := SkipRow{ID: "sk_2", State: "done", Outcome: "freed", Source: "payments", Group: "payment-retry-consumer-group", Topic: "payment.retry.requests", Partition: 3, From: 118204, To: 118205, Records: 1, By: "ops-1", At: ist(10, 2, 52, 4)}
	armed, failed := row, row
	armed.ID, armed.State, armed.Outcome, armed.At = "sk_3", "armed", "", ist(14, 9, 0, 0)
	failed.ID, failed.State, failed.Outcome, failed.At = "sk_1", "failed", "", ist(2, 9, 0, 0)
	return SkipsPage{Frame: frame(IncidentsSection, "Park and skip", ist(14, 9, 41, 0)), Skips: []SkipRow{armed, row, failed}, Pager: Pager{Shown: 3, Total: Unknown}}
}

// decisions are the fixtures of this file.
func decisions() []fixture {
	return []fixture{
		{"discard-draft", discardPage("draft")},
		{"discard-refused", discardRefused()},
		{"discard-decided", discardPage("discarded")},
		{"discard-undone", discardUndone()},
		{"discard-failed", discardFailed()},
		{"discards", discardsPage()},
		{"discards-empty", DiscardsPage{Frame: quietFrame(ReviewSection, "Discards", ist(14, 9, 0, 0))}},
		{"redrive-paused", redrivePaused()},
		{"redrive-waiting", redriveWaiting()},
		{"letter-redriven", letterRedriven()},
		{"taken", takenPage()},
		{"silences", silencesPage()},
		{"silences-refused", silencesRefused()},
		{"incident-taken", incidentTaken()},
		{"notifiers", notifiersPage()},
		{"notifiers-empty", NotifiersPage{Frame: quietFrame(IncidentsSection, "Notifiers", ist(14, 9, 0, 0))}},
		{"skip-plan", skipPlan()},
		{"skip-many", skipMany()},
		{"skip-refused", skipRefused()},
		{"skip-armed", skipArmed()},
		{"skip-done", skipDone()},
		{"skip-failed", skipFailed()},
		{"skips", skipsPage()},
		{"skips-empty", SkipsPage{Frame: quietFrame(IncidentsSection, "Park and skip", ist(14, 9, 0, 0))}},
		{"audit", auditPage()},
		{"audit-empty", AuditPage{Frame: quietFrame(AuditSection, "Audit", ist(14, 9, 0, 0)), By: "ops-9"}},
	}
}
