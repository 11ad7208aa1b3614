package alerts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// TestARestartForgetsNothing: with the watch stored and read again before every
// single reading, each trace is judged word for word as without.
func TestARestartForgetsNothing(t *testing.T) {
	for _, file := range traceFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			head, readings := readTrace(t, file)
			var through, restarting GroupWatch
			for _, r := range readings {
				now := moment(*r.T)
				want := through.Next(r.group(head, now), Rules{}, now)
				restarting = restarted(t, restarting)
				got := restarting.Next(r.group(head, now), Rules{}, now)
				if a, b := spell(t, want), spell(t, got); a != b {
					t.Fatalf("at %v:\n%s\nafter a restart:\n%s", *r.T, a, b)
				}
			}
		})
	}
}

func readTrace(t *testing.T, file string) (head traceHead, readings []traceReading) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if err := head.read(lines[0]); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var r traceReading
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		readings = append(readings, r)
	}
	return head, readings
}

// spell writes a step without the ids, which are new each time.
func spell(t *testing.T, s Step) string {
	t.Helper()
	for _, in := range []*Incident{s.Opened, s.Updated, s.Resolved} {
		if in != nil {
			in.ID = ""
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhatIsStoredStaysSmall: it is written with every reading of every group.
func TestWhatIsStoredStaysSmall(t *testing.T) {
	m := model{until: 4 * 3600, lines: []modelLine{{pos: at(6)}, moving, wedged(600)}}
	n := m.run(t)
	text, err := json.Marshal(n.watch)
	if err != nil {
		t.Fatal(err)
	}
	if most := 4000 * len(m.lines); len(text) > most {
		t.Errorf("%d bytes for %d lines, want at most %d", len(text), len(m.lines), most)
	}
}

func TestALineIsFoundAgainByItsName(t *testing.T) {
	w := GroupWatch{Lines: map[lineKey]*progress{{"a-1.b_c", 12}: {High: sources.NoCommit}}}
	if again := restarted(t, w); again.Lines[lineKey{"a-1.b_c", 12}] == nil {
		t.Errorf("%+v", again.Lines)
	}
	var key lineKey
	if err := key.UnmarshalText([]byte("orders/x")); err == nil {
		t.Error("a line without a number was read")
	}
}
