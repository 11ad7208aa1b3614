package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// QueuesPage shows every queue that holds dead letters, and the risks in how
// they are set up.
type QueuesPage struct {
	Frame
	Queues   []QueueRow
	Letters  int // open ones in all of them
	Findings []FindingRow
	Pager    Pager
	// Empty says why no queue is listed, and what to do if that is a surprise.
	Empty string
}

// QueueRow is one queue.
type QueueRow struct {
	Source       string
	Name         string
	Kind         string // dead_letter, retry, work
	Count        int64  // what the broker says; Unknown when not known
	CountIsExact bool
	AtMost       bool  // the count may have holes: it is "at most"
	Open         int64 // letters of it that are still to be decided
	OldestAt     time.Time
	Retention    time.Duration // 0: not known; negative: for ever
	FeedsFrom    []string
	RedriveTo    string
	ScannedAt    time.Time // zero: never
	Older        int64     // letters before the configured start, counted and not read
	Note         string    // what could not be seen: "10 of about 400"
	Redriving    string    // a move that runs at the broker
	Findings     []string  // a few words each
	Error        string
}

// FindingRow is a risk in the set-up of a queue.
type FindingRow struct {
	ID       string
	Kind     string
	Source   string
	Queue    string
	Message  string
	Advice   string
	Evidence []Fact
	Hue      Hue
}

func (p QueuesPage) lede() string {
	s := Plural(len(p.Queues), "queue") + ", " + Plural(p.Letters, "letter") + " to decide."
	if n := len(p.Findings); n > 0 {
		s += " " + Plural(n, "finding") + ": set-ups that can lose a letter before anyone looks."
	}
	return s
}

func (p QueuesPage) empty() string {
	if p.Empty != "" {
		return p.Empty
	}
	return "No queue matches the patterns of dead_letters.include. If yours are called otherwise, name them there."
}

func (q QueueRow) where() string {
	s := Visible(q.Source)
	switch q.Kind {
	case "retry":
		return s + ", retry"
	case "work":
		return s + ", work"
	default:
		return s
	}
}

// countSays is what the broker says is in a queue: exact, about or at most.
func (q QueueRow) countSays() string {
	switch {
	case q.Count < 0:
		return "unknown"
	case q.AtMost:
		return "at most " + commas(q.Count)
	case !q.CountIsExact:
		return "≈ " + commas(q.Count)
	default:
		return commas(q.Count)
	}
}

// openSays is how many letters wait to be decided. A queue that was never read
// has none that we know of, which is not 0.
func (q QueueRow) openSays() string {
	if q.Kind == "retry" || q.Kind == "work" {
		return "–"
	}
	if q.ScannedAt.IsZero() && q.Open == 0 {
		return "unknown"
	}
	return Number(q.Open)
}

func (q QueueRow) quiet() bool {
	return q.Error == "" && len(q.Findings) == 0 && q.Redriving == "" && q.Note == "" && q.Older <= 0
}

// queueHref is the letters of a queue.
func (f Frame) queueHref(q QueueRow) templ.SafeURL {
	return f.URL("/review?" + url.Values{"source": {q.Source}, "queue": {q.Name}}.Encode())
}
