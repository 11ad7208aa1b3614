package alerts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// expectation is what must be said of a line at the last reading at or before
// a moment.
type expectation struct {
	T         float64
	Topic     string
	Partition int32
	Verdict   []string
}

type traceSaid struct {
	Trace     string
	T         float64
	Topic     string
	Partition int32
	Verdict   string
	Scope     *string
	Page      bool
	Since     float64
	Reason    string
}

// TestTraces: every labelled trace gets the verdicts that its labels ask for.
func TestTraces(t *testing.T) {
	for _, file := range traceFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, _, _ := bytes.Cut(text, []byte("\n"))
			var trace struct {
				Title  string
				Expect []expectation
			}
			if err := json.Unmarshal(head, &trace); err != nil {
				t.Fatal(err)
			}
			all := replayed(t, text, Rules{})
			for _, x := range trace.Expect {
				if err := x.check(all); err != nil {
					t.Errorf("%s: %v", trace.Title, err)
				}
			}
		})
	}
}

func traceFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/stall-traces/*.jsonl")
	if err != nil || len(files) != 39 {
		t.Fatalf("%d traces, want 39 (%v)", len(files), err)
	}
	return files
}

func replayed(t *testing.T, text []byte, rules Rules) []traceSaid {
	t.Helper()
	var out bytes.Buffer
	if err := Replay(bytes.NewReader(text), rules, &out); err != nil {
		t.Fatal(err)
	}
	var all []traceSaid
	for s := bufio.NewScanner(&out); s.Scan(); {
		var one traceSaid
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatalf("%v in %s", err, s.Text())
		}
		if one.Reason == "" {
			t.Errorf("a verdict without a reason: %s", s.Text())
		}
		all = append(all, one)
	}
	return all
}

func (x expectation) check(all []traceSaid) error {
	last := traceSaid{T: -1, Verdict: "nothing said"}
	for _, one := range all {
		if one.Topic == x.Topic && one.Partition == x.Partition && one.T <= x.T && one.T >= last.T {
			last = one
		}
	}
	if slices.Contains(x.Verdict, last.Verdict) {
		return nil
	}
	return fmt.Errorf("%s/%d at %v: %s, want one of %v (%s)", x.Topic, x.Partition, x.T, last.Verdict, x.Verdict, last.Reason)
}
