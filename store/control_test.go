package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// audited are the outcomes that the audit has of a subject, the first first.
func (o *office) audited(t *testing.T, subject string) []string {
	t.Helper()
	list, err := column[string](t.Context(), o.read, `SELECT who || ': ' || outcome FROM audit WHERE subject = ? ORDER BY number`, subject)
	must(t, err)
	return list
}

// refusedAs wants an error that names the state in which something is.
func refusedAs(t *testing.T, err error, text string) {
	t.Helper()
	var state *review.StateError
	if !errors.As(err, &state) || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want one that says %q", err, text)
	}
}

// begin writes a shipment of the first letters of a redrive down.
func (o *office) begin(t *testing.T, job string, letters int) (numbers []int64, items []string) {
	t.Helper()
	for i := range letters {
		items = append(items, fmt.Sprintf("%s-%d", job, i+1))
	}
	numbers, err := o.BeginShipments(t.Context(), job, "payments", []sources.Shipment{{Target: sources.Target{Queue: "payment.events"}, Items: items}}, nil)
	must(t, err)
	return numbers, items
}

func receipts(items []string, err error) []sources.Receipt {
	var list []sources.Receipt
	for i, item := range items {
		list = append(list, sources.Receipt{Item: item, Offset: int64(i), Err: err})
	}
	return list
}

func TestAfterAPauseNothingIsBegun(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	job := o.start(t, take(t, o.Store, look(payments(0, 4), time.Now(), oneCause)).New)
	_, err := o.ResumeRedrive(ctx, job.ID, "asha")
	refusedAs(t, err, "is running: it can be paused or cancelled")
	paused, err := o.PauseRedrive(ctx, job.ID, "asha")
	if err != nil || paused.State != review.JobPaused || paused.Reason != "paused by asha" {
		t.Errorf("%+v, %v", paused, err)
	}
	_, err = o.PauseRedrive(ctx, job.ID, "ravi")
	refusedAs(t, err, "is paused: it can be resumed or cancelled")
	if _, err := o.BeginShipments(ctx, job.ID, "payments", []sources.Shipment{{Items: []string{job.ID + "-1"}}}, nil); !errors.Is(err, review.ErrHalted) {
		t.Errorf("a shipment was begun: %v", err)
	}
	if working, err := o.Working(ctx); err != nil || len(working) != 0 {
		t.Errorf("there is nothing to do for it: %v, %v", working, err)
	}
	if resumed, err := o.ResumeRedrive(ctx, job.ID, "ravi"); err != nil || resumed.State != review.JobRunning || resumed.Reason != "" {
		t.Errorf("%+v, %v", resumed, err)
	}
	o.begin(t, job.ID, 1)
	want := []string{"asha: started with 4 letters", "asha: paused", "ravi: resumed; it was paused because of: paused by asha"}
	if got := o.audited(t, job.ID); !slices.Equal(got, want) {
		t.Errorf("the audit: %q", got)
	}
	for _, give := range []func() error{
		func() error { _, err := o.PauseRedrive(ctx, "rd_x", "asha"); return err },
		func() error { _, err := o.CancelRedrive(ctx, "rd_x", "asha"); return err },
		func() error { _, err := o.SetRedriveRate(ctx, "rd_x", 1, "asha"); return err },
		func() error { _, err := o.SettleItem(ctx, "rd_x-1", review.SettledSent, "asha"); return err },
	} {
		if err := give(); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}
	}
}

// TestACancelledRedriveEndsWhenWhatIsOutIsSettled cancels the rest at once.
func TestACancelledRedriveEndsWhenWhatIsOutIsSettled(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	ids := take(t, o.Store, look(payments(0, 6), time.Now(), oneCause)).New
	job := o.start(t, ids)
	numbers, items := o.begin(t, job.ID, 2)
	r, err := o.CancelRedrive(ctx, job.ID, "asha")
	if err != nil || r.State != review.JobRunning || !r.Cancelling || r.Reason != "cancelled by asha" || r.Counts[review.ItemCancelled] != 4 || !r.EndedAt.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	if got := o.statuses(t, ids); got != "map[open:4 redriving:2]" {
		t.Errorf("the letters are %s", got)
	}
	for _, give := range []func() error{
		func() error { _, err := o.CancelRedrive(ctx, job.ID, "asha"); return err },
		func() error { _, err := o.PauseRedrive(ctx, job.ID, "asha"); return err },
		func() error { _, err := o.SetRedriveRate(ctx, job.ID, 1, "asha"); return err },
	} {
		refusedAs(t, give(), "is being cancelled: it ends when what is under way is settled")
	}
	if over, err := o.FinishRedrive(ctx, job.ID); err != nil || over {
		t.Errorf("it is over although two are out: %v", err)
	}
	must(t, o.RecordReceipts(ctx, job.ID, []review.Result{{Shipment: numbers[0], Receipts: receipts(items, nil)}}))
	must(t, o.RecordSettled(ctx, job.ID, []review.Result{{Shipment: numbers[0], Receipts: receipts(items, nil)}}))
	if over, err := o.FinishRedrive(ctx, job.ID); err != nil || !over {
		t.Errorf("it is not over: %v", err)
	}
	if r = o.job(t, job.ID); r.State != review.JobCancelled || r.Cancelling || r.EndedAt.IsZero() || r.Reason != "cancelled by asha" {
		t.Errorf("%+v", r)
	}
	_, err = o.ResumeRedrive(ctx, job.ID, "asha")
	refusedAs(t, err, "is cancelled: it is over")
	if again := o.start(t, ids[2:]); again.Total != 4 {
		t.Errorf("what was cancelled can be redriven: %+v", again)
	}
	sameTallies(t, o.Store)
}

func TestARedriveOfWhichNothingIsOutIsCancelledAtOnce(t *testing.T) {
	for _, paused := range []bool{false, true} {
		o := newOffice(t, true)
		ids := take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New
		job := o.start(t, ids)
		if paused {
			_, err := o.PauseRedrive(t.Context(), job.ID, "asha")
			must(t, err)
		}
		r, err := o.CancelRedrive(t.Context(), job.ID, "asha")
		if err != nil || r.State != review.JobCancelled || r.Cancelling || r.EndedAt.IsZero() || r.Verdict != "0 redriven: 3 cancelled" {
			t.Errorf("paused before: %t: %+v, %v", paused, r, err)
		}
		if got := o.statuses(t, ids); got != "map[open:3]" {
			t.Errorf("the letters are %s", got)
		}
		if got := o.audited(t, job.ID); got[len(got)-1] != "asha: cancelled: 3 letters were not sent" {
			t.Errorf("the audit: %q", got)
		}
		sameTallies(t, o.Store)
	}
}

func TestARateIsSetWhileARedriveIsNotOver(t *testing.T) {
	o := newOffice(t, true)
	job := o.start(t, take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New)
	r, err := o.SetRedriveRate(t.Context(), job.ID, 2.5, "asha")
	st, err2 := o.Standing(t.Context(), job.ID)
	if err != nil || err2 != nil || r.RatePerSecond != 2.5 || st.RatePerSecond != 2.5 {
		t.Errorf("%+v, %+v, %v, %v", r, st, err, err2)
	}
	if r, err = o.SetRedriveRate(t.Context(), job.ID, 0, "asha"); err != nil || r.RatePerSecond != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	want := []string{"asha: started with 3 letters", "asha: rate: 2.5 letters a second", "asha: rate: no limit"}
	if got := o.audited(t, job.ID); !slices.Equal(got, want) {
		t.Errorf("the audit: %q", got)
	}
}

// TestWhatTheWorkerDecidesYieldsToAnOrder that came first.
func TestWhatTheWorkerDecidesYieldsToAnOrder(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	job := o.start(t, take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New)
	was, err := o.Standing(ctx, job.ID)
	must(t, err)
	waits := was
	waits.State, waits.Reason, waits.Waiting = review.JobWaiting, "1 canary: waits", time.Now()
	if done, err := o.Steer(ctx, job.ID, was, waits); err != nil || !done {
		t.Fatalf("%t, %v", done, err)
	}
	if found, err := o.Standing(ctx, job.ID); err != nil || found.State != review.JobWaiting || !found.Waiting.Equal(waits.Waiting) {
		t.Errorf("%+v, %v", found, err)
	}
	_, err = o.PauseRedrive(ctx, job.ID, "asha")
	must(t, err)
	goesOn := waits
	goesOn.State, goesOn.Reason, goesOn.Stage = review.JobRunning, "", 1
	if done, err := o.Steer(ctx, job.ID, waits, goesOn); err != nil || done {
		t.Errorf("it goes on although it was paused: %t, %v", done, err)
	}
	if r := o.job(t, job.ID); r.State != review.JobPaused || r.Reason != "paused by asha" {
		t.Errorf("%+v", r)
	}
}

// TestThreeCrashesInARowPauseARedrive, and a person that resumes it begins anew.
func TestThreeCrashesInARowPauseARedrive(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	job := o.start(t, take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New)
	crash := func() []string {
		must(t, o.BeginShift(ctx, job.ID))
		stopped, err := o.CountCrashes(ctx) // of the next run
		must(t, err)
		return stopped
	}
	for round := range 2 {
		for range review.CrashesMost - 1 {
			if stopped := crash(); len(stopped) > 0 || o.job(t, job.ID).State != review.JobRunning {
				t.Errorf("round %d: it stopped too soon", round)
			}
		}
		if round == 0 { // a run that ends well, and one that works long enough
			must(t, o.BeginShift(ctx, job.ID))
			must(t, o.ForgetCrashes(ctx, job.ID))
			must(t, o.EndShift(ctx, job.ID))
			if stopped, err := o.CountCrashes(ctx); err != nil || len(stopped) > 0 {
				t.Errorf("%v, %v", stopped, err)
			}
		}
	}
	if stopped := crash(); !slices.Equal(stopped, []string{job.ID}) {
		t.Errorf("%v", stopped)
	}
	if r := o.job(t, job.ID); r.State != review.JobPaused || r.Reason != "the program ended unclean 3 times in a row while this redrive was at work" {
		t.Errorf("%+v", r)
	}
	_, err := o.ResumeRedrive(ctx, job.ID, "asha")
	must(t, err)
	if stopped := crash(); len(stopped) > 0 {
		t.Error("after it was resumed the first crash stops it")
	}
}

// unknownItem is a redrive of SQS letters of which the first is unknown.
func (o *office) unknownItem(t *testing.T, n int) (ids []string, job review.Redrive) {
	t.Helper()
	ids = take(t, o.Store, look(o.messages(n), time.Now(), oneCause)).New
	job = o.start(t, ids)
	numbers, items := o.begin(t, job.ID, n)
	list := receipts(items, nil)
	list[0].Err = sources.ErrAmbiguous
	must(t, o.RecordReceipts(t.Context(), job.ID, []review.Result{{Shipment: numbers[0], Receipts: list}}))
	must(t, o.RecordSettled(t.Context(), job.ID, []review.Result{{Shipment: numbers[0], Receipts: list[1:]}}))
	_, err := o.FinishRedrive(t.Context(), job.ID)
	must(t, err)
	return ids, o.job(t, job.ID)
}

func TestAPersonDecidesThatALetterWasSent(t *testing.T) {
	o := newOffice(t, false)
	ctx := t.Context()
	ids, job := o.unknownItem(t, 2)
	_, err := o.SettleItem(ctx, job.ID+"-2", review.SettledSent, "asha")
	refusedAs(t, err, "is confirmed: only an unknown one is to be decided")
	item, err := o.SettleItem(ctx, job.ID+"-1", review.SettledSent, "asha")
	if err != nil || item.State != review.Confirmed || item.Error != "" {
		t.Errorf("%+v, %v", item, err)
	}
	if got := o.statuses(t, ids); got != "map[redriven:2]" {
		t.Errorf("the letters are %s", got)
	}
	removed, err := column[string](ctx, o.read, `SELECT l.id || ' ' || r.why FROM removals r JOIN letters l ON l.number = r.letter`)
	if err != nil || !slices.Equal(removed, []string{ids[0] + " settled"}) {
		t.Errorf("to be taken off its queue: %q, %v", removed, err)
	}
	if got := o.audited(t, ids[0]); got[len(got)-1] != "asha: decided: it was sent" {
		t.Errorf("the audit: %q", got)
	}
	if r := o.job(t, job.ID); r.State != review.JobDone || r.Counts[review.Confirmed] != 2 || strings.Contains(r.Verdict, "unknown") {
		t.Errorf("%+v", r)
	}
	sameTallies(t, o.Store)
}

func TestAPersonDecidesThatALetterWasNotSent(t *testing.T) {
	o := newOffice(t, false)
	ctx := t.Context()
	ids, job := o.unknownItem(t, 1)
	if job.State != review.JobFailed {
		t.Errorf("of no letter is it known that it was sent: %+v", job)
	}
	item, err := o.SettleItem(ctx, job.ID+"-1", review.SettledNotSent, "asha")
	if err != nil || item.State != review.ItemFailed || item.Error != "decided: it was not sent" {
		t.Errorf("%+v, %v", item, err)
	}
	if got := o.statuses(t, ids); got != "map[open:1]" {
		t.Errorf("the letter is %s", got)
	}
	_, err = o.SettleItem(ctx, job.ID+"-1", review.SettledSent, "ravi")
	refusedAs(t, err, "is failed")
	if got := o.audited(t, ids[0]); got[len(got)-1] != "asha: decided: it was not sent" {
		t.Errorf("the audit: %q", got)
	}
	if again := o.start(t, ids); again.Total != 1 {
		t.Errorf("again: %+v", again)
	}
	sameTallies(t, o.Store)
}

// TestWhatWedgedBeforeIsTheCanary that nobody asked for, wherever in the plan it
// stands; the others keep their order.
func TestWhatWedgedBeforeIsTheCanary(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	ids := take(t, o.Store, look(payments(0, 5), time.Now(), oneCause)).New
	plan, err := o.desk.Plan(ctx, review.Request{Selection: review.Selection{IDs: ids}})
	must(t, err)
	plan.Warnings = append(plan.Warnings, review.Warning{Code: "wedged_before", LetterIDs: []string{plan.Letters[3].LetterID}})
	must(t, o.FinishPlan(ctx, plan))
	job, err := o.desk.Start(ctx, review.Request{Plan: plan.ID, Confirm: []string{"wedged_before"}})
	must(t, err)
	st, err := o.Standing(ctx, job.ID)
	if err != nil || !st.Wary || st.Canary {
		t.Errorf("%+v, %v", st, err)
	}
	var got []string
	items, err := o.Items(ctx, job.ID, nil, 10, "")
	must(t, err)
	for i, item := range items.Items {
		got = append(got, item.LetterID)
		if item.ID != fmt.Sprintf("%s-%d", job.ID, i+1) {
			t.Errorf("item %d is %s", i, item.ID)
		}
	}
	want := []string{plan.Letters[3].LetterID, plan.Letters[0].LetterID, plan.Letters[1].LetterID, plan.Letters[2].LetterID, plan.Letters[4].LetterID}
	if !slices.Equal(got, want) {
		t.Errorf("they go as %q, want %q", got, want)
	}
}

func TestWhatIsPendingIsToldByTarget(t *testing.T) {
	o := newOffice(t, true)
	ctx := t.Context()
	job := o.start(t, take(t, o.Store, look(payments(0, 8), time.Now(), oneCause)).New)
	numbers, items := o.begin(t, job.ID, 3)
	list, err := o.Pending(ctx, job.ID)
	if want := []review.Pending{{Source: "payments", Queue: "payment.events", Out: 3}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	must(t, o.RecordReceipts(ctx, job.ID, []review.Result{{Shipment: numbers[0], Receipts: receipts(items, nil)}}))
	must(t, o.RecordSettled(ctx, job.ID, []review.Result{{Shipment: numbers[0], Receipts: receipts(items[:2], nil)}}))
	list, err = o.Pending(ctx, job.ID)
	if want := []review.Pending{{Source: "payments", Queue: "payment.events", Out: 1, Unread: 2}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestC106ARedriveThatSentNothingIsNotDone whatever the reasons were.
func TestC106ARedriveThatSentNothingIsNotDone(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 10)
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	for _, l := range list {
		o.broker.refused[string(l.Key)] = errors.New("MESSAGE_TOO_LARGE")
	}
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	if job.State != review.JobFailed || job.Reason != "none of its letters was sent: MESSAGE_TOO_LARGE" || job.Counts[review.ItemFailed] != 10 {
		t.Errorf("%+v", job)
	}
	o.broker.set(func() {
		clear(o.broker.refused)
		o.broker.refused[string(list[0].Key)] = errors.New("MESSAGE_TOO_LARGE")
	})
	job = o.ended(t, o.start(t, ids).ID)
	if job.State != review.JobDone || job.Counts[review.Confirmed] != 9 || !strings.Contains(job.Verdict, "1 failed: MESSAGE_TOO_LARGE") {
		t.Errorf("some were sent: %+v", job)
	}
}

// TestC108WhatIsInAnothersRedriveIsNamed, the rest can be sent, and no letter
// goes twice.
func TestC108WhatIsInAnothersRedriveIsNamed(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 500), time.Now(), oneCause)).New
	first := o.start(t, ids[:420])
	_, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids[378:428]}, By: "ravi"})
	var taken *review.ConflictError
	if !errors.As(err, &taken) || len(taken.IDs) != 42 {
		t.Fatalf("%v", err)
	}
	if text := err.Error(); !strings.Contains(text, "42 of the 50 letters are in redrive "+first.ID+" by asha") || !strings.Contains(text, "the other 8 can be sent") {
		t.Errorf("it says %q", text)
	}
	o.work(t, o.Store)
	second := o.start(t, taken.Free)
	o.ended(t, first.ID)
	o.ended(t, second.ID)
	places := map[string]bool{}
	for _, p := range o.broker.at("payment.events") {
		places[fmt.Sprint(p.Place)] = true
	}
	if n := len(o.broker.at("payment.events")); n != 428 || len(places) != 428 {
		t.Errorf("%d arrived, %d of them distinct", n, len(places))
	}
}

// TestC104ARedriveOfAPageIsThatPage, and one of a filter all that match it.
func TestC104ARedriveOfAPageIsThatPage(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 340), time.Now(), func(i int) string {
		if i < 120 {
			return "ca_timeout"
		}
		return "ca_other"
	})).New
	o.work(t, o.Store)
	page := o.ended(t, o.start(t, ids[:50]).ID)
	if page.Total != 50 || len(o.broker.at("payment.events")) != 50 {
		t.Errorf("%+v", page)
	}
	all, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{Filter: &review.Filter{Causes: []string{"ca_timeout"}, Status: []review.Status{review.Open}}}})
	must(t, err)
	if all = o.ended(t, all.ID); all.Total != 70 || len(o.broker.at("payment.events")) != 120 {
		t.Errorf("%+v", all)
	}
}

// TestC54TooManyThatBounceBackPauseTheRedrive says how many of how many.
func TestC54TooManyThatBounceBackPauseTheRedrive(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(300), time.Now(), oneCause)).New
	job, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids}, Options: review.Options{Pace: review.Pace{RatePerSecond: 0.001}}})
	must(t, err)
	numbers, items := o.begin(t, job.ID, 100)
	list := receipts(items, nil)
	for i := range list {
		list[i].MessageID = fmt.Sprint("new-m", i)
	}
	must(t, o.RecordReceipts(t.Context(), job.ID, []review.Result{{Shipment: numbers[0], Receipts: list}}))
	must(t, o.RecordSettled(t.Context(), job.ID, []review.Result{{Shipment: numbers[0], Receipts: list}}))
	var bounced []sources.DeadLetter
	for i := range 30 {
		bounced = append(bounced, message(fmt.Sprint("new-m", i)))
	}
	if taken := take(t, o.Store, look(bounced, time.Now(), oneCause)); taken.Returned != 30 {
		t.Fatalf("%d came back", taken.Returned)
	}
	o.work(t, o.Store)
	eventually(t, "it pauses", func() bool { return o.job(t, job.ID).State == review.JobPaused })
	if r := o.job(t, job.ID); r.Reason != "30 of 100 came back" || r.Counts[review.ItemReturned] != 30 {
		t.Errorf("%+v", r)
	}
	paused := slices.DeleteFunc(o.audited(t, job.ID), func(s string) bool { return s != "unwedge: paused: 30 of 100 came back" })
	if len(paused) != 1 {
		t.Errorf("it is said %d times", len(paused))
	}
}
