package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
)

// localUser is who acts while there is no access control.
const localUser = "local"

// mostItems is how many items of a job are listed with it; all of them have an
// address of their own.
const mostItems = 1000

// redriveBody is the body of POST /api/v1/redrives.
type redriveBody struct {
	IDs            []string        `json:"ids"`
	Cause          string          `json:"cause"`
	Filter         *filterBody     `json:"filter"`
	Plan           string          `json:"plan"`
	To             string          `json:"to"`
	RatePerSecond  *float64        `json:"rate_per_second"`
	Canary         *bool           `json:"canary"`
	StopAbove      *float64        `json:"stop_above"`
	Edit           json.RawMessage `json:"edit"`
	KeepTimestamps bool            `json:"keep_timestamps"`
	Confirm        []string        `json:"confirm"`
	DryRun         bool            `json:"dry_run"`
}

// redriveFields are the names of its fields.
var redriveFields = []string{"ids", "cause", "filter", "plan", "to", "rate_per_second", "canary", "stop_above", "edit", "keep_timestamps", "confirm", "dry_run"}

// filterBody is a filter of letters in a body: as in a query.
type filterBody struct {
	Source oneOrMany `json:"source"`
	Queue  oneOrMany `json:"queue"`
	Status oneOrMany `json:"status"`
	Cause  oneOrMany `json:"cause"`
	Q      string    `json:"q"`
}

// UnmarshalJSON reads a filter as strictly as the body that it stands in.
func (b *filterBody) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	type plain filterBody
	return decodeBody(text, (*plain)(b), "source", "queue", "status", "cause", "q")
}

// request is what the body asks for, or what is wrong with it.
func (b redriveBody) request() (review.Request, error) {
	if err := b.check(); err != nil {
		return review.Request{}, err
	}
	options, err := b.options()
	if err != nil {
		return review.Request{}, err
	}
	r := review.Request{Plan: b.Plan, Options: options, Confirm: b.Confirm, By: localUser}
	r.IDs, r.Cause = b.IDs, b.Cause
	if b.Filter != nil {
		f, err := b.Filter.filter()
		if err != nil {
			return review.Request{}, err
		}
		r.Filter = &f
	}
	return r, nil
}

func (b redriveBody) check() error {
	given := 0
	for _, there := range []bool{b.IDs != nil, b.Cause != "", b.Filter != nil, b.Plan != ""} {
		if there {
			given++
		}
	}
	switch {
	case given != 1:
		return invalid("say what to redrive: exactly one of ids, cause, filter and plan")
	case b.IDs != nil && len(b.IDs) == 0:
		return invalid("ids is empty")
	case slices.Contains(b.IDs, ""):
		return invalid("ids has an empty id")
	case !review.KnownWarnings(b.Confirm):
		return invalid("confirm has a code that no warning has")
	case b.StopAbove != nil && !(*b.StopAbove > 0 && *b.StopAbove <= 1):
		return invalid("stop_above is a share: more than 0, and 1 at most")
	case b.Plan != "" && (b.To != "" || b.edits() || b.KeepTimestamps):
		return invalid("to, edit and keep_timestamps cannot stand beside plan: a plan has them")
	}
	return nil
}

func (b redriveBody) edits() bool { return len(b.Edit) > 0 && string(b.Edit) != "null" }

// options are how the letters are to be sent.
func (b redriveBody) options() (review.Options, error) {
	o := review.Options{To: b.To, KeepTimestamps: b.KeepTimestamps, Pace: b.pace(review.Pace{})}
	if _, err := rateOf(b.RatePerSecond); err != nil {
		return o, err
	}
	if b.edits() {
		var err error
		if o.Edit, err = editOf(b.Edit); err != nil {
			return o, err
		}
	}
	return o, nil
}

// pace is a pace with what the body says of it.
func (b redriveBody) pace(p review.Pace) review.Pace {
	if b.RatePerSecond != nil {
		p.RatePerSecond = *b.RatePerSecond
	}
	if b.Canary != nil {
		p.Canary = *b.Canary
	}
	if b.StopAbove != nil {
		p.StopAbove = *b.StopAbove
	}
	return p
}

func (b filterBody) filter() (review.Filter, error) {
	for _, w := range b.Status {
		if !slices.Contains(statusWords, w) {
			return review.Filter{}, invalid("filter.status: %s is none of %s", quoted(w), strings.Join(statusWords, ", "))
		}
	}
	if len(review.Words([]byte(b.Q))) > mostWords {
		return review.Filter{}, invalid("filter.q has more than %d words", mostWords)
	}
	return review.Filter{Sources: b.Source, Queues: b.Queue, Status: statusesOf(b.Status), Causes: b.Cause, Text: b.Q}, nil
}

// doRedriveJSON plans a redrive or starts one.
func (s *Server) doRedriveJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	text, err := readBody(c)
	if err != nil {
		return err
	}
	return s.once(c, text, func(ctx context.Context) (int, any, error) {
		var body redriveBody
		if err := decodeBody(text, &body, redriveFields...); err != nil {
			return 0, nil, err
		}
		if len(text) > mostBody && !body.edits() {
			return 0, nil, &http.MaxBytesError{Limit: mostBody}
		}
		request, err := body.request()
		switch {
		case err != nil:
			return 0, nil, err
		case body.DryRun:
			return s.dryRun(ctx, request)
		}
		if err := s.repace(ctx, body, &request); err != nil {
			return 0, nil, err
		}
		return s.start(ctx, request)
	})
}

// repace sets the pace of a plan that is started: its own, but for what the
// body says of it.
func (s *Server) repace(ctx context.Context, body redriveBody, r *review.Request) error {
	if r.Plan == "" {
		return nil
	}
	plan, err := s.Plans.Plan(ctx, r.Plan)
	if err != nil {
		return orMissing(err, "plan", r.Plan)
	}
	pace := body.pace(plan.Pace)
	r.OtherPace = &pace
	return nil
}

// dryRun makes a plan, or reads the one that is named.
func (s *Server) dryRun(ctx context.Context, r review.Request) (int, any, error) {
	if r.Plan != "" {
		plan, err := s.Plans.Plan(ctx, r.Plan)
		return http.StatusOK, planOf(plan), orMissing(err, "plan", r.Plan)
	}
	plan, err := s.Desk.Plan(ctx, r)
	return http.StatusOK, planOf(plan), err
}

func (s *Server) start(ctx context.Context, r review.Request) (int, any, error) {
	job, err := s.Desk.Start(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	whole, err := s.wholeJob(ctx, job)
	return http.StatusAccepted, whole, err
}

// wholeJob is a job with the first thousand of its items.
func (s *Server) wholeJob(ctx context.Context, job review.Redrive) (wholeJobJSON, error) {
	page, err := s.Redrives.Items(ctx, job.ID, nil, mostItems, "")
	return wholeJobJSON{jobJSON: jobOf(job), Items: itemsOf(page.Items)}, err
}

func (s *Server) showPlanJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	id := segment(c, "plan")
	plan, err := s.Plans.Plan(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, "plan", id)
	}
	return ok(c, planOf(plan))
}

func (s *Server) showPlanLettersJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	limit, cursor := q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	ctx, id := c.Request().Context(), segment(c, "plan")
	page, err := s.Plans.PlanLetters(ctx, id, limit, cursor)
	if err != nil {
		return orMissing(err, "plan", id)
	}
	return ok(c, plannedPageJSON{Letters: plannedOf(page.Letters), NextCursor: cursorJSON(page.Next), Total: page.Total})
}

func (s *Server) showRedrivesJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	limit, cursor := q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	page, err := s.Redrives.Redrives(c.Request().Context(), limit, cursor)
	if err != nil {
		return err
	}
	answer := jobsJSON{Redrives: make([]jobJSON, 0, len(page.Redrives)), NextCursor: cursorJSON(page.Next), Total: page.Total}
	for _, j := range page.Redrives {
		answer.Redrives = append(answer.Redrives, jobOf(j))
	}
	return ok(c, answer)
}

// redrive is the job that the path names.
func (s *Server) redrive(c echo.Context) (review.Redrive, error) {
	id := segment(c, "id")
	job, err := s.Redrives.Redrive(c.Request().Context(), id)
	return job, orMissing(err, "redrive", id)
}

func (s *Server) showRedriveJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	job, err := s.redrive(c)
	if err != nil {
		return err
	}
	whole, err := s.wholeJob(c.Request().Context(), job)
	if err != nil {
		return err
	}
	return ok(c, whole)
}

// itemStates are those of an item, in the order in which they follow.
var itemStates = []review.ItemState{
	review.Planning, review.Sending, review.Sent, review.Confirmed, review.ItemConsumed,
	review.ItemReturned, review.ItemFailed, review.ItemUnknown, review.ItemCancelled,
}

// states reads the filter of items.
func (q *query) states() []review.ItemState {
	var out []review.ItemState
	for _, w := range q.among("state", words(itemStates)...) {
		out = append(out, review.ItemState(w))
	}
	return out
}

func (s *Server) showItemsJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	states, limit, cursor := q.states(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	job, err := s.redrive(c)
	if err != nil {
		return err
	}
	page, err := s.Redrives.Items(c.Request().Context(), job.ID, states, limit, cursor)
	if err != nil {
		return err
	}
	return ok(c, itemsJSON{Items: itemsOf(page.Items), NextCursor: cursorJSON(page.Next), Total: page.Total})
}
