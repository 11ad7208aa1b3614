package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources/sourcetest"
	"github.com/unwedge/unwedge/sources/sqs/sqstest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	sourcetest.StopShared()
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// name is a name that no other run on the same broker has.
func name(what string, seed uint64) string { return fmt.Sprintf("%s-%d", what, seed) }

// do is a run from its beginning to its verdict.
func do(t testing.TB, binary string, b broker, tally *tally, seed uint64, letters, kills int) (*run, error) {
	r, err := newRun(t, binary, b, tally, seed, letters, kills)
	if err != nil {
		return nil, fmt.Errorf("begin a run of %s: %w", b.queue(), err)
	}
	defer r.program.kill()
	if err := r.storm(); err != nil {
		return r, fmt.Errorf("%s, seed %d: %w", b.queue(), seed, err)
	}
	if err := r.finish(); err != nil {
		return r, fmt.Errorf("%s, seed %d: %w", b.queue(), seed, err)
	}
	return r, nil
}

func report(t testing.TB, r *run, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	if r == nil {
		return
	}
	for i, v := range r.violations {
		if i == 20 {
			t.Errorf("and %d more", len(r.violations)-i)
			break
		}
		t.Error(v)
	}
	t.Logf("%s: kills %v, random %d, misses %v", r.queue(), r.tally.kills, r.tally.other, r.tally.misses)
	t.Logf("%s, seed %d: %d kills in %d lives, %d letters, %d arrived, %d bytes, %d lost, %d duplicated, %d flagged, paused %d times, %d audit lines",
		r.queue(), r.seed, r.counts.kills, r.lives, r.counts.letters, r.counts.arrived, r.counts.bytes, r.counts.lost, r.counts.duplicated, r.counts.flagged, r.counts.pausedByCrashes, r.counts.audited)
}

// TestCampaignShort kills the program a few times at each place, on a real
// Kafka and on our own SQS endpoint.
func TestCampaignShort(t *testing.T) {
	points, err := failpoints(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano() % 1e6)
	const letters = 200
	t.Run("Kafka", func(t *testing.T) {
		t.Parallel()
		server := sourcetest.SharedKafka(t)
		tally := newTally(points, 3, 3)
		k, err := newKafka(t.Context(), server.Address, server.Address, name("orders", seed))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.close)
		r, err := do(t, executable(t), k, tally, seed, letters, 4*len(points)+3)
		report(t, r, err)
	})
	for _, kind := range []struct {
		name    string
		fifo    bool
		kills   int // at each place
		letters int
	}{{"SQS standard", false, 2, letters}, {"SQS FIFO", true, 1, letters / 2}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			endpoint := sqstest.New(sqstest.Options{}).Start(t)
			tally := newTally(points, kind.kills, kind.kills)
			q, err := newSQS(t.Context(), "own endpoint", endpoint, endpoint, name("jobs", seed), kind.fifo)
			if err != nil {
				t.Fatal(err)
			}
			r, err := do(t, executable(t), q, tally, seed, kind.letters, 2*kind.kills*len(points))
			report(t, r, err)
		})
	}
}
