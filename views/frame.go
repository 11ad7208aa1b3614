// Package views has the pages: one typed struct and one templ component a
// page. A struct holds what the page says, already decided; a component only
// lays it out. The package imports nothing of ours.
//
// Rules that hold for every struct here:
//
//   - A string may come from anywhere: names, reasons and bodies are foreign
//     text. Components escape it and make control characters visible, so fill
//     in what is so and escape nothing.
//   - A number that is not known is Unknown, never 0; a time that is not known
//     is the zero time; a duration that is not known is negative.
//   - An Href is a path of this program with its query, beginning with "/" and
//     without the base path: components put Frame.BasePath before it. A URL is
//     foreign and absolute, and is linked only when it is http or https.
//   - Verdicts, states, statuses and codes are the words of the API
//     ("head_of_line_stall", "consumed", "too_large").
//
// Where the forms go, each answered with 303 to a page:
//
//	POST /redrives/plans   cause=ID…, letter=ID…, or whole=CAUSE-ID; or
//	                       plan=ID with without=refused, without=CODE or
//	                       again=yes, for a
//	                       plan of the rest, or of the same. 303 to /redrives/plans/{id}
//	POST /redrives         plan=ID, confirm=CODE…. 303 to /redrives/{id}
//	POST /discards         cause=ID… or letter=ID…: a draft. 303 to /discards/{id}
//	POST /discards/{id}    do=discard with reason=TEXT, or do=undo. 303 to the same
//	POST /demo             do=deploy, rollback, stop, start or bad. 303 to /demo
package views

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// Unknown is a number that is not known.
const Unknown = -1

// Section is an entry of the navigation.
type Section string

// The sections. NoSection is for pages that belong to none.
const (
	NoSection        Section = ""
	NowSection       Section = "now"
	LagSection       Section = "lag"
	ReviewSection    Section = "review"
	IncidentsSection Section = "incidents"
	RedrivesSection  Section = "redrives"
	QueuesSection    Section = "queues"
	AuditSection     Section = "audit"
	DemoSection      Section = "demo"
)

// Frame is what stands around every page.
type Frame struct {
	Title         string         // of the window; the product's name is added
	Section       Section        // the entry of the navigation that is current
	BasePath      string         // "" or "/ops/dlq", without a slash at its end
	Static        string         // where the static files are, with the hash of their content: static.Path("")
	Zone          *time.Location // in which times are written where no script runs; nil: UTC
	Now           time.Time      // the instant that the page tells of
	OpenIncidents int
	OpenLetters   int // Unknown when the store could not say
	Sources       []SourceRead
	NotDelivered  []NotDelivered // what notifiers should have been told by now
	Query         string         // what was searched for
	Message       *Notice        // what came of the last action; nil: nothing to say
	Demo          bool           // the demo runs: its page is in the navigation
}

// SourceRead says when a source was last read.
type SourceRead struct {
	Name   string
	ReadAt time.Time // zero: never
	Error  string    // why the last reading did not work; "" when it did
	Late   bool      // it is read less often than it should be
}

// NotDelivered is what a notifier has not been told for a while.
type NotDelivered struct {
	Notifier string
	Events   int
	Since    time.Time // when the oldest of them was written
	Error    string    // of the last attempt
}

// Notice is something to know, in a hue of its own.
type Notice struct {
	Hue  Hue
	Text string
	More string // said after it, quieter
	Link *Link
}

// Link is a way to another page of ours.
type Link struct {
	Text string
	Href string
}

// Option is one choice of a filter.
type Option struct {
	Value    string
	Text     string // "" shows the value
	Selected bool
}

// Filter is a link that narrows a list. It has an address, so that the list it
// leads to can be shared.
type Filter struct {
	Text    string
	Count   int // Unknown: none is shown
	Href    string
	Current bool
	Mark    string // a verdict or a badge whose glyph and hue it has; "" for none
}

// Pager leads through a list by cursors. An empty Href is not offered.
type Pager struct {
	First string // back to the beginning, where new entries show up
	Next  string
	Shown int // entries on this page
	Total int // of the whole list; Unknown: not counted
	About bool
}

// Hue is what a colour means.
type Hue string

// The hues.
const (
	Quiet    Hue = "quiet"
	Stuck    Hue = "stuck"
	Risk     Hue = "risk"
	Fine     Hue = "fine"
	NotKnown Hue = "unknown"
	Accent   Hue = "accent"
)

// URL is the address of a path of this program, under the base path. Whatever
// it is given, it leads nowhere else: neither to a foreign host nor to a script.
func (f Frame) URL(path string) templ.SafeURL {
	return templ.SafeURL(f.base() + "/" + strings.TrimLeft(plainPath(path), `/\`))
}

// plainPath is a path with the bytes that no address has percent-encoded.
func plainPath(path string) string {
	if !needsSight(path) && !strings.ContainsAny(path, " <>\"`") {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Path puts an id into a path, escaped as one segment: Path("letters", id) is
// "/letters/{id}".
func Path(page, id string) string { return "/" + page + "/" + url.PathEscape(id) }

func (f Frame) to(page, id string) templ.SafeURL { return f.URL(Path(page, id)) }

func (f Frame) base() string { return strings.TrimSuffix(f.BasePath, "/") }

// asset is the address of a static file.
func (f Frame) asset(name string) string {
	return f.base() + strings.TrimSuffix(f.Static, "/") + "/" + name
}

// icon is the address of a symbol of the sprite.
func (f Frame) icon(name string) string { return f.asset("icons.svg") + "#" + name }

func (f Frame) anyLost() bool {
	for _, s := range f.Sources {
		if s.Error != "" {
			return true
		}
	}
	return false
}

func (s SourceRead) hue() Hue {
	switch {
	case s.Error != "" || s.ReadAt.IsZero():
		return NotKnown
	case s.Late:
		return Risk
	default:
		return Fine
	}
}

func (s SourceRead) glyph() string {
	return map[Hue]string{NotKnown: "v-unknown", Risk: "v-slow", Fine: "v-ok"}[s.hue()]
}

func (n Notice) glyph() string {
	switch n.Hue {
	case Stuck, Risk:
		return "i-warn"
	case NotKnown:
		return "v-unknown"
	case Fine:
		return "b-known"
	default:
		return "i-say"
	}
}

// single tells that the list has one page, without a foot that says so.
func (p Pager) single() bool { return p.First == "" && p.Next == "" }

// says how much of the list is on this page.
func (p Pager) says(noun string) string {
	switch {
	case p.Total < 0:
		return Plural(p.Shown, noun) + " on this page"
	case p.About:
		return number(p.Shown) + " of about " + Plural(p.Total, noun) + " on this page"
	default:
		return number(p.Shown) + " of " + Plural(p.Total, noun) + " on this page"
	}
}
