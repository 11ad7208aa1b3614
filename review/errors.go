package review

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is a request that makes no sense whatever the state of the
// letters: it selects nothing, or in two ways at once.
var ErrInvalid = errors.New("the request is not valid")

// ConflictError is a redrive of letters that are being or were redriven, or
// are discarded. Nothing was started.
type ConflictError struct {
	IDs     []string // of the letters
	Redrive string   // the job that this plan has started already; "" when there is none
}

// Error names the letters, or the job.
func (e *ConflictError) Error() string {
	if e.Redrive != "" {
		return fmt.Sprintf("this plan was started already, as redrive %s", e.Redrive)
	}
	return fmt.Sprintf("%d of the letters are being or were redriven, or are discarded: %s", len(e.IDs), some(e.IDs))
}

// Refusal is a letter that cannot be sent, and the code that says why.
type Refusal struct {
	LetterID string
	Refused  string
}

// RefusedError is a redrive with letters that cannot be sent. Nothing was
// started.
type RefusedError struct{ Letters []Refusal }

// Error counts the letters.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d of the letters cannot be sent; the first of them: %s is refused as %s",
		len(e.Letters), e.Letters[0].LetterID, e.Letters[0].Refused)
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

// some names the first few of many.
func some(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
