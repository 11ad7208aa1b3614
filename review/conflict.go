package review

import (
	"context"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/payload"
)

// Hold is what keeps letters from being redriven: a redrive, or what was
// decided of them.
type Hold struct {
	Redrive string   // that has them; "" when none has
	By      string   // who started it
	Status  Status   // of the letters
	Count   int      // of the letters that were asked about
	IDs     []string // of those, the first thousand
}

// String is the hold as a person is told of it: "42 are in redrive rd_1 by asha".
func (h Hold) String() string {
	what := string(h.Status)
	switch {
	case h.Redrive != "" && h.Status == Redriven:
		what = "redriven already, by redrive " + h.Redrive
	case h.Redrive != "":
		what = "in redrive " + h.Redrive
	}
	if h.By != "" {
		what += " by " + h.By
	}
	return count(h.Count, "is ", "are ") + what
}

// ConflictError is a redrive of letters that are being or were redriven, or
// are discarded. Nothing was started.
type ConflictError struct {
	IDs     []string // of the letters that are not to be had
	Redrive string   // the job that this plan has started already; "" when there is none
	Total   int      // of the letters that were asked for; 0: not known
	Holds   []Hold   // what keeps the letters; nil: not known
	// Free are the others, which can be sent: the first ten thousand.
	Free []string
}

// Error says who has how many of the letters, and how many can be sent (C108).
func (e *ConflictError) Error() string {
	if e.Redrive != "" {
		return fmt.Sprintf("this plan was started already, as redrive %s", e.Redrive)
	}
	if len(e.Holds) == 0 {
		return fmt.Sprintf("%d of the letters are being or were redriven, or are discarded: %s", len(e.IDs), some(e.IDs))
	}
	var parts []string
	for i, h := range e.Holds {
		part := h.String()
		if i == 0 && e.Total > 1 {
			part = strings.Replace(part, " ", fmt.Sprintf(" of the %s ", letters(e.Total)), 1)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", part, andMore(h.IDs, h.Count)))
	}
	switch free := e.Total - len(e.IDs); {
	case free > 0:
		parts = append(parts, "the other "+payload.Count(free)+" can be sent")
	default:
		parts = append(parts, "none is left to be sent")
	}
	return strings.Join(parts, "; ")
}

// freeShown is how many letters an error names that can be sent.
const freeShown = 10_000

// conflict collects letters that are not to be had, and those that are.
type conflict struct {
	ids   []string
	free  []string
	total int
}

// add notes a letter, and tells whether it can be had.
func (c *conflict) add(l Letter) bool {
	c.total++
	if takeable(l.Status) {
		if len(c.free) < freeShown {
			c.free = append(c.free, l.ID)
		}
		return true
	}
	c.ids = append(c.ids, l.ID)
	return false
}

// error is the conflict with who has the letters, as far as anybody knows.
func (c *conflict) error(ctx context.Context, takers Takers) error {
	e := &ConflictError{IDs: c.ids, Total: c.total, Free: c.free}
	if takers != nil {
		e.Holds, _ = takers.HoldsOf(ctx, c.ids) // without them the error names the letters
	}
	return e
}
