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
	planChunk = 200
)

// Outlet is what redrives need of a source.
type Outlet struct {
	Sender
	Receivers Receivers // nil where nobody can tell who reads a queue
	Rules     Rules
}

// planner decides letter by letter. What it asks of a source about a queue it
// asks once.
type planner struct {
	to        string
	edit      *Edit
	outlets   map[string]Outlet
	queues    map[queueName]Queue
	receivers map[queueName]receivers
	now       time.Time
}

type queueName struct{ source, name string }

// receivers are the groups that read a queue, where the source could tell.
type receivers struct {
	groups []sources.Receiver
	known  bool
}

// decide says what a redrive would do with one letter.
func (p *planner) decide(ctx context.Context, l Letter) (Planned, error) {
	out, ok := p.outlets[l.Source]
	if !ok {
		return Planned{}, fmt.Errorf("%w: source %s of letter %s is not configured any more", ErrInvalid, l.Source, l.ID)
	}
	c := candidate{letter: l, rules: out.Rules, now: p.now}
	var h HeaderPlan
	c.sent, h, c.editErr = Outgoing(l.DeadLetter, p.edit, out.Rules.DropHeaders)
	c.way = WayBack(l.DeadLetter, p.queues[queueName{l.Source, l.Queue}].Queue, p.to, out.Rules)
	done := Planned{LetterID: l.ID, Why: c.way.Why}
	if c.way.Queue != "" && c.editErr == nil {
		if err := p.aim(ctx, out, &c, &done); err != nil {
			return Planned{}, err
		}
	}
	done.Kept, done.Dropped, done.Added = h.Kept, h.Dropped, h.Added
	done.Refused, done.Warnings = judge(c)
	if done.Refused == "edit_fails" {
		done.Because = c.editErr.Error()
	}
	if done.Refused == "no_target" || done.Refused == "target_missing" {
		done.Target = nil
	}
	return done, nil
}

// aim asks the source where the letter would land. What the source cannot say
// right now is an error of the plan: a plan that leaves it out would be wrong.
func (p *planner) aim(ctx context.Context, out Outlet, c *candidate, done *Planned) error {
	name := queueName{c.letter.Source, c.way.Queue}
	c.kind = p.queues[name].Kind
	if !out.Rules.Allowed(c.way.Queue) {
		done.Target = &sources.Target{Queue: c.way.Queue}
		return nil
	}
	target, why, err := out.Aim(ctx, c.way.Queue, c.sent)
	if err != nil && !errors.Is(err, sources.ErrNoSuchQueue) && !errors.Is(err, sources.ErrTooLarge) && !errors.Is(err, sources.ErrNotAuthorised) {
		return fmt.Errorf("ask %s about %s, the target of letter %s: %w", c.letter.Source, c.way.Queue, c.letter.ID, err)
	}
	if target.Queue == "" {
		target.Queue = c.way.Queue
	}
	c.target, c.aimed, done.Target = target, err, &target
	if why != "" {
		done.Why += "; " + why
	}
	if err == nil {
		r := p.readers(ctx, out, name)
		c.receivers, c.asked = r.groups, r.known
	}
	return nil
}

// readers are the groups that read a queue. That they cannot be told stops no
// plan: it then says nothing about them.
func (p *planner) readers(ctx context.Context, out Outlet, name queueName) receivers {
	if known, ok := p.receivers[name]; ok {
		return known
	}
	var r receivers
	if out.Receivers != nil {
		groups, err := out.Receivers.Receivers(ctx, name.name)
		r = receivers{groups, err == nil}
	}
	p.receivers[name] = r
	return r
}

// allReceivers are the groups that will see a letter of the plan, by queue and
// group.
func (p *planner) allReceivers() []sources.Receiver {
	all := []sources.Receiver{}
	for _, r := range p.receivers {
		all = append(all, r.groups...)
	}
	slices.SortFunc(all, func(a, b sources.Receiver) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Group, b.Group))
	})
	return all
}

// takeable tells whether a letter of this status may be redriven.
func takeable(s Status) bool { return s == Open || s == Snoozed || s == Expired }

// difference says what is another way than it was planned; "" when nothing is.
func difference(was, is Planned) string {
	switch {
	case was.Target == nil && is.Target == nil:
		return ""
	case is.Target == nil:
		return fmt.Sprintf("%s, the target of letter %s, is gone", was.Target.Queue, was.LetterID)
	case was.Target == nil:
		return fmt.Sprintf("letter %s has a target now: %s", was.LetterID, is.Target.Queue)
	case was.Target.Queue != is.Target.Queue:
		return fmt.Sprintf("letter %s would go to %s now, not to %s", was.LetterID, is.Target.Queue, was.Target.Queue)
	case was.Target.TopicID != is.Target.TopicID:
		return fmt.Sprintf("%s was deleted and made again", was.Target.Queue)
	case !samePartition(was.Target.Partition, is.Target.Partition):
		return fmt.Sprintf("%s has other partitions: letter %s would go to another one", was.Target.Queue, was.LetterID)
	}
	return ""
}

func samePartition(a, b *int32) bool { return a == b || a != nil && b != nil && *a == *b }

// newcomers says which groups came to read a target, or went, since the plan
// was made. Their lag and state do not count.
func newcomers(was, is []sources.Receiver) []string {
	var all []string
	name := func(r sources.Receiver) sources.Receiver { return sources.Receiver{Queue: r.Queue, Group: r.Group} }
	in := func(list []sources.Receiver, r sources.Receiver) bool {
		return slices.ContainsFunc(list, func(o sources.Receiver) bool { return name(o) == name(r) })
	}
	for _, r := range is {
		if !in(was, r) {
			all = append(all, fmt.Sprintf("group %s reads %s now", r.Group, r.Queue))
		}
	}
	for _, r := range was {
		if !in(is, r) {
			all = append(all, fmt.Sprintf("group %s does not read %s any more", r.Group, r.Queue))
		}
	}
	return all
}
