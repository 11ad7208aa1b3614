package alerts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Report is what is told of an incident in the morning, as Markdown. It is
// masked as a page is: of records only what may leave for a pager.
type Report struct {
	Incident Incident
	Deeds    []Deed         // what was done about it and its letters, oldest first
	Cut      bool           // there are more of them
	Link     string         // page of the incident; "" when nobody knows its address
	Zone     *time.Location // beside UTC; nil or UTC: UTC alone
	Now      time.Time      // until when one that is open has lasted
}

// Deed is something that was done, from the audit.
type Deed struct {
	At      time.Time
	By      string
	Action  string // discard, redrive, skip, …
	On      string // id of what it was done to
	Outcome string
}

// reportedLines is how many lines a report lists.
const reportedLines = 100

// Markdown is the report as a document of its own.
func (r Report) Markdown() string {
	var d document
	d.text("# " + plain(strings.TrimRight(r.Incident.Title, ". ")))
	d.text(r.summary())
	d.table([]string{"", ""}, r.facts())
	d.text("## What stood")
	d.list(r.lines())
	d.text("## The record at the head")
	d.text(r.head())
	d.table([]string{"Suspect", "What sets it apart", "Usual"}, r.suspects())
	d.text("## Who was told")
	d.tableOr("Nobody: nothing was sent.", []string{"Notifier", "Event", "Accepted", "Attempts", "Last error"}, r.told())
	d.text("## Who did what")
	d.tableOr("Nothing is in the audit.", []string{"When", "Who", "What", "To", "Outcome"}, r.deeds())
	d.text("## Timeline")
	d.table(r.timelineHead(), r.timeline())
	return d.String()
}

// summary is the incident in a paragraph.
func (r Report) summary() string {
	in, t := r.Incident, r.Incident.Toll
	var b strings.Builder
	fmt.Fprintf(&b, "%s of source %s: %s.", plain(what(in)), plain(in.Source), strings.ReplaceAll(string(in.Verdict), "_", " "))
	if !t.Since.IsZero() {
		until := "it still stands"
		if !in.ResolvedAt.IsZero() {
			until = "it was seen standing until " + r.time(t.StoodAt)
		}
		fmt.Fprintf(&b, " Blocked for about **%s**: it moved for the last time at %s, and %s.", minutes(r.blocked()), r.time(t.Since), until)
	}
	if t.Known() {
		last := "at the end"
		if in.ResolvedAt.IsZero() {
			last = "now"
		}
		fmt.Fprintf(&b, " At the worst **%s** waited, %s %s: about **%s record-minutes**.",
			several(t.Worst, "record"), last, count(t.Last), count(int64(math.Round(t.RecordMinutes()))))
	}
	if in.Resolution != "" {
		b.WriteString(" Over: " + plain(sentence(in.Resolution)))
	}
	return b.String()
}

// blocked is how long lines stood; of an incident that is open until now.
func (r Report) blocked() time.Duration {
	if r.Incident.ResolvedAt.IsZero() && !r.Incident.Toll.Since.IsZero() {
		return r.Now.Sub(r.Incident.Toll.Since)
	}
	return r.Incident.Toll.Blocked()
}

func what(in Incident) string {
	if in.Group == "" {
		return "Queue " + in.Queue
	}
	return "Group " + in.Group
}

// minutes is a length of time in whole minutes, as nights are counted.
func minutes(d time.Duration) string {
	n := int64(math.Round(d.Minutes()))
	if n < 1 {
		return "less than a minute"
	}
	return several(n, "minute")
}

func (r Report) facts() [][]string {
	in := r.Incident
	facts := [][]string{{"Incident", plain(in.ID)}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{name, plain(value)})
		}
	}
	add("Page", r.Link)
	add("Severity", in.Severity)
	add("Owner", in.Owner)
	add("Runbook", in.Runbook)
	add("Opened", r.time(in.OpenedAt))
	add("Acknowledged", r.by(in.AcknowledgedAt, in.AcknowledgedBy))
	add("Resolved", cmp.Or(r.time(in.ResolvedAt), "not yet"))
	add("Reason", in.Reason)
	add("Peers", in.Evidence.Peers)
	return facts
}

func (r Report) by(at time.Time, who string) string {
	if at.IsZero() {
		return ""
	}
	return r.time(at) + " by " + cmp.Or(who, "somebody")
}

func (r Report) lines() []string {
	var out []string
	for i, p := range r.Incident.Lines {
		if i == reportedLines {
			return append(out, fmt.Sprintf("and %s more", count(int64(len(r.Incident.Lines)-reportedLines))))
		}
		out = append(out, plain(lineName(p)))
	}
	if len(out) == 0 && r.Incident.Queue != "" {
		out = append(out, "Queue "+plain(r.Incident.Queue))
	}
	return out
}

// head says which record it was, and what sets it apart.
func (r Report) head() string {
	e := r.Incident.Evidence
	switch {
	case e.Head == nil && e.Missing != "":
		return plain(sentence(capital(e.Missing)))
	case e.Head == nil:
		return "No record was read: none is to blame, or nobody has looked."
	}
	text := fmt.Sprintf("%s, offset %s, written %s. The line stood at or after it.",
		plain(lineName(sources.Partition{Topic: e.Head.Topic, Number: e.Head.Partition})), count(e.Head.Offset), cmp.Or(r.time(e.Head.Timestamp), "at a time that is not known"))
	switch {
	case e.Sample == 0:
		return text + " There was nothing to compare it with."
	case len(e.Suspects) == 0:
		return text + fmt.Sprintf(" Nothing sets it, or the records after it, apart from the %s before.", several(int64(e.Sample), "record"))
	}
	return text + fmt.Sprintf(" Compared with the %s before, these are apart, the oddest first. Values are masked unless their field had few.", several(int64(e.Sample), "record"))
}

func (r Report) suspects() [][]string {
	var rows [][]string
	for _, s := range r.Incident.Evidence.Suspects {
		for i, a := range s.Apart {
			row := []string{"", plain(a.Field + ": " + a.Value), plain(a.Usual)}
			if i == 0 {
				row[0] = count(s.Offset)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (r Report) told() [][]string {
	var rows [][]string
	for _, d := range r.Incident.Deliveries {
		rows = append(rows, []string{plain(d.Notifier), plain(d.Event), cmp.Or(r.time(d.AcceptedAt), "not accepted"), fmt.Sprint(d.Attempts), plain(d.Err)})
	}
	return rows
}

func (r Report) deeds() [][]string {
	var rows [][]string
	for _, d := range r.Deeds {
		rows = append(rows, []string{r.time(d.At), plain(d.By), plain(d.Action), plain(d.On), plain(d.Outcome)})
	}
	if r.Cut {
		rows = append(rows, []string{"", "", "and more: see the audit", "", ""})
	}
	return rows
}

func (r Report) timelineHead() []string {
	head := []string{"UTC", "What happened"}
	if r.zoned() {
		head = slices.Insert(head, 1, plain(r.Zone.String()))
	}
	return head
}

// turn is one line of the timeline.
type turn struct {
	at   time.Time
	what string
}

func (r Report) timeline() [][]string {
	all := slices.DeleteFunc(r.turns(), func(m turn) bool { return m.at.IsZero() })
	slices.SortStableFunc(all, func(a, b turn) int { return a.at.Compare(b.at) })
	var rows [][]string
	for _, m := range all {
		row := []string{utc(m.at), plain(m.what)}
		if r.zoned() {
			row = slices.Insert(row, 1, m.at.In(r.Zone).Format(stampFormat))
		}
		rows = append(rows, row)
	}
	return rows
}

func (r Report) turns() []turn {
	in, t := r.Incident, r.Incident.Toll
	all := []turn{
		{t.Since, "It moved for the last time"},
		{in.OpenedAt, "The incident opened"},
		{t.WorstAt, "The most waited: " + several(t.Worst, "record")},
		{in.AcknowledgedAt, "Acknowledged by " + cmp.Or(in.AcknowledgedBy, "somebody")},
		{in.ResolvedAt, "Resolved: " + cmp.Or(in.Resolution, "over")},
	}
	if !in.ResolvedAt.IsZero() {
		all = append(all, turn{t.StoodAt, "It was seen standing for the last time"})
	}
	for _, d := range in.Deliveries {
		all = append(all, turn{d.AcceptedAt, d.Notifier + " accepted the " + d.Event})
	}
	for _, d := range r.Deeds {
		all = append(all, turn{d.At, d.By + ": " + d.Action + " " + d.On + ": " + d.Outcome})
	}
	return all
}

const stampFormat = "2006-01-02 15:04:05"

func utc(t time.Time) string { return t.UTC().Format(stampFormat) }

func (r Report) zoned() bool { return r.Zone != nil && r.Zone.String() != "UTC" }

// time is an instant in UTC, and in the zone of the configuration beside it.
func (r Report) time(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case !r.zoned():
		return utc(t) + " UTC"
	}
	return utc(t) + " UTC (" + t.In(r.Zone).Format("15:04:05 MST") + ")"
}
