package web

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// plural is a count with its noun: "1 letter", "2,000 letters".
func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return payload.Count(n) + " " + noun + "s"
}

func validUTF8(b []byte) bool { return utf8.Valid(b) }

// lineName is a line as a person calls it: "3", or "orders 3" where its group
// reads several topics.
func lineName(topic string, number int32, several bool) string {
	if several {
		return topic + " " + strconv.Itoa(int(number))
	}
	return strconv.Itoa(int(number))
}

// severalTopics tells whether a group reads more than one topic.
func severalTopics(g alerts.GroupView) bool {
	for _, l := range g.Lines {
		if l.Topic != g.Lines[0].Topic {
			return true
		}
	}
	return false
}

// placeName is where a letter lies, in words.
func placeName(p sources.Place) string {
	if p.MessageID != "" {
		return p.MessageID
	}
	return "partition " + strconv.Itoa(int(p.Partition)) + ", offset " + payload.Count(p.Offset)
}

// saidOf is what is so with a group that is not well, in a few words.
func saidOf(g alerts.GroupView) string {
	bad := linesWith(g, g.Verdict)
	which := "Group"
	switch {
	case len(bad) == 1 && len(g.Lines) > 1:
		which = "Partition " + lineName(bad[0].Topic, bad[0].Number, severalTopics(g))
	case len(bad) > 1 && len(bad) < len(g.Lines):
		which = payload.Count(len(bad)) + " of " + plural(len(g.Lines), "partition")
	}
	switch g.Verdict {
	case alerts.OK:
		return ""
	case alerts.HeadOfLineStall:
		return which + " wedged"
	case alerts.GroupStall:
		return "Stands still, members alive"
	case alerts.Stopped:
		return "Stopped: no members, and something waits"
	case alerts.Slow:
		return which + " falls behind"
	case alerts.Unassigned:
		return which + " unassigned"
	case alerts.Orphaned:
		return which + " read by nobody any more"
	case alerts.OpenTransaction:
		return which + " held by an open transaction"
	case alerts.DataLoss:
		return which + " lost records unread"
	case alerts.Rewind:
		return which + " went back"
	}
	return which + " not known"
}

// linesWith are the lines of a group that have a verdict.
func linesWith(g alerts.GroupView, v alerts.Verdict) []alerts.LineView {
	var out []alerts.LineView
	for _, l := range g.Lines {
		if l.Verdict == v {
			out = append(out, l)
		}
	}
	return out
}

// whyOf is the reason of the worst line of a group.
func whyOf(g alerts.GroupView) string {
	if g.Err != "" {
		return sentence(g.Err)
	}
	if bad := linesWith(g, g.Verdict); len(bad) > 0 && g.Verdict != alerts.OK {
		return sentence(bad[0].Reason)
	}
	return ""
}

// whatIs is what an incident says of its line, as the beginning of a sentence
// that goes on with since when.
func whatIs(i alerts.Incident) string {
	if i.Verdict == alerts.HeadOfLineStall && len(i.Lines) == 1 {
		what := "Partition " + strconv.Itoa(int(i.Lines[0].Number)) + " of " + i.Lines[0].Topic + " is wedged"
		if at := standsAt(i.Evidence); at >= 0 {
			what += " at or after offset " + payload.Count(at)
		}
		return what
	}
	if i.Title != "" {
		return strings.TrimRight(i.Title, ". ")
	}
	return i.Group + ": " + strings.ReplaceAll(string(i.Verdict), "_", " ")
}

// standsAt is the offset at or after which a line stands; negative when it is
// not known.
func standsAt(e alerts.Evidence) int64 {
	switch {
	case e.Head != nil:
		return e.Head.Offset
	case e.Line.Topic != "":
		return e.Position
	}
	return -1
}
