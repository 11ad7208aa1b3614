package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// drawer is a shelf, a store of plans and a source in memory.
type drawer struct {
	letters []Letter
	beside  []Letter // others of the same queue
	plan    Plan
	decided []Planned

	records map[string][]sources.Record // by topic
	looked  []sources.Stretch
	most    map[string]sources.Bounds
	left    int64 // that a look leaves
	fails   error
	bodies  bool // whether letters were asked for with their bodies
	stalled map[string][]string
}

func (d *drawer) LettersOfPlan(_ context.Context, _ string, from, most int, bodies bool) ([]Letter, error) {
	d.bodies = d.bodies || bodies
	return d.letters[from:min(len(d.letters), from+most)], nil
}

func (d *drawer) KeysBeside(_ context.Context, _, _, _ string, _ int, see func(Letter)) error {
	for _, l := range d.beside {
		see(l)
	}
	return nil
}

func (d *drawer) Queues(context.Context) ([]Queue, error) {
	return []Queue{{Queue: sources.Queue{Source: "payments", Name: "orders.dlq", Kind: sources.DeadLetterQueue}}, {Queue: sources.Queue{Source: "payments", Name: "orders", Kind: sources.WorkQueue}}}, nil
}

func (d *drawer) Freeze(context.Context, Plan, Selection) (int, error) { return len(d.letters), nil }

func (d *drawer) Decide(_ context.Context, _ string, _ int, letters []Planned) error {
	d.decided = append(d.decided, letters...)
	return nil
}

func (d *drawer) FinishPlan(_ context.Context, p Plan) error { d.plan = p; return nil }
func (d *drawer) DropPlan(context.Context, string) error     { return nil }

func (d *drawer) Plan(context.Context, string) (Plan, error) { return d.plan, nil }

func (d *drawer) Decided(_ context.Context, _ string, from, most int) ([]Planned, error) {
	return d.decided[from:min(len(d.decided), from+most)], nil
}

func (d *drawer) RefusedOf(context.Context, string, int) ([]Refusal, error) { return nil, nil }

func (d *drawer) StartRedrive(context.Context, Redrive, string) error { return nil }

func (d *drawer) Aim(_ context.Context, queue string, _ sources.DeadLetter) (sources.Target, string, error) {
	return sources.Target{Queue: queue}, "", nil
}

func (d *drawer) Pack(context.Context, []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	panic("a plan packs nothing")
}

func (d *drawer) Ship(context.Context, sources.Shipment) ([]sources.Receipt, error) {
	panic("a plan sends nothing")
}

func (d *drawer) Settle(context.Context, sources.Shipment, []sources.Receipt) ([]sources.Receipt, error) {
	panic("a plan settles nothing")
}

func (d *drawer) WedgedBefore(context.Context, []string) (map[string][]string, error) {
	return d.stalled, nil
}

func (d *drawer) LookThrough(_ context.Context, s sources.Stretch, most sources.Bounds, see func(sources.Record)) sources.Looked {
	d.looked = append(d.looked, s)
	if d.most == nil {
		d.most = map[string]sources.Bounds{}
	}
	d.most[s.Queue] = most
	got := sources.Looked{Until: monday, Left: d.left, Err: d.fails}
	for _, r := range d.records[s.Queue] {
		if first, named := s.From[r.Partition]; named && r.Offset >= first || !s.Since.IsZero() && !r.Timestamp.Before(s.Since) {
			see(r)
			got.Records++
		}
	}
	return got
}

func (d *drawer) desk(done ...sources.Finished) *Desk {
	rules := Rules{To: sources.Patterns{Include: []string{"*"}}, Routes: []sources.Route{{From: "orders.dlq", To: "orders"}}, Done: done}
	return &Desk{Letters: d, Plans: d, Starter: d, Stalls: d, Now: func() time.Time { return monday }, Outlets: map[string]Outlet{"payments": {Sender: d, Past: d, Rules: rules}}}
}

// plan plans all letters, and gives the warning of a code, nil when there is none.
func (d *drawer) planned(t *testing.T, code string, done ...sources.Finished) (Plan, *Warning) {
	t.Helper()
	plan, err := d.desk(done...).Plan(t.Context(), Request{Selection: Selection{Filter: &Filter{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range plan.Warnings {
		if w.Code == code {
			return plan, &w
		}
	}
	return plan, nil
}

// lateLetter is a letter of orders whose record was written an hour before it failed
// at ten past eight.
func lateLetter(i int) Letter {
	at := monday.Add(-50 * time.Minute)
	return Letter{ID: fmt.Sprint("dl_", i), Status: Open, BodyKept: true, FoundAt: at, DeadLetter: sources.DeadLetter{
		Source: "payments", Queue: "orders.dlq", Key: fmt.Append(nil, "order-", i), Body: fmt.Appendf(nil, `{"order":{"id":%d}}`, i),
		Headers: []sources.Header{{Name: "order", Value: fmt.Append(nil, i)}}, DeadAt: at, FailedAt: at,
		Origin: sources.Origin{Queue: "orders", Timestamp: at.Add(-time.Hour)},
	}}
}

func record(topic string, partition int32, offset int64, at time.Time, key, body string, headers ...sources.Header) sources.Record {
	return sources.Record{Topic: topic, Partition: partition, Offset: offset, Timestamp: at, Key: []byte(key), Body: []byte(body), Headers: headers}
}

// TestWhatWasDoneAlreadyIsFound by the key, a header, or a value in JSON, and
// only from the letter's original on.
func TestWhatWasDoneAlreadyIsFound(t *testing.T) {
	soon, before := monday.Add(-90*time.Minute), monday.Add(-3*time.Hour)
	header := sources.Header{Name: "order", Value: []byte("1")}
	for what, c := range map[string]struct {
		by   string
		done sources.Record
		want bool
	}{
		"by key":                             {"key", record("settled", 2, 1204, soon, "order-1", ""), true},
		"by key, another one":                {"key", record("settled", 2, 1204, soon, "order-10", ""), false},
		"by key, before the original":        {"key", record("settled", 2, 1204, before, "order-1", ""), false},
		"by a header":                        {"header:order", record("settled", 2, 1204, soon, "x", "", header), true},
		"by a header that is not there":      {"header:order", record("settled", 2, 1204, soon, "order-1", ""), false},
		"by JSON, a number as it is written": {"json:/order/id", record("settled", 2, 1204, soon, "x", `{ "order": {"id": 1} }`), true},
		"by JSON, a string of the same text": {"json:/order/id", record("settled", 2, 1204, soon, "x", `{"order":{"id":"1"}}`), true},
		"by JSON, another number":            {"json:/order/id", record("settled", 2, 1204, soon, "x", `{"order":{"id":1.0}}`), false},
		"by JSON, no JSON":                   {"json:/order/id", record("settled", 2, 1204, soon, "x", `1`), false},
	} {
		t.Run(what, func(t *testing.T) {
			by, err := sources.ParseField(c.by)
			if err != nil {
				t.Fatal(err)
			}
			d := &drawer{letters: []Letter{lateLetter(0), lateLetter(1), lateLetter(2)}, records: map[string][]sources.Record{"settled": {c.done}}}
			plan, w := d.planned(t, "already_done", sources.Finished{For: "orders", Topic: "settled", By: by})
			if (w != nil) != c.want {
				t.Fatalf("%+v", plan.Warnings)
			}
			if w == nil {
				return
			}
			if !w.MustConfirm || !slices.Equal(w.LetterIDs, []string{"dl_1"}) || !strings.HasPrefix(w.Message, "1 of 3 letters are done already: leave it out") {
				t.Errorf("%+v", w)
			}
			if want := "letter dl_1: settled partition 2 offset 1,204 at 2026-09-14 07:30:00 UTC has the same " + c.by; !slices.Equal(w.Evidence, []string{want}) {
				t.Errorf("%q", w.Evidence)
			}
			if !slices.Contains(d.decided[1].Warnings, "already_done") || slices.Contains(d.decided[0].Warnings, "already_done") {
				t.Errorf("%+v", d.decided)
			}
		})
	}
}

// TestFinishedWorkIsLookedForOfTheLettersItIsAbout: by where they come from, go
// to or lie in; the topic is read once, from the earliest original on, and the
// plan says how far.
func TestFinishedWorkIsLookedForOfTheLettersItIsAbout(t *testing.T) {
	key := sources.Field{In: sources.InKey}
	for pattern, want := range map[string]bool{"orders": true, "ord*": true, "orders.dlq": true, "payment.*": false} {
		d := &drawer{letters: []Letter{lateLetter(0), lateLetter(1)}, records: map[string][]sources.Record{"settled": {record("settled", 0, 7, monday.Add(-time.Hour), "order-1", "")}}}
		plan, w := d.planned(t, "already_done", sources.Finished{For: pattern, Topic: "settled", By: key})
		if (w != nil) != want {
			t.Errorf("%s: %+v", pattern, plan.Warnings)
		}
		looks := slices.DeleteFunc(d.looked, func(s sources.Stretch) bool { return s.Queue != "settled" })
		if want && (len(looks) != 1 || !looks[0].Since.Equal(monday.Add(-110*time.Minute))) {
			t.Errorf("%s: %+v", pattern, looks)
		}
		if says := "looked through 1 record of settled since 2026-09-14 07:10:00 UTC up to 2026-09-14 09:00:00 UTC for finished work"; want && !strings.Contains(fmt.Sprint(plan.NotKnown), says) {
			t.Errorf("%q", plan.NotKnown)
		}
		if d.bodies {
			t.Error("the bodies were read, and nothing looks into them")
		}
	}
}

// TestNewerRecordsOfTheSameKey are those behind the original, or after it.
func TestNewerRecordsOfTheSameKey(t *testing.T) {
	one := func(n int32) *int32 { return &n }
	at := func(n int64) *int64 { return &n }
	known, unknown, elsewhere := lateLetter(1), lateLetter(2), lateLetter(3)
	known.Origin.Partition, known.Origin.Offset = one(4), at(100)
	elsewhere.Origin.Queue, elsewhere.Origin.Partition, elsewhere.Origin.Offset = "orders.retry-5s", one(0), at(1)
	noKey := lateLetter(4)
	noKey.Key = nil
	soon, before := monday.Add(-time.Hour), monday.Add(-3*time.Hour)
	d := &drawer{letters: []Letter{known, unknown, elsewhere, noKey}, records: map[string][]sources.Record{"orders": {
		record("orders", 4, 100, soon, "order-1", ""), record("orders", 4, 101, before, "order-9", ""),
		record("orders", 1, 7, before, "order-2", ""), record("orders", 1, 8, soon, "order-3", ""),
	}}}
	plan, w := d.planned(t, "newer_same_key")
	if w == nil || w.MustConfirm || !slices.Equal(w.LetterIDs, []string{"dl_3"}) || !strings.Contains(w.Evidence[0], "orders partition 1 offset 8") {
		t.Errorf("%+v", plan.Warnings)
	}
	d.records["orders"] = append(d.records["orders"], record("orders", 4, 102, before, "order-1", ""))
	d.decided = nil
	if _, w = d.planned(t, "newer_same_key"); w == nil || !slices.Equal(w.LetterIDs, []string{"dl_1", "dl_3"}) {
		t.Errorf("behind its original, whatever its time says: %+v", w)
	}
}

// TestALaterLetterOfTheSameKeyIsTold: one that lies behind in the same queue, and
// is not in the plan.
func TestALaterLetterOfTheSameKeyIsTold(t *testing.T) {
	for offset, want := range map[int64]bool{4: false, 6: true} {
		one, other := lateLetter(1), lateLetter(1)
		other.ID, one.Place.Offset, other.Place.Offset = "dl_other", 5, offset
		d := &drawer{letters: []Letter{one, lateLetter(2)}, beside: []Letter{other}}
		_, w := d.planned(t, "newer_same_key")
		if (w != nil) != want || w != nil && !slices.Equal(w.Evidence, []string{"letter dl_1: letter dl_other of the same key came to orders.dlq later, and is not in this plan"}) {
			t.Errorf("offset %d: %+v", offset, w)
		}
	}
}

// TestALookThatEndsEarlyIsSaid: what could not be looked at is not known.
func TestALookThatEndsEarlyIsSaid(t *testing.T) {
	done := sources.Finished{For: "orders", Topic: "settled", By: sources.Field{In: sources.InKey}}
	for want, d := range map[string]*drawer{
		"looked at 0 of about 1,200,000 records of orders since 2026-09-14 07:10:00 UTC for newer records of the same keys, up to 2026-09-14 09:00:00 UTC: the rest was not looked at": {left: 1_200_000},
		"settled could not be looked through for finished work (0 records of it were): not authorised":                                                                                 {fails: sources.ErrNotAuthorised},
	} {
		d.letters = []Letter{lateLetter(0)}
		plan, _ := d.planned(t, "", done)
		if !slices.Contains(plan.NotKnown, want) {
			t.Errorf("%q\nwant %s", plan.NotKnown, want)
		}
		if d.most["settled"].Records != doneRecords || d.most["orders"].Records != newerRecords {
			t.Errorf("%+v", d.most)
		}
	}
}

func TestALetterThatWedgedItsGroupNeedsAWord(t *testing.T) {
	d := &drawer{letters: []Letter{lateLetter(0), lateLetter(1)}, stalled: map[string][]string{"dl_1": {"incident 7: billing stood at orders partition 3 offset 118,204"}}}
	_, w := d.planned(t, "wedged_before")
	if w == nil || !w.MustConfirm || !slices.Equal(w.Evidence, []string{"letter dl_1: incident 7: billing stood at orders partition 3 offset 118,204"}) {
		t.Errorf("%+v", w)
	}
}

// TestWhatIsDoneSinceThePlanNeedsAWord: the start looks again once the plan is
// old. It is the same plan, and nothing starts.
func TestWhatIsDoneSinceThePlanNeedsAWord(t *testing.T) {
	d := &drawer{letters: []Letter{lateLetter(0)}, records: map[string][]sources.Record{}}
	desk := d.desk(sources.Finished{For: "orders", Topic: "settled", By: sources.Field{In: sources.InKey}})
	plan, err := desk.Plan(t.Context(), Request{Selection: Selection{Filter: &Filter{}}})
	if err != nil || len(plan.Warnings) > 0 {
		t.Fatalf("%+v, %v", plan.Warnings, err)
	}
	d.records["settled"] = []sources.Record{record("settled", 0, 7, monday.Add(-time.Minute), "order-0", "")}
	desk.Now = func() time.Time { return monday.Add(2 * time.Minute) }
	_, err = desk.Start(t.Context(), Request{Plan: plan.ID})
	var open *NeedsConfirmationError
	if !errors.As(err, &open) || open.Warnings[0].Code != "already_done" {
		t.Errorf("%v", err)
	}
	if _, err = desk.Start(t.Context(), Request{Plan: plan.ID, Confirm: []string{"already_done"}}); err != nil {
		t.Errorf("confirmed: %v", err)
	}
}
