package review

import (
	"slices"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// TestWhatMakesItAnotherPlan is the contract's list, and what does not count.
func TestWhatMakesItAnotherPlan(t *testing.T) {
	part := func(n int32) *int32 { return &n }
	at := func(queue, id string, p *int32) Planned {
		return Planned{LetterID: "dl_1", Target: &sources.Target{Queue: queue, TopicID: id, Partition: p}}
	}
	with := func(p Planned, codes ...string) Planned {
		p.Warnings = codes
		return p
	}
	forbidden := at("a", "1", nil)
	forbidden.Refused, forbidden.Because = "target_forbidden", "redrive_to does not allow a"
	for what, c := range map[string]struct {
		was, is Planned
		want    []string
	}{
		"the same":             {at("a", "1", part(2)), at("a", "1", part(2)), nil},
		"any partition":        {at("a", "1", nil), at("a", "1", nil), nil},
		"no target as before":  {Planned{}, Planned{}, nil},
		"gone":                 {at("a", "1", nil), Planned{Refused: "target_missing"}, []string{"a, the target of letter dl_1, is gone"}},
		"made again":           {at("a", "1", part(2)), at("a", "2", part(2)), []string{"a was deleted and made again"}},
		"more partitions":      {at("a", "1", part(2)), at("a", "1", part(4)), []string{"a has other partitions: letter dl_1 would go to another one"}},
		"another queue":        {at("a", "1", nil), at("b", "1", nil), []string{"letter dl_1 would go to b now, not to a"}},
		"a target that is new": {Planned{LetterID: "dl_1"}, at("b", "1", nil), []string{"letter dl_1 has a target now: b"}},
		"not allowed any more": {at("a", "1", nil), forbidden, []string{"letter dl_1 cannot be sent any more: redrive_to does not allow a"}},
		"expired since":        {at("a", "1", nil), with(at("a", "1", nil), "stored_copy"), []string{"letter dl_1 has expired: the broker does not have it any more"}},
		"expired before":       {with(at("a", "1", nil), "rescued"), with(at("a", "1", nil), "rescued"), nil},
		"another warning":      {at("a", "1", nil), with(at("a", "1", nil), "newer_same_key", "many_receivers"), nil},
	} {
		var world changes
		world.compare(c.was, c.is)
		if got := world.lines(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestGroupsAndPartitionsOfTargetsThatChanged(t *testing.T) {
	var world changes
	world.compareReceivers(
		[]sources.Receiver{{Queue: "a", Group: "billing", Lag: 1}, {Queue: "a", Group: "search"}},
		[]sources.Receiver{{Queue: "a", Group: "billing", Lag: 900, State: "Empty"}, {Queue: "a", Group: "email"}})
	world.compareTargets(
		[]PlanTarget{{Queue: "a", TopicID: "1", Partitions: 3}, {Queue: "b", TopicID: "2", Partitions: 1}, {Queue: "gone", TopicID: "3"}},
		[]PlanTarget{{Queue: "a", TopicID: "1", Partitions: 6}, {Queue: "b", TopicID: "9", Partitions: 1}})
	want := []string{
		"a has 6 partitions now, not 3", "b was deleted and made again", "group email reads a now", "group search does not read a any more",
	}
	if got := world.lines(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAChangeOfManyLettersIsOneLine(t *testing.T) {
	var world changes
	for _, id := range []string{"dl_1", "dl_2", "dl_3", "dl_4", "dl_5", "dl_6", "dl_7"} {
		world.compare(Planned{LetterID: id, Target: &sources.Target{Queue: "100%d"}}, Planned{})
	}
	want := []string{"100%d, the target of 7 letters (dl_1, dl_2, dl_3, dl_4, dl_5 and 2 more), is gone"}
	if got := world.lines(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestC108AConflictSaysWhoHasTheLetters(t *testing.T) {
	for want, e := range map[string]ConflictError{
		"42 of the 50 letters are in redrive rd_1 by asha (a, b and 40 more); 1 is discarded (c); the other 7 can be sent": {
			IDs: make([]string, 43), Total: 50,
			Holds: []Hold{{Redrive: "rd_1", By: "asha", Status: Redriving, Count: 42, IDs: []string{"a", "b"}}, {Status: Discarded, Count: 1, IDs: []string{"c"}}},
		},
		"1 is redriven already, by redrive rd_1 (a); none is left to be sent": {
			IDs: []string{"a"}, Total: 1, Holds: []Hold{{Redrive: "rd_1", Status: Redriven, Count: 1, IDs: []string{"a"}}},
		},
		"this plan was started already, as redrive rd_1": {Redrive: "rd_1"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
