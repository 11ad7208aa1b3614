package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the page Review.
const (
	causesOnPage  = 100
	lettersOnPage = 50
)

// badges are what sets causes apart in the review.
var badges = []string{"new", "growing", "back", "known", "expiring"}

// badgeOf is the one word that a cause has in the review: it came back after a
// redrive, or was never seen before the last review, or grows, or is known.
func badgeOf(c review.Cause, lastReview time.Time) string {
	switch {
	case c.Returned > 0:
		return "back"
	case !lastReview.IsZero() && !c.FirstSeen.Before(lastReview):
		return "new"
	case c.Weeks[3] > c.Weeks[2] && c.Weeks[2] >= c.Weeks[1]:
		return "growing"
	}
	return "known"
}

// showReview lists the causes with letters to be decided, and the letters
// themselves where somebody searched.
func (s *Server) showReview(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, cursor, badge := q.letters(), q.one("cursor"), first(q.among("badge", badges...))
	found := q.one("letters")
	if err := q.lenient(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	sum, err := s.Causes.Summary(ctx)
	if err != nil {
		return err
	}
	list, err := s.Causes.Causes(ctx, filter, causesOnPage, cursor)
	if err != nil {
		return err
	}
	page := views.ReviewPage{
		Frame: s.frame(c, views.ReviewSection, "Review"), ReviewAt: sum.NextReview, LastAt: sum.LastReview,
		AllCauses: int(list.Total), Badge: badge, Pager: pager(c, list.Next, len(list.Causes), list.Total),
		Sources: options(s.sourceNames(), filter.Sources), Status: statusOptions(c),
	}
	s.reviewCauses(c, &page, list, sum)
	if err := s.reviewFound(c, &page, filter, found); err != nil {
		return err
	}
	queues, err := s.Queues.Queues(ctx)
	if err != nil {
		return err
	}
	page.Queues = options(deadLetterQueues(queues), filter.Queues)
	page.ReadingNow, page.Empty = readingNow(queues), emptyReview(queues, filter, sum)
	return s.show(c, views.Review(page))
}

// statusOptions are the choices of the filter by status.
func statusOptions(c echo.Context) []views.Option {
	return options(statusWords, c.QueryParams()["status"])
}

// reviewCauses fills in the causes of this page of the list, their sums and
// the filters by badge. Those can only be counted where the page is the whole
// list.
func (s *Server) reviewCauses(c echo.Context, page *views.ReviewPage, list review.Causes, sum review.Summary) {
	counts := map[string]int{"": len(list.Causes)}
	for _, cause := range list.Causes {
		badge := badgeOf(cause, sum.LastReview)
		counts[badge]++
		if cause.Expiring > 0 {
			counts["expiring"]++
		}
		page.Letters += cause.Count
		page.New += cause.New
		page.Returned += cause.Returned
		page.Expiring += cause.Expiring
		if page.Badge == "" || page.Badge == badge || page.Badge == "expiring" && cause.Expiring > 0 {
			page.Causes = append(page.Causes, causeRow(cause, sum))
		}
	}
	whole := page.Pager.First == "" && page.Pager.Next == ""
	if !whole && len(c.QueryParams()) == 0 {
		page.Letters, page.New, page.Returned, page.Expiring = sum.Letters, sum.New, sum.Returned, sum.Expiring
	}
	for _, badge := range append([]string{""}, badges...) {
		f := views.Filter{Text: capital(badge), Count: counts[badge], Current: page.Badge == badge, Mark: badge, Href: address(c, map[string]string{"badge": badge, "cursor": ""})}
		if badge == "" {
			f.Text = "All"
		}
		if !whole {
			f.Count = views.Unknown
		}
		page.Filters = append(page.Filters, f)
	}
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func causeRow(c review.Cause, sum review.Summary) views.CauseRow {
	return views.CauseRow{
		ID: c.ID, Title: c.Title, Badge: badgeOf(c, sum.LastReview), Why: c.Why, Sources: c.Sources, Origins: c.Origins, Queues: c.Queues,
		Count: c.Count, New: c.New, Returned: c.Returned, Weeks: c.Weeks, OldestAt: c.Oldest, ExpiresFirst: c.ExpiresFirst, Expiring: c.Expiring,
	}
}

// reviewFound is the letters that match, where somebody searched for words.
// They are paged by a cursor of their own.
func (s *Server) reviewFound(c echo.Context, page *views.ReviewPage, filter review.Filter, cursor string) error {
	if filter.Text == "" {
		return nil
	}
	list, err := s.letterList(c, filter, cursor, "letters")
	if err != nil {
		return err
	}
	titles := map[string]string{}
	for i := range list.Rows {
		list.Rows[i].Cause = s.titleOf(c.Request().Context(), titles, list.Rows[i].CauseID)
	}
	page.Found = &list
	return nil
}

// titleOf is the title of a cause, asked for once; "" when there is none.
func (s *Server) titleOf(ctx context.Context, known map[string]string, id string) string {
	if title, there := known[id]; there || id == "" {
		return title
	}
	cause, err := s.Causes.Cause(ctx, id)
	if err == nil {
		known[id] = cause.Title
	}
	return known[id]
}

// letterList is a page of letters whose cursor has a name of its own in the
// address.
func (s *Server) letterList(c echo.Context, filter review.Filter, cursor, name string) (views.LetterList, error) {
	letters, err := s.Letters.Letters(c.Request().Context(), filter, lettersOnPage, cursor)
	if err != nil {
		return views.LetterList{}, err
	}
	list := views.LetterList{Pager: views.Pager{Shown: len(letters.Letters), Total: int(letters.Total), First: address(c, map[string]string{name: ""})}}
	if cursor == "" {
		list.Pager.First = ""
	}
	if letters.Next != "" {
		list.Pager.Next = address(c, map[string]string{name: letters.Next})
	}
	for _, l := range letters.Letters {
		list.Rows = append(list.Rows, letterRow(l))
	}
	return list, nil
}

func letterRow(l review.Letter) views.LetterRow {
	row := views.LetterRow{
		ID: l.ID, Key: bytesView(l.Key, shownKey), Value: bytesView(l.Body, shownKey), Source: l.Source, Queue: l.Queue, Place: placeName(l.Place),
		CauseID: l.CauseID, Reason: reasonWords(l.Reason), Status: string(l.Status), Attempts: attempts(l), DeadAt: l.ListedAt(),
		Size: sizeOf(l.Key, max(l.Size, int64(len(l.Body))), l.Headers), Headers: len(l.Headers), Returned: l.ReturnedFrom != "",
	}
	if l.Size > row.Value.Size {
		row.Value.Size, row.Value.Cut = l.Size, true
	}
	return row
}

func attempts(l review.Letter) int {
	if l.Attempts == nil {
		return views.Unknown
	}
	return *l.Attempts
}

// reasonWords is why a letter was given up on, in a line.
func reasonWords(r sources.Reason) string {
	var parts []string
	for _, p := range []string{r.Class, r.Message} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// deadLetterQueues are the names of the queues that hold dead letters.
func deadLetterQueues(queues []review.Queue) []string {
	var out []string
	for _, q := range queues {
		if q.Kind == sources.DeadLetterQueue && !slices.Contains(out, q.Name) {
			out = append(out, q.Name)
		}
	}
	slices.Sort(out)
	return out
}

// readingNow names the queues that are read for the first time.
func readingNow(queues []review.Queue) string {
	var names []string
	for _, q := range queues {
		if q.Kind == sources.DeadLetterQueue && q.ScannedAt.IsZero() && q.Err == nil {
			names = append(names, q.Name)
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		return "Reading " + strings.Join(names[:3], ", ") + " and " + plural(len(names)-3, "more queue") + " for the first time. Causes appear as letters are found."
	}
	return "Reading " + strings.Join(names, ", ") + " for the first time. Causes appear as letters are found."
}

// emptyReview is why no cause is listed.
func emptyReview(queues []review.Queue, f review.Filter, sum review.Summary) string {
	switch {
	case f.Text != "":
		return "No letter has these words in a row in its value, key, headers, reason or id."
	case len(f.Sources)+len(f.Queues)+len(f.Status)+len(f.Causes) > 0:
		return "No letter matches these filters."
	case len(deadLetterQueues(queues)) == 0:
		return "No dead-letter queue was found. If yours are called otherwise, name them under dead_letters.include in the configuration."
	case sum.Letters == 0:
		return "Nothing waits to be decided. " + capital(plural(len(deadLetterQueues(queues)), "dead-letter queue")) + " are read."
	}
	return ""
}
