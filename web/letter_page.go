package web

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// hexOfHeader is how many bytes of a header that is no text are shown as hex.
const hexOfHeader = 32

// mostNeighbours is how many letters of a cause are looked through for those
// before and after one.
const mostNeighbours = 100

// showLetter shows one dead letter.
func (s *Server) showLetter(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	limit := shownBody
	if len(q.among("body", "full")) > 0 {
		limit = shownFull
	}
	if err := q.lenient(); err != nil {
		return err
	}
	l, err := s.letter(c)
	if err != nil {
		return err
	}
	page := letterPage(l, limit, s.Rules[l.Source].DropHeaders)
	page.Frame = s.frame(c, views.ReviewSection, letterTitle(l))
	page.Links = s.linksOf(l.Source, subjectOf(l))
	if err := s.letterContext(c.Request().Context(), &page, l); err != nil {
		return err
	}
	if err := s.letterLives(c.Request().Context(), &page); err != nil {
		return err
	}
	return s.show(c, views.Letter(page))
}

// subjectOf is the record that a letter was made of, as links take it: as far as
// its origin is known, and nothing of where the letter itself lies, because a log
// tells of the record that failed. A letter of a topic that says nothing of its
// origin is that record.
func subjectOf(l review.Letter) sources.Subject {
	of := sources.Subject{Topic: l.Origin.Queue, Partition: -1, Offset: -1, Group: l.Origin.Group, Time: l.Origin.Timestamp, Headers: l.Headers}
	if l.Origin.Partition != nil {
		of.Partition = int64(*l.Origin.Partition)
	}
	if l.Origin.Offset != nil {
		of.Offset = *l.Origin.Offset
	}
	if of.Time.IsZero() {
		of.Time = l.Timestamp
	}
	if of.Topic == "" && l.Place.MessageID == "" {
		of.Topic, of.Partition, of.Offset = l.Queue, int64(l.Place.Partition), l.Place.Offset
	}
	return of
}

// letterTitle is what a person calls a letter: its key, or where it lies.
func letterTitle(l review.Letter) string {
	if len(l.Key) > 0 && validUTF8(l.Key) {
		return "Letter " + string(cutText(l.Key, shownKey))
	}
	return "Letter " + l.Queue + ", " + placeName(l.Place)
}

// letterPage is what the letter itself says.
func letterPage(l review.Letter, limit int, drop []string) views.LetterPage {
	size := max(l.Size, int64(len(l.Body)))
	page := views.LetterPage{
		ID: l.ID, CauseID: l.CauseID, Status: string(l.Status), Outcome: string(l.Outcome), Source: l.Source, Queue: l.Queue,
		Place: placeName(l.Place), Attempts: attempts(l), DeadAt: l.DeadAt, FailedAt: l.FailedAt, WrittenAt: l.Timestamp,
		ExpiresAt: l.ExpiresAt, ExpiryIs: l.ExpiryIs, Size: sizeOf(l.Key, size, l.Headers), Key: bytesView(l.Key, shownHeader),
		Body: bodyView(l.Body, size, limit, nil), Headers: headerRows(l, drop), HeadersAre: "headers", System: systemFacts(l.System),
		Reason:     views.LetterReason{Class: l.Reason.Class, Root: l.Reason.RootClass, Message: l.Reason.Message, Code: l.Reason.Code, Stack: l.Reason.Stack},
		Origin:     letterOrigin(l.Origin),
		Convention: l.Convention, Timeline: letterTimeline(l), ReturnedFrom: l.ReturnedFrom,
	}
	if l.Place.MessageID != "" {
		page.HeadersAre = "message attributes"
	}
	if !l.BodyKept {
		page.Body = views.Body{Gone: true, Size: size}
		page.NoWay = "The store has forgotten its body."
	}
	if page.Body.Shown < page.Body.Size && limit < shownFull {
		page.Body.FullHref = views.Path("letters", l.ID) + "?body=full"
	}
	if l.NotTheOriginal {
		page.NoWay = "Its body describes the record that failed and is not that record."
	}
	if l.Body != nil {
		page.ValueHref = views.Path("api/v1/dead-letters", l.ID) + "/value"
	}
	if l.Key != nil {
		page.KeyHref = views.Path("api/v1/dead-letters", l.ID) + "/key"
	}
	return page
}

func letterOrigin(o sources.Origin) views.LetterOrigin {
	out := views.LetterOrigin{Queue: o.Queue, Partition: views.Unknown, Offset: views.Unknown, Group: o.Group, At: o.Timestamp}
	if o.Partition != nil {
		out.Partition = int64(*o.Partition)
	}
	if o.Offset != nil {
		out.Offset = *o.Offset
	}
	return out
}

// headerRows are the headers in wire order, with what a redrive makes of them.
func headerRows(l review.Letter, drop []string) []views.HeaderRow {
	dropped := map[string]bool{}
	for _, name := range review.PlanHeaders(l.DeadLetter, drop).Dropped {
		dropped[name] = true
	}
	rows := make([]views.HeaderRow, 0, len(l.Headers))
	for _, h := range l.Headers {
		row := views.HeaderRow{Name: h.Name, Value: bytesView(h.Value, shownHeader), Type: h.Type, Fate: "kept"}
		if dropped[h.Name] {
			row.Fate = "dropped"
		}
		if d := payload.Decode(h.Value, shownHeader); d.Format == payload.FormatInt32 || d.Format == payload.FormatInt64 {
			row.Meaning, row.As = strings.TrimSuffix(d.Text, " ("+d.Format+")"), d.Format
		}
		if row.Meaning != "" || row.Value.NotUTF8 {
			row.Hex = spacedHex(h.Value)
		}
		rows = append(rows, row)
	}
	return rows
}

// spacedHex is bytes as pairs of digits: "00 00 00 03".
func spacedHex(b []byte) string {
	var pairs []string
	for _, one := range b[:min(len(b), hexOfHeader)] {
		pairs = append(pairs, hex.EncodeToString([]byte{one}))
	}
	if len(b) > hexOfHeader {
		pairs = append(pairs, "…")
	}
	return strings.Join(pairs, " ")
}

func systemFacts(system map[string]string) []views.Fact {
	var out []views.Fact
	for _, name := range slices.Sorted(maps.Keys(system)) {
		out = append(out, views.Fact{Name: name, Value: system[name]})
	}
	return out
}

// letterTimeline is the letter's life, as far as anyone recorded it.
func letterTimeline(l review.Letter) []views.Moment {
	var out []views.Moment
	add := func(at time.Time, mark, text string) {
		if !at.IsZero() {
			out = append(out, views.Moment{At: at, Text: text, Mark: mark})
		}
	}
	if l.Origin.Queue != "" {
		add(l.Origin.Timestamp, "", "Written to "+l.Origin.Queue)
	}
	failed := "Last attempt failed"
	if l.Attempts != nil && *l.Attempts > 0 {
		failed = "Attempt " + payload.Count(*l.Attempts) + ", the last one, failed"
	}
	add(l.FailedAt, "failed", failed)
	add(l.DeadAt, "", "Dead-lettered to "+l.Queue)
	add(l.FoundAt, "review", "Read by Unwedge")
	slices.SortStableFunc(out, func(a, b views.Moment) int { return a.At.Compare(b.At) })
	expires := "The queue may forget it"
	if l.ExpiryIs == "exact" {
		expires = "The queue forgets it"
	}
	add(l.ExpiresAt, "clock", expires)
	return out
}

// letterContext is what others say of the letter: its cause, its neighbours
// there, and where it would go.
func (s *Server) letterContext(ctx context.Context, page *views.LetterPage, l review.Letter) error {
	if err := s.letterWay(ctx, page, l); err != nil {
		return err
	}
	if l.CauseID == "" {
		return nil
	}
	page.CauseTitle = s.titleOf(ctx, map[string]string{}, l.CauseID)
	list, err := s.Letters.Letters(ctx, review.Filter{Causes: []string{l.CauseID}, Status: statuses}, mostNeighbours, "")
	if err != nil {
		return err
	}
	for i, other := range list.Letters {
		if other.ReturnedFrom == l.ID {
			page.CameBackAs = other.ID
		}
		if other.ID != l.ID {
			continue
		}
		if i > 0 {
			page.Previous = &views.Link{Text: "Previous", Href: views.Path("letters", list.Letters[i-1].ID)}
		}
		if i+1 < len(list.Letters) {
			page.Next = &views.Link{Text: "Next", Href: views.Path("letters", list.Letters[i+1].ID)}
		}
	}
	return nil
}

// letterWay is the way back as the configuration, the policy or the letter
// itself names it. No broker is asked: a plan says for certain.
func (s *Server) letterWay(ctx context.Context, page *views.LetterPage, l review.Letter) error {
	queues, err := s.Queues.Queues(ctx)
	if err != nil {
		return err
	}
	var own sources.Queue
	for _, q := range queues {
		if q.Source == l.Source && q.Name == l.Queue {
			own = q.Queue
		}
	}
	rules := s.Rules[l.Source]
	way := review.WayBack(l.DeadLetter, own, "", rules)
	if way.Queue == "" {
		return nil
	}
	shown := views.Way{Queue: way.Queue, Partition: views.Unknown, Why: way.Why, Chosen: true, Receivers: receiversOn(s.Board.Board(), l.Source, way.Queue)}
	shown.ReceiversKnown = l.Place.MessageID == ""
	switch {
	case !rules.Allowed(way.Queue):
		shown.Warning = "redrive_to does not allow this target."
	case way.Hint:
		shown.Warning = "Only a header names it, and anyone who can write the record can write that. Look twice."
	}
	page.Ways = []views.Way{shown}
	return nil
}
