package alerts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// GroupWatch is all that is remembered of one group between two readings: the
// progress of each line, when members were last seen, and the incident that
// stands. It is stored as JSON after each reading, so that a restart forgets
// nothing. The zero value is a group that was never read.
//
// Of Incident the detector writes what it decides; who acknowledged it, what
// was delivered and what stood at the head belong to the store.
type GroupWatch struct {
	Source   string
	Group    string
	Incident *Incident
	Stood    map[lineKey]*stood `json:",omitempty"` // where each line of the incident stood
	Calm     stopwatch          // since every one of them is well again

	Lines       map[lineKey]*progress
	FirstAt     time.Time     // the first reading that worked
	ReadAt      time.Time     // the last one
	UsedAt      time.Time     // when members were last seen or a position rose
	GoneAt      time.Time     // when the group had vanished; zero: it is there
	Memberless  stopwatch     // since the last reading that saw a member
	Empty       bool          // the last reading saw none
	Returned    stopwatch     // since members are there again
	Absence     time.Duration // how long there were none before that
	Joined      bool          // it was first seen when its source had been read before
	AlreadySo   bool          // it stood without members at the first reading of its source, and has shown no life since
	Uncommitted bool          // one of its positions was seen past the stable end
	Churn       churn
	Unread      unread        // the group by itself, while its source is read
	Retention   time.Duration // offsets.retention.minutes; 0: not known
}

// Step is what one reading led to.
type Step struct {
	Judgements []Judgement // one a line, in the order of the reading
	Opened     *Incident   // an incident that this reading opened
	Updated    *Incident   // one that stood already, and whose verdict, scope or lines changed
	Resolved   *Incident   // one that this reading resolved
	Unread     *Incident   // about the group not being read: one that this reading opened or resolved
	Warnings   []string    // told once: a dropped subscription, retention closing in
}

// lineKey names a line within its group.
type lineKey struct {
	Topic  string
	Number int32
}

// MarshalText writes it as topic/number; a topic has no slash.
func (k lineKey) MarshalText() ([]byte, error) {
	return []byte(k.Topic + "/" + strconv.Itoa(int(k.Number))), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *lineKey) UnmarshalText(text []byte) error {
	topic, number, _ := strings.Cut(string(text), "/")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return fmt.Errorf("read the line %q of a stored watch: %w", text, err)
	}
	k.Topic, k.Number = topic, int32(n)
	return nil
}

func keyOf(p sources.Partition) lineKey { return lineKey{p.Topic, p.Number} }

// forgetLine is how long a line that the group no longer shows is remembered.
const forgetLine = 24 * time.Hour

// Next is the watch one reading later: pure but for the id of an incident that
// it opens, with the time passed in.
func (w *GroupWatch) Next(g sources.Group, rules Rules, now time.Time) Step {
	now = now.Round(0).UTC()
	unread := w.Unread.next(g.Err, Incident{Source: g.Source, Group: g.Name}, rules.For(g.Source, g.Name, ""), now)
	step := w.next(g, rules, now)
	step.Unread = unread
	return step
}

func (w *GroupWatch) next(g sources.Group, rules Rules, now time.Time) Step {
	switch {
	case g.Protocol == sources.Share:
		return notJudged(g)
	case g.Err != nil:
		return w.blind(g, now)
	case gone(g):
		return w.vanish(g, now)
	}
	w.see(g, now)
	lines := w.advance(g, rules, now)
	w.pulse(g, lines, now)
	step := Step{Judgements: judge(lines, w.facts(g, lines, now))}
	w.warn(&step, lines, now)
	w.episode(&step, g, lines, now)
	w.date(step.Judgements, lines, now)
	return step
}

// Standing are the lines of a reading that have offsets to read and whose
// position did not move since the last one: those at whose head somebody must
// look, at Position, which for a line without a commit is where it is taken to
// start. Call it before Next, with what is passed to Next.
func (w *GroupWatch) Standing(g sources.Group) []sources.Lag {
	var out []sources.Lag
	for _, l := range g.Lines {
		p := w.Lines[keyOf(l.Partition)]
		if p == nil || p.FirstAt.IsZero() || l.Err != nil || l.PositionErr != nil || l.Position != p.Position || p.raw(l) == 0 {
			continue
		}
		l.Position = p.from(l)
		out = append(out, l)
	}
	return out
}

// advance moves each line on by a reading and pairs it with its rule.
func (w *GroupWatch) advance(g sources.Group, rules Rules, now time.Time) []line {
	if w.Lines == nil {
		w.Lines = map[lineKey]*progress{}
	}
	owners := ownersOf(g)
	members := !known(g) || len(g.Members) > 0
	r := reading{
		now: now, members: members, uncommitted: w.Uncommitted,
		settled:    known(g) && len(g.Members) > 0 && g.State == "Stable",
		memberless: !members && w.Empty,
	}
	here := make(map[lineKey]bool, len(g.Lines))
	lines := make([]line, 0, len(g.Lines))
	for _, l := range g.Lines {
		key := keyOf(l.Partition)
		here[key] = true
		p := w.Lines[key]
		if p == nil {
			p = &progress{}
			w.Lines[key] = p
		}
		r.owner = owners(l)
		r.rule = rules.For(g.Source, g.Name, l.Topic)
		p.next(l, r)
		lines = append(lines, line{Lag: l, p: p, rule: r.rule, owner: r.owner})
	}
	w.miss(here, now)
	return lines
}

// miss lets lines that the group no longer shows stand still, and forgets them
// in time unless the incident is about them.
func (w *GroupWatch) miss(here map[lineKey]bool, now time.Time) {
	for key, p := range w.Lines {
		if here[key] {
			continue
		}
		p.pause(now)
		if p.Lost.IsZero() {
			p.Lost = now
		}
		if w.Stood[key] == nil && now.Sub(p.ReadAt) > forgetLine {
			delete(w.Lines, key)
		}
	}
}

// date notes since when each line has its verdict.
func (w *GroupWatch) date(js []Judgement, lines []line, now time.Time) {
	for i := range js {
		p := lines[i].p
		if p.Verdict != js[i].Verdict || p.Since.IsZero() {
			p.Verdict, p.Since = js[i].Verdict, now
		}
		if js[i].Since.IsZero() {
			js[i].Since = p.Since
		}
	}
}

// blind is a reading of the whole group that failed: clocks stop, nothing opens
// and nothing resolves.
func (w *GroupWatch) blind(g sources.Group, now time.Time) Step {
	now = now.Round(0).UTC()
	w.pause(now)
	return Step{Judgements: w.unknown(g, now, fmt.Sprintf("the group could not be read: %v", g.Err))}
}

// pause stops every clock of the group.
func (w *GroupWatch) pause(now time.Time) {
	w.Memberless.pause(now)
	w.Returned.pause(now)
	w.Calm.pause(now)
	w.Churn.pause()
	for _, p := range w.Lines {
		p.pause(now)
	}
}

// unknown says of all lines, those of the reading or else those remembered,
// that nothing is known.
func (w *GroupWatch) unknown(g sources.Group, now time.Time, reason string) []Judgement {
	var out []Judgement
	say := func(p sources.Partition) {
		j := Judgement{Partition: p, Verdict: Unknown, Scope: GroupScope, Since: now, Reason: reason, Lag: sources.NotKnown, Behind: -1}
		if known := w.Lines[keyOf(p)]; known != nil {
			if known.Verdict != Unknown {
				known.Verdict, known.Since = Unknown, now
			}
			j.Since = known.Since
		}
		out = append(out, j)
	}
	for _, l := range g.Lines {
		say(l.Partition)
	}
	if len(g.Lines) == 0 {
		for _, key := range w.keys() {
			say(sources.Partition{Source: g.Source, Group: g.Name, Topic: key.Topic, Number: key.Number})
		}
	}
	return out
}

// notJudged lists a share group: its members lock records one by one, and what
// stands there is not judged yet.
func notJudged(g sources.Group) Step {
	var step Step
	for _, l := range g.Lines {
		lag := sources.NotKnown
		switch {
		case l.Err != nil || l.PositionErr != nil || l.Position == sources.NoCommit:
		case l.Counted != nil:
			lag = *l.Counted
		default:
			lag = max(0, l.End-max(l.Position, l.Start))
		}
		step.Judgements = append(step.Judgements, Judgement{
			Partition: l.Partition, Verdict: Unknown, Scope: GroupScope, Since: g.ReadAt,
			Reason: "a share group is listed, and not judged", Lag: lag, Behind: -1,
		})
	}
	return step
}
