package alerts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unwedge/unwedge/sources"
)

// listed is how many lines an event names; it says how many more there are.
const listed = 20

// Wording makes events out of incidents: what a person reads at night.
type Wording struct {
	BaseURL string         // of the pages; "" puts no link into a page, because it would lead nowhere
	Zone    *time.Location // of the times in a text; nil is UTC
	// Waiting is how many records wait in the lines of an open incident now, so
	// that a page that comes late does not tell an old number. It may be nil, or
	// answer sources.NotKnown: then it is told what the incident had.
	Waiting func(Incident) int64
	Links   map[string]sources.Links // by source: to what knows more of the record at the head
}

// next is the event of an outbox, in words.
func (w Wording) next(in Incident, p Pending) Event {
	e := w.Event(in, p.Event, p.Minimal)
	e.Key, e.Repeat = p.Key, p.repeats()
	if p.Step > FirstStep && p.Step < LastStep {
		e.ID += "-" + strconv.Itoa(p.Step)
	}
	if e.Repeat {
		e.Summary = "Still so, after it was closed by hand at " + w.clock(in.ClosedAt, in.OpenedAt) + ": " + e.Summary
		e.At = in.ClosedAt
	}
	return e
}

// Event is an incident at one turn of it, in words.
func (w Wording) Event(in Incident, kind EventKind, minimal bool) Event {
	e := Event{ID: in.ID + "-" + string(kind), Kind: kind, Incident: in, Minimal: minimal, Waiting: waited(in), At: in.OpenedAt}
	switch kind {
	case Resolve:
		e.At = in.ResolvedAt
	case Acknowledge:
		e.At = in.AcknowledgedAt
	case Update:
		e.At = in.UpdatedAt
	case Trigger:
		e.Late = ended(in)
	}
	if w.Waiting != nil && !ended(in) {
		if n := w.Waiting(in); n != sources.NotKnown {
			e.Waiting = n
		}
	}
	if w.BaseURL != "" {
		e.Link = strings.TrimRight(w.BaseURL, "/") + "/incidents/" + in.ID
	}
	e.Links = w.links(in)
	e.Summary = w.summary(e)
	return e
}

// What a page takes of links: a header may have made an address of any length.
const (
	mostLinks   = 5
	longestLink = 2000 // characters
)

func (w Wording) links(in Incident) []sources.Address {
	all := slices.DeleteFunc(w.Links[in.Source].For(in.Subject()), func(a sources.Address) bool { return len(a.URL) > longestLink })
	return all[:min(len(all), mostLinks)]
}

// summary is the page itself: which line, since when, how many wait, how the
// others do, and what stands at the head.
func (w Wording) summary(e Event) string {
	in := e.Incident
	var b strings.Builder
	switch {
	case e.Kind == Resolve:
		fmt.Fprintf(&b, "Over since %s: ", w.clock(in.ResolvedAt, in.ResolvedAt))
	case e.Late:
		fmt.Fprintf(&b, "Late, this was over at %s: ", w.clock(in.ResolvedAt, in.OpenedAt))
	case !in.Pages:
		b.WriteString("Warning: ")
	}
	if e.Kind != Resolve && !in.AcknowledgedAt.IsZero() {
		fmt.Fprintf(&b, "Acknowledged by %s at %s: ", in.AcknowledgedBy, w.clock(in.AcknowledgedAt, in.OpenedAt))
	}
	b.WriteString(w.lead(in))
	if e.Kind == Resolve {
		return sentence(b.String()) + after(in.Resolution)
	}
	switch n := e.Waiting; {
	case n == 1:
		b.WriteString("; 1 record waits")
	case n > 1:
		fmt.Fprintf(&b, "; %s records wait", count(n))
	}
	if n := in.Evidence.Grows; n > 0 && e.Waiting > 0 {
		fmt.Fprintf(&b, ", %s more a minute", count(n))
	}
	if at := in.Evidence.RetentionAt; !at.IsZero() && !ended(in) {
		fmt.Fprintf(&b, "; retention reaches it at about %s", w.clock(at, in.OpenedAt))
	}
	if in.Evidence.Peers != "" && in.Verdict == HeadOfLineStall {
		b.WriteString("; " + in.Evidence.Peers)
	}
	return sentence(b.String()) + after(atHead(in.Evidence))
}

func ended(in Incident) bool { return !in.ResolvedAt.IsZero() }

// waited is what waited in an incident's lines when its evidence was gathered:
// what stood behind their heads, and the heads.
func waited(in Incident) int64 {
	if in.Evidence.Waiting < 0 {
		return sources.NotKnown
	}
	return in.Evidence.Waiting + int64(len(in.Lines))
}

// lead says what is wrong, of which line, since when and in which group.
func (w Wording) lead(in Incident) string {
	what := strings.TrimRight(in.Title, ". ")
	if in.Verdict == HeadOfLineStall && len(in.Lines) == 1 {
		what = lineName(in.Lines[0]) + " is wedged" + whereabouts(in.Evidence)
	}
	if what == "" {
		what = strings.ReplaceAll(string(in.Verdict), "_", " ")
	}
	if !in.Evidence.Since.IsZero() {
		what += " since " + w.clock(in.Evidence.Since, in.OpenedAt)
	}
	if in.Group != "" && !strings.Contains(what, in.Group) {
		what += " (group " + in.Group + ")"
	}
	return what
}

// lineName is a line as a person calls it.
func lineName(p sources.Partition) string {
	return "Partition " + strconv.Itoa(int(p.Number)) + " of " + p.Topic
}

// whereabouts is where a line stands: at the first record that it can read, or
// where it committed. The record there is the first suspect and not the
// culprit, because a consumer commits after each poll.
func whereabouts(e Evidence) string {
	switch {
	case e.Head != nil:
		return " at or after offset " + count(e.Head.Offset)
	case e.Position >= 0 && e.Line.Topic != "":
		return " at or after offset " + count(e.Position)
	}
	return ""
}

// atHead says what sets the first suspect apart.
func atHead(e Evidence) string {
	if len(e.Suspects) == 0 || len(e.Suspects[0].Apart) == 0 {
		return ""
	}
	s := e.Suspects[0]
	where := "At offset " + count(s.Offset)
	if e.Head != nil && e.Head.Offset == s.Offset {
		where = "At its head"
	}
	a := s.Apart[0]
	return fmt.Sprintf("%s: %s is %s, unlike the %s before it (%s)", where, a.Field, a.Value, several(int64(e.Sample), "record"), a.Usual)
}

// clock is a time of day in the zone of the configuration, with the day when
// it is another one than that of near.
func (w Wording) clock(t, near time.Time) string {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	t, near = t.In(zone), near.In(zone)
	if t.YearDay() != near.YearDay() || t.Year() != near.Year() {
		return t.Format("2 Jan 15:04 MST")
	}
	return t.Format("15:04 MST")
}

// PartitionNames are the lines of an incident as "topic/number": the first
// twenty, and how many more there are.
func PartitionNames(in Incident) []string {
	names := make([]string, 0, min(len(in.Lines), listed+1))
	for i, p := range in.Lines {
		if i == listed {
			return append(names, fmt.Sprintf("and %s more", count(int64(len(in.Lines)-listed))))
		}
		names = append(names, p.Topic+"/"+strconv.Itoa(int(p.Number)))
	}
	return names
}

// Cut is the beginning of a text of at most max characters, with an ellipsis
// where something was cut off. It counts code points, as PagerDuty does, and
// never cuts one in two.
func Cut(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= max {
		return text
	}
	return string([]rune(text)[:max-1]) + "…"
}

func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// after is a further sentence, or nothing.
func after(s string) string {
	if s == "" {
		return ""
	}
	return " " + sentence(s)
}
