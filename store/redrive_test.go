package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// office is a store with a desk and a worker on it, and a broker that outlives
// them.
type office struct {
	*Store
	path   string
	broker *fakeBroker
	desk   *review.Desk
	stop   func()
}

func newOffice(t *testing.T, repeats bool) *office {
	o := &office{path: filepath.Join(t.TempDir(), "unwedge.db"), broker: newBroker(repeats)}
	o.open(t)
	return o
}

func (o *office) open(t *testing.T) {
	o.Store = reopen(t, o.path)
	rules := review.Rules{To: sources.Patterns{Include: []string{"*"}, Exclude: []string{"secret"}}, DropHeaders: []string{"x-retry-count"}}
	outlet := review.Outlet{Sender: o.broker, Rules: rules}
	o.desk = &review.Desk{Letters: o, Plans: o, Starter: o, Takers: o, Outlets: map[string]review.Outlet{"payments": outlet, "aws": outlet}, Now: time.Now}
}

// work runs a worker until the office is closed. The journal may be one that
// fails.
func (o *office) work(t *testing.T, j review.Journal) {
	ctx, cancel := context.WithCancel(context.Background())
	w := review.NewWorker(review.Books{Ledger: o, Journal: j, Course: o, Fates: o, Shifts: o}, map[string]review.Sender{"payments": o.broker, "aws": o.broker}, slog.New(slog.DiscardHandler))
	o.desk.Started = w.Wake
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	o.stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(o.stop)
}

// restart closes everything and opens it again, as after a crash.
func (o *office) restart(t *testing.T) {
	o.stop()
	must(t, o.Close())
	o.open(t)
	o.work(t, o.Store)
}

func (o *office) job(t *testing.T, id string) review.Redrive {
	t.Helper()
	r, err := o.Redrive(t.Context(), id)
	must(t, err)
	return r
}

// ended waits until a redrive has ended.
func (o *office) ended(t *testing.T, id string) review.Redrive {
	t.Helper()
	eventually(t, "the redrive ends", func() bool { return !o.job(t, id).EndedAt.IsZero() })
	return o.job(t, id)
}

func (o *office) start(t *testing.T, ids []string) review.Redrive {
	t.Helper()
	job, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids}, By: "asha"})
	must(t, err)
	return job
}

func (o *office) statuses(t *testing.T, ids []string) string {
	t.Helper()
	count := map[review.Status]int{}
	list, err := o.LettersByID(t.Context(), ids)
	must(t, err)
	for _, l := range list {
		count[l.Status]++
	}
	return fmt.Sprint(count)
}

// messages are letters of a queue of the broker.
func (o *office) messages(n int) []sources.DeadLetter {
	list := make([]sources.DeadLetter, n)
	for i := range list {
		list[i] = message(fmt.Sprint("m", i))
		list[i].System["DeadLetterQueueSourceArn"] = "arn:aws:sqs:ap-south-1:0:jobs"
		o.broker.set(func() { o.broker.left[list[i].Place.MessageID] = true })
	}
	return list
}

func TestARedriveSendsTheSameBytesInOrder(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 40)
	for i := range list {
		list[i].Headers = append(list[i].Headers, sources.Header{Name: "x-tag", Value: []byte{}}, sources.Header{Name: "x-retry-count", Value: []byte("3")},
			sources.Header{Name: "x-tag"}, sources.Header{Name: review.LineageHeader, Value: []byte("rd_old-1 dl_old")})
	}
	list[3].Body, list[4].Body, list[5].Key = nil, []byte{}, nil
	list[6].Body = bytes.Repeat([]byte{0xff, 0}, 100_000)
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	o.work(t, o.Store)
	shuffled := slices.Clone(ids)
	slices.Sort(shuffled)
	job := o.ended(t, o.start(t, append(shuffled, shuffled[0])).ID)
	if job.State != review.JobDone || job.Total != 40 || job.Counts[review.Confirmed] != 40 || job.Verdict != "40 redriven: 40 not read yet" {
		t.Errorf("%+v", job)
	}
	last := map[int32]int64{}
	arrived := o.broker.at("payment.events")
	if len(arrived) != 40 {
		t.Fatalf("%d arrived", len(arrived))
	}
	for _, p := range arrived {
		i := int(p.Place.Offset)*6 + int(p.Place.Partition)
		want := list[i]
		if !bytes.Equal(p.Body, want.Body) || (p.Body == nil) != (want.Body == nil) || (p.Key == nil) != (want.Key == nil) || !bytes.Equal(p.Key, want.Key) {
			t.Errorf("letter %d: other bytes", i)
		}
		if before, seen := last[p.Place.Partition]; seen && p.Place.Offset < before {
			t.Errorf("offset %d of partition %d came after %d", p.Place.Offset, p.Place.Partition, before)
		}
		last[p.Place.Partition] = p.Place.Offset
		wantHeaders := []sources.Header{
			list[i].Headers[0], list[i].Headers[1], list[i].Headers[5],
			{Name: "x-tag", Value: []byte{}},
			{Name: "x-tag"},
			{Name: review.LineageHeader, Value: []byte(p.Item + " " + ids[i])},
			{Name: review.OriginalTimeHeader, Value: fmt.Append(nil, want.Origin.Timestamp.UnixMilli())},
		}
		if diff := cmp.Diff(wantHeaders, p.Headers); diff != "" {
			t.Fatalf("letter %d: headers (-want +sent):\n%s", i, diff)
		}
	}
	if got := o.statuses(t, ids); got != "map[redriven:40]" {
		t.Errorf("the letters are %s", got)
	}
	sameTallies(t, o.Store)
	var audited int
	must(t, o.read.QueryRowContext(t.Context(), `SELECT COUNT(DISTINCT subject) FROM audit WHERE who = 'asha' AND action = 'redrive'`).Scan(&audited))
	if audited != 41 {
		t.Errorf("%d things are in the audit, want 40 letters and the job", audited)
	}
}

func TestC107TwoTabsStartOneRedrive(t *testing.T) {
	for _, what := range []string{"the same letters", "the same plan"} {
		t.Run(what, func(t *testing.T) {
			o := newOffice(t, true)
			ids := take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New
			r := review.Request{Selection: review.Selection{IDs: ids}}
			if what == "the same plan" {
				plan, err := o.desk.Plan(t.Context(), r)
				must(t, err)
				r = review.Request{Plan: plan.ID}
			}
			var started atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					_, err := o.desk.Start(t.Context(), r)
					var taken *review.ConflictError
					var changed *review.PlanChangedError
					if err == nil {
						started.Add(1)
					} else if !errors.As(err, &taken) && !errors.As(err, &changed) {
						t.Errorf("%v", err)
					}
				})
			}
			all.Wait()
			page, err := o.Redrives(t.Context(), 10, "")
			if n := started.Load(); n != 1 || err != nil || page.Total != 1 {
				t.Errorf("%d of eight were started; %d redrives, %v", n, page.Total, err)
			}
		})
	}
}

func TestTheSecondStartOfAPlanNamesTheFirst(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 1), time.Now(), oneCause)).New
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{IDs: ids}})
	must(t, err)
	job, err := o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	must(t, err)
	_, err = o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	var taken *review.ConflictError
	if !errors.As(err, &taken) || taken.Redrive != job.ID {
		t.Errorf("%v, want one that names %s", err, job.ID)
	}
}

// TestC105LaterArrivalsStay plans a whole cause, and starts when more have come.
func TestC105LaterArrivalsStay(t *testing.T) {
	o := newOffice(t, true)
	take(t, o.Store, look(payments(0, 12), time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	must(t, err)
	later := take(t, o.Store, look(payments(12, 4), time.Now(), oneCause)).New
	o.work(t, o.Store)
	job, err := o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	must(t, err)
	if job = o.ended(t, job.ID); job.Total != 12 || len(o.broker.at("payment.events")) != 12 {
		t.Errorf("%+v", job)
	}
	if got := o.statuses(t, later); got != "map[open:4]" {
		t.Errorf("later ones are %s", got)
	}
}

func TestAPlanIsReadPageByPage(t *testing.T) {
	o := newOffice(t, true)
	take(t, o.Store, look(payments(0, 1000), time.Now(), oneCause))
	take(t, o.Store, look(payments(1000, 250), time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Filter: &review.Filter{Queues: []string{"payment.events.dlq"}}}})
	must(t, err)
	if plan.Total != 1250 || len(plan.Letters) != 1000 {
		t.Errorf("total %d, %d listed", plan.Total, len(plan.Letters))
	}
	kept, err := o.Plan(t.Context(), plan.ID)
	must(t, err)
	if diff := cmp.Diff(plan.Letters, kept.Letters); diff != "" {
		t.Errorf("the plan that was kept (-told +kept):\n%s", diff)
	}
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, err := o.PlanLetters(t.Context(), plan.ID, 400, cursor)
		must(t, err)
		for _, l := range page.Letters {
			seen[l.LetterID] = true
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 1250 {
		t.Errorf("%d letters on the pages", len(seen))
	}
}

func TestWhatIsRefusedOrUnconfirmedStartsNothing(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 4)
	list[1].NotTheOriginal = true
	list[2].Origin.Queue, list[2].Queue = "secret", "elsewhere"
	list[3].Origin.Queue = "gone"
	ids := take(t, o.Store, look(list[:2], time.Now(), oneCause)).New
	ids = append(ids, take(t, o.Store, look(list[2:3], time.Now(), oneCause)).New...)
	ids = append(ids, take(t, o.Store, look(list[3:], time.Now(), oneCause)).New...)
	o.broker.missing["gone"] = true
	_, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids}})
	var refused *review.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("%v", err)
	}
	codes := map[string]string{}
	for _, r := range refused.Letters {
		codes[r.LetterID] = r.Refused
	}
	if want := map[string]string{ids[1]: "not_the_original", ids[2]: "target_forbidden", ids[3]: "target_missing"}; !cmp.Equal(want, codes) {
		t.Errorf("refused %v, want %v", codes, want)
	}
	_, err = o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids[:1]}, Options: review.Options{To: "payment.events.dlq"}})
	var open *review.NeedsConfirmationError
	if !errors.As(err, &open) || open.Warnings[0].Code != "into_itself" {
		t.Errorf("%v", err)
	}
	if _, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: []string{"dl_x"}}}); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if got := o.statuses(t, ids); got != "map[open:4]" {
		t.Errorf("the letters are %s", got)
	}
	if _, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids[:1]}, Options: review.Options{To: "payment.events.dlq"}, Confirm: []string{"into_itself"}}); err != nil {
		t.Errorf("confirmed: %v", err)
	}
}

func TestAPlanWhoseWorldChangedIsNotStarted(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 3), time.Now(), oneCause)).New
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{IDs: ids}})
	must(t, err)
	o.broker.set(func() { o.broker.missing["payment.events"] = true })
	_, err = o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	var changed *review.PlanChangedError
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), "payment.events") || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the target is gone: %v", err)
	}
	o.broker.set(func() { o.broker.missing = map[string]bool{} })
	must(t, o.in(t.Context(), func(tx *sql.Tx) error { return move(t.Context(), tx, review.Discarded, `id = ?`, ids[1]) }))
	if _, err = o.desk.Start(t.Context(), review.Request{Plan: plan.ID}); !errors.As(err, &changed) || !strings.Contains(err.Error(), ids[1]) {
		t.Errorf("a letter is discarded: %v", err)
	}
}

func TestC56ATargetThatVanishesFailsTheRedriveAndLosesNothing(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(20), time.Now(), oneCause)).New
	job := o.start(t, ids)
	o.broker.set(func() { o.broker.missing["jobs"] = true })
	o.work(t, o.Store)
	job = o.ended(t, job.ID)
	if job.State != review.JobFailed || job.Counts[review.ItemFailed] != 20 || !strings.Contains(job.Verdict, "0 redriven: 20 failed: target jobs: no such queue") {
		t.Errorf("%+v", job)
	}
	if got := o.statuses(t, ids); got != "map[open:20]" || len(o.broker.left) != 20 {
		t.Errorf("the letters are %s, %d are in the queue", got, len(o.broker.left))
	}
	o.broker.set(func() { o.broker.missing = map[string]bool{} })
	if again := o.ended(t, o.start(t, ids).ID); again.State != review.JobDone || len(o.broker.at("jobs")) != 20 || len(o.broker.left) != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestC60OneThatFailsFailsAlone(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 10)
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	o.broker.refused[string(list[4].Key)] = errors.New("InvalidMessageContents: a control character")
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	if job.State != review.JobDone || job.Counts[review.Confirmed] != 9 || job.Counts[review.ItemFailed] != 1 || !strings.Contains(job.Verdict, "InvalidMessageContents") {
		t.Errorf("%+v", job)
	}
	failed, err := o.Items(t.Context(), job.ID, []review.ItemState{review.ItemFailed}, 10, "")
	must(t, err)
	if failed.Total != 1 || failed.Items[0].LetterID != ids[4] || failed.Items[0].Error != "InvalidMessageContents: a control character" {
		t.Errorf("%+v", failed)
	}
	if got := o.statuses(t, ids); got != "map[open:1 redriven:9]" {
		t.Errorf("the letters are %s", got)
	}
}

// TestC61WhatIsSentAndNotDeletedIsNotSentAgain settles later.
func TestC61WhatIsSentAndNotDeletedIsNotSentAgain(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(30), time.Now(), oneCause)).New
	o.broker.settling = errors.New("InternalError")
	o.work(t, o.Store)
	job := o.start(t, ids)
	eventually(t, "all are sent", func() bool { return o.job(t, job.ID).Counts[review.Sent] == 30 && o.job(t, job.ID).Trouble != "" })
	if r := o.job(t, job.ID); !r.EndedAt.IsZero() || r.State != review.JobRunning {
		t.Errorf("it is over before all is settled: %+v", r)
	}
	items, err := o.Items(t.Context(), job.ID, nil, 1, "")
	must(t, err)
	if !strings.Contains(items.Items[0].Error, "still in its dead-letter queue") {
		t.Errorf("%+v", items.Items[0])
	}
	o.broker.set(func() { o.broker.settling = nil })
	if r := o.ended(t, job.ID); r.Counts[review.Confirmed] != 30 || len(o.broker.at("jobs")) != 30 || len(o.broker.left) != 0 || r.Trouble != "" {
		t.Errorf("%+v, %d arrived, %d left", r, len(o.broker.at("jobs")), len(o.broker.left))
	}
}

func TestAnAnswerThatIsLost(t *testing.T) {
	t.Run("is asked for again where the broker drops a second copy", func(t *testing.T) {
		o := newOffice(t, true)
		ids := take(t, o.Store, look(payments(0, 6), time.Now(), oneCause)).New
		o.broker.lost = 2
		o.work(t, o.Store)
		if job := o.ended(t, o.start(t, ids).ID); job.Counts[review.Confirmed] != 6 || len(o.broker.at("payment.events")) != 6 {
			t.Errorf("%+v, %d arrived", job, len(o.broker.at("payment.events")))
		}
	})
	t.Run("is unknown where it does not, and is not sent again", func(t *testing.T) {
		o := newOffice(t, false)
		ids := take(t, o.Store, look(o.messages(6), time.Now(), oneCause)).New
		o.broker.lost = 1
		o.work(t, o.Store)
		job := o.ended(t, o.start(t, ids).ID)
		if job.State != review.JobDone || job.Counts[review.ItemUnknown] != 3 || job.Counts[review.Confirmed] != 3 || len(o.broker.at("jobs")) != 6 {
			t.Errorf("%+v, %d arrived", job, len(o.broker.at("jobs")))
		}
		if got := o.statuses(t, ids); got != "map[redriven:3 unknown:3]" {
			t.Errorf("the letters are %s", got)
		}
		sameTallies(t, o.Store)
	})
}

// TestADoubtThatStaysIsUnknown asks a few times, and not for ever.
func TestADoubtThatStaysIsUnknown(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 1), time.Now(), oneCause)).New
	o.broker.doubt = true
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	if job.Counts[review.ItemUnknown] != 1 || o.broker.ships != 4 || len(o.broker.at("payment.events")) != 1 {
		t.Errorf("%+v after %d sends, %d arrived", job, o.broker.ships, len(o.broker.at("payment.events")))
	}
}

func TestASourceThatIsDownIsWaitedFor(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		o := newOffice(t, repeats)
		list, target := payments(0, 6), "payment.events"
		if !repeats {
			list, target = o.messages(6), "jobs"
		}
		ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
		o.broker.down = errors.New("connection refused")
		o.work(t, o.Store)
		job := o.start(t, ids)
		eventually(t, "it says why it waits", func() bool { return strings.Contains(o.job(t, job.ID).Trouble, "connection refused") })
		o.broker.set(func() { o.broker.down = nil })
		if r := o.ended(t, job.ID); r.Counts[review.Confirmed] != 6 || len(o.broker.at(target)) != 6 || r.Trouble != "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestALetterThatComesBackIsKnown by the offset that ours got, by its message
// id, and by the lineage it carries.
func TestALetterThatComesBackIsKnown(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 12), time.Now(), oneCause)).New
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	items, err := o.Items(t.Context(), job.ID, nil, 50, "")
	must(t, err)
	byLetter := map[string]review.Item{}
	for _, i := range items.Items {
		byLetter[i.LetterID] = i
	}
	back := payments(100, 3)
	where := byLetter[ids[0]].Receipt
	back[0].Origin.Partition, back[0].Origin.Offset = &where.Partition, &where.Offset
	back[1].Headers = append(back[1].Headers, sources.Header{Name: review.LineageHeader, Value: []byte(byLetter[ids[1]].ID + " " + ids[1])})
	taken := take(t, o.Store, look(back, time.Now(), oneCause))
	if taken.Returned != 2 || len(taken.Redrives) != 1 || taken.Redrives[0] != job.ID || len(taken.Changed) != 2 {
		t.Errorf("%+v", taken)
	}
	for i := range 3 {
		l, err := o.Letter(t.Context(), taken.New[i])
		must(t, err)
		if want := []string{ids[0], ids[1], ""}[i]; l.ReturnedFrom != want || l.Status != review.Open || (l.Returns == 1) != (want != "") {
			t.Errorf("letter %d: %s is %s, returned from %q", i, l.ID, l.Status, l.ReturnedFrom)
		}
	}
	old, err := o.Letter(t.Context(), ids[0])
	must(t, err)
	if job = o.job(t, job.ID); old.Outcome != review.Returned || old.Status != review.Redriven || job.Counts[review.ItemReturned] != 2 || job.Verdict != "12 redriven: 10 not read yet, 2 came back" {
		t.Errorf("%s %s; %+v", old.Status, old.Outcome, job)
	}
	c, err := o.Cause(t.Context(), "ca_one")
	if err != nil || c.Returned != 2 || c.Count != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	var taken2 *review.ConflictError
	if _, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids[:1]}}); !errors.As(err, &taken2) || taken2.IDs[0] != ids[0] {
		t.Errorf("the letter that came back is another one; the old one again: %v", err)
	}
}

func TestC54AMessageThatBouncesBackKeepsItsMessageID(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(2), time.Now(), oneCause)).New
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	bounced := message("new-m0") // what the send called it
	taken := take(t, o.Store, look([]sources.DeadLetter{bounced}, time.Now(), oneCause))
	l, err := o.Letter(t.Context(), taken.New[0])
	if err != nil || l.ReturnedFrom != ids[0] || o.job(t, job.ID).Counts[review.ItemReturned] != 1 {
		t.Errorf("%+v, %v; %+v", l.ReturnedFrom, err, o.job(t, job.ID))
	}
}
