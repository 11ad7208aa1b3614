package alerts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// variant makes another trace of a labelled one whose labels still hold.
type variant struct {
	name string
	make func(traceReading) traceReading
	keep func(n int) bool // which readings
	skip []string         // traces whose labels the variant makes void
}

// offsets applies a change to every offset of a reading.
func offsets(r traceReading, change func(int64) int64) traceReading {
	lines := append([]traceLine(nil), r.Partitions...)
	for i := range lines {
		l := &lines[i]
		for _, at := range []**int64{&l.Committed, &l.Start, &l.End, &l.StableEnd} {
			if *at != nil && **at >= 0 {
				n := change(**at)
				*at = &n
			}
		}
	}
	r.Partitions = lines
	return r
}

func without(r traceReading, drop func(*traceLine)) traceReading {
	lines := append([]traceLine(nil), r.Partitions...)
	for i := range lines {
		drop(&lines[i])
	}
	r.Partitions = lines
	return r
}

// TestVariantsOfTheTraces: the same nights with other offsets, rates, polls and
// less to go by.
func TestVariantsOfTheTraces(t *testing.T) {
	asIs := func(r traceReading) traceReading { return r }
	every := func(int) bool { return true }
	for _, v := range []variant{
		{"offsets from far on", func(r traceReading) traceReading {
			return offsets(r, func(n int64) int64 { return n + 1<<41 })
		}, every, nil},
		{"a hundred times the traffic", func(r traceReading) traceReading {
			return offsets(r, func(n int64) int64 { return n * 100 })
		}, every, []string{"T09", "T11"}}, // a marker is one offset, whatever the traffic
		{"every second reading", asIs, func(n int) bool { return n%2 == 0 }, nil},
		{"every second reading, the others", asIs, func(n int) bool { return n%2 == 1 }, []string{"T42", "T57"}}, // their labels are about a moment
		{"no look at any head", func(r traceReading) traceReading {
			return without(r, func(l *traceLine) { l.Head = "" })
		}, every, []string{"T09", "T16"}}, // these two are one and the same without
		{"wrong start of the day", func(r traceReading) traceReading { later := *r.T + 1.7e9; r.T = &later; return r }, every, nil},
	} {
		for _, file := range traceFiles(t) {
			name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
			if strings.Contains(strings.Join(v.skip, " "), name) {
				continue
			}
			t.Run(v.name+"/"+name, func(t *testing.T) { v.try(t, file) })
		}
	}
}

func (v variant) try(t *testing.T, file string) {
	head, readings := readTrace(t, file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var labels struct{ Expect []expectation }
	if err := json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &labels); err != nil {
		t.Fatal(err)
	}
	var watch GroupWatch
	var all []traceSaid
	for n, r := range readings {
		if !v.keep(n) {
			continue
		}
		was := *r.T
		r = v.make(r)
		now := moment(*r.T)
		for _, j := range watch.Next(r.group(head, now), Rules{}, now).Judgements {
			all = append(all, traceSaid{T: was, Topic: j.Topic, Partition: j.Number, Verdict: string(j.Verdict), Reason: j.Reason})
		}
	}
	for _, x := range labels.Expect {
		if err := x.check(all); err != nil {
			t.Error(err)
		}
	}
}

// TestTracesAtOtherThresholds: a stall is told at the first reading at which it
// has stood for stall_after, whatever that is.
func TestTracesAtOtherThresholds(t *testing.T) {
	for _, minutes := range []int{2, 3, 5, 8} {
		text, err := os.ReadFile("testdata/stall-traces/T13.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var pages []string
		for _, one := range replayed(t, text, Rules{StallAfter: time.Duration(minutes) * time.Minute}) {
			if one.Page {
				pages = append(pages, fmt.Sprint(one.T))
			}
		}
		if want := fmt.Sprint(330 + 60*minutes); len(pages) != 1 || pages[0] != want {
			t.Errorf("stall_after %d min: paged at %v, want %s", minutes, pages, want)
		}
	}
}
