package store

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// plannedLetters is how many letters the benchmark plans.
func plannedLetters() int {
	if n, err := strconv.Atoi(os.Getenv("UNWEDGE_BENCH_LETTERS")); err == nil {
		return n
	}
	return 100_000
}

var errNotNow = errors.New("not now")

// checked starts nothing: what a start costs before it writes the ledger.
type checked struct{ *Store }

func (checked) StartRedrive(context.Context, review.Redrive, string) error { return errNotNow }

// BenchmarkPlan plans a redrive of every letter of a queue, each of about a
// kilobyte, and checks at the start whether the plan's world is the same. The
// source answers at once: what is measured is what we do.
func BenchmarkPlan(b *testing.B) {
	s, n := newStore(b), plannedLetters()
	for from := 0; from < n; from += 1000 {
		if _, err := s.Take(b.Context(), look(payments(from, min(1000, n-from)), time.Now(), oneCause)); err != nil {
			b.Fatal(err)
		}
	}
	waitIndexed(b, s)
	rules := review.Rules{To: sources.Patterns{Include: []string{"*"}}}
	desk := &review.Desk{Letters: s, Plans: s, Starter: checked{s}, Takers: s, Outlets: map[string]review.Outlet{"payments": {Sender: newBroker(true), Rules: rules}}, Now: time.Now}
	var planning, starting time.Duration
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		begun := time.Now()
		plan, err := desk.Plan(b.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
		if err != nil || plan.Total != n {
			b.Fatalf("%d planned, %v", plan.Total, err)
		}
		planning += time.Since(begun)
		begun = time.Now()
		if _, err := desk.Start(b.Context(), review.Request{Plan: plan.ID}); !errors.Is(err, errNotNow) {
			b.Fatal(err)
		}
		starting += time.Since(begun)
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapSys-before.HeapSys)/(1<<20), "MiB-more")
	}
	b.ReportMetric(float64(b.N*n)/planning.Seconds(), "planned/s")
	b.ReportMetric(float64(b.N*n)/starting.Seconds(), "checked/s")
	b.ReportMetric(0, "ns/op")
}
