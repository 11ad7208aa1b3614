package web

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// showCause shows one cause: what its letters have in common, and the letters.
func (s *Server) showCause(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, cursor, id := q.letters(), q.one("cursor"), segment(c, "id")
	if err := q.lenient(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	cause, err := s.Causes.Cause(ctx, id)
	if err != nil {
		return orMissing(err, "cause", id)
	}
	sum, err := s.Causes.Summary(ctx)
	if err != nil {
		return err
	}
	filter.Causes = []string{id}
	letters, err := s.letterList(c, filter, cursor, "cursor")
	if err != nil {
		return err
	}
	page := views.CausePage{
		Frame: s.frame(c, views.ReviewSection, cause.Title), Cause: causeRow(cause, sum), Facts: causeFacts(cause),
		FirstSeen: cause.FirstSeen, LastSeen: cause.LastSeen, Letters: letters, Status: statusOptions(c), History: causeHistory(cause),
	}
	if err := s.causeCommon(ctx, &page, filter); err != nil {
		return err
	}
	page.Previous, page.Next, err = s.neighbours(ctx, id)
	if err != nil {
		return err
	}
	return s.show(c, views.Cause(page))
}

func causeFacts(c review.Cause) []views.Fact {
	var out []views.Fact
	for _, o := range c.Origins {
		out = append(out, views.Fact{Name: "Origin", Value: o})
	}
	for _, q := range c.Queues {
		out = append(out, views.Fact{Name: "Dead-letter queue", Value: q})
	}
	return out
}

func causeHistory(c review.Cause) []views.Moment {
	var out []views.Moment
	if !c.FirstSeen.IsZero() {
		out = append(out, views.Moment{At: c.FirstSeen, Text: "First letter; a new cause", Mark: "new"})
	}
	if c.Returned > 0 {
		out = append(out, views.Moment{Text: plural(c.Returned, "letter") + " came back after a redrive", Mark: "back"})
	}
	if c.LastSeen.After(c.FirstSeen) {
		out = append(out, views.Moment{At: c.LastSeen, Text: "Last letter"})
	}
	return out
}

// causeCommon says what the latest letters of a cause have in common.
func (s *Server) causeCommon(ctx context.Context, page *views.CausePage, filter review.Filter) error {
	letters, err := s.Letters.Letters(ctx, filter, mostCompared, "")
	if err != nil || len(letters.Letters) < 2 {
		return err
	}
	page.Common = common(letters.Letters)
	page.CommonOf = "of the latest " + plural(len(letters.Letters), "letter") + "; letters that passed are not compared"
	if letters.Next == "" {
		page.CommonOf = "of all " + plural(len(letters.Letters), "letter") + "; letters that passed are not compared"
	}
	return nil
}

// neighbours are the causes before and after one in the review.
func (s *Server) neighbours(ctx context.Context, id string) (previous, next *views.Link, err error) {
	list, err := s.Causes.Causes(ctx, review.Filter{}, causesOnPage, "")
	for i, c := range list.Causes {
		if c.ID != id {
			continue
		}
		if i > 0 {
			previous = &views.Link{Text: list.Causes[i-1].Title, Href: views.Path("causes", list.Causes[i-1].ID)}
		}
		if i+1 < len(list.Causes) {
			next = &views.Link{Text: list.Causes[i+1].Title, Href: views.Path("causes", list.Causes[i+1].ID)}
		}
	}
	return previous, next, err
}
