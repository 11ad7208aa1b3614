package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

const benchLetters = 50_000

// BenchmarkTakeLetters stores letters as the collector does, and compares with
// plain batched inserts of the same rows into the same tables of another file:
// the same statements and batches, and nothing else. The two take turns batch by
// batch, so that whatever else the machine does slows both. of-plain is how many
// letters a second that gives of what the plain inserts reach.
//
// "stored" leaves the index of words aside, which follows behind; with-index is
// the ratio when its time is counted too. "live" has it at work meanwhile.
func BenchmarkTakeLetters(b *testing.B) {
	for _, name := range []string{"stored", "live"} {
		b.Run(name, func(b *testing.B) {
			var plain, taken, indexed time.Duration
			for b.Loop() {
				s, other := newStore(b), newStore(b)
				if name == "stored" {
					s.index.end()
				}
				p, t := takeTurns(b, s, other)
				plain, taken = plain+p, taken+t
				if name == "stored" {
					indexed += timed(b, func(context.Context) error {
						waitIndexed(b, s)
						return nil
					})
				}
			}
			b.ReportMetric(plain.Seconds()/taken.Seconds(), "of-plain")
			b.ReportMetric(float64(b.N)*benchLetters/taken.Seconds(), "letters/s")
			b.ReportMetric(0, "ns/op")
			if indexed > 0 {
				b.ReportMetric(plain.Seconds()/(taken+indexed).Seconds(), "with-index")
			}
		})
	}
}

func takeTurns(b *testing.B, s, other *Store) (plain, taken time.Duration) {
	for _, l := range benchLooks() {
		rows := plainRows(s, l)
		plain += timed(b, func(ctx context.Context) error { return other.insertPlain(ctx, rows) })
		taken += timed(b, func(ctx context.Context) error {
			_, err := s.Take(ctx, l)
			return err
		})
	}
	return plain, taken
}

func timed(b *testing.B, f func(context.Context) error) time.Duration {
	start := time.Now()
	must(b, f(b.Context()))
	return time.Since(start)
}

func benchLooks() []review.Look {
	var looks []review.Look
	for from := 0; from < benchLetters; from += 1000 {
		looks = append(looks, look(payments(from, 1000), time.Now(), func(i int) string { return fmt.Sprint("ca_", i%40) }))
	}
	return looks
}

func waitIndexed(t testing.TB, s *Store) {
	t.Helper()
	for {
		left, err := s.unindexed(t.Context())
		must(t, err)
		if left == 0 {
			return
		}
		must(t, s.indexSome(t.Context()))
	}
}

// rows are the values of a look's letters, made before they are inserted.
type rows struct{ letters, payloads []any }

func plainRows(s *Store, l review.Look) rows {
	t := &taking{s: s, look: l, queue: 1, causes: map[string]int64{}, lives: map[string]life{}}
	for i, c := range l.Causes {
		t.causes[c.ID] = int64(i + 1)
	}
	var r rows
	for _, letter := range l.Letters {
		n := letter.Place.Offset*6 + int64(letter.Place.Partition) + 1
		r.letters = t.letterRow(r.letters, n, letter)
		r.payloads, _ = payloadRow(r.payloads, numberedLetter{n, letter}, letter.Body)
	}
	return r
}

func (s *Store) insertPlain(ctx context.Context, r rows) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		if _, err := insertRows(ctx, tx, `INSERT INTO letters (`+letterColumns+`)`, letterWidth, r.letters, ""); err != nil {
			return err
		}
		_, err := insertRows(ctx, tx, `INSERT INTO payloads (`+payloadColumns+`)`, payloadWidth, r.payloads, "")
		return err
	})
}

// BenchmarkReviewPage runs all that the review page asks of the store over
// 100,000 letters in 40 causes, and reports the 99th percentile.
func BenchmarkReviewPage(b *testing.B) {
	s := reopen(b, filepath.Join(b.TempDir(), "unwedge.db"))
	for from := 0; from < 100_000; from += 1000 {
		_, err := s.Take(b.Context(), look(payments(from, 1000), time.Now(), func(i int) string { return fmt.Sprint("ca_", i%40) }))
		must(b, err)
	}
	waitIndexed(b, s)
	for name, page := range map[string]func(context.Context) error{
		"review": func(ctx context.Context) error {
			if _, err := s.Summary(ctx); err != nil {
				return err
			}
			if _, err := s.Queues(ctx); err != nil {
				return err
			}
			_, err := s.Causes(ctx, review.Filter{}, 50, "")
			return err
		},
		"letters": func(ctx context.Context) error {
			_, err := s.Letters(ctx, review.Filter{}, 50, "")
			return err
		},
		"cause": func(ctx context.Context) error {
			if _, err := s.Cause(ctx, "ca_7"); err != nil {
				return err
			}
			_, err := s.Letters(ctx, review.Filter{Causes: []string{"ca_7"}}, 50, "")
			return err
		},
		"search-one": func(ctx context.Context) error {
			_, err := s.Letters(ctx, review.Filter{Text: "pay_000007"}, 50, "")
			return err
		},
		"search-thousand": func(ctx context.Context) error {
			_, err := s.Letters(ctx, review.Filter{Text: "pay_001"}, 50, "")
			return err
		},
		"search-all": func(ctx context.Context) error {
			_, err := s.Letters(ctx, review.Filter{Text: "currency INR"}, 50, "")
			return err
		},
	} {
		b.Run(name, func(b *testing.B) { percentiles(b, page) })
	}
}

func percentiles(b *testing.B, page func(context.Context) error) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		must(b, page(b.Context()))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}
