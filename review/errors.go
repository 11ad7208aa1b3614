package review

import (
	"errors"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/payload"
)

// ErrInvalid is a request that makes no sense whatever the state of the
// letters: it selects nothing, or in two ways at once.
var ErrInvalid = errors.New("the request is not valid")

// ErrUnavailable is a source that does not answer just now. Nothing was started;
// asking again later may do.
var ErrUnavailable = errors.New("a source does not answer")

// Refusal is a letter that cannot be sent, and the code that says why.
type Refusal struct {
	LetterID string
	Refused  string
}

// RefusedError is a redrive with letters that cannot be sent. Nothing was
// started.
type RefusedError struct {
	Letters []Refusal // the first thousand
	Total   int       // of all
}

// Error counts the letters.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d of the letters cannot be sent; the first of them: %s is refused as %s",
		max(e.Total, len(e.Letters)), e.Letters[0].LetterID, e.Letters[0].Refused)
}

// NeedsConfirmationError is a redrive with warnings that nobody has accepted
// yet. Nothing was started.
type NeedsConfirmationError struct{ Warnings []Warning }

// Error names the warnings.
func (e *NeedsConfirmationError) Error() string {
	var codes []string
	for _, w := range e.Warnings {
		codes = append(codes, w.Code)
	}
	return "these warnings are to be confirmed first: " + strings.Join(codes, ", ")
}

// PlanChangedError is a plan whose world is another one by now. Nothing was
// started.
type PlanChangedError struct{ Difference []string }

// Error says what is different.
func (e *PlanChangedError) Error() string {
	return "what was planned has changed: " + strings.Join(e.Difference, "; ")
}

// someMost is how many of many letters a sentence names.
const someMost = 5

// some names the first few of many.
func some(ids []string) string { return andMore(ids, len(ids)) }

// andMore names the first few of so many.
func andMore(ids []string, all int) string {
	shown := ids[:min(len(ids), someMost)]
	if all <= len(shown) {
		return strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(shown, ", "), payload.Count(all-len(shown)))
}
