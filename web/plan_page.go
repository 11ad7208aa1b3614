package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the page of a plan.
const (
	mostDetailed = 200 // letters that are shown with key, place and size
	detailChunk  = 50  // letters that are read at a time
)

// doPlan makes a plan of what a page selected, and sends the browser to it.
func (s *Server) doPlan(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	selection, err := selectionOf(f)
	if err != nil {
		return err
	}
	options, err := s.planOptions(ctx, f)
	if err != nil {
		return err
	}
	plan, err := s.Desk.Plan(ctx, review.Request{Selection: selection, Options: options, By: localUser})
	var taken *review.ConflictError
	switch {
	case errors.As(err, &taken):
		return s.takenPage(c, taken)
	case err != nil:
		return err
	}
	return s.see(c, views.Path("redrives/plans", plan.ID))
}

// takenPage says who has which of the letters, and offers the others (C108).
func (s *Server) takenPage(c echo.Context, taken *review.ConflictError) error {
	page := views.TakenPage{
		Frame: s.frame(c, views.ReviewSection, "Some of these letters are taken"), Total: taken.Total, Taken: len(taken.IDs), Free: taken.Free,
	}
	for _, h := range taken.Holds {
		page.Holds = append(page.Holds, views.HoldRow{Text: h.String(), Redrive: h.Redrive})
	}
	return s.render(c, http.StatusConflict, views.Taken(page))
}

// planOptions are how the letters of a form are sent: those of the plan that it
// is made from, with what the form changes. A plan that is made on a page goes
// carefully unless somebody says otherwise.
func (s *Server) planOptions(ctx context.Context, f form) (review.Options, error) {
	id := f.one("plan")
	if id == "" {
		return review.Options{Pace: review.Pace{Canary: true}}, nil
	}
	plan, err := s.Plans.Plan(ctx, id)
	if err != nil {
		return review.Options{}, orMissing(err, "plan", id)
	}
	o := plan.Options
	if f.has("canary") { // the form of the plan's page, which has every field
		o.To, o.KeepTimestamps = f.one("to"), f.one("keep_timestamps") != ""
		o.Pace, err = paceOf(f, o.Pace)
	}
	return o, err
}

// paceOf is a pace with what the page of a plan says of it.
func paceOf(f form, p review.Pace) (review.Pace, error) {
	given, err := f.number("rate")
	if err != nil {
		return p, err
	}
	if p.RatePerSecond, err = rateOf(given); err != nil {
		return p, err
	}
	p.Canary = f.one("canary") == "yes"
	return p, nil
}

// selectionOf is what a form selects: a whole cause, the rest of another plan, or
// causes and letters one by one.
func selectionOf(f form) (review.Selection, error) {
	causes, letters := f.many("cause"), f.many("letter")
	switch {
	case f.one("whole") != "":
		return review.Selection{Cause: f.one("whole")}, nil
	case f.one("plan") != "":
		return review.Selection{Of: f.one("plan"), Without: f.one("without")}, nil
	case len(causes) > 0 && len(letters) > 0:
		return review.Selection{}, invalid("select causes or letters, not both at once")
	case len(causes) == 1:
		return review.Selection{Cause: causes[0]}, nil
	case len(causes) > 1:
		return review.Selection{Filter: &review.Filter{Causes: causes}}, nil
	case len(letters) > 0:
		return review.Selection{IDs: letters}, nil
	}
	return review.Selection{}, invalid("nothing was selected: tick a cause or a letter first")
}

// showPlan shows what a redrive would do before it starts.
func (s *Server) showPlan(c echo.Context) error {
	return s.planPage(c, segment(c, "plan"), nil, nil)
}

// planPage shows a plan, with what kept it from starting.
func (s *Server) planPage(c echo.Context, id string, confirmed []string, p *problem) error {
	ctx := c.Request().Context()
	plan, err := s.Plans.Plan(ctx, id)
	if err != nil {
		return orMissing(err, "plan", id)
	}
	letters, err := s.detailed(ctx, plan.Letters)
	if err != nil {
		return err
	}
	page := views.PlanPage{
		Frame: s.frame(c, views.ReviewSection, "Redrive "+plural(plan.Total, "letter")), ID: plan.ID, FixedAt: plan.CreatedAt, Total: plan.Total,
		Warnings: planWarnings(plan.Warnings, confirmed), Letters: planLetters(plan.Letters, letters),
		Expired: s.Now().Sub(plan.CreatedAt) > review.PlanKept, Started: plan.Redrive,
		NotKnown: plan.NotKnown, To: plan.To, Rate: plan.RatePerSecond, Canary: plan.Canary, KeepTime: plan.KeepTimestamps,
	}
	if page.Edit, err = s.planDiff(ctx, plan); err != nil {
		return err
	}
	if page.Choices, err = s.choices(ctx, plan); err != nil {
		return err
	}
	page.Refused, page.Newer = plan.Refused, plan.Newer
	page.Targets = targetRows(plan, letters)
	status := http.StatusOK
	if p != nil {
		status, page.Changed = p.status, p.changed
		if page.Changed == nil {
			page.Problem = sentence(p.message)
		}
	}
	return s.render(c, status, views.Plan(page))
}

// detail is what the page of a plan shows of a letter itself.
type detail struct {
	row    views.PlanLetter
	source string
	sqs    bool
}

// detailed reads the first letters of a plan, a few at a time: their bodies
// are not kept.
func (s *Server) detailed(ctx context.Context, planned []review.Planned) (map[string]detail, error) {
	out := map[string]detail{}
	for chunk := range slices.Chunk(planned[:min(len(planned), mostDetailed)], detailChunk) {
		ids := make([]string, 0, len(chunk))
		for _, l := range chunk {
			ids = append(ids, l.LetterID)
		}
		letters, err := s.lettersOf(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, l := range letters {
			out[l.ID] = detailOf(l)
		}
	}
	return out, nil
}

func detailOf(l review.Letter) detail {
	return detail{
		row: views.PlanLetter{
			Key: bytesView(l.Key, shownKey), Queue: l.Queue, Place: placeName(l.Place), Headers: len(l.Headers),
			Size: sizeOf(l.Key, max(l.Size, int64(len(l.Body))), l.Headers),
		},
		source: l.Source, sqs: l.Place.MessageID != "",
	}
}

// lettersOf are the letters of some ids. One that the store keeps no longer,
// because it was decided long ago, is left out: a job outlives its letters.
func (s *Server) lettersOf(ctx context.Context, ids []string) ([]review.Letter, error) {
	letters, err := s.Letters.LettersByID(ctx, ids)
	if !errors.Is(err, review.ErrNotFound) {
		return letters, err
	}
	letters = nil
	for _, id := range ids {
		l, err := s.Letters.Letter(ctx, id)
		switch {
		case err == nil:
			letters = append(letters, l)
		case !errors.Is(err, review.ErrNotFound):
			return nil, err
		}
	}
	return letters, nil
}

func planWarnings(warnings []review.Warning, confirmed []string) []views.PlanWarning {
	var out []views.PlanWarning
	for _, w := range warnings {
		out = append(out, views.PlanWarning{Code: w.Code, Message: w.Message, Letters: w.LetterIDs, Count: w.Count, Evidence: w.Evidence, MustConfirm: w.MustConfirm, Confirmed: slices.Contains(confirmed, w.Code)})
	}
	return out
}

func planLetters(planned []review.Planned, letters map[string]detail) []views.PlanLetter {
	out := make([]views.PlanLetter, 0, len(planned))
	for _, l := range planned {
		row := letters[l.LetterID].row
		row.ID, row.Why, row.Kept, row.Dropped, row.Added = l.LetterID, l.Why, l.Kept, l.Dropped, l.Added
		row.Warnings, row.Refused, row.Because, row.Partition = l.Warnings, l.Refused, l.Because, views.Unknown
		if l.Target != nil {
			row.Target = l.Target.Queue
			if l.Target.Partition != nil {
				row.Partition = int64(*l.Target.Partition)
			}
		}
		out = append(out, row)
	}
	return out
}

// targetRows are the targets of the letters that can be sent, with who reads
// them. They are counted over the letters that the plan lists.
func targetRows(plan review.Plan, letters map[string]detail) []views.TargetRow {
	var rows []views.TargetRow
	for _, l := range plan.Letters {
		if l.Target == nil || l.Refused != "" {
			continue
		}
		d := letters[l.LetterID]
		at := slices.IndexFunc(rows, func(r views.TargetRow) bool {
			return r.Queue == l.Target.Queue && r.Why == l.Why && (r.Source == d.source || d.source == "")
		})
		if at < 0 {
			rows = append(rows, targetRow(plan, l, d))
			at = len(rows) - 1
		}
		rows[at].Count++
	}
	return rows
}

func targetRow(plan review.Plan, l review.Planned, d detail) views.TargetRow {
	row := views.TargetRow{
		Source: d.source, Queue: l.Target.Queue, Why: l.Why, ReceiversKnown: !d.sqs, Promise: "Once", PromiseMore: "never sent twice by us",
	}
	switch {
	case d.sqs && strings.HasSuffix(row.Queue, ".fifo"):
		row.Kind, row.PromiseMore = "SQS FIFO", "own deduplication id, 5 minutes"
	case d.sqs:
		row.Kind, row.Promise, row.PromiseMore = "SQS standard", "At least once", "ambiguous sends are flagged, and not repeated"
	}
	for _, r := range plan.Receivers {
		if r.Queue == row.Queue {
			row.Receivers = append(row.Receivers, views.Receiver{Group: r.Group, State: r.State, Lag: r.Lag})
		}
	}
	return row
}
