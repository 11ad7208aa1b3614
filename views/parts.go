package views

import (
	"net/url"
	"strconv"
	"time"
)

// Bytes is a key, a value or a header as a person can read it. Null and empty
// are told apart.
type Bytes struct {
	Null    bool
	Size    int64
	Text    string // best effort: bytes that are no UTF-8 may stand in it as they are
	NotUTF8 bool
	Cut     bool // Text is only its beginning
}

// shown is the text, with a mark where it goes on.
func (b Bytes) shown() string { return b.Text + oneOf(b.Cut, "…", "") }

// Body is a message's value in the ways it can be looked at.
type Body struct {
	Null   bool
	Size   int64
	Format string // what it was decoded as: "JSON", "text", "bytes"
	// Note says what the decoder did and left over: "not UTF-8, 12 bytes",
	// "decoded 1 of 11 bytes". "" when there is nothing to say.
	Note  string
	Lines []BodyLine // decoded; empty: there is nothing better than Raw
	Raw   string     // as text, best effort
	Hex   string     // a hex dump, one line of 16 bytes each
	// Shown is how many bytes the above are made of. Less than Size: the page
	// says that the rest is stored all the same, and where to get it.
	Shown    int64
	FullHref string // the page with more of the body; "" when there is none
	Gone     bool   // the store has forgotten it; nothing above is filled in
}

// BodyLine is one line of a decoded body.
type BodyLine struct {
	Indent int
	Key    string // as in the text, with its quotes; "" for a line without
	Text   string // the value with what follows it: `"INRR",`
	Apart  string // what sets this line apart, in words; "" for an ordinary line
}

// Record is a record shown as evidence.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	At        time.Time // of the record; zero: it has none
	Key       Bytes
	Headers   int
	Size      int64 // of the whole record: key, value and headers
	Body      Body
	// Apart has what sets it apart, worst first, for the sentence above it.
	Apart []Apart
}

// Apart is one thing that sets a record apart.
type Apart struct {
	Field string
	Value string
	Usual string // what the others had there, in words: "a value not seen in the 500 records before it"
}

// Cell is one line of work in a strip.
type Cell struct {
	Name    string // "3", or "orders 3" where a group reads several topics
	Verdict string
}

// Moment is one entry of a timeline.
type Moment struct {
	At   time.Time // zero: the time is not known
	Text string
	More string // said below it, quieter
	Hue  Hue
	Mark string // a verdict, a state, or one of: bell, clock, review, redrive, tick
	Link *Link
}

// Fact is a name and a value.
type Fact struct {
	Name  string
	Value string
}

// IncidentRef names an incident.
type IncidentRef struct {
	ID     string
	Number int64
}

// Receiver is a group that would receive what is sent.
type Receiver struct {
	Group string
	State string
	Lag   int64 // Unknown when not known
}

// absent says what there is instead of bytes.
func (b Body) absent() string {
	switch {
	case b.Gone:
		return "The body is no longer kept here"
	case b.Null:
		return "null value (tombstone)"
	case b.Size == 0:
		return "empty (0 bytes)"
	default:
		return "not read"
	}
}

// cut says that a body is shown in part: readers must not fear that the rest
// was dropped (redpanda-data/console issues 1053, 1059 and 1111).
func (b Body) cut() string {
	return "Preview: first " + roughly(b.Shown) + " of " + commas(b.Size) + " bytes shown; the stored message is complete."
}

func roughly(n int64) string {
	if n < 1000 {
		return commas(n) + " bytes"
	}
	return roughSize(n)
}

// says is the format of a body and its size.
func (b Body) says() string {
	if b.Null || b.Size == 0 || b.Gone {
		return ""
	}
	format := b.Format
	if format == "" {
		format = "bytes"
	}
	s := Visible(format) + ", " + commas(b.Size) + " " + noun(int(b.Size), "byte")
	if b.Note != "" {
		s += "; " + Visible(b.Note)
	}
	return s
}

// indent is the class for the depth of a line; beyond eight the eye is lost.
func (l BodyLine) indent() string {
	if l.Indent <= 0 {
		return "in-0"
	}
	return "in-" + strconv.Itoa(min(l.Indent, 8))
}

func (m Moment) hue() string {
	if m.Hue != "" {
		return hueOf(m.Hue)
	}
	return string(markOf(m.Mark).hue)
}

func (r Receiver) says() string {
	s := ""
	if r.State != "" {
		s += ", " + Visible(r.State)
	}
	if r.Lag < 0 {
		return s + ", lag unknown"
	}
	return s + ", lag " + commas(r.Lag)
}

// isWeb tells whether an address may be linked.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
