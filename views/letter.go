package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"
)

// LetterPage is one dead letter.
type LetterPage struct {
	Frame
	ID         string
	CauseID    string
	CauseTitle string
	Status     string
	Outcome    string // consumed, returned; "" while not known
	Source     string
	Queue      string
	Place      string
	Attempts   int // Unknown when not known
	DeadAt     time.Time
	FailedAt   time.Time
	WrittenAt  time.Time // the timestamp of the record; zero: it has none
	ExpiresAt  time.Time
	ExpiryIs   string // "", never, exact, not before
	Size       int64  // of the whole record: key, value and headers
	Key        Bytes
	Body       Body
	Headers    []HeaderRow // in wire order, every one of them
	// HeadersAre names them: "headers", or "message attributes" on SQS.
	HeadersAre string
	System     []Fact // what the broker says of an SQS message
	Reason     LetterReason
	Origin     LetterOrigin
	Convention string // what the reason and origin were read from; "" when nothing was recognised
	Ways       []Way
	NoWay      string // why it cannot be redriven, in a sentence; "" when it can
	Timeline   []Moment
	// ReturnedFrom and CameBackAs are the ids of the letter that was redriven
	// and came back as this one, and of the one that this one came back as.
	ReturnedFrom string
	CameBackAs   string
	Lives        []Life // its redrives, and those of the letters that it was before, oldest first
	Redrive      string // id of the redrive that it is or was in
	Links        []OutLink
	Previous     *Link
	Next         *Link
	ValueHref    string // the exact bytes; "" when they are null or forgotten
	KeyHref      string
}

// LetterReason is why it was given up on, as far as anyone recorded it.
type LetterReason struct {
	Class   string
	Root    string
	Message string
	Code    string
	Stack   string
}

// LetterOrigin is where it came from, as far as anyone recorded it.
type LetterOrigin struct {
	Queue     string
	Partition int64 // Unknown when not known
	Offset    int64
	Group     string
	At        time.Time // the timestamp of the original
}

// HeaderRow is one header.
type HeaderRow struct {
	Name    string
	Value   Bytes
	Type    string // data type of an SQS attribute
	Meaning string // what its bytes mean: "3" for 00 00 00 03; "" where the text says it
	As      string // how that was read: "int32"
	Hex     string // its bytes, where they are no text
	Fate    string // of a redrive: kept, dropped
}

// Way is a queue that a letter may go back to.
type Way struct {
	Queue     string
	Partition int64  // Unknown: the broker chooses
	Why       string // "by rule of this source"
	Chosen    bool
	Receivers []Receiver
	// ReceiversKnown is false where the broker does not say who reads.
	ReceiversKnown bool
	Warning        string
}

// OutLink leads out of the program, to a log or a trace.
type OutLink struct {
	Text string
	URL  string
}

// foldFrom is from how many equal names on headers are folded into one row.
const foldFrom = 9

// mostRepeats is how many of them the row shows when it is opened.
const mostRepeats = 2500

// longHeader is how many bytes a header's value has before it is folded.
const longHeader = 300

// headerFold is the headers of one row: one of them, or all of a name that
// repeats.
type headerFold struct{ rows []placed }

// placed is a header with its place on the wire, from 0.
type placed struct {
	HeaderRow
	place int
}

func (g headerFold) first() HeaderRow { return g.rows[0].HeaderRow }

func (g headerFold) shown() []placed { return g.rows[:min(len(g.rows), mostRepeats)] }

// says is what a folded name holds.
func (g headerFold) says() string {
	values := map[string]bool{}
	for _, r := range g.rows {
		values[r.Value.Text] = true
	}
	return "all " + number(len(g.rows)) + ", with " + Plural(len(values), "different value")
}

// bytes is the size of the values of a row; null has none.
func (g headerFold) bytes() string {
	if len(g.rows) == 1 && g.first().Value.Null {
		return ""
	}
	sum := int64(0)
	for _, r := range g.rows {
		sum += r.Value.Size
	}
	return commas(sum)
}

// foldHeaders is the headers in wire order. A name that stands there many
// times is one row at its first place: a record with 2,000 copies of a header
// must be readable, and must show that it has them.
func foldHeaders(headers []HeaderRow) []headerFold {
	count := map[string]int{}
	for _, h := range headers {
		count[h.Name]++
	}
	var folds []headerFold
	at := map[string]int{}
	for i, h := range headers {
		row := placed{h, i}
		if count[h.Name] < foldFrom {
			folds = append(folds, headerFold{[]placed{row}})
			continue
		}
		j, seen := at[h.Name]
		if !seen {
			at[h.Name] = len(folds)
			folds = append(folds, headerFold{[]placed{row}})
			continue
		}
		folds[j].rows = append(folds[j].rows, row)
	}
	return folds
}

// foldsShown is how many different headers a page shows: a record may have a
// hundred thousand.
const foldsShown = 200

// foldsOf are the headers that are shown, and how many more there are.
func (p LetterPage) foldsOf() (folds []headerFold, more int) {
	folds = foldHeaders(p.Headers)
	if len(folds) <= foldsShown {
		return folds, 0
	}
	for _, f := range folds[foldsShown:] {
		more += len(f.rows)
	}
	return folds[:foldsShown], more
}

func (p LetterPage) headersAre() string {
	if p.HeadersAre == "" {
		return "headers"
	}
	return Visible(p.HeadersAre)
}

// headersSay is how many headers there are, and what a redrive does to them.
func (p LetterPage) headersSay() string {
	if len(p.Headers) == 0 {
		return ""
	}
	dropped := 0
	for _, h := range p.Headers {
		if h.Fate == "dropped" {
			dropped++
		}
	}
	s := Plural(len(p.Headers), strings.TrimSuffix(p.headersAre(), "s")) + ", in wire order"
	if dropped == 0 {
		return s + "; a redrive keeps all of them"
	}
	return s + ". " + number(len(p.Headers)-dropped) + " go back as they came; " + number(dropped) + " tell of the failure and are dropped"
}

// called is what a letter is called: by its key, where that can be read.
func (p LetterPage) called() string {
	if p.Key.Null || p.Key.Size == 0 || p.Key.NotUTF8 {
		return Visible(p.ID)
	}
	return Visible(p.Key.Text)
}

func (p LetterPage) decidable() bool {
	return p.Status == "" || p.Status == "open" || p.Status == "expired"
}

// editable tells whether the letter can be sent with other content. One that
// only describes its record can: by a value that somebody writes.
func (p LetterPage) editable() bool { return p.decidable() && !p.Body.Gone }

func (p LetterPage) expiredSays() string {
	if p.Body.Gone {
		return "Its body is no longer kept here either: it cannot be redriven."
	}
	return "Its body is kept here: it can still be redriven."
}

// root is the class to lead with: the innermost known.
func (r LetterReason) root() string {
	if r.Root != "" {
		return r.Root
	}
	return r.Class
}

// says is where a letter came from, as far as it is known.
func (o LetterOrigin) says() templ.Component {
	if o.Queue == "" {
		return tag("span", "absent", "not recorded")
	}
	parts := []any{name(o.Queue)}
	if o.Partition >= 0 {
		parts = append(parts, ", partition ", commas(o.Partition))
	}
	if o.Offset >= 0 {
		parts = append(parts, ", offset ", commas(o.Offset))
	}
	return words(parts...)
}

func longSays(b Bytes) string {
	lines := lineCount(b.Text)
	if lines > 1 {
		return Plural(lines, "line")
	}
	return Size(b.Size)
}

func lineCount(s string) int { return strings.Count(strings.TrimRight(s, "\n"), "\n") + 1 }

// views is in how many ways a body can be looked at.
func (b Body) views() int {
	n := 0
	if b.Null || b.Gone || b.Size == 0 {
		return n
	}
	for _, is := range []bool{len(b.Lines) > 0, b.Raw != "", b.Hex != ""} {
		if is {
			n++
		}
	}
	return n
}
