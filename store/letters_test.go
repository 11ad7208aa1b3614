package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

func take(t testing.TB, s *Store, l review.Look) review.Taken {
	t.Helper()
	taken, err := s.Take(t.Context(), l)
	must(t, err)
	return taken
}

func letters(t testing.TB, s *Store, f review.Filter, limit int, cursor string) review.Letters {
	t.Helper()
	page, err := s.Letters(t.Context(), f, limit, cursor)
	must(t, err)
	return page
}

// TestEveryFieldOfALetterSurvives stores a letter with everything set.
func TestEveryFieldOfALetterSurvives(t *testing.T) {
	s := newStore(t)
	d := payment(1)
	d.OriginalKey = []byte{}
	d.System = map[string]string{"SentTimestamp": "1726279200000", "MessageGroupId": "g1"}
	d.RedriveTo, d.NotTheOriginal, d.Looks = "payment.events", true, 3
	d.Inferred = []string{"attempts"}
	d.Earlier = []sources.Origin{{Queue: "payment.events.retry-5s", Timestamp: time.UnixMilli(1726279100000).UTC()}}
	d.Reason.RootClass, d.Reason.Stack, d.Reason.Code = "java.lang.IllegalArgumentException", "at Payments.parse(Payments.java:40)", "rejected"
	taken := take(t, s, look([]sources.DeadLetter{d}, time.UnixMilli(1726279300000).UTC(), oneCause))
	l, err := s.Letter(t.Context(), taken.New[0])
	must(t, err)
	if diff := cmp.Diff(d, l.DeadLetter); diff != "" {
		t.Errorf("it is not what was stored (-stored +read):\n%s", diff)
	}
	if l.CauseID != "ca_one" || l.Status != review.Open || !l.BodyKept || l.Size != int64(len(d.Body)) || l.FoundAt.UnixMilli() != 1726279300000 {
		t.Errorf("%+v", l)
	}
}

func TestC01HeadersKeepOrderAndRepetition(t *testing.T) {
	s := newStore(t)
	d := payment(1)
	d.Headers = []sources.Header{{Name: "x-tag", Value: []byte("a")}, {Name: "other", Value: []byte("o")}, {Name: "x-tag", Value: []byte("b")}, {Name: "x-tag", Value: []byte("a")}}
	take(t, s, look([]sources.DeadLetter{d}, time.Now(), oneCause))
	if diff := cmp.Diff(d.Headers, letters(t, s, review.Filter{}, 10, "").Letters[0].Headers); diff != "" {
		t.Error(diff)
	}
}

func TestC05NullEmptyAndTheWordNullAreThreeHeaderValues(t *testing.T) {
	s := newStore(t)
	d := payment(1)
	d.Headers = []sources.Header{{Name: "a"}, {Name: "b", Value: []byte{}}, {Name: "c", Value: []byte("null")}}
	take(t, s, look([]sources.DeadLetter{d}, time.Now(), oneCause))
	got := letters(t, s, review.Filter{}, 10, "").Letters[0].Headers
	if got[0].Value != nil || got[1].Value == nil || len(got[1].Value) != 0 || string(got[2].Value) != "null" {
		t.Errorf("%#v", got)
	}
}

func TestC06TombstonesEmptyBodiesAndNullKeysAreKeptApart(t *testing.T) {
	s := newStore(t)
	list := payments(0, 3)
	list[0].Body, list[0].Key = nil, nil
	list[1].Body, list[1].Key = []byte{}, []byte{}
	list[2].Body = []byte("null")
	taken := take(t, s, look(list, time.Now(), oneCause))
	for i, id := range taken.New {
		l, err := s.Letter(t.Context(), id)
		must(t, err)
		if !bytes.Equal(l.Body, list[i].Body) || (l.Body == nil) != (list[i].Body == nil) || (l.Key == nil) != (list[i].Key == nil) {
			t.Errorf("letter %d: body %#v, key %#v", i, l.Body, l.Key)
		}
		if want := []int64{sources.NotKnown, 0, 4}[i]; l.Size != want {
			t.Errorf("letter %d: size %d, want %d", i, l.Size, want)
		}
	}
}

func TestC12LargeBodiesAreWholeInALetterAndCutInLists(t *testing.T) {
	s := newStore(t)
	list := payments(0, 2)
	list[0].Body = bytes.Repeat([]byte("0123456789abcdef"), 64<<10/16) // 64 KiB: the largest in lists
	list[1].Body = bytes.Repeat([]byte{0, 0xff, 'x'}, 1<<20)
	taken := take(t, s, look(list, time.Now(), oneCause))
	for i, listed := range slices.Backward(letters(t, s, review.Filter{}, 10, "").Letters) {
		n := 1 - i // newest first
		whole, err := s.Letter(t.Context(), taken.New[n])
		must(t, err)
		if !bytes.Equal(whole.Body, list[n].Body) || whole.Cut {
			t.Errorf("letter %d has %d bytes of %d", n, len(whole.Body), len(list[n].Body))
		}
		if large := n == 1; listed.Cut != large || listed.Size != int64(len(list[n].Body)) || !bytes.HasPrefix(list[n].Body, listed.Body) || large && len(listed.Body) != previewSize {
			t.Errorf("letter %d in the list: cut %t, size %d, %d bytes", n, listed.Cut, listed.Size, len(listed.Body))
		}
	}
}

func TestALetterThatIsReadAgainIsTheSameLetter(t *testing.T) {
	s := newStore(t)
	first := take(t, s, look(payments(0, 5), time.Now(), oneCause))
	second := take(t, s, look(payments(3, 5), time.Now(), oneCause))
	if len(first.New) != 5 || len(second.New) != 3 {
		t.Errorf("new: %d and %d, want 5 and 3", len(first.New), len(second.New))
	}
	if page := letters(t, s, review.Filter{}, 50, ""); page.Total != 8 || len(page.Letters) != 8 {
		t.Errorf("%d letters, total %d", len(page.Letters), page.Total)
	}
	cursor, err := s.Cursor(t.Context(), "payments", "payment.events.dlq")
	if err != nil || string(cursor) != "after 5" {
		t.Errorf("cursor %q, %v", cursor, err)
	}
}

func message(id string) sources.DeadLetter {
	attempts := 3
	return sources.DeadLetter{
		Source: "aws", Queue: "jobs-dlq", Place: sources.Place{MessageID: id}, Body: []byte(`{"job":"` + id + `"}`), Attempts: &attempts,
		System: map[string]string{"ApproximateReceiveCount": "3"},
	}
}

func TestC49AMessageThatIsReceivedAgainIsOneLetterWithTheNewestCount(t *testing.T) {
	s := newStore(t)
	list := []sources.DeadLetter{message("m1"), message("m2"), message("m1")}
	id := take(t, s, look(list, time.Now(), oneCause)).New[0]
	again := message("m1")
	again.System["ApproximateReceiveCount"], again.Looks = "4", 1
	take(t, s, look([]sources.DeadLetter{again}, time.Now(), oneCause))
	l, err := s.Letter(t.Context(), id)
	must(t, err)
	if page := letters(t, s, review.Filter{}, 50, ""); page.Total != 2 || l.System["ApproximateReceiveCount"] != "4" || *l.Attempts != 3 || l.Looks != 1 {
		t.Errorf("total %d; %+v, attempts %d, looks %d", page.Total, l.System, *l.Attempts, l.Looks)
	}
}

func TestMessagesThatAreGoneExpireAndMayTurnUpAgain(t *testing.T) {
	s := newStore(t)
	take(t, s, look([]sources.DeadLetter{message("m1"), message("m2")}, time.Now(), oneCause))
	taken := take(t, s, review.Look{Source: "aws", Queue: "jobs-dlq", At: time.Now(), Present: map[string]bool{"m2": true}})
	if len(taken.Changed) != 1 {
		t.Errorf("changed: %v", taken.Changed)
	}
	l, err := s.Letter(t.Context(), taken.Changed[0])
	if err != nil || l.Status != review.Expired || l.Place.MessageID != "m1" || !l.BodyKept {
		t.Errorf("%+v, %v", l, err)
	}
	if page := letters(t, s, review.Filter{}, 50, ""); page.Total != 2 {
		t.Errorf("an expired letter is still to be decided; total %d", page.Total)
	}
	take(t, s, look([]sources.DeadLetter{message("m1")}, time.Now(), oneCause))
	if l, err := s.Letter(t.Context(), l.ID); err != nil || l.Status != review.Open {
		t.Errorf("it was there again: %s, %v", l.Status, err)
	}
}

func TestRecordsBelowTheLogStartExpire(t *testing.T) {
	s := newStore(t)
	take(t, s, look(payments(0, 12), time.Now(), oneCause)) // offsets 0 and 1 of six partitions
	take(t, s, review.Look{Source: "payments", Queue: "payment.events.dlq", At: time.Now(), Start: map[int32]int64{2: 1, 3: 2}})
	if page := letters(t, s, review.Filter{Status: []review.Status{review.Expired}}, 50, ""); page.Total != 3 {
		t.Errorf("%d expired, want offset 0 of partition 2 and both of partition 3", page.Total)
	}
}

func TestATopicThatWasMadeAgainHasOtherLetters(t *testing.T) {
	s := newStore(t)
	take(t, s, look(payments(0, 2), time.Now(), oneCause))
	must(t, s.KeepInventory(t.Context(), review.Inventory{Source: "payments", Queues: []sources.Queue{{Name: "payment.events.dlq", Kind: sources.DeadLetterQueue, ID: "topic-2"}}}))
	list := payments(0, 2)
	for i := range list {
		list[i].Place.TopicID = "topic-2"
	}
	l := look(list, time.Now(), oneCause)
	l.Start = map[int32]int64{0: 0, 1: 0}
	if taken := take(t, s, l); len(taken.New) != 2 || len(taken.Changed) != 2 {
		t.Errorf("%+v, want two new ones, and the two of the topic that was deleted expired", taken)
	}
}

// TestC101PagesNeverRepeatOrDropARow pages through letters while others come,
// in front, behind and in the middle, and some are decided.
func TestC101PagesNeverRepeatOrDropARow(t *testing.T) {
	for name, f := range map[string]review.Filter{
		"all": {}, "queue": {Queues: []string{"payment.events.dlq"}}, "causes": {Causes: []string{"ca_0", "ca_1", "ca_2"}},
		"text": {Text: "currency"}, "status": {Status: []review.Status{review.Open, review.Redriven, review.Discarded}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			cause := func(i int) string { return fmt.Sprint("ca_", i%3) }
			list := payments(0, 280)
			for i := range list { // many of the same moment
				list[i].DeadAt = list[i].DeadAt.Truncate(2 * time.Second)
			}
			before := take(t, s, look(list, time.Now(), cause)).New
			seen := map[string]int{}
			cursor := ""
			for n := 0; ; n++ {
				page := letters(t, s, f, 30, cursor)
				for _, l := range page.Letters {
					seen[l.ID]++
				}
				if cursor = page.Next; cursor == "" {
					break
				}
				more := payments(1000+n*5, 5)
				for i := range more {
					more[i].DeadAt = list[rand.IntN(len(list))].DeadAt.Add(time.Duration(rand.IntN(3)-1) * time.Hour)
				}
				take(t, s, look(more, time.Now(), cause))
			}
			for _, id := range before {
				if seen[id] != 1 {
					t.Fatalf("letter %s was listed %d times", id, seen[id])
				}
			}
		})
	}
}

func TestListsAreInOrderNewestFirst(t *testing.T) {
	s := newStore(t)
	take(t, s, look(payments(0, 40), time.Now(), oneCause))
	list := letters(t, s, review.Filter{}, 40, "").Letters
	if !slices.IsSortedFunc(list, func(a, b review.Letter) int { return b.ListedAt().Compare(a.ListedAt()) }) {
		t.Error("it is not sorted")
	}
}

func TestACursorOfAnotherListIsRefused(t *testing.T) {
	s := newStore(t)
	take(t, s, look(payments(0, 3), time.Now(), func(i int) string { return fmt.Sprint(i) }))
	causes, err := s.Causes(t.Context(), review.Filter{}, 1, "")
	must(t, err)
	for _, cursor := range []string{"nonsense", "!", causes.Next, strings.Repeat("A", 1000)} {
		if _, err := s.Letters(t.Context(), review.Filter{}, 10, cursor); !errors.Is(err, review.ErrBadCursor) {
			t.Errorf("cursor %.20q: %v", cursor, err)
		}
	}
}

func TestC109FiltersSelectTheSameForListsTotalsAndCauses(t *testing.T) {
	s := newStore(t)
	cause := func(i int) string { return fmt.Sprint("ca_", i%4) }
	take(t, s, look(payments(0, 40), time.Now(), cause))
	take(t, s, look([]sources.DeadLetter{message("m1"), message("m2")}, time.Now(), cause))
	for _, c := range []struct {
		filter review.Filter
		want   int64
		causes int64
	}{
		{review.Filter{}, 42, 4},
		{review.Filter{Sources: []string{"aws"}}, 2, 2},
		{review.Filter{Sources: []string{"aws", "payments"}}, 42, 4},
		{review.Filter{Sources: []string{"nowhere"}}, 0, 0},
		{review.Filter{Queues: []string{"jobs-dlq"}, Sources: []string{"payments"}}, 0, 0},
		{review.Filter{Causes: []string{"ca_0"}}, 11, 1},
		{review.Filter{Causes: []string{"ca_0"}, Queues: []string{"jobs-dlq"}}, 1, 1},
		{review.Filter{Causes: []string{"ca_0", "ca_3"}}, 21, 2},
		{review.Filter{Causes: []string{"nothing"}}, 0, 0},
		{review.Filter{Status: []review.Status{review.Redriven}}, 0, 0},
		{review.Filter{Text: "pay_000007"}, 1, 1},
		{review.Filter{Text: "m1"}, 1, 1},
		{review.Filter{Text: "pay_0000", Causes: []string{"ca_1"}}, 10, 1},
	} {
		page := letters(t, s, c.filter, 100, "")
		causes, err := s.Causes(t.Context(), c.filter, 100, "")
		must(t, err)
		sum := 0
		for _, one := range causes.Causes {
			sum += one.Count
		}
		if page.Total != c.want || int64(len(page.Letters)) != c.want || causes.Total != c.causes || int64(len(causes.Causes)) != c.causes || int64(sum) != c.want {
			t.Errorf("%+v: %d letters, total %d; %d causes, total %d, with %d letters; want %d and %d",
				c.filter, len(page.Letters), page.Total, len(causes.Causes), causes.Total, sum, c.want, c.causes)
		}
	}
}

func TestAnUnknownIDIsNotFound(t *testing.T) {
	s := newStore(t)
	if _, err := s.Letter(t.Context(), "dl_x"); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("letter: %v", err)
	}
	if _, err := s.Cause(t.Context(), "ca_x"); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("cause: %v", err)
	}
	if _, err := s.Redrive(t.Context(), "rd_x"); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("redrive: %v", err)
	}
	if _, err := s.Plan(t.Context(), "pl_x"); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("plan: %v", err)
	}
}
