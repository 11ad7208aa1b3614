package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// Choice is a queue that the letters of a plan could go to, and what for.
type Choice struct {
	Queue string
	Why   string
}

const (
	// choicesOf is how many letters of a plan say where it could go.
	choicesOf = 200
	// choicesMost is how many choices a person is given.
	choicesMost = 30
)

// Choices are the queues that the letters of a plan could go to instead of each
// letter's own way back: the queues that they came from, the retry queues of
// those, first one that only the group reads that failed, and what else
// redrive_to allows. They are all of one source: a plan of several has none.
// None is a dead-letter queue.
func (d *Desk) Choices(ctx context.Context, plan Plan) ([]Choice, error) {
	letters, err := d.Letters.LettersOfPlan(ctx, plan.ID, 0, choicesOf, false)
	if err != nil || len(letters) == 0 {
		return nil, err
	}
	p, err := d.planner(ctx, plan)
	if err != nil {
		return nil, err
	}
	source := letters[0].Source
	if slices.ContainsFunc(letters, func(l Letter) bool { return l.Source != source }) {
		return nil, nil
	}
	c := &choosing{p: p, out: d.Outlets[source], source: source, letters: letters}
	c.origins()
	c.retries(ctx)
	c.others()
	return c.list[:min(len(c.list), choicesMost)], nil
}

// choosing collects the choices of a plan, the likeliest first.
type choosing struct {
	p       *planner
	out     Outlet
	source  string
	letters []Letter
	from    []string // queues that the letters came from
	list    []Choice
}

// add notes a choice, unless it is one already, or none: a queue that is not
// there, may not be written to, or holds dead letters.
func (c *choosing) add(queue, why string) {
	known, there := c.p.queues[queueName{c.source, queue}]
	if !there || known.Kind == sources.DeadLetterQueue || !c.out.Rules.Allowed(queue) {
		return
	}
	if !slices.ContainsFunc(c.list, func(o Choice) bool { return o.Queue == queue }) {
		c.list = append(c.list, Choice{queue, why})
	}
}

// origins are the queues that the letters came from: what feeds their dead-letter
// queue, where the transport tells, what their headers say, and their own ways
// back.
func (c *choosing) origins() {
	note := func(queue, why string) {
		if queue != "" && !slices.Contains(c.from, queue) {
			c.from = append(c.from, queue)
			c.add(queue, why)
		}
	}
	for _, l := range c.letters {
		way := WayBack(l.DeadLetter, c.p.queues[queueName{c.source, l.Queue}].Queue, "", c.out.Rules)
		note(way.Queue, "the way back of its letters: "+way.Why)
		note(l.Origin.Queue, "where its headers say that letters came from")
		for _, q := range c.p.queues[queueName{c.source, l.Queue}].FeedsFrom {
			note(q, "its dead letters land in "+l.Queue)
		}
	}
}

// retries are the retry queues of what the letters came from. One that only the
// group reads that failed reaches nobody else (C76).
func (c *choosing) retries(ctx context.Context) {
	var own, shared []Choice
	for _, q := range c.p.sorted(c.source) {
		if q.Kind != sources.RetryQueue || !slices.ContainsFunc(q.FeedsFrom, func(f string) bool { return slices.Contains(c.from, f) }) {
			continue
		}
		if group := c.onlyReader(ctx, q.Name); group != "" && c.failed(group) {
			own = append(own, Choice{q.Name, fmt.Sprintf("only %s reads it, which failed: no other group receives them", group)})
			continue
		}
		shared = append(shared, Choice{q.Name, "a retry queue of " + q.FeedsFrom[0]})
	}
	for _, one := range slices.Concat(own, shared) {
		c.add(one.Queue, one.Why)
	}
}

// onlyReader is the group that alone reads a queue; "" when it is another number,
// or nobody knows.
func (c *choosing) onlyReader(ctx context.Context, queue string) string {
	if c.out.Receivers == nil {
		return ""
	}
	groups, err := c.out.Receivers.Receivers(ctx, queue)
	if err != nil || len(groups) != 1 {
		return ""
	}
	return groups[0].Group
}

// failed tells whether a group is one that failed on the letters.
func (c *choosing) failed(group string) bool {
	return slices.ContainsFunc(c.letters, func(l Letter) bool { return l.Origin.Group == group })
}

// others are the other queues that are listed and may be written to.
func (c *choosing) others() {
	for _, q := range c.p.sorted(c.source) {
		c.add(q.Name, "redrive_to allows it")
	}
}

// sorted are the queues of a source by name.
func (p *planner) sorted(source string) []Queue {
	var list []Queue
	for name, q := range p.queues {
		if name.source == source {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b Queue) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
