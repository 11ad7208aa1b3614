package views

import "time"

// DiscardsPage lists the discards, newest first.
type DiscardsPage struct {
	Frame
	Discards []DiscardRow
	Pager    Pager
}

// DiscardRow is one discard.
type DiscardRow struct {
	ID        string
	State     string // draft, discarded, done, undone
	Reason    string
	By        string
	At        time.Time
	Total     int
	UndoUntil time.Time
	UndoneAt  time.Time
	UndoneBy  string
	Messages  int // of its letters, those that are deleted from an SQS queue
	Left      int // of those, are still there
	Failed    int
	CanUndo   bool
}

// DiscardPage is one discard with its letters: before it is decided, exactly
// what it would discard.
type DiscardPage struct {
	Frame
	Discard DiscardRow
	Items   []DiscardItem
	Pager   Pager
	Problem string // why nothing was done; "" when nothing went wrong
}

// DiscardItem is one letter of a discard.
type DiscardItem struct {
	LetterID string
	Key      Bytes
	Queue    string
	Place    string
	State    string
	Error    string
	Deletes  bool // it lies in an SQS queue, from which it is deleted
}

func (p DiscardPage) draft() bool { return p.Discard.State == "draft" }

func (p DiscardPage) heading() string {
	all := Plural(p.Discard.Total, "letter")
	switch p.Discard.State {
	case "draft":
		if p.Discard.Total == 1 {
			return "Discard exactly this letter"
		}
		return "Discard " + all + ", exactly these"
	case "undone":
		return "Discard of " + all + ": undone"
	case "done":
		return all + " discarded"
	}
	if !p.Discard.CanUndo {
		return all + " discarded, and being deleted from their queue"
	}
	return all + " discarded, and it can be undone"
}

// becomes is what happens to the letters, by where they lie.
func (p DiscardPage) becomes() []string {
	d := p.Discard
	var out []string
	if n := p.kept(); n > 0 {
		out = append(out, "On Kafka nothing is deleted: "+oneOf(n == 1, "the record stays", "the records stay")+" on the topic until retention takes "+oneOf(n == 1, "it", "them")+".")
	}
	if d.Messages > 0 {
		out = append(out, oneOf(d.State == "draft", "From an SQS queue they are deleted ten minutes after you press, and not before.", Plural(d.Messages, "message")+" of SQS, "+number(d.Left)+" still to be deleted."))
	}
	return out
}

// kept is how many letters stay where they lie.
func (p DiscardPage) kept() int { return p.Discard.Total - p.Discard.Messages }

func (p DiscardPage) button() string {
	if p.Discard.Total == 1 {
		return "Discard this 1 letter"
	}
	return "Discard these " + Plural(p.Discard.Total, "letter")
}
