package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// PlanPage is a redrive before it starts: exactly what would be sent where.
type PlanPage struct {
	Frame
	ID       string
	FixedAt  time.Time
	Total    int // letters in the plan
	Refused  int // of these, letters that cannot be sent: while there are any, nothing starts
	Warnings []PlanWarning
	Targets  []TargetRow
	Letters  []PlanLetter // the first thousand
	// Changed says what changed since the plan was made, where a start was
	// refused for it; empty otherwise.
	Changed []string
	// Problem says why a start was refused for another reason; "" otherwise.
	Problem string
	// NotKnown is what the plan could not find out, a sentence each.
	NotKnown []string
	Newer    int      // letters that came since and would be selected too: they stay
	Choices  []Choice // other ways for these letters
	To       string   // the queue that was asked for; "" for each letter's own way back
	Rate     float64  // letters per second; 0: as fast as the target takes them
	Canary   bool
	KeepTime bool      // the copies get the timestamp of the original record
	Edit     *DiffView // what is changed first; nil: nothing
	Started  string    // id of the redrive, when this plan was started already
	Expired  bool      // older than a day: a new one must be made
	BackHref string
}

// Choice is another queue that the letters of a plan could go to.
type Choice struct {
	Queue string
	Why   string
}

// PlanWarning is something to know, or to confirm.
type PlanWarning struct {
	Code        string
	Message     string
	Letters     []string // ids, the first thousand
	Count       int      // of all its letters
	Evidence    []string // what was seen, a line each
	MustConfirm bool
	Confirmed   bool // was ticked in a start that was refused
}

// TargetRow is one target with the letters that go there.
type TargetRow struct {
	Count          int
	Source         string
	Kind           string // "SQS standard", "SQS FIFO"; "" on Kafka
	Queue          string
	Why            string
	Causes         []string
	Receivers      []Receiver
	ReceiversKnown bool
	Promise        string // "Once"
	PromiseMore    string // "never sent twice by us"
}

// PlanLetter is what the plan says of one letter.
type PlanLetter struct {
	ID        string
	Key       Bytes
	Queue     string
	Place     string
	Target    string // "" when there is none
	Partition int64  // Unknown: the broker chooses
	Why       string
	Headers   int
	Size      int64
	Kept      []string // header names, in wire order
	Dropped   []string
	Added     []string
	Warnings  []string // codes
	Refused   string   // code; "" when it may be sent
	Because   string   // why it is refused, in words; "" when the code says it all
}

// canStart tells whether a start would be taken: with refused letters in it,
// or once it was started, it would not.
func (p PlanPage) canStart() bool {
	return p.Started == "" && !p.Expired && p.Refused == 0 && p.Total > 0 && len(p.Changed) == 0
}

func (p PlanPage) whyNot() string {
	switch {
	case p.Started != "":
		return "It was started already."
	case p.Expired:
		return "It is older than a day."
	case len(p.Changed) > 0:
		return "It is no longer what you saw: make it again."
	default:
		return "Letters that cannot be sent are in it: leave them out first."
	}
}

func (p PlanPage) heading() string {
	switch {
	case p.Total == 1:
		return "Redrive exactly this letter"
	default:
		return "Redrive " + Plural(p.Total, "letter") + ", exactly these"
	}
}

func (p PlanPage) button() string {
	if p.Total == 1 {
		return "Redrive this 1 letter"
	}
	return "Redrive these " + Plural(p.Total, "letter")
}

func (p PlanPage) refusedSays() string {
	by := map[string]int{}
	var codes []string
	for _, l := range p.Letters {
		if l.Refused == "" {
			continue
		}
		if by[l.Refused] == 0 {
			codes = append(codes, l.Refused)
		}
		by[l.Refused]++
	}
	said := make([]string, len(codes))
	for i, c := range codes {
		said[i] = refusal(c)
	}
	s := Plural(p.Refused, "letter") + " cannot be sent"
	if len(said) == 0 {
		return s + "."
	}
	return s + ": " + listed(said) + "."
}

// letterName is what a letter of the plan is called.
func (p PlanPage) letterName(id string) string {
	for _, l := range p.Letters {
		if l.ID == id && !l.Key.Null && l.Key.Size > 0 && !l.Key.NotUTF8 {
			return Visible(l.Key.Text)
		}
	}
	return Visible(id)
}

// rate is the rate as a form has it; "" for none.
func (p PlanPage) rate() string {
	if p.Rate <= 0 {
		return ""
	}
	return strconv.FormatFloat(p.Rate, 'f', -1, 64)
}

// bodySays is what becomes of bodies and keys.
func (p PlanPage) bodySays() string {
	if p.Edit != nil {
		return "changed as shown, every other byte as it came"
	}
	return "byte for byte as they came"
}

func (p PlanPage) timeSays() string {
	if p.KeepTime {
		return "that of the original record"
	}
	return "that of the redrive; the original is in a header"
}

func (p PlanPage) back() templ.SafeURL {
	if p.BackHref == "" {
		return p.URL("/review")
	}
	return p.URL(p.BackHref)
}

func (p PlanPage) targetsSay() string {
	sources := map[string]bool{}
	for _, t := range p.Targets {
		sources[t.Source] = true
	}
	return Plural(len(p.Targets), "target") + " in " + Plural(len(sources), "source")
}

func (t TargetRow) where() string {
	if t.Kind == "" {
		return Visible(t.Source)
	}
	return Visible(t.Source) + ", " + Visible(t.Kind)
}

// headersSay is a letter's headers in a few words, with its size: a record of
// 2,000 headers says so before it is sent.
func (l PlanLetter) headersSay() string {
	return Plural(l.Headers, "header") + ": " + number(len(l.Kept)) + " kept, " + number(len(l.Dropped)) +
		" dropped, " + number(len(l.Added)) + " added; " + Size(l.Size)
}

// namesOf is header names in wire order; equal ones that follow one another
// are said once with their number.
func namesOf(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	var said []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		s := Visible(list[i])
		if n > 1 {
			s += " × " + number(n)
		}
		said = append(said, s)
		i += n
	}
	return strings.Join(said, ", ")
}

// spaced is a code as words.
func spaced(code string) string { return strings.ReplaceAll(Visible(code), "_", " ") }
