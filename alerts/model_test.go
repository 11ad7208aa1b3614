package alerts

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// model is a group as a broker would show it at any second, with known truth.
type model struct {
	poll    int // seconds
	until   int
	rules   Rules
	state   func(t int) string   // default Stable
	members func(t int) []string // default m1
	lines   []modelLine
	fails   func(t int) bool // the whole group cannot be read
	edit    func(t int, g *sources.Group)
	through bool // without restarts
}

// modelLine is one line of a model. What is nil has a default: ten records
// arrive a second, all are read and committed at once, and m1 owns it.
type modelLine struct {
	topic                 string
	end, pos, start, stab func(t int) int64
	owner                 func(t int) string
	meta                  func(t int) string
	id                    func(t int) string
	head                  func(t int) sources.Head // default: what a read-committed fetch would find
	fails                 func(t int) bool
}

func at(perSecond float64) func(int) int64 {
	return func(t int) int64 { return int64(perSecond * float64(t)) }
}

func fixed(n int64) func(int) int64 { return func(int) int64 { return n } }

// stuck follows f and stands from a second on, up to another one.
func stuck(f func(int) int64, from, to int) func(int) int64 {
	return func(t int) int64 {
		if t >= from && t < to {
			return f(from)
		}
		return f(t)
	}
}

func always(s string) func(int) string { return func(int) string { return s } }

const never = 1 << 30

var busy = at(10)

func (l modelLine) lag(m *model, n int, t int) (sources.Lag, string) {
	pick := func(f, otherwise func(int) int64) int64 {
		if f == nil {
			f = otherwise
		}
		return f(t)
	}
	end := pick(l.end, busy)
	lag := sources.Lag{
		Partition: sources.Partition{Source: "s", Group: "g", Topic: "A", Number: int32(n)},
		End:       end, Position: pick(l.pos, fixed(end)), Start: pick(l.start, fixed(0)), StableEnd: pick(l.stab, fixed(end)),
	}
	if l.topic != "" {
		lag.Topic = l.topic
	}
	owner := "m1"
	if l.owner != nil {
		owner = l.owner(t)
	}
	if l.meta != nil {
		lag.Metadata = l.meta(t)
	}
	if l.id != nil {
		lag.TopicID = l.id(t)
	}
	lag.Head = sources.HeadNone
	if max(lag.Position, lag.Start) < lag.StableEnd {
		lag.Head = sources.HeadRecord
	}
	if l.head != nil {
		lag.Head = l.head(t)
	}
	if l.fails != nil && l.fails(t) {
		lag.Err = errors.New("LEADER_NOT_AVAILABLE")
	}
	return lag, owner
}

func (m *model) group(t int) sources.Group {
	g := sources.Group{Source: "s", Name: "g", Protocol: sources.Classic, State: "Stable", MembersKnown: true, ReadAt: time.Unix(int64(t), 0)}
	if m.state != nil {
		g.State = m.state(t)
	}
	names := []string{"m1"}
	if m.members != nil {
		names = m.members(t)
	}
	index := map[string]int{}
	for i, name := range names {
		index[name] = i
		g.Members = append(g.Members, sources.Member{ID: name})
	}
	for n, l := range m.lines {
		lag, owner := l.lag(m, n, t)
		if i, ok := index[owner]; ok {
			lag.Owner = owner
			g.Members[i].Assigned = append(g.Members[i].Assigned, sources.TopicPartition{Topic: lag.Topic, Partition: lag.Number})
		}
		g.Lines = append(g.Lines, lag)
	}
	if m.fails != nil && m.fails(t) {
		g.Err = errors.New("NOT_COORDINATOR")
	}
	if m.edit != nil {
		m.edit(t, &g)
	}
	return g
}

// night is what was said at each reading.
type night struct {
	times []int
	steps map[int]Step
	watch GroupWatch
}

// run plays the model. Unless told to run through, the program restarts before
// every reading: what it knows goes through the store.
func (m *model) run(t *testing.T) *night {
	t.Helper()
	n := &night{steps: map[int]Step{}}
	poll := max(1, m.poll)
	if m.poll == 0 {
		poll = 30
	}
	for second := 0; second <= m.until; second += poll {
		if !m.through {
			n.watch = restarted(t, n.watch)
		}
		n.times = append(n.times, second)
		n.steps[second] = n.watch.Next(m.group(second), m.rules, time.Unix(int64(second), 0))
	}
	return n
}

func restarted(t *testing.T, w GroupWatch) (again GroupWatch) {
	t.Helper()
	text, err := json.Marshal(w)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// said is the verdict on a line at the last reading at or before a second.
func (n *night) said(second, line int) Judgement {
	last := 0
	for _, at := range n.times {
		if at <= second {
			last = at
		}
	}
	return n.steps[last].Judgements[line]
}

// pages are the seconds at which an incident opened that pages.
func (n *night) pages() (at []int) {
	for _, t := range n.times {
		for _, j := range n.steps[t].Judgements {
			if j.Page {
				at = append(at, t)
				break
			}
		}
	}
	return at
}

func (n *night) opened() (out []*Incident) {
	for _, t := range n.times {
		if in := n.steps[t].Opened; in != nil {
			out = append(out, in)
		}
	}
	return out
}

// resolved are the seconds at which an incident resolved.
func (n *night) resolved() (at []int) {
	for _, t := range n.times {
		if n.steps[t].Resolved != nil {
			at = append(at, t)
		}
	}
	return at
}

func (n *night) warnings() (out []string) {
	for _, t := range n.times {
		out = append(out, n.steps[t].Warnings...)
	}
	return out
}

// want is a verdict that must be given: "t line verdict [scope]".
type want struct {
	t, line int
	verdict Verdict
	scope   Scope
}

func (n *night) check(t *testing.T, wants []want) {
	t.Helper()
	for _, w := range wants {
		j := n.said(w.t, w.line)
		if j.Verdict != w.verdict || (w.scope != "" && j.Scope != w.scope) {
			t.Errorf("at %d, line %d: %s %s, want %s %s (%s)", w.t, w.line, j.Verdict, j.Scope, w.verdict, w.scope, j.Reason)
		}
	}
}

func same(a, b []int) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
