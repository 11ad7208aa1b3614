package web

import (
	"context"
	"errors"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the pages of redrives.
const (
	jobsOnPage  = 25
	itemsOnPage = 100
)

// doRedrive starts a plan and sends the browser to the job. A plan starts one
// job: who presses twice, or sends the form again, ends up at the same one
// (C107).
func (s *Server) doRedrive(c echo.Context) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	id := f.one("plan")
	if id == "" {
		return invalid("the form names no plan")
	}
	ctx, confirmed := c.Request().Context(), f.many("confirm")
	plan, err := s.Plans.Plan(ctx, id)
	if err != nil {
		return orMissing(err, "plan", id)
	}
	options, err := s.planOptions(ctx, f)
	if err != nil {
		return err
	}
	if options.To != plan.To || options.KeepTimestamps != plan.KeepTimestamps {
		return s.doPlan(c) // what was pressed is not what was shown: show it first
	}
	job, err := s.Desk.Start(ctx, review.Request{Plan: id, OtherPace: &options.Pace, Confirm: confirmed, By: localUser})
	var taken *review.ConflictError
	switch {
	case err == nil:
		return s.see(c, views.Path("redrives", job.ID))
	case errors.As(err, &taken) && taken.Redrive != "":
		return s.see(c, views.Path("redrives", taken.Redrive))
	}
	p, theirs := asProblem(err)
	if !theirs || p.code == codeNotFound || p.code == codeInvalid {
		return err
	}
	return s.planPage(c, id, confirmed, p)
}

// showRedrives lists the redrives, newest first.
func (s *Server) showRedrives(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	cursor := q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := s.Redrives.Redrives(ctx, jobsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.RedrivesPage{Frame: s.frame(c, views.RedrivesSection, "Redrives"), Pager: pager(c, list.Next, len(list.Redrives), list.Total)}
	titles := map[string]string{}
	for _, j := range list.Redrives {
		page.Jobs = append(page.Jobs, s.jobRow(ctx, titles, j))
	}
	return s.show(c, views.Redrives(page))
}

func (s *Server) jobRow(ctx context.Context, titles map[string]string, j review.Redrive) views.JobRow {
	return views.JobRow{
		ID: j.ID, Of: s.ofWhat(ctx, titles, j), State: string(j.State), By: j.By, CreatedAt: j.CreatedAt, EndedAt: j.EndedAt, Total: j.Total,
		Counts: views.Counts(countsOf(j.Counts)),
	}
}

// ofWhat is what a job redrives: the cause of its first letter.
func (s *Server) ofWhat(ctx context.Context, titles map[string]string, j review.Redrive) string {
	items, err := s.Redrives.Items(ctx, j.ID, nil, 1, "")
	if err != nil || len(items.Items) == 0 {
		return plural(j.Total, "letter")
	}
	l, err := s.Letters.Letter(ctx, items.Items[0].LetterID)
	if err != nil {
		return plural(j.Total, "letter")
	}
	if title := s.titleOf(ctx, titles, l.CauseID); title != "" {
		return title
	}
	return plural(j.Total, "letter")
}

// showRedrive shows one redrive with its ledger.
func (s *Server) showRedrive(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	states, cursor := q.states(), q.one("cursor")
	if err := q.lenient(); err != nil {
		return err
	}
	job, err := s.redrive(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	items, err := s.Redrives.Items(ctx, job.ID, states, itemsOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.RedrivePage{
		Frame: s.frame(c, views.RedrivesSection, "Redrive of "+plural(job.Total, "letter")), Job: s.jobRow(ctx, map[string]string{}, job),
		Reason: job.Reason, Rate: job.RatePerSecond, Verdict: job.Verdict, Cancelling: job.Cancelling, Incident: job.Incident, Options: optionWords(job.Options),
		ReturnsIn: job.ReturnsIn, ReturnsWhy: job.ReturnsWhy, FollowUntil: job.FollowUntil, Filters: stateFilters(c, job),
		Pager: pager(c, items.Next, len(items.Items), items.Total), Notices: jobNotices(job),
	}
	page.Items, err = s.itemRows(ctx, items.Items)
	if err != nil {
		return err
	}
	return s.show(c, views.Redrive(page))
}

// optionWords is how the letters of a redrive are sent, where it is not the
// usual way.
func optionWords(o review.Options) (out []string) {
	for _, one := range []struct {
		is   bool
		text string
	}{
		{o.Canary, "1, then 5, then 50, then the rest"},
		{o.To != "", "to " + o.To},
		{o.Edit != nil, "edited"},
		{o.KeepTimestamps, "with the timestamps of the original records"},
	} {
		if one.is {
			out = append(out, one.text)
		}
	}
	return out
}

// jobNotices is what somebody has to know of a job.
func jobNotices(j review.Redrive) []views.Notice {
	var out []views.Notice
	if j.Trouble != "" {
		out = append(out, views.Notice{Hue: views.Risk, Text: "It does not get on just now.", More: sentence(j.Trouble)})
	}
	if n := j.Counts[review.ItemUnknown]; n > 0 {
		out = append(out, views.Notice{
			Hue: views.NotKnown, Text: plural(n, "send") + " got no answer.",
			More: "It may or may not have arrived, so we do not send it again. Look for it at its target, then say below what you found.",
		})
	}
	if n := j.Counts[review.ItemReturned]; n > 0 {
		out = append(out, views.Notice{Hue: views.Stuck, Text: plural(n, "letter") + " came back.", More: "See below as which letters."})
	}
	return out
}

// stateFilters narrow the ledger to one state.
func stateFilters(c echo.Context, j review.Redrive) []views.Filter {
	asked := c.QueryParam("state")
	out := []views.Filter{{Text: "All", Count: j.Total, Current: asked == "", Href: address(c, map[string]string{"state": "", "cursor": ""})}}
	for _, state := range itemStates {
		if n := j.Counts[state]; n > 0 || asked == string(state) {
			out = append(out, views.Filter{
				Text: capital(string(state)), Count: n, Current: asked == string(state), Mark: string(state),
				Href: address(c, map[string]string{"state": string(state), "cursor": ""}),
			})
		}
	}
	return out
}

func (s *Server) itemRows(ctx context.Context, items []review.Item) ([]views.ItemRow, error) {
	planned := make([]review.Planned, 0, len(items))
	for _, i := range items {
		planned = append(planned, review.Planned{LetterID: i.LetterID})
	}
	letters, err := s.detailed(ctx, planned)
	if err != nil {
		return nil, err
	}
	var out []views.ItemRow
	for _, i := range items {
		out = append(out, views.ItemRow{
			ID: i.ID, LetterID: i.LetterID, Key: letters[i.LetterID].row.Key, State: string(i.State), Target: i.Target.Queue,
			Place: liesAt(i), Error: i.Error, What: whatHappened(i), CameBack: i.CameBack, Decide: i.State == review.ItemUnknown,
		})
	}
	return out, nil
}

// liesAt is where a letter lies now; "" while it is not known.
func liesAt(i review.Item) string {
	switch {
	case !arrived(i):
		return ""
	case i.Receipt.MessageID != "":
		return "message " + i.Receipt.MessageID
	}
	return "partition " + strconv.Itoa(int(i.Receipt.Partition)) + ", offset " + payload.Count(i.Receipt.Offset)
}

// whatHappened is what the state alone does not say.
func whatHappened(i review.Item) string {
	switch i.State {
	case review.ItemConsumed:
		return "The readers' positions passed it, and it has not come back."
	case review.Sent:
		return "Accepted by its target; not taken off its queue yet."
	case review.ItemUnknown:
		return "No answer to the send. Look for " + i.ID + " in the header " + review.LineageHeader + "."
	}
	return ""
}
