package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// ReviewPage shows the open letters by cause, and the letters themselves where
// somebody searched.
type ReviewPage struct {
	Frame
	ReviewAt  time.Time // the next review
	LastAt    time.Time // the last one; what came since is new
	Letters   int       // open ones in the causes of the whole list
	New       int
	Returned  int
	Expiring  int // before ReviewAt
	AllCauses int
	Filters   []Filter // new, growing, back, known, expiring
	Causes    []CauseRow
	Pager     Pager
	Sources   []Option
	Queues    []Option
	Status    []Option
	Badge     string      // kept in the form: the filter that is current; "" for all
	Found     *LetterList // letters that match Query; nil: nobody searched
	// ReadingNow says that a first reading is under way, in a sentence; "" when
	// none is.
	ReadingNow string
	// Empty says why no cause is listed, and what to do if that is a surprise.
	Empty string
}

// CauseRow is one cause.
type CauseRow struct {
	ID           string
	Title        string
	Badge        string // new, growing, back, known
	BadgeText    string // "back after redrive 41"; "" shows the badge's word
	Why          string // why these are together; "" where the title says it
	Sources      []string
	Origins      []string
	Queues       []string // dead-letter queues
	Count        int      // open letters
	New          int
	Returned     int
	Weeks        [4]int // arrivals, oldest first
	OldestAt     time.Time
	ExpiresFirst time.Time // zero: none expires, or none is known to
	NotBefore    bool      // ExpiresFirst is the earliest time that it can be
	Expiring     int       // before the next review
}

// LetterList is a page of letters.
type LetterList struct {
	Rows  []LetterRow
	Pager Pager
	// Arrived is how many letters came since the list was opened: they are told
	// of and not pushed in.
	Arrived int
}

// LetterRow is one letter in a list.
type LetterRow struct {
	ID       string
	Key      Bytes
	Value    Bytes // its beginning
	Source   string
	Queue    string
	Place    string // "partition 1, offset 4,417", or the message id
	Cause    string // title of its cause; "" on the cause's own page
	CauseID  string
	Reason   string
	Status   string
	Attempts int // Unknown when not known
	DeadAt   time.Time
	Size     int64 // of the whole record: key, value and headers
	Headers  int
	Returned bool // it came back after a redrive
}

// everywhere is the same search in decided letters too.
func (p ReviewPage) everywhere() templ.SafeURL {
	return p.URL("/review?" + url.Values{"q": {p.Query}, "status": {"all"}}.Encode())
}

// found tells whether a search found letters: they come first then.
func (p ReviewPage) found() bool { return p.Found != nil && len(p.Found.Rows) > 0 }

func (p ReviewPage) filtered() bool {
	for _, list := range [][]Option{p.Sources, p.Queues, p.Status} {
		for _, o := range list {
			if o.Selected {
				return true
			}
		}
	}
	return p.Query != "" || p.Badge != ""
}

func (p ReviewPage) blankGlyph() string { return oneOf(p.filtered(), "i-search", "i-review") }

func (p ReviewPage) blankHeading() string {
	return oneOf(p.filtered(), "No letter matches", "No open letters")
}

func (p ReviewPage) blankText() string {
	switch {
	case p.Empty != "":
		return p.Empty
	case p.Query != "":
		return "Nothing that is open has “" + p.Query + "” in its value, key, headers, reason or id."
	case p.filtered():
		return "No open letter matches these filters."
	default:
		return "Nothing waits to be decided."
	}
}

// open tells whether a letter can be selected: one that is redriven or on its
// way is shown, and left alone.
func (l LetterRow) open() bool { return l.Status == "" || l.Status == "open" || l.Status == "expired" }

// called is what a letter is called where its key is not seen.
func (l LetterRow) called() string {
	if l.Key.Null || l.Key.Size == 0 {
		return Visible(l.ID)
	}
	return Visible(l.Key.Text)
}

// weighs is the size of the whole record: a value of 55 bytes may carry 88 kB
// of headers (provectus/kafka-ui issue 4229).
func (l LetterRow) weighs() string {
	s := Size(l.Size)
	if l.Headers > 0 {
		s += ", " + Plural(l.Headers, "header")
	}
	return s
}
