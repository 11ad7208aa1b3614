package store

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

func inr() *review.Edit {
	return &review.Edit{
		Patch:      []byte(`[{"op":"replace","path":"/currency","value":"USD"}]`),
		SetHeaders: []sources.Header{{Name: "tenant", Value: []byte("other")}, {Name: "x-null"}}, DropHeaders: []string{"content-type"},
	}
}

// TestAnEditedLetterIsSentAndTheOriginalStays: in the ledger, in the list, and
// byte for byte.
func TestAnEditedLetterIsSentAndTheOriginalStays(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 30)
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	o.work(t, o.Store)
	r := review.Request{Selection: review.Selection{IDs: ids}, Options: review.Options{Edit: inr()}}
	plan, err := o.desk.Plan(t.Context(), r)
	must(t, err)
	if diff := cmp.Diff([]string{"traceparent"}, plan.Letters[0].Kept); diff != "" {
		t.Error(diff)
	}
	job, err := o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	must(t, err)
	if job = o.ended(t, job.ID); job.Counts[review.Confirmed] != 30 {
		t.Fatalf("%+v", job)
	}
	for _, p := range o.broker.at("payment.events") {
		l := list[int(p.Place.Offset)*6+int(p.Place.Partition)]
		edited, err := inr().Apply(l)
		must(t, err)
		if string(p.Body) != string(edited.Body) || string(p.Body) == string(l.Body) || string(p.Key) != string(l.Key) {
			t.Fatalf("sent: %.80s", p.Body)
		}
		want := []sources.Header{l.Headers[0], {Name: "tenant", Value: []byte("other")}, {Name: "x-null"}}
		if diff := cmp.Diff(want, p.Headers[:3]); diff != "" || len(p.Headers) != 5 {
			t.Fatal(diff)
		}
	}
	stored, err := o.LettersByID(t.Context(), ids)
	must(t, err)
	for i, l := range stored {
		if string(l.Body) != string(list[i].Body) || len(l.Headers) != len(list[i].Headers) {
			t.Errorf("letter %d is not what it was", i)
		}
	}
}

// TestOnlyOneOfOriginalAndEditedIsEverSent: whoever comes second is told so.
func TestOnlyOneOfOriginalAndEditedIsEverSent(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 5), time.Now(), oneCause)).New
	these := review.Selection{IDs: ids}
	edited, err := o.desk.Plan(t.Context(), review.Request{Selection: these, Options: review.Options{Edit: inr()}})
	must(t, err)
	original, err := o.desk.Plan(t.Context(), review.Request{Selection: these})
	must(t, err)
	o.work(t, o.Store)
	requests := []review.Request{
		{Plan: edited.ID},
		{Plan: original.ID},
		{Selection: these},
		{Selection: these, Options: review.Options{Edit: &review.Edit{DropHeaders: []string{"tenant"}}}},
	}
	var started atomic.Int32
	var all sync.WaitGroup
	for _, r := range requests {
		all.Go(func() {
			job, err := o.desk.Start(t.Context(), r)
			var taken *review.ConflictError
			var changed *review.PlanChangedError
			if err == nil {
				started.Add(1)
				o.ended(t, job.ID)
			} else if !errors.As(err, &taken) && !errors.As(err, &changed) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(o.broker.at("payment.events")); started.Load() != 1 || n != 5 {
		t.Errorf("%d were started, %d letters arrived", started.Load(), n)
	}
	for _, r := range requests { // and not afterwards either
		if _, err := o.desk.Start(t.Context(), r); err == nil {
			t.Errorf("%+v goes after the other", r)
		}
	}
}

// TestAnEditThatCannotBeMadeIsRefusedWithItsLetter: none of the others goes
// either, until it is left out.
func TestAnEditThatCannotBeMadeIsRefusedWithItsLetter(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 3)
	list[1].Body = []byte(`{"no":"currency"}`)
	ids := take(t, o.Store, look(list, time.Now(), oneCause)).New
	r := review.Request{Selection: review.Selection{IDs: ids}, Options: review.Options{Edit: inr()}}
	plan, err := o.desk.Plan(t.Context(), r)
	must(t, err)
	for _, l := range plan.Letters {
		if want := l.LetterID == ids[1]; want != (l.Refused == "edit_fails") || want && l.Because != "replace /currency: the value has no /currency" {
			t.Errorf("%s: %q, %q", l.LetterID, l.Refused, l.Because)
		}
	}
	_, err = o.desk.Start(t.Context(), review.Request{Plan: plan.ID})
	var refused *review.RefusedError
	if !errors.As(err, &refused) || len(refused.Letters) != 1 {
		t.Error(err)
	}
}

// TestAnEditOutlivesARestart, with null apart from empty, and bytes that are no
// text.
func TestAnEditOutlivesARestart(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 1), time.Now(), oneCause)).New
	edit := &review.Edit{Value: review.Replaced{Is: true}, Headers: &[]sources.Header{{Name: "h", Value: []byte("\xfe")}, {Name: "n"}, {Name: "e", Value: []byte{}}}}
	job, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids}, Options: review.Options{Edit: edit}})
	must(t, err)
	o.work(t, o.Store)
	o.restart(t)
	o.ended(t, job.ID)
	p := o.broker.at("payment.events")
	if len(p) != 1 || p[0].Body != nil || string(p[0].Headers[0].Value) != "\xfe" || p[0].Headers[1].Value != nil || p[0].Headers[2].Value == nil {
		text, _ := json.Marshal(p)
		t.Errorf("%s", text)
	}
}
