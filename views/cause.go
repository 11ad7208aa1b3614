package views

import (
	"time"

	"github.com/a-h/templ"
)

// CausePage is one cause: what its letters have in common, why they are
// together, and the letters.
type CausePage struct {
	Frame
	Cause     CauseRow // its Why says why the letters are together, in a sentence
	Facts     []Fact   // what the fingerprint is made of
	FirstSeen time.Time
	LastSeen  time.Time
	Common    []CommonRow
	CommonOf  string // "19 letters against 500 records of payment.events that passed"
	CommonNot string // "No difference in partition, amount or time of day."
	Letters   LetterList
	Status    []Option // of the list of letters
	History   []Moment
	Previous  *Link // the cause before it in the review
	Next      *Link
}

// CommonRow is a field that sets the letters of a cause apart.
type CommonRow struct {
	Field    string
	Where    string // body, header, key, size
	Value    string
	These    int
	OfThese  int
	Others   int // Unknown: there was nothing to compare with
	OfOthers int
}

// allLetters is the same cause with the letters that were decided.
func (p CausePage) allLetters() templ.SafeURL {
	return p.URL(Path("causes", p.Cause.ID) + "?status=all")
}
