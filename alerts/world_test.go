package alerts

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/unwedge/unwedge/sources"
)

// world is a group with its broker, producers and consumers, second by second.
// What is wrong with it is known, because it was drawn.
type world struct {
	now                        int
	poll, stall, commit, until int // seconds
	lines                      []*worldLine
	members                    []string
	looked, failing            float64 // share of readings with a look at the head, and of those that fail
	roll, out                  int     // every so often the whole group rebalances, for so long
	trouble                    mishap
	base                       int64
	watch                      GroupWatch
	chance                     *rand.Rand
	blind                      int     // seconds in failed readings
	up, down                   int     // of a crash loop: seconds that a member works, and is away
	lost                       [2]int  // from when to when no reading works
	away                       [2]int  // from when to when we do not run
	restarts                   float64 // share of readings before which we are restarted
}

// mishap is what goes wrong, when, and when it is over.
type mishap struct {
	kind     string
	from, to int
	line     int
}

// worldLine is one partition: its log, and how far its consumer is.
type worldLine struct {
	owner           string
	rate, speed     float64
	arrive, work    float64 // what is carried over to the next second
	transactions    int     // seconds from one commit to the next; 0: none are used
	marker          []bool  // by offset, from base on
	stable          int64
	done, committed int64
	bad             int64 // the offset that cannot be processed; -1
	start           int64
	retain          int64 // offsets that retention keeps behind the position; 0: all
	batch           int64 // it is committed after so many records, too; 0: by time alone
}

func (l *worldLine) end() int64 { return int64(len(l.marker)) }

// readable tells whether a record waits at or after an offset.
func (l *worldLine) readable(from int64) bool {
	for o := max(from, l.start); o < l.stable; o++ {
		if !l.marker[o] {
			return true
		}
	}
	return false
}

func (l *worldLine) produce(second int, open bool) {
	l.arrive += l.rate
	for ; l.arrive >= 1; l.arrive-- {
		l.marker = append(l.marker, false)
	}
	switch {
	case open: // a transaction is, from the stable end on
	case l.transactions == 0:
		l.stable = l.end()
	case second%l.transactions == 0 && l.stable < l.end():
		l.marker = append(l.marker, true)
		l.stable = l.end()
	}
}

func (l *worldLine) consume() {
	l.work = min(l.work+l.speed, 10*l.speed+1)
	for o := l.done; o < l.stable && l.work >= 1; o++ {
		if o == l.bad {
			return
		}
		if !l.marker[o] {
			l.done = o + 1
			l.work--
		}
	}
}

func drawWorld(t *rapid.T, kind string) *world {
	w := &world{chance: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chance"), 1))}
	w.poll = rapid.SampledFrom([]int{1, 5, 10, 15, 30, 60}).Draw(t, "poll")
	w.stall = max(10*w.poll, rapid.IntRange(60, 240).Draw(t, "stall_after"))
	w.commit = rapid.IntRange(1, max(1, w.stall/5)).Draw(t, "commit every")
	w.looked = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "looked")
	w.failing = rapid.SampledFrom([]float64{0, 0, 0.05}).Draw(t, "failing")
	if rapid.Bool().Draw(t, "rolls") {
		w.roll, w.out = rapid.IntRange(2*w.stall, 4*w.stall).Draw(t, "roll"), rapid.IntRange(1, w.stall/5).Draw(t, "out")
	}
	w.base = rapid.SampledFrom([]int64{0, 1, 999, 1 << 40}).Draw(t, "base")
	w.members = []string{"m1", "m2", "m3"}[:rapid.IntRange(1, 3).Draw(t, "members")]
	for range rapid.IntRange(1, 6).Draw(t, "lines") {
		l := &worldLine{bad: -1, rate: rapid.SampledFrom([]float64{0, 0.02, 0.3, 1, 7, 20}).Draw(t, "rate")}
		l.speed = 3*l.rate + 1
		l.owner = rapid.SampledFrom(w.members).Draw(t, "owner")
		if rapid.Bool().Draw(t, "transactional") {
			l.transactions = rapid.IntRange(1, max(1, w.stall/6)).Draw(t, "transactions")
		}
		l.marker = make([]bool, rapid.IntRange(0, 50).Draw(t, "old records"))
		l.stable, l.done, l.committed = l.end(), l.end(), l.end()
		w.lines = append(w.lines, l)
	}
	from := rapid.IntRange(2*w.stall, 4*w.stall).Draw(t, "from")
	w.trouble = mishap{kind: kind, from: from, to: from + rapid.IntRange(3*w.stall, 4*w.stall).Draw(t, "for"), line: rapid.IntRange(0, len(w.lines)-1).Draw(t, "line")}
	if kind != "" {
		w.lines[w.trouble.line].rate = max(0.3, w.lines[w.trouble.line].rate)
		w.lines[w.trouble.line].speed = 3*w.lines[w.trouble.line].rate + 1
	}
	w.until = w.trouble.to + 4*w.stall
	return w
}

func (w *world) troubled() bool { return w.now >= w.trouble.from && w.now < w.trouble.to }

func (w *world) rolling() bool {
	return w.roll > 0 && w.now%w.roll < w.out && w.now > w.roll
}

func (w *world) gone() bool { return w.trouble.kind == "stop" && w.troubled() }

// crashed tells whether the member of the bad record is away until it is
// started again, and how often it was.
func (w *world) crashed() (bool, int) {
	if w.trouble.kind != "crash" || !w.troubled() {
		return false, 0
	}
	t := w.now - w.trouble.from
	return t%(w.up+w.down) >= w.up, t / (w.up + w.down)
}

// name is what a member is called now: another one after each start.
func (w *world) name(member string) string {
	if _, n := w.crashed(); n > 0 && member == w.lines[w.trouble.line].owner {
		return fmt.Sprint(member, "-", n)
	}
	return member
}

// works tells whether the owner of a line is at work on it.
func (w *world) works(l *worldLine) bool {
	switch {
	case w.rolling() || w.gone():
		return false
	case w.troubled() && w.trouble.kind == "hang":
		return l.owner != w.lines[w.trouble.line].owner
	case w.troubled() && w.trouble.kind == "all":
		return false
	}
	if down, _ := w.crashed(); down {
		return l.owner != w.lines[w.trouble.line].owner
	}
	return true
}

func (w *world) second() {
	for i, l := range w.lines {
		l.produce(w.now, w.trouble.kind == "transaction" && w.troubled() && i == w.trouble.line)
		if (w.trouble.kind == "poison" || w.trouble.kind == "crash") && i == w.trouble.line {
			switch w.now {
			case w.trouble.from:
				l.bad = l.end()
				l.arrive++ // it arrives at the next second
			case w.trouble.to:
				l.bad = -1
			}
		}
		if !w.works(l) {
			continue
		}
		l.consume()
		if w.now%w.commit == 0 || l.batch > 0 && l.done-l.committed >= l.batch {
			l.committed = l.done
		}
		if l.retain > 0 {
			l.start = max(l.start, l.committed-l.retain)
		}
	}
	w.now++
}

func (w *world) reading() sources.Group {
	g := sources.Group{Source: "s", Name: "g", State: "Stable", MembersKnown: true}
	if w.rolling() {
		g.State = "PreparingRebalance"
	}
	if w.gone() {
		g.State = "Empty"
	} else {
		down, _ := w.crashed()
		for _, m := range w.members {
			if !down || m != w.lines[w.trouble.line].owner {
				g.Members = append(g.Members, sources.Member{ID: w.name(m)})
			}
		}
		if len(g.Members) == 0 {
			g.State = "Empty"
		} else if down {
			g.State = "PreparingRebalance" // the others wait for the session time-out
		}
	}
	for i, l := range w.lines {
		lag := sources.Lag{
			Partition: sources.Partition{Source: "s", Group: "g", Topic: "A", Number: int32(i)},
			Position:  w.base + l.committed, Start: w.base + l.start, End: w.base + l.end(), StableEnd: w.base + l.stable,
		}
		if !w.rolling() && g.State == "Stable" {
			lag.Owner = w.name(l.owner)
		}
		if w.luck(w.looked) {
			lag.Head = sources.HeadNone
			if l.readable(l.committed) {
				lag.Head = sources.HeadRecord
			}
		}
		g.Lines = append(g.Lines, lag)
	}
	return g
}

func (w *world) luck(share float64) bool {
	return w.chance.Float64() < share
}

// spokenOf is a judgement at a second.
type spokenOf struct {
	at int
	Judgement
}

// again is a watch as a restart reads it from the store.
func again(w GroupWatch) (read GroupWatch) {
	text, err := json.Marshal(w)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		panic(err)
	}
	return read
}

// play runs the world to its end, with a restart of ours now and then.
func (w *world) play() (all []spokenOf, steps []Step) {
	for w.now <= w.until {
		w.second()
		if w.now%w.poll != 0 || w.now >= w.away[0] && w.now < w.away[1] {
			continue
		}
		if w.luck(w.restarts) {
			w.watch = again(w.watch)
		}
		g := w.reading()
		if w.now >= w.lost[0] && w.now < w.lost[1] || w.luck(w.failing) {
			g.Err = errors.New("timed out")
			w.blind += w.poll
		}
		step := w.watch.Next(g, Rules{StallAfter: time.Duration(w.stall) * time.Second}, time.Unix(int64(w.now), 0))
		for _, j := range step.Judgements {
			all = append(all, spokenOf{w.now, j})
		}
		steps = append(steps, step)
	}
	return all, steps
}

func (w *world) String() string {
	s := fmt.Sprintf("poll %d stall %d commit %d roll %d/%d trouble %+v blind %d:", w.poll, w.stall, w.commit, w.roll, w.out, w.trouble, w.blind)
	for _, l := range w.lines {
		s += fmt.Sprintf(" [%s rate %g tx %d]", l.owner, l.rate, l.transactions)
	}
	return s
}
