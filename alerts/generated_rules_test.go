package alerts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/unwedge/unwedge/sources"
)

// TestGeneratedRules plays one rule at a time with drawn rates, polls,
// thresholds and moments, and checks what is said of line 0 in the end, and how
// often it pages.
func TestGeneratedRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		draw  func(d *drawn) model
		want  []Verdict
		pages int
	}{
		{"a loop on a bad record, however far it goes back", drawLoop, []Verdict{HeadOfLineStall}, 1},
		{"a crash loop", drawCrashLoop, []Verdict{HeadOfLineStall}, 1},
		{"the first record is bad", drawFirstRecord, []Verdict{HeadOfLineStall}, 1},
		{"an open transaction", drawOpenTransaction, []Verdict{OpenTransaction}, 0},
		{"no owner", drawUnassigned, []Verdict{Unassigned}, 1},
		{"a dropped topic", drawOrphaned, []Verdict{Orphaned}, 0},
		{"retention passed a wedged line", drawLoss, []Verdict{DataLoss}, 1},
		{"a deliberate replay", drawReplay, []Verdict{OK, Slow}, 0},
		{"a topic that was created again", drawCreatedAgain, []Verdict{OK}, 0},
		{"an engine without members", drawEngine, []Verdict{OK}, 0},
		{"falling behind", drawSlow, []Verdict{Slow}, 0},
		{"catching up", drawCatchUp, []Verdict{OK}, 0},
		{"a coordinator that comes and goes", drawOutages, []Verdict{OK}, 0},
		{"a parallel consumer that holds a record", drawHeld, []Verdict{OK}, 0},
		{"a consumer that commits rarely, after its first commits", drawRare, []Verdict{OK}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				d := &drawn{T: r}
				d.poll = rapid.SampledFrom([]int{1, 5, 10, 15, 30, 60}).Draw(r, "poll")
				d.stall = rapid.IntRange(max(30, 6*d.poll), max(60, 10*d.poll)).Draw(r, "stall")
				d.rate = rapid.SampledFrom([]float64{0.2, 1, 10, 333}).Draw(r, "rate")
				d.from = rapid.IntRange(4*d.stall, 6*d.stall).Draw(r, "from")
				m := c.draw(d)
				m.through = rapid.IntRange(0, 9).Draw(r, "through") > 0
				m.poll, m.rules.StallAfter = d.poll, time.Duration(d.stall)*time.Second
				if m.until == 0 {
					m.until = d.from + 6*d.stall
				}
				n := m.run(t)
				last := n.said(m.until, 0)
				if !slices.Contains(c.want, last.Verdict) || (c.pages >= 0 && len(n.pages()) != c.pages) {
					r.Fatalf("%s, paged at %v (poll %d, stall_after %d, rate %g, from %d): %s", last.Verdict, n.pages(), d.poll, d.stall, d.rate, d.from, last.Reason)
				}
			})
		})
	}
}

type drawn struct {
	*rapid.T
	poll, stall, from int
	rate              float64
}

func (d *drawn) between(low, high int, name string) int {
	return rapid.IntRange(low, max(low, high)).Draw(d.T, name)
}

func (d *drawn) flow() func(int) int64 { return at(d.rate) }

func (d *drawn) peer() modelLine { return modelLine{end: d.flow()} }

func drawLoop(d *drawn) model {
	period, back := d.between(2*d.poll, d.stall, "period"), int64(d.between(1, 200, "back"))
	flow := d.flow()
	back = min(back, flow(d.from))
	return model{until: d.from + 12*d.stall, lines: []modelLine{{end: flow, pos: from(d.from, flow, func(t int) int64 {
		return flow(d.from) - back*int64((t-d.from)/period%2)
	})}, d.peer()}}
}

func drawCrashLoop(d *drawn) model {
	up, down := d.between(d.poll, d.stall/2, "up"), d.between(d.poll, d.stall/2, "down")
	gone := func(t int) bool { return t > d.from && t%(up+down) < down }
	return model{
		members: func(t int) []string {
			if gone(t) {
				return nil
			}
			return []string{fmt.Sprint("m", t/(up+down))}
		},
		state: func(t int) string { return map[bool]string{true: "Empty", false: "Stable"}[gone(t)] },
		lines: []modelLine{{
			end: d.flow(), pos: stuck(d.flow(), d.from, never),
			owner: func(t int) string { return fmt.Sprint("m", t/(up+down)) },
			meta:  func(t int) string { return fmt.Sprint("m", max(0, t-d.poll)/(up+down)) },
		}},
	}
}

func drawFirstRecord(d *drawn) model {
	flow := d.flow()
	return model{lines: []modelLine{{end: func(t int) int64 { return flow(max(0, t-d.from)) }, pos: fixed(sources.NoCommit)}, d.peer()}}
}

func drawOpenTransaction(d *drawn) model {
	f := stuck(d.flow(), d.from, never)
	return model{lines: []modelLine{{end: d.flow(), stab: f, pos: f}, d.peer()}}
}

func drawUnassigned(d *drawn) model {
	return model{lines: []modelLine{{end: d.flow(), pos: stuck(d.flow(), d.from, never), owner: func(t int) string { return map[bool]string{true: "m1"}[t < d.from] }}, d.peer()}}
}

func drawOrphaned(d *drawn) model {
	m := drawUnassigned(d)
	m.lines[1].topic = "B"
	return m
}

func drawLoss(d *drawn) model {
	flow, at := d.flow(), d.from+d.between(2*d.stall, 3*d.stall, "passed")
	return model{lines: []modelLine{{end: flow, pos: stuck(flow, d.from, never), start: from(at, fixed(0), func(t int) int64 { return flow(t - d.stall/2) })}, d.peer()}}
}

func drawReplay(d *drawn) model {
	flow := d.flow()
	to := flow(d.from) / int64(d.between(2, 10, "share"))
	fast := at(d.rate * float64(d.between(2, 5, "speed")))
	return model{until: d.from + 20*d.stall, lines: []modelLine{{end: flow, pos: from(d.from, flow, func(t int) int64 { return min(flow(t), to+fast(t-d.from)) })}, d.peer()}}
}

func drawCreatedAgain(d *drawn) model {
	flow, gap := d.flow(), d.between(0, 3*d.stall, "gap")
	anew := func(t int) int64 { return flow(t-d.from) / 2 }
	return model{until: d.from + 4*d.stall, lines: []modelLine{{end: from(d.from, flow, anew), pos: func(t int) int64 {
		switch {
		case t < d.from:
			return flow(t)
		case t < d.from+gap:
			return flow(d.from - 1)
		}
		return anew(t)
	}, id: func(t int) string { return map[bool]string{true: "old", false: "new"}[t < d.from] }}, d.peer()}}
}

func drawEngine(d *drawn) model {
	flow, every := d.flow(), d.between(1, d.stall-3*d.poll, "every")
	return model{state: always("Empty"), members: func(int) []string { return nil }, lines: []modelLine{{end: flow, pos: func(t int) int64 { return flow(t / every * every) }}}}
}

func drawSlow(d *drawn) model {
	share := float64(d.between(3, 8, "tenths")) / 10
	return model{until: d.from + 30*d.stall, lines: []modelLine{{end: at(10 * d.rate), pos: at(10 * d.rate * share)}, d.peer()}}
}

func drawCatchUp(d *drawn) model {
	flow, faster, backlog := d.flow(), at(d.rate*float64(d.between(2, 9, "faster"))+1), int64(d.between(100, 1_000_000, "backlog"))
	return model{lines: []modelLine{{end: func(t int) int64 { return backlog + flow(t) }, pos: func(t int) int64 { return min(backlog+flow(t), faster(t)) }}, d.peer()}}
}

func drawOutages(d *drawn) model {
	every, long := d.between(2*d.poll, 2*d.stall, "every"), d.between(d.poll, 3*d.stall, "long")
	out := func(t int) bool { return t >= d.from && (t-d.from)%(every+long) < long }
	flow := d.flow()
	m := model{lines: []modelLine{{end: flow}, d.peer()}, fails: out}
	m.until = d.from
	for t := d.from; t < d.from+6*d.stall; t += d.poll {
		if !out(t / d.poll * d.poll) {
			m.until = t / d.poll * d.poll
		}
	}
	if m.until == d.from {
		m.until = d.from - d.poll
	}
	return m
}

func drawHeld(d *drawn) model {
	every := d.between(1, d.stall/2, "every")
	return model{lines: []modelLine{{end: d.flow(), pos: stuck(d.flow(), d.from, never), meta: func(t int) string { return fmt.Sprint(t / every) }}, d.peer()}}
}

func drawRare(d *drawn) model {
	flow, every := d.flow(), d.between(d.stall/2, min(3000, 8*d.stall), "every")
	return model{until: every * d.between(4, 8, "cycles"), lines: []modelLine{{end: flow, pos: func(t int) int64 { return flow(t / every * every) }}, d.peer()}}
}
