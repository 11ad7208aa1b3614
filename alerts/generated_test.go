package alerts

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A few dozen draws a test keep the suite short; -rapid.checks=1000 asks for
// more.
func init() {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
}

// paged are the seconds at which an incident opened that pages.
func paged(all []spokenOf) (at []int) {
	for _, j := range all {
		if j.Page && !slices.Contains(at, j.at) {
			at = append(at, j.at)
		}
	}
	return at
}

// TestGeneratedHealthyGroupsNeverPage: whatever the rates, polls, commits,
// transactions, rebalances and failures.
func TestGeneratedHealthyGroupsNeverPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, "")
		for _, l := range w.lines {
			l.retain = int64(rapid.IntRange(0, 100).Draw(t, "retain"))
		}
		all, steps := w.play()
		for _, s := range steps {
			if s.Opened != nil {
				t.Fatalf("%s of %v opened at %v: %s\n%v", s.Opened.Verdict, s.Opened.Lines, s.Opened.OpenedAt.Unix(), s.Opened.Reason, w)
			}
		}
		for _, j := range all {
			switch j.Verdict {
			case OK, Slow:
			case Unknown:
				if w.looked == 1 && w.failing == 0 {
					t.Fatalf("unknown at %d: %s\n%v", j.at, j.Reason, w)
				}
			default:
				t.Fatalf("%s at %d: %s\n%v", j.Verdict, j.at, j.Reason, w)
			}
		}
	})
}

// generatedTrouble runs a world with trouble and checks what is true of every
// kind: one page, in time, one resolve; and it gives what was said at the end of
// the trouble.
func generatedTrouble(t *rapid.T, kind string) (*world, []Judgement) {
	w := drawWorld(t, kind)
	all, steps := w.play()
	pages := paged(all)
	latest := w.trouble.from + w.stall + 2*w.commit + 2*w.out + 4*w.poll + w.blind + 10
	if l := w.lines[w.trouble.line]; l.transactions > 0 || l.rate < 1 {
		latest += 2*l.transactions + int(8/l.rate)
	}
	earliest := w.trouble.from + w.stall - 2*w.poll - w.commit - w.out - w.lines[w.trouble.line].transactions
	if len(pages) != 1 || pages[0] < earliest || pages[0] > latest {
		t.Fatalf("%s from %d: paged at %v, want once and by %d\n%v", kind, w.trouble.from, pages, latest, w)
	}
	resolved := 0
	for _, s := range steps {
		if s.Resolved != nil {
			resolved++
		}
	}
	if resolved != 1 {
		t.Fatalf("%s: resolved %d times\n%v", kind, resolved, w)
	}
	var last []Judgement
	for _, j := range all {
		if j.at < w.trouble.to && j.Scope != GroupScope || j.at < w.trouble.to && j.Verdict != Unknown {
			if int(j.Number) == 0 {
				last = nil
			}
			last = append(last, j.Judgement)
		}
	}
	return w, last
}

func TestGeneratedPoison(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, last := generatedTrouble(t, "poison")
		for i, j := range last {
			want := []Verdict{OK, Slow, Unknown}
			if i == w.trouble.line {
				want = []Verdict{HeadOfLineStall}
			}
			if !slices.Contains(want, j.Verdict) {
				t.Fatalf("line %d: %s, want one of %v: %s\n%v", i, j.Verdict, want, j.Reason, w)
			}
		}
	})
}

// full tells of a line for which something arrives all the time.
func (w *world) full(l *worldLine) bool { return l.rate >= 0.3 }

func TestGeneratedHungMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, last := generatedTrouble(t, "hang")
		hung, others := 0, 0
		for _, l := range w.lines {
			switch {
			case l.owner != w.lines[w.trouble.line].owner:
				others++
			case w.full(l):
				hung++
			default:
				return // it may or may not have something to read
			}
		}
		want, scope := HeadOfLineStall, PartitionScope
		switch {
		case hung >= 2 && others == 0:
			want, scope = GroupStall, GroupScope
		case hung >= 2:
			scope = MemberScope
		}
		for i, j := range last {
			if w.lines[i].owner == w.lines[w.trouble.line].owner && (j.Verdict != want || j.Scope != scope) {
				t.Fatalf("line %d: %s %s, want %s %s: %s\n%v", i, j.Verdict, j.Scope, want, scope, j.Reason, w)
			}
		}
	})
}

func TestGeneratedStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, last := generatedTrouble(t, "stop")
		for i, j := range last {
			if w.full(w.lines[i]) && j.Verdict != Stopped {
				t.Fatalf("line %d: %s, want stopped: %s\n%v", i, j.Verdict, j.Reason, w)
			}
		}
	})
}

func TestGeneratedGroupStall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, last := generatedTrouble(t, "all")
		full := 0
		for _, l := range w.lines {
			if w.full(l) {
				full++
			}
		}
		if full < len(w.lines) {
			return // a line with nothing to read is healthy
		}
		want := GroupStall
		if full == 1 {
			want = HeadOfLineStall
		}
		for i, j := range last {
			if j.Verdict != want {
				t.Fatalf("line %d: %s, want %s: %s\n%v", i, j.Verdict, want, j.Reason, w)
			}
		}
	})
}
