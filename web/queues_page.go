package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// queuesOnPage is how many queues a page lists.
const queuesOnPage = 200

// showQueues lists the queues that hold dead letters, and the findings.
func (s *Server) showQueues(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	from := q.place()
	if err := q.lenient(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	all, err := s.Queues.Queues(ctx)
	if err != nil {
		return err
	}
	findings, err := s.Queues.Findings(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(q review.Queue) bool { return q.Kind != sources.DeadLetterQueue })
	list, next := after(all, queueKey, from, queuesOnPage)
	page := views.QueuesPage{Frame: s.frame(c, views.QueuesSection, "Dead-letter queues"), Pager: pager(c, next, len(list), int64(len(all)))}
	for _, q := range all {
		page.Letters += int(toDecide(q))
	}
	for _, q := range list {
		page.Queues = append(page.Queues, queueRow(q, findings))
	}
	for _, f := range findings {
		page.Findings = append(page.Findings, findingRow(f))
	}
	if len(all) == 0 {
		page.Empty = "No topic or queue matches the patterns for dead letters. If yours are called otherwise, name them under dead_letters.include in the configuration."
	}
	return s.show(c, views.Queues(page))
}

// toDecide is how many letters of a queue are still to be decided.
func toDecide(q review.Queue) int64 { return q.Counts[review.Open] + q.Counts[review.Expired] }

func queueRow(q review.Queue, findings []review.Finding) views.QueueRow {
	row := views.QueueRow{
		Source: q.Source, Name: q.Name, Kind: string(q.Kind), Count: q.Count, CountIsExact: q.CountIsExact, AtMost: !q.CountIsExact && q.Partitions > 0,
		Open: toDecide(q), OldestAt: q.OldestAt, Retention: q.Retention, FeedsFrom: q.FeedsFrom, RedriveTo: q.RedriveTo, ScannedAt: q.ScannedAt,
		Older: q.Older, Note: q.Note, Redriving: q.Redriving,
	}
	if q.Err != nil {
		row.Error = q.Err.Error()
	}
	for _, f := range findings {
		if f.Source == q.Source && f.Queue == q.Name {
			row.Findings = append(row.Findings, findingWords(f.Kind))
		}
	}
	return row
}

// findingWords is a kind of finding as words: "forgets before review".
func findingWords(kind string) string {
	words := []byte(kind)
	for i, b := range words {
		if b == '_' {
			words[i] = ' '
		}
	}
	return capital(string(words))
}

func findingRow(f review.Finding) views.FindingRow {
	row := views.FindingRow{ID: f.ID, Kind: f.Kind, Source: f.Source, Queue: f.Queue, Message: f.Message, Advice: f.Advice, Hue: views.Risk}
	for _, name := range slices.Sorted(maps.Keys(f.Evidence)) {
		row.Evidence = append(row.Evidence, views.Fact{Name: findingWords(name), Value: evidenceText(f.Evidence[name])})
	}
	return row
}

// evidenceText is a value of a finding's evidence as text.
func evidenceText(value any) string {
	switch v := value.(type) {
	case nil:
		return "not known"
	case string:
		return cmp.Or(v, "empty")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
