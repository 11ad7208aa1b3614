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
	// LettersByID gives letters with the whole of their bodies, in the order of
	// the ids. An id that is not there is ErrNotFound.
	LettersByID(ctx context.Context, ids []string) ([]Letter, error)
	Queues(ctx context.Context) ([]Queue, error)
}

// Plans keeps plans for as long as they can be started.
type Plans interface {
	// Freeze fixes a selection into the letters of a new plan, in the order in
	// which they are sent: by queue, partition and offset. It returns how many.
	Freeze(ctx context.Context, plan Plan, what Selection) (int, error)
	// PlanIDs gives ids of the plan's letters, from a place in its order on.
	PlanIDs(ctx context.Context, plan string, from, max int) ([]string, error)
	// Decide writes down what was decided about letters of the plan.
	Decide(ctx context.Context, plan string, letters []Planned) error
	// FinishPlan writes the rest of the plan, which can be started from then on.
	FinishPlan(ctx context.Context, plan Plan) error
}

// Starter reads finished plans and starts them.
type Starter interface {
	Plan(ctx context.Context, id string) (Plan, error)
	PlanLetters(ctx context.Context, id string, limit int, cursor string) (PlannedLetters, error)
	// StartRedrive makes a finished plan a redrive, in one transaction with the
	// status of its letters. A letter that is not to be had any more, or a plan
	// that was started already, is a *ConflictError.
	StartRedrive(ctx context.Context, r Redrive, plan string) error
	DropPlan(ctx context.Context, id string) error
}

// Desk is where redrives are planned and started.
type Desk struct {
	Letters Shelf
	Plans   Plans
	Starter Starter
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
		return Plan{}, errors.Join(err, d.Starter.DropPlan(context.WithoutCancel(ctx), plan.ID))
	}
	return plan, nil
}

// decide goes through the frozen letters of a plan, a few hundred at a time.
func (d *Desk) decide(ctx context.Context, plan Plan) (Plan, error) {
	p, err := d.planner(ctx, plan.Options)
	if err != nil {
		return plan, err
	}
	told, taken := warned{}, []string{}
	for from := 0; from < plan.Total; from += planChunk {
		letters, err := d.chunk(ctx, plan.ID, from)
		if err != nil {
			return plan, err
		}
		decided := make([]Planned, 0, len(letters))
		for _, l := range letters {
			if !takeable(l.Status) {
				taken = append(taken, l.ID)
			}
			one, err := p.decide(ctx, l)
			if err != nil {
				return plan, err
			}
			told.add(l.ID, one.Warnings)
			decided = append(decided, one)
		}
		if err := d.Plans.Decide(ctx, plan.ID, decided); err != nil {
			return plan, err
		}
		plan.Letters = append(plan.Letters, decided[:min(len(decided), planShown-len(plan.Letters))]...)
	}
	if len(taken) > 0 {
		return plan, &ConflictError{IDs: taken}
	}
	plan.Warnings, plan.Receivers = told.warnings(), p.allReceivers()
	return plan, d.Plans.FinishPlan(ctx, plan)
}

func (d *Desk) chunk(ctx context.Context, plan string, from int) ([]Letter, error) {
	ids, err := d.Plans.PlanIDs(ctx, plan, from, planChunk)
	if err != nil {
		return nil, err
	}
	return d.Letters.LettersByID(ctx, ids)
}

func (d *Desk) planner(ctx context.Context, o Options) (*planner, error) {
	queues, err := d.Letters.Queues(ctx)
	if err != nil {
		return nil, err
	}
	p := &planner{to: o.To, edit: o.Edit, outlets: d.Outlets, queues: map[queueName]Queue{}, receivers: map[queueName]receivers{}, now: d.Now()}
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
		return Redrive{}, asPlanned(r, err)
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
	if len(r.IDs) > 0 || r.Cause != "" || r.Filter != nil || r.To != "" {
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
	return plan, d.recheck(ctx, plan)
}

// mayStart is an error when a letter is refused or a warning is not confirmed.
func (d *Desk) mayStart(ctx context.Context, plan Plan, confirmed []string) error {
	var refused []Refusal
	err := d.eachPlanned(ctx, plan.ID, func(page []Planned) error {
		for _, l := range page {
			if l.Refused != "" {
				refused = append(refused, Refusal{l.LetterID, l.Refused})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return &RefusedError{refused}
	}
	var open []Warning
	for _, w := range plan.Warnings {
		if w.MustConfirm && !slices.Contains(confirmed, w.Code) {
			open = append(open, w)
		}
	}
	if len(open) > 0 {
		return &NeedsConfirmationError{open}
	}
	return nil
}

// recheck plans the letters of a plan again and compares.
func (d *Desk) recheck(ctx context.Context, plan Plan) error {
	p, err := d.planner(ctx, plan.Options)
	if err != nil {
		return err
	}
	var changed []string
	err = d.eachPlanned(ctx, plan.ID, func(page []Planned) error {
		now, err := d.replan(ctx, p, page)
		changed = append(changed, now...)
		return err
	})
	if err != nil {
		return err
	}
	changed = append(changed, newcomers(plan.Receivers, p.allReceivers())...)
	if len(changed) > 0 {
		slices.Sort(changed)
		return &PlanChangedError{slices.Compact(changed)}
	}
	return nil
}

func (d *Desk) replan(ctx context.Context, p *planner, page []Planned) ([]string, error) {
	ids := make([]string, len(page))
	for i, l := range page {
		ids[i] = l.LetterID
	}
	letters, err := d.Letters.LettersByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var changed []string
	for i, l := range letters {
		if !takeable(l.Status) {
			changed = append(changed, fmt.Sprintf("letter %s is %s now", l.ID, l.Status))
			continue
		}
		now, err := p.decide(ctx, l)
		if err != nil {
			return nil, err
		}
		if text := difference(page[i], now); text != "" {
			changed = append(changed, text)
		}
	}
	return changed, nil
}

func (d *Desk) eachPlanned(ctx context.Context, plan string, do func([]Planned) error) error {
	for cursor := ""; ; {
		page, err := d.Starter.PlanLetters(ctx, plan, planChunk, cursor)
		if err != nil {
			return err
		}
		if err := do(page.Letters); err != nil {
			return err
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// valid tells whether a request selects in exactly one way.
func valid(r Request) error {
	ways := 0
	for _, chosen := range []bool{len(r.IDs) > 0, r.Cause != "", r.Filter != nil} {
		if chosen {
			ways++
		}
	}
	if ways != 1 {
		return fmt.Errorf("%w: name the letters by exactly one of ids, cause and filter", ErrInvalid)
	}
	return validRate(r)
}

func validRate(r Request) error {
	if r.RatePerSecond < 0 || r.RatePerSecond != r.RatePerSecond {
		return fmt.Errorf("%w: rate_per_second is a number of letters, 0 for no limit", ErrInvalid)
	}
	return nil
}

// asPlanned says of a plan that its letters were taken meanwhile in the words
// of plans.
func asPlanned(r Request, err error) error {
	var taken *ConflictError
	if r.Plan == "" || !errors.As(err, &taken) || taken.Redrive != "" {
		return err
	}
	return &PlanChangedError{[]string{fmt.Sprintf("%d of its letters are not open any more: %s", len(taken.IDs), some(taken.IDs))}}
}
