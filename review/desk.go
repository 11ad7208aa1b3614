package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/internal/failpoint"
)

// Shelf is where the letters are.
type Shelf interface {
	// LettersOfPlan gives letters of a plan from a place in its order on: at most
	// max, fewer where they are heavy, and at least one while there are any.
	// Without bodies a letter has the size of its body only.
	LettersOfPlan(ctx context.Context, plan string, from, max int, bodies bool) ([]Letter, error)
	// KeysBeside gives see the keys and places of letters of a queue that are
	// open and not in the plan, the latest first, at most max.
	KeysBeside(ctx context.Context, plan, source, queue string, max int, see func(Letter)) error
	Queues(ctx context.Context) ([]Queue, error)
}

// Plans keeps plans for as long as they can be started.
type Plans interface {
	// Freeze fixes a selection into the letters of a new plan, in the order in
	// which they are sent: by queue, partitions in turn, by offset. It returns how many.
	Freeze(ctx context.Context, plan Plan, what Selection) (int, error)
	// Decide writes down what was decided about the letters of the plan from a
	// place in its order on.
	Decide(ctx context.Context, plan string, from int, letters []Planned) error
	// FinishPlan writes the rest of the plan, which can be started from then on.
	FinishPlan(ctx context.Context, plan Plan) error
	DropPlan(ctx context.Context, id string) error
}

// Starter reads finished plans and starts them.
type Starter interface {
	Plan(ctx context.Context, id string) (Plan, error)
	// Decided gives what was decided about letters of a plan from a place in its
	// order on.
	Decided(ctx context.Context, plan string, from, max int) ([]Planned, error)
	// RefusedOf gives the first letters of a plan that cannot be sent.
	RefusedOf(ctx context.Context, plan string, max int) ([]Refusal, error)
	// StartRedrive makes a finished plan a redrive, in one transaction with the
	// status of its letters. A letter that is not to be had any more, or a plan
	// that was started already, is a *ConflictError.
	StartRedrive(ctx context.Context, r Redrive, plan string) error
}

// Takers knows who has letters that cannot be had.
type Takers interface {
	// HoldsOf tells what keeps letters from being redriven, and counts each hold's
	// letters. One that can be had is in none.
	HoldsOf(ctx context.Context, ids []string) ([]Hold, error)
}

// Stalls knows which letters stood at the head of a stall before.
type Stalls interface {
	// WedgedBefore says of letters, by id, at the head of which stalls they stood,
	// a sentence each.
	WedgedBefore(ctx context.Context, ids []string) (map[string][]string, error)
}

// Desk is where redrives are planned and started.
type Desk struct {
	Letters Shelf
	Plans   Plans
	Starter Starter
	Takers  Takers            // nil: a conflict names letters only
	Stalls  Stalls            // nil: nobody remembers stalls
	Outlets map[string]Outlet // by source
	Now     func() time.Time
	// Started is called with the id of each redrive that was started, so that
	// the worker need not look for it.
	Started func(id string)
}

// Plan says what a redrive would do and keeps the plan for 24 hours. Nothing is
// received or sent. Errors: ErrInvalid, ErrNotFound, *ConflictError.
func (d *Desk) Plan(ctx context.Context, r Request) (Plan, error) {
	if err := valid(r); err != nil {
		return Plan{}, err
	}
	plan := Plan{ID: newID("pl_"), CreatedAt: d.Now(), Options: r.Options}
	total, err := d.Plans.Freeze(ctx, plan, r.Selection)
	if err != nil {
		return Plan{}, err
	}
	plan.Total = total
	if err = r.Edit.Validate(total); err == nil {
		plan, err = d.decide(ctx, plan)
	}
	if err != nil {
		return Plan{}, errors.Join(err, d.Plans.DropPlan(context.WithoutCancel(ctx), plan.ID))
	}
	return plan, nil
}

// decide goes through the frozen letters of a plan, a thousand at a time.
func (d *Desk) decide(ctx context.Context, plan Plan) (Plan, error) {
	p, err := d.planner(ctx, plan)
	if err != nil {
		return plan, err
	}
	if err := d.lookBack(ctx, p, plan); err != nil {
		return plan, err
	}
	found, taken := warned{}, &conflict{}
	err = d.eachChunk(ctx, p, plan, func(from int, letters []Letter) error {
		decided := make([]Planned, 0, len(letters))
		for _, l := range letters {
			taken.add(l)
			one, c, warnings, err := p.decide(ctx, l)
			if err != nil {
				return err
			}
			found.add(c, warnings)
			if one.Refused != "" {
				plan.Refused++
			}
			decided = append(decided, one)
		}
		plan.Letters = append(plan.Letters, decided[:min(len(decided), planShown-len(plan.Letters))]...)
		return d.Plans.Decide(ctx, plan.ID, from, decided)
	})
	if err != nil {
		return plan, err
	}
	if len(taken.ids) > 0 {
		return plan, taken.error(ctx, d.Takers)
	}
	plan.Warnings, plan.Receivers, plan.Targets, plan.NotKnown = found.all(), p.allReceivers(), p.allTargets(), p.gaps
	return plan, d.Plans.FinishPlan(ctx, plan)
}

// eachChunk gives the letters of a plan in their order, and where each part
// begins.
func (d *Desk) eachChunk(ctx context.Context, p *planner, plan Plan, do func(from int, letters []Letter) error) error {
	for from := 0; from < plan.Total; {
		letters, err := d.Letters.LettersOfPlan(ctx, plan.ID, from, planChunk, p.bodies())
		if err != nil {
			return err
		}
		if len(letters) == 0 {
			return fmt.Errorf("%w: letters of plan %s from place %d on", ErrNotFound, plan.ID, from)
		}
		d.stalls(ctx, p, letters)
		if err := do(from, letters); err != nil {
			return err
		}
		from += len(letters)
	}
	return nil
}

// stalls finds out which of the letters stood at the head of a stall.
func (d *Desk) stalls(ctx context.Context, p *planner, letters []Letter) {
	if d.Stalls == nil {
		return
	}
	var err error
	if p.stalls, err = d.Stalls.WedgedBefore(ctx, idsOf(letters)); err != nil {
		p.gaps.add("whether these letters stood at the head of a stall before could not be found out: %v", err)
	}
}

func idsOf(letters []Letter) []string {
	ids := make([]string, len(letters))
	for i, l := range letters {
		ids[i] = l.ID
	}
	return ids
}

func (d *Desk) planner(ctx context.Context, plan Plan) (*planner, error) {
	queues, err := d.Letters.Queues(ctx)
	if err != nil {
		return nil, err
	}
	for _, out := range d.Outlets {
		if r, ok := out.Sender.(Refresher); ok {
			r.Refresh()
		}
	}
	p := &planner{
		Options: plan.Options, total: plan.Total, outlets: d.Outlets, now: d.Now(),
		queues: map[queueName]Queue{}, targets: map[queueName]place{}, others: map[queueName][]string{},
	}
	for _, q := range queues {
		p.queues[queueName{q.Source, q.Name}] = q
	}
	return p, nil
}

// Start starts a redrive: of a plan, or of a selection that is planned on the
// spot. Errors besides those of Plan: *RefusedError, *NeedsConfirmationError,
// *PlanChangedError; nothing is started then.
func (d *Desk) Start(ctx context.Context, r Request) (Redrive, error) {
	plan, err := d.planToStart(ctx, r)
	if err != nil {
		return Redrive{}, err
	}
	if plan.Total == 0 {
		return Redrive{}, fmt.Errorf("%w: it selects no letter", ErrInvalid)
	}
	if err := d.mayStart(ctx, plan, r.Confirm); err != nil {
		return Redrive{}, err
	}
	job := Redrive{
		ID: newID("rd_"), State: JobRunning, By: r.By, CreatedAt: d.Now(),
		Total: plan.Total, Options: plan.Options, Counts: map[ItemState]int{Planning: plan.Total},
	}
	if r.OtherPace != nil {
		job.Pace = *r.OtherPace
	}
	failpoint.Hit("redrive-starting")
	err = d.Starter.StartRedrive(ctx, job, plan.ID)
	failpoint.Hit("redrive-started")
	if err != nil {
		return Redrive{}, d.asPlanned(ctx, r, plan, err)
	}
	if d.Started != nil {
		d.Started(job.ID)
	}
	return job, nil
}

// planToStart is the plan that was asked for, if its world is still the same,
// else a new one.
func (d *Desk) planToStart(ctx context.Context, r Request) (Plan, error) {
	if r.Plan == "" {
		return d.Plan(ctx, r)
	}
	if r.ways() > 0 || r.To != "" {
		return Plan{}, fmt.Errorf("%w: a plan has its letters and its target: leave out ids, cause, filter and to", ErrInvalid)
	}
	if err := validRate(r); err != nil {
		return Plan{}, err
	}
	plan, err := d.Starter.Plan(ctx, r.Plan)
	if err != nil {
		return Plan{}, err
	}
	if plan.Redrive != "" {
		return Plan{}, &ConflictError{Redrive: plan.Redrive}
	}
	if d.Now().Sub(plan.CreatedAt) > PlanKept {
		return Plan{}, fmt.Errorf("%w: plan %s is older than a day; make a new one", ErrNotFound, r.Plan)
	}
	return d.recheck(ctx, plan)
}

// refusedShown is how many letters an error names that cannot be sent.
const refusedShown = 1000

// mayStart is an error when a letter is refused or a warning is not confirmed.
func (d *Desk) mayStart(ctx context.Context, plan Plan, confirmed []string) error {
	if plan.Refused > 0 {
		refused, err := d.Starter.RefusedOf(ctx, plan.ID, refusedShown)
		if err != nil {
			return err
		}
		return &RefusedError{Letters: refused, Total: plan.Refused}
	}
	open := slices.DeleteFunc(confirmable(plan.Warnings), func(w Warning) bool { return slices.Contains(confirmed, w.Code) })
	if len(open) > 0 {
		return &NeedsConfirmationError{open}
	}
	return nil
}

// ways is in how many ways the letters are named.
func (s Selection) ways() (n int) {
	for _, chosen := range []bool{len(s.IDs) > 0, s.Cause != "", s.Filter != nil, s.Of != ""} {
		if chosen {
			n++
		}
	}
	return n
}

// selects is an error unless the letters are named in exactly one way.
func (s Selection) selects() error {
	if s.ways() != 1 {
		return fmt.Errorf("%w: name the letters by exactly one of ids, cause and filter", ErrInvalid)
	}
	return nil
}

// valid is an error when a request makes no sense, whatever its letters are.
func valid(r Request) error {
	if err := r.selects(); err != nil {
		return err
	}
	return validRate(r)
}

func validRate(r Request) error {
	if r.RatePerSecond < 0 || r.RatePerSecond != r.RatePerSecond {
		return fmt.Errorf("%w: rate_per_second is a number of letters, 0 for no limit", ErrInvalid)
	}
	return nil
}
