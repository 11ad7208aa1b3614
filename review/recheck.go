package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// recheck plans the letters of a plan again and compares. A world that is
// another one is a *PlanChangedError. What is to be confirmed and was not so
// when the plan was made, such as a group that reads the dead-letter queue since,
// does not make it another plan: it is added to the plan's warnings, and the
// start waits for somebody's word.
func (d *Desk) recheck(ctx context.Context, plan Plan) (Plan, error) {
	p, err := d.planner(ctx, plan)
	if err != nil {
		return plan, err
	}
	if d.Now().Sub(plan.CreatedAt) > doneFresh {
		p.onlyDone = true
		if err := d.lookBack(ctx, p, plan); err != nil {
			return plan, err
		}
	}
	var world changes
	found, taken := warned{}, &conflict{}
	err = d.eachChunk(ctx, p, plan, func(from int, letters []Letter) error {
		was, err := d.Starter.Decided(ctx, plan.ID, from, len(letters))
		if err != nil {
			return err
		}
		if len(was) != len(letters) {
			return fmt.Errorf("%w: letters of plan %s from place %d on", ErrNotFound, plan.ID, from)
		}
		for i, l := range letters {
			if !taken.add(l) {
				continue
			}
			now, c, warnings, err := p.decide(ctx, l)
			if err != nil {
				return err
			}
			found.add(c, warnings)
			world.compare(was[i], now)
		}
		return nil
	})
	if err != nil {
		return plan, err
	}
	if len(taken.ids) > 0 {
		world.tell("%s", taken.error(ctx, d.Takers))
	}
	world.compareTargets(plan.Targets, p.allTargets())
	world.compareReceivers(plan.Receivers, p.allReceivers())
	if lines := world.lines(); len(lines) > 0 {
		return plan, &PlanChangedError{lines}
	}
	for _, w := range confirmable(found.all()) {
		if !slices.ContainsFunc(plan.Warnings, func(o Warning) bool { return o.Code == w.Code }) {
			plan.Warnings = append(plan.Warnings, w)
		}
	}
	return plan, nil
}

// doneFresh is how old a plan may be for its start to rely on what it found of
// finished work.
const doneFresh = time.Minute

// asPlanned says of a start whose letters were taken meanwhile who has them, and
// of a plan in the words of plans.
func (d *Desk) asPlanned(ctx context.Context, r Request, plan Plan, err error) error {
	var taken *ConflictError
	if !errors.As(err, &taken) || taken.Redrive != "" {
		return err
	}
	all := &conflict{ids: taken.IDs, total: plan.Total}
	if err = all.error(ctx, d.Takers); r.Plan == "" {
		return err
	}
	return &PlanChangedError{[]string{err.Error()}}
}
