package store

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// TestTalliesAreWhatCountingGives decides letters at random, and counts.
func TestTalliesAreWhatCountingGives(t *testing.T) {
	s := newStore(t)
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []review.Status{review.Open, review.Snoozed, review.Redriving, review.Redriven, review.Discarded, review.Uncertain, review.Expired}
	for round := range 20 {
		list := payments(round*50, 50)
		for i := range list {
			list[i].ExpiresAt = time.Date(2026, 9, 1+random.IntN(60), 0, 0, 0, 0, time.UTC)
			if random.IntN(5) == 0 {
				list[i].ExpiresAt = time.Time{}
			}
		}
		take(t, s, look(list, time.Date(2026, 8, 1+round*3, 0, 0, 0, 0, time.UTC), func(i int) string { return fmt.Sprint("ca_", i%7) }))
		must(t, s.in(t.Context(), func(tx *sql.Tx) error {
			return move(t.Context(), tx, statuses[random.IntN(len(statuses))], `number % 17 = ?`, random.IntN(17))
		}))
		sameTallies(t, s)
	}
	must(t, s.SetReview(t.Context(), review.Weekly{Day: time.Thursday, At: 15 * time.Hour, Zone: time.FixedZone("IST", 19800)}))
	sameTallies(t, s)
}

// sameTallies compares the kept tallies with a count of the letters.
func sameTallies(t *testing.T, s *Store) {
	t.Helper()
	read := func(query string) map[tally]amount {
		all := map[tally]amount{}
		must(t, each(t.Context(), s.read, func(r *sql.Rows) error {
			var k tally
			var a amount
			err := r.Scan(&k.cause, &k.queue, &k.status, &k.diedWeek, &k.foundWeek, &k.expiresWeek, &a.letters, &a.returned)
			all[k] = a
			return err
		}, query))
		return all
	}
	kept := read(`SELECT cause, queue, status, died_week, found_week, expires_week, letters, returned FROM tallies WHERE letters <> 0`)
	counted := read(countLetters + countBy)
	if diff := cmp.Diff(counted, kept, cmp.AllowUnexported(tally{}, amount{})); diff != "" {
		t.Fatalf("tallies (-counted +kept):\n%s", diff)
	}
	for k := range kept {
		if k.foundWeek == 0 {
			t.Fatalf("no week: %+v", k)
		}
	}
	sameItemCounts(t, s)
}

// TestACauseSaysWhatIsNewAndWhatExpires is told at Wednesday noon, with the
// review on Mondays at nine.
func TestACauseSaysWhatIsNewAndWhatExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 9, 16, 12, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(now)) // the bubble's clock
		s := newStore(t)
		must(t, s.SetReview(t.Context(), review.Weekly{Day: time.Monday, At: 9 * time.Hour, Zone: time.UTC}))
		arrive := func(i int, found, expires time.Time) {
			d := payment(i)
			d.DeadAt, d.ExpiresAt = found, expires
			take(t, s, look([]sources.DeadLetter{d}, found, oneCause))
		}
		monday := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
		arrive(0, monday.Add(-time.Minute), monday.AddDate(0, 0, 7)) // not new; expires at the next review, not before
		arrive(1, monday, monday.AddDate(0, 0, 7).Add(-time.Minute)) // new; expires just before it
		arrive(2, monday.AddDate(0, 0, -8), time.Time{})             // never expires
		arrive(3, monday.AddDate(0, 0, -15), now.Add(time.Hour))     // the first to expire
		arrive(4, monday.AddDate(0, 0, -60), now.AddDate(0, 1, 0))   // before the four weeks
		arrive(5, now, time.Time{})                                  // new
		c, err := s.Cause(t.Context(), "ca_one")
		must(t, err)
		if c.Count != 6 || c.New != 2 || c.Expiring != 2 || c.Weeks != [4]int{1, 1, 1, 2} || !c.ExpiresFirst.Equal(now.Add(time.Hour)) ||
			!c.Oldest.Equal(monday.AddDate(0, 0, -60)) || !c.FirstSeen.Equal(c.Oldest) || !c.LastSeen.Equal(now) {
			t.Errorf("%+v", c)
		}
		sum, err := s.Summary(t.Context())
		must(t, err)
		want := review.Summary{Causes: 1, Letters: 6, New: 2, Expiring: 2, LastReview: monday, NextReview: monday.AddDate(0, 0, 7)}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Error(diff)
		}
		if n, err := s.NewSinceReview(t.Context()); err != nil || n != 2 {
			t.Errorf("new since the review: %d, %v", n, err)
		}
	})
}

func TestACauseNamesWhereItsLettersCameFromAndLie(t *testing.T) {
	s := newStore(t)
	list := payments(0, 3)
	list[1].Origin.Queue = "payment.events.retry-5s"
	list[2].Origin.Queue = ""
	take(t, s, look(list, time.Now(), oneCause))
	take(t, s, look([]sources.DeadLetter{message("m1")}, time.Now(), oneCause))
	c, err := s.Cause(t.Context(), "ca_one")
	must(t, err)
	got := fmt.Sprint(c.Title, c.Why, c.Origins, c.Queues, c.Sources)
	if want := "title of ca_onewhy ca_one[payment.events payment.events.retry-5s] [jobs-dlq payment.events.dlq] [aws payments]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCausesArePagedNewestFirst(t *testing.T) {
	s := newStore(t)
	take(t, s, look(payments(0, 60), time.Now(), func(i int) string { return fmt.Sprintf("ca_%02d", i%12) }))
	var seen []string
	for cursor := ""; ; {
		page, err := s.Causes(t.Context(), review.Filter{}, 5, cursor)
		must(t, err)
		for _, c := range page.Causes {
			seen = append(seen, c.ID)
		}
		take(t, s, look(payments(100+len(seen), 20), time.Now(), func(i int) string { return fmt.Sprintf("ca_%02d", i%14+6) }))
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for i := range 12 {
		if want := fmt.Sprintf("ca_%02d", 11-i); seen[i] != want {
			t.Fatalf("%v: place %d is not %s", seen, i, want)
		}
	}
}

func TestC122QueuesComeAndGoAndKeepTheirLetters(t *testing.T) {
	s := newStore(t)
	at := time.UnixMilli(1726279300000).UTC()
	keep := func(names ...string) {
		inv := review.Inventory{Source: "payments", ReadAt: at, Findings: []sources.Finding{{ID: "f1", Kind: "k", Queue: "x", Evidence: map[string]any{"n": 1.0}}}}
		for _, n := range names {
			inv.Queues = append(inv.Queues, sources.Queue{Source: "payments", Name: n, Kind: sources.DeadLetterQueue, Count: 7, Retention: -1, FeedsFrom: []string{"a", "b"}, ReadAt: at})
		}
		must(t, s.KeepInventory(t.Context(), inv))
	}
	keep("payment.events.dlq", "old-dlt")
	take(t, s, look(payments(0, 2), at, oneCause))
	at = at.Add(time.Minute)
	keep("payment.events.dlq", "orders-dlt")
	list, err := s.Queues(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].Name != "orders-dlt" || list[1].Counts[review.Open] != 2 || list[1].Count != 7 || len(list[1].FeedsFrom) != 2 || list[1].OldestAt.IsZero() {
		t.Errorf("%+v", list)
	}
	findings, err := s.Findings(t.Context())
	must(t, err)
	if len(findings) != 1 || !findings[0].Since.Equal(at.Add(-time.Minute)) || findings[0].Evidence["n"] != 1.0 {
		t.Errorf("%+v", findings)
	}
	counts, err := s.LetterCounts(t.Context())
	must(t, err)
	if len(counts) != 1 || counts[0] != (review.LetterCount{Source: "payments", Queue: "payment.events.dlq", Status: review.Open, Count: 2}) {
		t.Errorf("%+v", counts)
	}
}

func TestAQueueThatCannotBeReadKeepsWhatWasKnown(t *testing.T) {
	s := newStore(t)
	q := sources.Queue{Source: "payments", Name: "a-dlt", Kind: sources.DeadLetterQueue, Count: 7, ReadAt: time.Now()}
	must(t, s.KeepInventory(t.Context(), review.Inventory{Source: "payments", Queues: []sources.Queue{q}}))
	q.Err, q.Count = fmt.Errorf("topic a-dlt: %w", sources.ErrNotAuthorised), 0
	must(t, s.KeepInventory(t.Context(), review.Inventory{Source: "payments", Queues: []sources.Queue{q}}))
	list, err := s.Queues(t.Context())
	must(t, err)
	if list[0].Count != 7 || list[0].Err == nil || list[0].Err.Error() != "topic a-dlt: not authorised" {
		t.Errorf("%+v", list[0])
	}
}
