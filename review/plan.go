package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// PlanKept is how long a plan can be started.
const PlanKept = 24 * time.Hour

// planShown is how many letters of a plan its first answer has, planChunk how
// many are in memory at a time while it is made.
const (
	planShown = 1000
	planChunk = 1000
)

// Outlet is what redrives need of a source. What is nil but the Sender is what
// the source cannot tell; a plan then says nothing of it.
type Outlet struct {
	Sender
	Receivers    Receivers
	Destinations Destinations
	OtherReaders OtherReaders
	Past         Past
	Schemas      SchemaChecker
	Rules        Rules
}

// planner decides letter by letter. What it asks of a source about a queue it
// asks once.
type planner struct {
	Options
	total    int
	outlets  map[string]Outlet
	queues   map[queueName]Queue
	targets  map[queueName]place
	others   map[queueName][]string
	onlyDone bool                // of the looks through other queues only the one for finished work
	stalls   map[string][]string // by letter, of those that are being decided
	seen     findings            // of the looks through other queues
	gaps     notKnown
	now      time.Time
	blank    []byte // stands for bodies that were not read
}

type queueName struct{ source, name string }

// place is what was found out about a queue that letters go to.
type place struct {
	about     sources.Destination
	receivers []sources.Receiver
	asked     bool // whether the source could say who reads it
}

// notKnown collects what could not be found out, each once.
type notKnown []string

func (n *notKnown) add(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(*n, text) {
		*n = append(*n, text)
	}
}

// bodies tells whether letters are to be read with their bodies: only an edit
// looks into them.
func (p *planner) bodies() bool { return !p.Edit.IsEmpty() }

// decide says what a redrive would do with one letter, and what was found.
func (p *planner) decide(ctx context.Context, l Letter) (Planned, *candidate, []*check, error) {
	out, ok := p.outlets[l.Source]
	if !ok {
		return Planned{}, nil, nil, fmt.Errorf("%w: source %s of letter %s is not configured any more", ErrInvalid, l.Source, l.ID)
	}
	if !p.bodies() {
		l.Body = p.standIn(l.Size)
	}
	c := &candidate{letter: l, rules: out.Rules, keepTime: p.KeepTimestamps, now: p.now, total: p.total, stalls: p.stalls[l.ID]}
	c.done, c.newer = p.seen.done[l.ID], p.seen.newer[l.ID]
	var h HeaderPlan
	c.sent, h, c.editErr = Outgoing(l.DeadLetter, p.Edit, out.Rules.DropHeaders)
	p.checkSchema(ctx, out, c)
	c.way = p.wayOf(l, out)
	c.others = p.otherReaders(ctx, out, queueName{l.Source, l.Queue})
	d := Planned{LetterID: l.ID, Why: c.way.Why, Kept: h.Kept, Dropped: h.Dropped, Added: h.Added}
	if c.way.Queue != "" && c.editErr == nil {
		if err := p.aim(ctx, out, c, &d); err != nil {
			return Planned{}, nil, nil, err
		}
	}
	refused, found := judge(c)
	for _, k := range found {
		d.Warnings = append(d.Warnings, k.code)
	}
	if refused != nil {
		d.Refused, d.Because = refused.code, refused.because(c)
	}
	if d.Refused == "no_target" || d.Refused == "target_missing" {
		d.Target = nil
	}
	return d, c, found, nil
}

// wayOf is where a letter would go.
func (p *planner) wayOf(l Letter, out Outlet) Way {
	return WayBack(l.DeadLetter, p.queues[queueName{l.Source, l.Queue}].Queue, p.To, out.Rules)
}

// standIn is a body of a size, where only the size of it matters.
func (p *planner) standIn(size int64) []byte {
	if size < 0 {
		return nil
	}
	if size > int64(len(p.blank)) {
		p.blank = make([]byte, size)
	}
	return p.blank[:size:size]
}

// aim asks the source where the letter would land. What the source cannot say
// right now is an error of the plan: a plan that leaves it out would be wrong.
func (p *planner) aim(ctx context.Context, out Outlet, c *candidate, d *Planned) error {
	name := queueName{c.letter.Source, c.way.Queue}
	c.kind = p.queues[name].Kind
	if !out.Rules.Allowed(c.way.Queue) {
		d.Target = &sources.Target{Queue: c.way.Queue}
		return nil
	}
	target, why, err := out.Aim(ctx, c.way.Queue, c.sent)
	if err != nil && !errors.Is(err, sources.ErrNoSuchQueue) && !errors.Is(err, sources.ErrTooLarge) && !errors.Is(err, sources.ErrNotAuthorised) {
		return fmt.Errorf("%w: ask %s about %s, the target of letter %s: %w", ErrUnavailable, c.letter.Source, c.way.Queue, c.letter.ID, err)
	}
	if target.Queue == "" {
		target.Queue = c.way.Queue
	}
	c.aimed, d.Target = err, &target
	if why != "" {
		d.Why += "; " + why
	}
	if err == nil {
		t := p.target(ctx, out, name)
		c.about, c.receivers, c.asked = t.about, t.receivers, t.asked
	}
	return nil
}

// target is what can be found out about a queue that letters go to. What cannot
// stops no plan: the plan says what it does not know.
func (p *planner) target(ctx context.Context, out Outlet, name queueName) place {
	if known, ok := p.targets[name]; ok {
		return known
	}
	var t place
	if out.Destinations != nil {
		about, err := out.Destinations.About(ctx, name.name)
		if err != nil {
			p.gaps.add("what %s takes could not be found out: %v", name.name, err)
		}
		t.about = about
		switch {
		case !p.KeepTimestamps:
		case about.StampsItself:
			p.gaps.add("%s gives records its own time (LogAppendTime): the original timestamps are not kept there", name.name)
		case about.Partitions > 0 && about.Retention == 0:
			p.gaps.add("how long %s keeps records is not known: one with an old timestamp may be deleted at once", name.name)
		}
	}
	if out.Receivers == nil {
		p.gaps.add("who reads %s is not known: SQS does not tell", name.name)
	} else {
		groups, err := out.Receivers.Receivers(ctx, name.name)
		if err != nil {
			p.gaps.add("who reads %s could not be found out: %v", name.name, err)
		}
		t.receivers, t.asked = groups, err == nil
	}
	p.targets[name] = t
	return t
}

// otherReaders says who else reads a dead-letter queue.
func (p *planner) otherReaders(ctx context.Context, out Outlet, name queueName) []string {
	if known, ok := p.others[name]; ok || out.OtherReaders == nil {
		return known
	}
	others, err := out.OtherReaders.OtherReaders(ctx, name.name)
	if err != nil {
		p.gaps.add("who else reads %s could not be found out: %v", name.name, err)
	}
	p.others[name] = others
	return others
}

// allReceivers are the groups that will see a letter of the plan, by queue and
// group.
func (p *planner) allReceivers() []sources.Receiver {
	all := []sources.Receiver{}
	for _, t := range p.targets {
		all = append(all, t.receivers...)
	}
	slices.SortFunc(all, func(a, b sources.Receiver) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Group, b.Group))
	})
	return all
}

// allTargets are the queues that the letters go to, as they were.
func (p *planner) allTargets() []PlanTarget {
	all := []PlanTarget{}
	for name, t := range p.targets {
		all = append(all, PlanTarget{Source: name.source, Queue: name.name, TopicID: t.about.TopicID, Partitions: t.about.Partitions})
	}
	slices.SortFunc(all, func(a, b PlanTarget) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Queue, b.Queue))
	})
	return all
}

// takeable tells whether a letter of this status may be redriven.
func takeable(s Status) bool { return s == Open || s == Snoozed || s == Expired }
