package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// redriven is an office with letters that were sent and have all arrived.
func redriven(t *testing.T, letters []sources.DeadLetter, repeats bool) (*office, []string, review.Redrive) {
	t.Helper()
	o := newOffice(t, repeats)
	ids := take(t, o.Store, look(letters, time.Now(), oneCause)).New
	o.work(t, o.Store)
	return o, ids, o.ended(t, o.start(t, ids).ID)
}

// itemOf is the item of a letter in a redrive.
func (o *office) itemOf(t *testing.T, redrive, letter string) review.Item {
	t.Helper()
	page, err := o.Items(t.Context(), redrive, nil, 500, "")
	must(t, err)
	for _, i := range page.Items {
		if i.LetterID == letter {
			return i
		}
	}
	t.Fatalf("letter %s is not in redrive %s", letter, redrive)
	return review.Item{}
}

var events = review.Awaited{Source: "payments", Queue: "payment.events"}

// readTo are readers of the target who have passed everything below an offset.
func readTo(offset int64) sources.Passed {
	p := sources.Passed{TopicID: "id-of-payment.events", Groups: []string{"payment-events-processor"}, Below: map[int32]int64{}}
	for line := range int32(6) {
		p.Below[line] = offset
	}
	return p
}

func (o *office) pass(t *testing.T, at review.Awaited, p sources.Passed) review.Followed {
	t.Helper()
	var all review.Followed
	for more := true; more; {
		done, err := o.Pass(t.Context(), at, p)
		must(t, err)
		all.Redrives, all.Letters, more = append(all.Redrives, done.Redrives...), append(all.Letters, done.Letters...), done.More
	}
	return all
}

func TestWhatItsReadersHavePassedIsConsumed(t *testing.T) {
	o, ids, job := redriven(t, payments(0, 30), true)
	waits, err := o.Awaited(t.Context(), []string{"payments", "other"})
	must(t, err)
	if len(waits) != 1 || waits[0] != events {
		t.Fatalf("waited for: %+v", waits)
	}
	if done := o.pass(t, review.Awaited{Source: "other", Queue: "payment.events"}, readTo(5000)); len(done.Letters) > 0 {
		t.Errorf("read at another source: %+v", done)
	}
	if done := o.pass(t, events, readTo(1000)); len(done.Letters) > 0 {
		t.Errorf("nobody has come to the first yet: %+v", done)
	}
	done := o.pass(t, events, readTo(1010))
	if len(done.Letters) != 10 || len(done.Redrives) == 0 || done.Redrives[0] != job.ID {
		t.Errorf("of offsets 1000 to 1029 those below 1010 are passed: %+v", done)
	}
	if r := o.job(t, job.ID); r.Counts[review.ItemConsumed] != 10 || r.Counts[review.Confirmed] != 20 || r.Verdict != "30 redriven: 10 passed, 20 not read yet" {
		t.Errorf("%v %q", r.Counts, r.Verdict)
	}
	o.pass(t, events, readTo(1030))
	l, err := o.Letter(t.Context(), ids[0])
	if r := o.job(t, job.ID); err != nil || l.Outcome != review.Consumed || l.Status != review.Redriven || r.Counts[review.ItemConsumed] != 30 {
		t.Errorf("%v; %+v, %v", r.Counts, l.Outcome, err)
	}
	if waits, err := o.Awaited(t.Context(), []string{"payments"}); err != nil || len(waits) > 0 {
		t.Errorf("all are consumed, and it is still waited for %+v, %v", waits, err)
	}
}

func TestPositionsOnATopicThatWasMadeAgainPassNothing(t *testing.T) {
	o, _, job := redriven(t, payments(0, 6), true)
	p := readTo(5000)
	p.TopicID = "id-of-another"
	if done := o.pass(t, events, p); len(done.Letters) > 0 || o.job(t, job.ID).Counts[review.Confirmed] != 6 {
		t.Errorf("%+v", done)
	}
	if waits, err := o.Awaited(t.Context(), []string{"payments"}); err != nil || len(waits) > 0 {
		t.Errorf("the topic is gone and it is still waited for %+v, %v", waits, err)
	}
}

// TestTheVerdictIsFinalWhenLettersHadTheTimeToComeBack: until then it says less.
func TestTheVerdictIsFinalWhenLettersHadTheTimeToComeBack(t *testing.T) {
	o, ids, job := redriven(t, payments(0, 12), true)
	o.pass(t, events, readTo(2000))
	job = o.job(t, job.ID)
	if job.Followed || job.ReturnsIn != 10*time.Second || job.FollowUntil.Before(job.EndedAt.Add(9*time.Second)) {
		t.Fatalf("%+v", job)
	}
	if done, err := o.CloseVerdicts(t.Context(), job.FollowUntil.Add(-time.Second)); err != nil || len(done.Redrives) > 0 {
		t.Errorf("too early: %+v, %v", done, err)
	}
	o.bounce(t, job.ID, ids[:2])
	if r := o.job(t, job.ID); r.Verdict != "12 redriven: 10 passed, 2 came back" || r.Counts[review.ItemReturned] != 2 {
		t.Errorf("%q %v", r.Verdict, r.Counts)
	}
	until := o.job(t, job.ID).FollowUntil
	if done, err := o.CloseVerdicts(t.Context(), until.Add(time.Second)); err != nil || len(done.Redrives) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if r := o.job(t, job.ID); !r.Followed || r.Verdict != "12 redriven: 10 passed and not returned within 10 seconds, 2 came back" {
		t.Errorf("%q", r.Verdict)
	}
	o.bounce(t, job.ID, ids[2:3]) // late, and still told
	if r := o.job(t, job.ID); r.Counts[review.ItemReturned] != 3 || !strings.Contains(r.Verdict, "3 came back") {
		t.Errorf("%q", r.Verdict)
	}
}

// bounce has letters of a redrive come back, with where they came from.
func (o *office) bounce(t *testing.T, redrive string, ids []string) []string {
	t.Helper()
	back := payments(500+bounced, len(ids))
	bounced += len(ids)
	for i, id := range ids {
		at := o.itemOf(t, redrive, id).Receipt
		back[i].Origin.Partition, back[i].Origin.Offset = &at.Partition, &at.Offset
	}
	return take(t, o.Store, look(back, time.Now(), oneCause)).New
}

var bounced int

func TestLettersOnSQSAreFollowedUntilTheyHadTheTimeToComeBack(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(3), time.Now(), oneCause)).New
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	if want := "3 redriven: 3 not returned so far (nobody can tell who reads an SQS queue)"; job.Verdict != want {
		t.Errorf("%q", job.Verdict)
	}
	_, err := o.CloseVerdicts(t.Context(), job.FollowUntil.Add(time.Second))
	must(t, err)
	if r := o.job(t, job.ID); r.Verdict != "3 redriven: 3 not returned within 10 seconds (nobody can tell who reads an SQS queue)" {
		t.Errorf("%q", r.Verdict)
	}
}

// TestC71WhatArrivesWhileItRunsIsCountedApart is a loop: the consumer fails and
// writes back. Exactly those that were planned are sent.
func TestC71WhatArrivesWhileItRunsIsCountedApart(t *testing.T) {
	o, ids, job := redriven(t, payments(0, 100), true)
	back := o.bounce(t, job.ID, ids)
	if r := o.job(t, job.ID); r.Total != 100 || r.Counts[review.ItemReturned] != 100 || r.Verdict != "100 redriven: 100 came back" || len(o.broker.at("payment.events")) != 100 {
		t.Errorf("%q %v", r.Verdict, r.Counts)
	}
	if got := o.statuses(t, back); got != "map[open:100]" {
		t.Errorf("those that came back are %s", got)
	}
}

// TestTheLivesOfALetter follows it back through two redrives.
func TestTheLivesOfALetter(t *testing.T) {
	o, ids, first := redriven(t, payments(0, 1), true)
	second := o.bounce(t, first.ID, ids)
	again := o.ended(t, o.start(t, second).ID)
	third := o.bounce(t, again.ID, second)
	lives, err := o.Lives(t.Context(), third[0])
	must(t, err)
	if len(lives) != 2 {
		t.Fatalf("%+v", lives)
	}
	for i, want := range []struct{ letter, redrive, back string }{{ids[0], first.ID, second[0]}, {second[0], again.ID, third[0]}} {
		l := lives[i]
		if l.LetterID != want.letter || l.Redrive != want.redrive || l.CameBack != want.back || l.State != review.ItemReturned || l.By != "asha" ||
			l.SentAt.IsZero() || l.ReturnedAt.IsZero() || l.StartedAt.IsZero() {
			t.Errorf("life %d: %+v", i, l)
		}
	}
	l, err := o.Letter(t.Context(), third[0])
	if err != nil || l.Returns != 2 {
		t.Errorf("%d returns, %v", l.Returns, err)
	}
}

// TestALetterOfAnotherSourceOrTopicDidNotComeBack although its coordinates are
// those that ours got.
func TestALetterOfAnotherSourceOrTopicDidNotComeBack(t *testing.T) {
	o, ids, job := redriven(t, payments(0, 2), true)
	at := o.itemOf(t, job.ID, ids[0]).Receipt
	foreign := payment(700)
	foreign.Source, foreign.Origin.Partition, foreign.Origin.Offset = "other", &at.Partition, &at.Offset
	if taken := take(t, o.Store, look([]sources.DeadLetter{foreign}, time.Now(), oneCause)); taken.Returned != 0 {
		t.Errorf("of another source: %+v", taken)
	}
	must(t, o.KeepInventory(t.Context(), review.Inventory{Source: "payments", ReadAt: time.Now(), Queues: []sources.Queue{{Name: "payment.events", ID: "made-again"}}}))
	later := payment(701)
	later.Origin.Partition, later.Origin.Offset = &at.Partition, &at.Offset
	if taken := take(t, o.Store, look([]sources.DeadLetter{later}, time.Now(), oneCause)); taken.Returned != 0 {
		t.Errorf("of a topic that was made again: %+v", taken)
	}
}

// TestALetterWithoutOriginIsKnownByItsBytes when exactly one that was sent has
// them, while it is waited for.
func TestALetterWithoutOriginIsKnownByItsBytes(t *testing.T) {
	list := payments(0, 3)
	list[2].Key, list[2].Body = list[1].Key, list[1].Body // twins
	o, ids, job := redriven(t, list, true)
	back := func(n int, like sources.DeadLetter) sources.DeadLetter {
		l := payment(900 + n)
		l.Key, l.Body, l.Headers, l.Origin = like.Key, like.Body, nil, sources.Origin{}
		return l
	}
	taken := take(t, o.Store, look([]sources.DeadLetter{back(0, list[0]), back(1, list[1])}, time.Now(), oneCause))
	l, err := o.Letter(t.Context(), taken.New[0])
	if err != nil || taken.Returned != 1 || l.ReturnedFrom != ids[0] {
		t.Errorf("the one with bytes of its own: %+v, from %q, %v", taken, l.ReturnedFrom, err)
	}
	_, err = o.CloseVerdicts(t.Context(), o.job(t, job.ID).FollowUntil.Add(time.Second))
	must(t, err)
	late := look([]sources.DeadLetter{back(2, list[0])}, o.job(t, job.ID).FollowUntil.Add(time.Hour), oneCause)
	if taken := take(t, o.Store, late); taken.Returned != 0 {
		t.Errorf("nobody waits for it any more: %+v", taken)
	}
}

// TestAnUnknownLetterThatComesBackHadArrived: that is the proof.
func TestAnUnknownLetterThatComesBackHadArrived(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 1), time.Now(), oneCause)).New
	o.broker.doubt = true
	o.work(t, o.Store)
	job := o.ended(t, o.start(t, ids).ID)
	item := o.itemOf(t, job.ID, ids[0])
	back := payment(800)
	back.Headers = append(back.Headers, sources.Header{Name: review.LineageHeader, Value: []byte(item.ID + " " + ids[0])})
	taken := take(t, o.Store, look([]sources.DeadLetter{back}, time.Now(), oneCause))
	r := o.job(t, job.ID)
	l, err := o.Letter(t.Context(), ids[0])
	if err != nil || taken.Returned != 1 || r.Counts[review.ItemReturned] != 1 || r.Counts[review.ItemUnknown] != 0 || l.Status != review.Redriven || l.Outcome != review.Returned {
		t.Errorf("%+v; %v; %s %s, %v", taken, r.Counts, l.Status, l.Outcome, err)
	}
}

func TestHowLongALetterTakesToComeBack(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"orders.retry-5s": 5 * time.Second, "orders-retry-1m": time.Minute, "orders.retry-10m": 10 * time.Minute, "orders-retry-30000": 30 * time.Second,
		"orders-retry-0": 0, "orders-retry-3": 0, "orders": 0, "retry-after-work": 0,
	} {
		if got := delayOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	t.Run("by the delays of the retry queues before it", func(t *testing.T) {
		o := newOffice(t, true)
		must(t, o.KeepInventory(t.Context(), review.Inventory{Source: "payments", ReadAt: time.Now(), Queues: []sources.Queue{
			{Name: "payment.events.dlq", Kind: sources.DeadLetterQueue, FeedsFrom: []string{"payment.events", "payment.events.retry-10m", "payment.events.retry-1m", "payment.events.retry-5s"}},
		}}))
		o.startsWith(t, payments(0, 1), 665*time.Second)
	})
	t.Run("by the redrive policy", func(t *testing.T) {
		o := newOffice(t, false)
		list := o.messages(1)
		must(t, o.KeepInventory(t.Context(), review.Inventory{Source: list[0].Source, ReadAt: time.Now(), Queues: []sources.Queue{
			{Name: list[0].Queue, Kind: sources.DeadLetterQueue, GivesUpAfter: 90 * time.Second},
		}}))
		o.startsWith(t, list, 90*time.Second)
	})
	t.Run("by those that came back before", func(t *testing.T) {
		o, ids, job := redriven(t, payments(0, 4), true)
		must(t, o.in(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `UPDATE shipments SET sent_at = sent_at - ?`, (40 * time.Second).Microseconds())
			return err
		}))
		o.startsWith(t, nil, 60*time.Second, o.bounce(t, job.ID, ids)...)
	})
}

// startsWith starts a redrive, and wants its letters to be expected back within
// a time, or a little more.
func (o *office) startsWith(t *testing.T, letters []sources.DeadLetter, want time.Duration, ids ...string) {
	t.Helper()
	if letters != nil {
		ids = take(t, o.Store, look(letters, time.Now(), oneCause)).New
	}
	job := o.job(t, o.start(t, ids).ID)
	usual, err := o.UsualReturn(t.Context(), job.ID)
	if err != nil || job.ReturnsIn < want || job.ReturnsIn > want+20*time.Second || usual != job.ReturnsIn || job.ReturnsWhy == "" {
		t.Errorf("%s (%s), want %s; %v", job.ReturnsIn, job.ReturnsWhy, want, err)
	}
}

// TestAStallAtARedrivenLetterIsLinkedOnce, pauses what still runs, and is
// remembered of the letter.
func TestAStallAtARedrivenLetterIsLinkedOnce(t *testing.T) {
	o, ids, job := redriven(t, payments(0, 6), true)
	at := o.itemOf(t, job.ID, ids[2]).Receipt
	rest := take(t, o.Store, look(payments(6, 1), time.Now(), oneCause)).New
	stand := func(id string, offset int64) {
		line := sources.Partition{Source: "payments", Group: "g", Topic: "payment.events", Number: at.Partition}
		must(t, o.in(t.Context(), func(tx *sql.Tx) error {
			return insertIncident(t.Context(), tx, alerts.Incident{
				ID: id, Source: "payments", Group: "g", Verdict: alerts.HeadOfLineStall, OpenedAt: time.Now(),
				Evidence: alerts.Evidence{Line: line, Position: offset},
			})
		}))
	}
	stand("in_far", at.Offset+1) // behind it
	if done, err := o.LinkStalls(t.Context(), time.Now()); err != nil || len(done.Redrives) > 0 {
		t.Errorf("a stall behind the letter: %+v, %v", done, err)
	}
	stand("in_near", at.Offset-100) // the letter is in what was polled
	done, err := o.LinkStalls(t.Context(), time.Now())
	if err != nil || len(done.Redrives) != 1 || done.Redrives[0] != job.ID || o.job(t, job.ID).Incident != "in_near" {
		t.Errorf("%+v, %v, linked to %q", done, err, o.job(t, job.ID).Incident)
	}
	if again, err := o.LinkStalls(t.Context(), time.Now()); err != nil || len(again.Redrives) > 0 {
		t.Errorf("linked again: %+v, %v", again, err)
	}
	stand("in_at", at.Offset)
	back := o.bounce(t, job.ID, ids[2:3])
	wedged, err := o.WedgedBefore(t.Context(), append(back, rest...))
	if err != nil || len(wedged) != 1 || len(wedged[back[0]]) != 1 || !strings.Contains(wedged[back[0]][0], fmt.Sprintf("offset %d of payment.events", at.Offset)) {
		t.Errorf("%v, %v", wedged, err)
	}
}
