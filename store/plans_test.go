package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

// TestC104AllThatMatchOrOnlyThese: of 340 letters 120 match the filter, 50 of
// which stand on the first page.
func TestC104AllThatMatchOrOnlyThese(t *testing.T) {
	o := newOffice(t, true)
	cause := func(i int) string {
		if i < 120 {
			return "ca_timeout"
		}
		return "ca_other"
	}
	ids := take(t, o.Store, look(payments(0, 340), time.Now(), cause)).New
	for want, what := range map[int]review.Selection{120: {Filter: &review.Filter{Causes: []string{"ca_timeout"}}}, 50: {IDs: ids[:50]}} {
		plan, err := o.desk.Plan(t.Context(), review.Request{Selection: what})
		if err != nil || plan.Total != want {
			t.Errorf("%d letters are planned, want %d, %v", plan.Total, want, err)
		}
	}
}

// TestC105TheNewerOnesAreCounted: 120 are planned; 30 more of the cause come, and
// ten of another one.
func TestC105TheNewerOnesAreCounted(t *testing.T) {
	o := newOffice(t, true)
	take(t, o.Store, look(payments(0, 120), time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	must(t, err)
	take(t, o.Store, look(payments(120, 40), time.Now(), func(i int) string { return map[bool]string{true: "ca_one", false: "ca_two"}[i < 30] }))
	plan, err = o.Plan(t.Context(), plan.ID)
	if err != nil || plan.Total != 120 || plan.Newer != 30 {
		t.Errorf("%d planned, %d newer, %v", plan.Total, plan.Newer, err)
	}
}

// TestC108TheSecondIsToldWhoHasTheLetters: A redrives 420 of 500, and B a
// selection of 50 of which 42 are in A's job and of which one is discarded (C106).
func TestC108TheSecondIsToldWhoHasTheLetters(t *testing.T) {
	o := newOffice(t, true)
	o.desk.Takers = o.Store
	ids := take(t, o.Store, look(payments(0, 500), time.Now(), func(i int) string { return map[bool]string{true: "ca_a", false: "ca_b"}[i < 420] })).New
	theirs := append(append([]string{}, ids[378:420]...), ids[420:428]...)
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{IDs: theirs}})
	must(t, err)
	job, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_a"}, By: "asha"})
	must(t, err)
	says := fmt.Sprintf("42 of the 50 letters are in redrive %s by asha", job.ID)

	var changed *review.PlanChangedError
	if _, err := o.desk.Start(t.Context(), review.Request{Plan: plan.ID}); !errors.As(err, &changed) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "the other 8 can be sent") {
		t.Errorf("the plan of B: %v", err)
	}
	var taken *review.ConflictError
	_, err = o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{IDs: theirs}})
	if !errors.As(err, &taken) || !strings.HasPrefix(err.Error(), says) || len(taken.Free) != 8 || len(taken.Holds) != 1 || taken.Holds[0].Count != 42 {
		t.Fatalf("%v", err)
	}
	rest, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: taken.Free}, By: "bela"})
	if err != nil || rest.Total != 8 {
		t.Errorf("the other 8: %+v, %v", rest, err)
	}
}

// TestAPlanOfTheRestOfAnother leaves out what cannot be sent, or what a warning is
// about.
func TestAPlanOfTheRestOfAnother(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 6)
	list[1].NotTheOriginal = true
	list[2].ExpiresAt = time.Now().Add(time.Hour)
	for i := range list {
		if i != 2 {
			list[i].ExpiresAt = time.Time{}
		}
	}
	take(t, o.Store, look(list, time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	if err != nil || plan.Refused != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	for without, want := range map[string]int{"": 6, review.LeaveRefused: 5, "expires_soon": 5, "no_such_code": 6} {
		rest, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Of: plan.ID, Without: without}})
		if err != nil || rest.Total != want {
			t.Errorf("without %q: %d letters, want %d, %v", without, rest.Total, want, err)
		}
	}
	if _, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Of: "pl_none"}}); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestAPlanReadsNoMoreBodiesThanItMust: without an edit none, with one a few
// megabytes at a time.
func TestAPlanReadsNoMoreBodiesThanItMust(t *testing.T) {
	o := newOffice(t, true)
	list := payments(0, 5)
	for i := range list {
		list[i].Body = bytes.Repeat([]byte{'x'}, 7<<20)
	}
	list[4].Body = nil
	take(t, o.Store, look(list, time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	must(t, err)
	light, err := o.LettersOfPlan(t.Context(), plan.ID, 0, 10, false)
	if err != nil || len(light) != 5 || light[0].Body != nil || light[0].Size != 7<<20 {
		t.Errorf("%d letters, %v", len(light), err)
	}
	heavy, err := o.LettersOfPlan(t.Context(), plan.ID, 1, 10, true)
	if err != nil || len(heavy) != 2 || len(heavy[1].Body) != 7<<20 {
		t.Errorf("%d letters with their bodies, %v", len(heavy), err)
	}
	if last, err := o.LettersOfPlan(t.Context(), plan.ID, 4, 10, true); err != nil || len(last) != 1 {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestTheKeysOfLettersBesideAPlan are those of the same queue that are open and
// not in it, the latest first.
func TestTheKeysOfLettersBesideAPlan(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 10), time.Now(), oneCause)).New
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{IDs: ids[:7]}})
	must(t, err)
	var got []string
	must(t, o.KeysBeside(t.Context(), plan.ID, "payments", "payment.events.dlq", 2, func(l review.Letter) { got = append(got, l.ID+" "+string(l.Key)) }))
	if want := fmt.Sprint([]string{ids[9] + " user-9", ids[8] + " user-8"}); fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}
