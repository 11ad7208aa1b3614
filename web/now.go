package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the page Now: it is to be read at a glance.
const (
	mostIncidents = 50
	mostWatched   = 20
	mostStrips    = 60
	mostLanes     = 12
	mostTop       = 3
)

// showNow answers whether anything is wedged, stopped or losing data.
func (s *Server) showNow(c echo.Context) error {
	ctx := c.Request().Context()
	open, _, err := s.Incidents.Incidents(ctx, alerts.IncidentFilter{Status: alerts.Open}, mostLimit, "")
	if err != nil {
		return err
	}
	past, _, err := s.Incidents.Incidents(ctx, alerts.IncidentFilter{Status: alerts.Resolved}, 1, "")
	if err != nil {
		return err
	}
	queues, err := s.Queues.Queues(ctx)
	if err != nil {
		return err
	}
	page := views.NowPage{Frame: s.frame(c, views.NowSection, "Now")}
	board := s.Board.Board()
	s.nowIncidents(&page, board, open)
	s.nowBoard(&page, board, open, queues)
	for _, i := range past {
		page.Last = &views.PastIncident{IncidentRef: refOf(i), OpenedAt: i.OpenedAt, ResolvedAt: i.ResolvedAt}
	}
	if err := s.nowLetters(ctx, &page); err != nil {
		return err
	}
	page.Title = nowTitle(page)
	return s.show(c, views.Now(page))
}

func nowTitle(p views.NowPage) string {
	switch {
	case len(p.Incidents) == 1:
		return p.Incidents[0].What
	case len(p.Incidents) > 1:
		return plural(len(p.Incidents), "open incident")
	case len(p.Lost) > 0:
		return p.Lost[0].Name + " cannot be read"
	}
	return "All clear"
}

// nowIncidents are the open incidents that page, worst first, oldest first.
func (s *Server) nowIncidents(page *views.NowPage, board alerts.Board, open []alerts.Incident) {
	open = slices.DeleteFunc(slices.Clone(open), func(i alerts.Incident) bool { return !i.Pages || i.AlreadySo })
	slices.SortStableFunc(open, func(a, b alerts.Incident) int {
		return cmp.Or(cmp.Compare(rankOf(a.Verdict), rankOf(b.Verdict)), a.OpenedAt.Compare(b.OpenedAt))
	})
	for _, i := range open[:min(len(open), mostIncidents)] {
		page.Incidents = append(page.Incidents, s.nowIncident(board, i))
	}
}

// rankOf is how bad a verdict is: the worst has the lowest number.
func rankOf(v alerts.Verdict) int {
	if at := slices.Index(verdicts, v); at >= 0 {
		return at
	}
	return 0 // a burst of dead letters: nothing else would tell of it
}

func (s *Server) nowIncident(board alerts.Board, i alerts.Incident) views.NowIncident {
	group := groupIn(board, i.Source, i.Group)
	out := views.NowIncident{
		IncidentRef: refOf(i), Verdict: string(i.Verdict), Source: i.Source, Group: cmp.Or(i.Group, i.Queue),
		What: whatIs(i), Since: sinceOf(i), Waiting: waitingOf(group, i), Peers: sentence(i.Evidence.Peers),
		Lanes: lanesOf(group), Head: recordView(i.Evidence.Head, i.Evidence), HeadWhy: headWhy(i),
		Known: knownOf(group, i), Paged: pagedOf(i), Runbook: i.Runbook, Owner: i.Owner,
	}
	if out.Waiting > 0 {
		out.OldestAt = s.oldestOf(group, i)
	}
	return out
}

func refOf(i alerts.Incident) views.IncidentRef {
	return views.IncidentRef{ID: i.ID, Number: i.Number}
}

// groupIn is a group as last read; an empty one when it is not there.
func groupIn(board alerts.Board, source, group string) alerts.GroupView {
	for _, g := range board.Groups {
		if g.Source == source && g.Group == group {
			return g
		}
	}
	return alerts.GroupView{}
}

// sinceOf is since when what an incident tells of has been so.
func sinceOf(i alerts.Incident) time.Time {
	if !i.Evidence.Since.IsZero() {
		return i.Evidence.Since
	}
	return i.OpenedAt
}

// waitingOf is how many records wait on the lines of an incident: now if the
// board has them, else when its evidence was read.
func waitingOf(g alerts.GroupView, i alerts.Incident) int64 {
	sum, known := int64(0), false
	for _, l := range g.Lines {
		if l.Lag >= 0 && slices.Contains(i.Lines, l.Partition) {
			sum, known = sum+l.Lag, true
		}
	}
	if !known {
		return i.Evidence.Waiting
	}
	return sum
}

// oldestOf is when the oldest record that waits was written.
func (s *Server) oldestOf(g alerts.GroupView, i alerts.Incident) time.Time {
	longest := time.Duration(0)
	for _, l := range g.Lines {
		if slices.Contains(i.Lines, l.Partition) {
			longest = max(longest, l.Behind)
		}
	}
	if longest == 0 {
		return time.Time{}
	}
	return g.ReadAt.Add(-longest)
}

func lanesOf(g alerts.GroupView) []views.Lane {
	if len(g.Lines) > mostLanes {
		return nil
	}
	several := severalTopics(g)
	var out []views.Lane
	for _, l := range g.Lines {
		out = append(out, views.Lane{Name: lineName(l.Topic, l.Number, several), Verdict: string(l.Verdict), Waiting: l.Lag})
	}
	return out
}

// headWhy is why there is no record to show.
func headWhy(i alerts.Incident) string {
	switch {
	case i.Evidence.Head != nil:
		return ""
	case i.Evidence.Missing != "":
		return sentence(i.Evidence.Missing)
	case i.Verdict == alerts.HeadOfLineStall || i.Verdict == alerts.GroupStall:
		return "The record at the head was not read yet."
	}
	return "No record is to blame."
}

// knownOf is what is known of an incident, and what is not.
func knownOf(g alerts.GroupView, i alerts.Incident) []views.Known {
	var out []views.Known
	at := standsAt(i.Evidence)
	if i.Verdict == alerts.HeadOfLineStall && at >= 0 {
		out = append(out, views.Known{Text: "Restarting will not help if the record is bad: the group starts again at " + payload.Count(at) + "."})
	}
	if i.Evidence.Owner != "" {
		out = append(out, views.Known{Text: "Its owner: " + views.Holder(i.Evidence.Owner) + ", " + plural(g.Members, "member") + ", " + cmp.Or(strings.ToLower(g.State), "state not known") + "."})
	}
	if i.Evidence.Head != nil && len(i.Evidence.Suspects) == 0 && i.Evidence.Sample > 0 {
		out = append(out, views.Known{Text: "Nothing sets the records there apart from the " + payload.Count(i.Evidence.Sample) + " before them.", Not: true})
	}
	if i.Evidence.Missing != "" {
		out = append(out, views.Known{Text: sentence(i.Evidence.Missing), Not: true})
	}
	switch {
	case i.Verdict == alerts.Stopped:
		out = append(out, views.Known{Text: "No members are there: look at the last deploy, and at what should run its workers."})
	case at >= 0:
		out = append(out, views.Known{Text: "the consumer's own error. Look for " + payload.Count(at) + " in its log.", Not: true})
	}
	return out
}

// pagedOf is who was told first that an incident opened.
func pagedOf(i alerts.Incident) *views.Paged {
	var out *views.Paged
	for _, d := range i.Deliveries {
		if d.Event != string(alerts.Trigger) {
			continue
		}
		switch {
		case out == nil:
			out = &views.Paged{At: d.AcceptedAt, By: d.Notifier, Error: d.Err}
		case d.AcceptedAt.IsZero():
		case out.At.IsZero():
			out = &views.Paged{At: d.AcceptedAt, By: d.Notifier}
		default:
			out.Others++
		}
	}
	return out
}

// nowBoard is what the last reading of everything says.
func (s *Server) nowBoard(page *views.NowPage, board alerts.Board, open []alerts.Incident, queues []review.Queue) {
	held, lost := holdings(queues), map[string]bool{}
	for _, r := range s.readings(board) {
		lost[r.Source] = r.Err != ""
	}
	page.Groups = len(board.Groups)
	for _, g := range board.Groups {
		h := held[g.Source]
		h.groups, h.partitions = h.groups+1, h.partitions+len(g.Lines)
		held[g.Source] = h
		page.Partitions += len(g.Lines)
		if age := s.Now().Sub(g.ReadAt); !g.ReadAt.IsZero() {
			page.ReadWithin = max(page.ReadWithin, age)
		}
		if len(page.Strips) < mostStrips && len(g.Lines) > 0 {
			page.Strips = append(page.Strips, stripOf(g))
		}
		if len(page.Watch) < mostWatched && worthALook(g) && !lost[g.Source] && !pages(open, g) {
			page.Watch = append(page.Watch, views.WatchRow{Source: g.Source, Group: g.Group, Verdict: string(g.Verdict), Means: cmp.Or(whyOf(g), saidOf(g)), Lag: g.Lag})
		}
	}
	s.nowSources(page, board, held)
}

// holding is how much of the work is a source's.
type holding struct{ groups, partitions, dead int }

func holdings(queues []review.Queue) map[string]holding {
	held := map[string]holding{}
	for _, q := range queues {
		if q.Kind == sources.DeadLetterQueue {
			h := held[q.Source]
			h.dead++
			held[q.Source] = h
		}
	}
	return held
}

func (h holding) String() string {
	var parts []string
	if h.groups > 0 {
		parts = append(parts, plural(h.groups, "group")+", "+plural(h.partitions, "partition"))
	}
	if h.dead > 0 {
		parts = append(parts, plural(h.dead, "dead-letter queue"))
	}
	return strings.Join(parts, ", ")
}

// worthALook tells whether a group is not ok. Share and streams groups are
// listed, and their verdict says no more than that.
func worthALook(g alerts.GroupView) bool {
	return g.Verdict != alerts.OK && (g.Verdict != alerts.Unknown || g.Protocol != sources.Share && g.Protocol != sources.Streams)
}

// pages tells whether an open incident pages for a group.
func pages(open []alerts.Incident, g alerts.GroupView) bool {
	return slices.ContainsFunc(open, func(i alerts.Incident) bool {
		return i.Source == g.Source && i.Group == g.Group && i.Pages && !i.AlreadySo
	})
}

func stripOf(g alerts.GroupView) views.GroupStrip {
	several := severalTopics(g)
	strip := views.GroupStrip{Source: g.Source, Group: g.Group}
	for _, l := range g.Lines {
		strip.Cells = append(strip.Cells, views.Cell{Name: lineName(l.Topic, l.Number, several), Verdict: string(l.Verdict)})
	}
	return strip
}

// nowSources are the sources, those that cannot be read apart.
func (s *Server) nowSources(page *views.NowPage, board alerts.Board, held map[string]holding) {
	for _, r := range s.readings(board) {
		conf, h := s.configured(r.Source), held[r.Source]
		page.Holds = append(page.Holds, views.SourceRow{
			Name: r.Source, Kind: conf.Kind, Holds: h.String(), ReadAt: r.ReadAt, State: s.stateOf(r), Error: r.Err, Note: conf.Note,
		})
		if r.Err != "" {
			page.Lost = append(page.Lost, views.LostSource{
				Name: r.Source, Kind: conf.Kind, ReadAt: r.ReadAt, Error: r.Err, Groups: h.groups, Partitions: h.partitions, TryEvery: conf.Every,
			})
		}
	}
}

// stateOf is how a source is read, in a word.
func (s *Server) stateOf(r alerts.SourceRead) string {
	switch {
	case r.Err != "":
		return "down"
	case r.ReadAt.IsZero():
		return "never"
	case s.late(r):
		return "late"
	case s.configured(r.Source).Every > leastLate:
		return "on_time"
	}
	return "fresh"
}

// nowLetters sums up what came since the last review, and what expires before
// the next.
func (s *Server) nowLetters(ctx context.Context, page *views.NowPage) error {
	sum, err := s.Causes.Summary(ctx)
	if err != nil {
		return err
	}
	causes, err := s.Causes.Causes(ctx, review.Filter{}, mostLimit, "")
	if err != nil {
		return err
	}
	page.Letters = views.NowLetters{Since: sum.LastReview, Total: sum.New}
	page.Expiring = views.NowExpiring{Before: sum.NextReview, Total: sum.Expiring, Of: sum.Letters}
	byNew := slices.Clone(causes.Causes)
	slices.SortStableFunc(byNew, func(a, b review.Cause) int { return cmp.Compare(b.New, a.New) })
	for _, cause := range byNew {
		if cause.New == 0 {
			break
		}
		page.Letters.Causes++
		if len(page.Letters.Top) < mostTop {
			page.Letters.Top = append(page.Letters.Top, views.CauseLine{ID: cause.ID, Title: cause.Title, Badge: badgeOf(cause, sum.LastReview), Count: cause.New})
		}
	}
	return s.nowExpiring(ctx, page, causes.Causes)
}

// nowExpiring names the queues that forget letters before the next review. A
// cause whose letters lie in several queues does not say in which they expire:
// it is in the total alone.
func (s *Server) nowExpiring(ctx context.Context, page *views.NowPage, causes []review.Cause) error {
	if page.Expiring.Total == 0 {
		return nil
	}
	queues, err := s.Queues.Queues(ctx)
	if err != nil {
		return err
	}
	for _, cause := range causes {
		if cause.Expiring == 0 || len(cause.Queues) != 1 || len(cause.Sources) != 1 {
			continue
		}
		row := expiringRow(page, cause.Sources[0], cause.Queues[0])
		row.Count += cause.Expiring
		if row.First.IsZero() || cause.ExpiresFirst.Before(row.First) {
			row.First = cause.ExpiresFirst
		}
		row.Retention = retentionOf(queues, row.Source, row.Queue)
	}
	slices.SortStableFunc(page.Expiring.Queues, func(a, b views.ExpiringQueue) int { return a.First.Compare(b.First) })
	return nil
}

func expiringRow(page *views.NowPage, source, queue string) *views.ExpiringQueue {
	rows := &page.Expiring.Queues
	at := slices.IndexFunc(*rows, func(r views.ExpiringQueue) bool { return r.Source == source && r.Queue == queue })
	if at < 0 {
		*rows = append(*rows, views.ExpiringQueue{Source: source, Queue: queue})
		at = len(*rows) - 1
	}
	return &(*rows)[at]
}

func retentionOf(queues []review.Queue, source, name string) time.Duration {
	for _, q := range queues {
		if q.Source == source && q.Name == name && q.Retention != time.Duration(sources.NotKnown) {
			return max(q.Retention, 0)
		}
	}
	return 0
}
