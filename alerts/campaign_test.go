package alerts

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A campaign plays generated nights with known truth: random rates, polls,
// thresholds, commit policies, transactions, rebalances, failed readings, and
// restarts and absences of ours. UNWEDGE_TRACES says how many,
// UNWEDGE_TRACES_SEED which.
const campaignTraces = 400

// dice draw a night.
type dice struct{ *rand.Rand }

func (d dice) between(low, high int) int { return low + d.IntN(max(1, high-low+1)) }

func (d dice) once(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// kinds of nights; "" is one without trouble.
var nights = []string{"", "", "poison", "hang", "stop", "all", "crash", "transaction", "blind"}

// nightOf draws the night of a seed.
func nightOf(seed uint64) *world {
	d := dice{rand.New(rand.NewPCG(seed, 5))}
	kind := pick(d, nights...)
	w := &world{chance: rand.New(rand.NewPCG(seed, 6))}
	w.poll = pick(d, 5, 10, 15, 30, 60)
	w.stall = max(10*w.poll, d.between(60, 240))
	w.commit = d.between(1, w.stall/5)
	w.looked = pick(d, 0.5, 1, 1)
	w.failing = pick(d, 0, 0, 0.05, 0.1)
	w.restarts = pick(d, 0, 0.02, 0.05)
	w.base = pick[int64](d, 0, 1, 999, 1<<40)
	if d.once(2) {
		w.roll, w.out = d.between(2*w.stall, 4*w.stall), d.between(1, w.stall/5)
	}
	w.members = []string{"m1", "m2", "m3"}[:d.between(1, 3)]
	for range d.between(1, 6) {
		w.lines = append(w.lines, d.line(w))
	}
	w.trouble = mishap{kind: kind, from: d.between(2*w.stall, 4*w.stall), line: d.IntN(len(w.lines))}
	w.trouble.to = w.trouble.from + d.between(4*w.stall, 6*w.stall)
	w.until = w.trouble.to + 5*w.stall
	d.trouble(w)
	return w
}

func (d dice) line(w *world) *worldLine {
	l := &worldLine{bad: -1, rate: pick(d, 0, 0.02, 0.3, 1, 7), owner: pick(d, w.members...)}
	l.speed = 3*l.rate + 1
	if d.once(2) {
		l.transactions = d.between(1, w.stall/6)
	}
	if d.once(2) {
		l.batch = int64(d.between(1, 500))
	}
	if d.once(3) {
		l.retain = int64(d.between(0, 100))
	}
	l.marker = make([]bool, d.between(0, 50))
	l.stable, l.done, l.committed = l.end(), l.end(), l.end()
	return l
}

// trouble sees to it that what is wrong can be seen, and hides it behind our own
// troubles.
func (d dice) trouble(w *world) {
	bad := w.lines[w.trouble.line]
	if w.trouble.kind != "" {
		bad.rate = max(0.3, bad.rate)
		bad.speed = 3*bad.rate + 1
	}
	switch w.trouble.kind {
	case "crash":
		w.up, w.down = d.between(w.poll, w.stall/3), d.between(1, w.stall/4)
		w.roll = 0
		for _, l := range w.lines {
			l.speed *= 4 // it works a part of the time only
		}
	case "transaction":
		w.failing, bad.transactions = 0, 0
	case "blind":
		w.lost = [2]int{w.trouble.from, w.trouble.to}
	}
	if w.trouble.kind != "blind" && d.once(3) {
		w.lost[0] = d.between(w.stall, w.until)
		w.lost[1] = w.lost[0] + d.between(w.poll, 5*w.poll)
	}
	if w.trouble.kind != "" && w.trouble.kind != "blind" && d.once(3) {
		w.away[0] = d.between(w.stall, w.trouble.to-2*w.stall)
		w.away[1] = w.away[0] + d.between(w.poll, 5*w.poll)
	}
}

// truth is what is wrong with what was said of a night; "" when nothing is.
func (w *world) truth() string {
	all, steps := w.play()
	opened, pages, resolved, unread := 0, paged(all), 0, 0
	for _, s := range steps {
		opened += one(s.Opened)
		resolved += one(s.Resolved)
		unread += one(s.Unread)
	}
	want, wantUnread := 1, 0
	switch w.trouble.kind {
	case "", "transaction", "blind":
		want = 0
	}
	if w.trouble.kind == "blind" && w.trouble.to-w.trouble.from > int(blindFor.Seconds())+2*w.poll {
		wantUnread = 2 // one that opens and resolves
	}
	switch {
	case opened != want || resolved != want || len(pages) != want:
		return fmt.Sprintf("opened %d, paged at %v, resolved %d, want %d", opened, pages, resolved, want)
	case w.trouble.kind == "blind" && unread > 2 || wantUnread == 2 && unread != 2:
		return fmt.Sprintf("%d words about not being read, want %d", unread, wantUnread)
	case want == 1 && (pages[0] < w.earliest() || pages[0] > w.latest()):
		return fmt.Sprintf("paged at %d, want %d to %d", pages[0], w.earliest(), w.latest())
	}
	return w.verdict(all)
}

func one(in *Incident) int {
	if in == nil {
		return 0
	}
	return 1
}

// earliest and latest bound when the page may come: the clock starts at the last
// advance that was seen before the trouble, and readings of ours may be missing.
func (w *world) earliest() int {
	return w.trouble.from + w.stall - 2*w.poll - w.commit - w.out - w.lines[w.trouble.line].transactions - (w.away[1] - w.away[0]) - (w.lost[1] - w.lost[0])
}

func (w *world) latest() int {
	l := w.lines[w.trouble.line]
	late := w.trouble.from + w.stall + 2*w.commit + 2*w.out + 5*w.poll + w.blind + 2*l.transactions + int(8/l.rate) + 10
	return late + (w.away[1] - w.away[0]) + w.up + w.down
}

// verdict checks what is said of the troubled line in the end of the trouble.
func (w *world) verdict(all []spokenOf) string {
	var last spokenOf
	for _, j := range all {
		if j.at < w.trouble.to && int(j.Number) == w.trouble.line && j.Verdict != Unknown {
			last = j
		}
	}
	right := map[string][]Verdict{
		"":            {OK, Slow},
		"blind":       {OK, Slow},
		"poison":      {HeadOfLineStall},
		"crash":       {HeadOfLineStall, GroupStall},
		"hang":        {HeadOfLineStall, GroupStall},
		"all":         {HeadOfLineStall, GroupStall},
		"stop":        {Stopped},
		"transaction": {OpenTransaction},
	}[w.trouble.kind]
	if !slices.Contains(right, last.Verdict) {
		return fmt.Sprintf("%s at %d, want one of %v: %s", last.Verdict, last.at, right, last.Reason)
	}
	return ""
}

// TestGeneratedNights: every stall is one page, in time, and one resolve; nothing
// else pages.
func TestGeneratedNights(t *testing.T) {
	traces, seed := numberOf(t, "UNWEDGE_TRACES", campaignTraces), uint64(numberOf(t, "UNWEDGE_TRACES_SEED", 1))
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < uint64(traces) && !t.Failed(); n = next.Add(1) - 1 {
				w := nightOf(seed<<32 + n)
				if wrong := w.truth(); wrong != "" {
					t.Errorf("night %d of seed %d (%q): %s\n%v", n, seed, w.trouble.kind, wrong, w)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d nights of seed %d", traces, seed)
}

func numberOf(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}
