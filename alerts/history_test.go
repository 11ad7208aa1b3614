package alerts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// shelf keeps chunks in memory.
type shelf struct {
	chunks []Chunk
	fail   error
}

func (s *shelf) KeepChunks(_ context.Context, chunks []Chunk) error {
	if s.fail == nil {
		s.chunks = append(s.chunks, chunks...)
	}
	return s.fail
}

func (s *shelf) Chunks(_ context.Context, source, group string, from, to time.Time, give func(Chunk) error) error {
	for _, c := range s.chunks {
		if c.Source == source && c.Group == group && !c.Ends.Before(from) && (to.IsZero() || !c.Begins.After(to)) {
			if err := give(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shelf) ForgetChunks(context.Context, time.Time, int) error { return nil }

func recorder(s *shelf) *Recorder {
	return &Recorder{Store: s, Keep: 24 * time.Hour, Every: 30 * time.Second, Log: slog.New(slog.DiscardHandler)}
}

// TestWhatWasRecordedIsJudgedAsItWas: each labelled trace goes through the
// recorder and comes back; replay says of it word for word what it says of the
// trace.
func TestWhatWasRecordedIsJudgedAsItWas(t *testing.T) {
	for _, file := range traceFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kept := &shelf{}
			r := recorder(kept)
			var head traceHead
			for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
				if i == 0 {
					if err := head.read(line); err != nil {
						t.Fatal(err)
					}
					continue
				}
				var reading traceReading
				if err := strict(line, &reading); err != nil {
					t.Fatal(err)
				}
				now := moment(*reading.T)
				r.Record(t.Context(), []sources.Group{reading.group(head, now)}, now)
			}
			var again bytes.Buffer
			if err := r.History(t.Context(), HistoryQuery{Source: head.Source, Group: head.Group}, &again); err != nil {
				t.Fatal(err)
			}
			want, got := replayed(t, text, Rules{}), replayed(t, again.Bytes(), Rules{})
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d", len(got), len(want))
			}
			for i := range want {
				w, g := want[i], got[i]
				w.Trace, g.Trace = "", ""
				if fmt.Sprint(w.Verdict, w.T, w.Topic, w.Partition, w.Page, w.Since, w.Reason) != fmt.Sprint(g.Verdict, g.T, g.Topic, g.Partition, g.Page, g.Since, g.Reason) {
					t.Fatalf("at %v of %s/%d:\n got %+v\nwant %+v", w.T, w.Topic, w.Partition, g, w)
				}
			}
		})
	}
}

func readingOf(group string, position int64) sources.Group {
	line := sources.Lag{Partition: sources.Partition{Source: "s", Group: group, Topic: "t", Number: 1}, Position: position, End: 100, StableEnd: 100}
	other := line
	other.Topic, other.Number = "u", 2
	return sources.Group{Source: "s", Name: group, Protocol: sources.Classic, State: "Stable", MembersKnown: true, Lines: []sources.Lag{line, other}}
}

func TestAHistoryHasWhatWasAskedForEachReadingOnce(t *testing.T) {
	kept := &shelf{}
	r := recorder(kept)
	for i := range 50 {
		now := planned.Add(time.Duration(i) * 30 * time.Second)
		r.Record(t.Context(), []sources.Group{readingOf("g", int64(i)), readingOf("gg", 0)}, now)
	}
	if len(kept.chunks) == 0 {
		t.Fatal("nothing was written down")
	}
	for name, c := range map[string]struct {
		q    HistoryQuery
		want int // readings
		has  string
		not  string
	}{
		"all":           {HistoryQuery{}, 50, `"topic":"u"`, "gg"},
		"from an hour":  {HistoryQuery{From: planned.Add(10 * time.Minute)}, 30, `"committed":20,`, `"committed":19,`},
		"to a minute":   {HistoryQuery{To: planned.Add(time.Minute)}, 3, `"committed":2,`, `"committed":3,`},
		"one topic":     {HistoryQuery{Topics: []string{"t"}}, 50, `"topic":"t"`, `"topic":"u"`},
		"one partition": {HistoryQuery{Partitions: []int32{2}}, 50, `"topic":"u"`, `"topic":"t"`},
	} {
		var out bytes.Buffer
		c.q.Source, c.q.Group = "s", "g"
		if err := r.History(t.Context(), c.q, &out); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if n := strings.Count(text, "\n") - 1; n != c.want || !strings.Contains(text, c.has) || strings.Contains(text, c.not) {
			t.Errorf("%s: %d readings, want %d, with %s and without %s:\n%.400s", name, n, c.want, c.has, c.not, text)
		}
	}
}

func TestAStopWritesDownWhatWasRead(t *testing.T) {
	kept := &shelf{}
	r := recorder(kept)
	r.Record(t.Context(), []sources.Group{readingOf("g", 1)}, planned)
	r.Flush(t.Context(), planned)
	var out bytes.Buffer
	if err := recorder(kept).History(t.Context(), HistoryQuery{Source: "s", Group: "g"}, &out); err != nil || !strings.Contains(out.String(), `"committed":1,`) {
		t.Errorf("after a restart: %v %s", err, out.String())
	}
}

func TestOfAGroupThatWasNeverReadThereIsNoHistory(t *testing.T) {
	var out bytes.Buffer
	err := recorder(&shelf{}).History(t.Context(), HistoryQuery{Source: "s", Group: "g"}, &out)
	if !errors.Is(err, ErrNoHistory) || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestOfATimeWithoutReadingsThereIsTheFirstLineAlone(t *testing.T) {
	r := recorder(&shelf{})
	r.Record(t.Context(), []sources.Group{readingOf("g", 1)}, planned)
	for range 2 { // before it is written down, and after
		var out bytes.Buffer
		q := HistoryQuery{Source: "s", Group: "g", From: planned.Add(time.Hour)}
		if err := r.History(t.Context(), q, &out); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%v, %q", err, out.String())
		}
		r.Flush(t.Context(), planned)
	}
}

func TestAHistoryThatCannotBeKeptHoldsNothingUp(t *testing.T) {
	kept := &shelf{fail: errFull}
	r := recorder(kept)
	for i := range 3 * chunkReadings {
		r.Record(t.Context(), []sources.Group{readingOf("g", 1)}, planned.Add(time.Duration(i)*time.Second))
	}
	kept.fail = nil
	for i := range chunkReadings {
		r.Record(t.Context(), []sources.Group{readingOf("g", 1)}, planned.Add(time.Hour+time.Duration(i)*time.Second))
	}
	if len(kept.chunks) == 0 {
		t.Error("once it can be kept again, it is not")
	}
}
