package review

import (
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// expiresSoon is how little time is left to a letter that a plan warns about:
// less than a night in which nobody looks whether the redrive worked.
const expiresSoon = 24 * time.Hour

// candidate is one letter of a plan with all that its checks look at.
type candidate struct {
	letter    Letter
	sent      sources.DeadLetter // as it would be sent: edited, with the headers that it goes with
	editErr   error              // why it cannot be edited so
	way       Way
	target    sources.Target
	aimed     error // what the source said when it was asked where the letter would go
	rules     Rules
	kind      sources.QueueKind // of the target; "" when it is not listed
	receivers []sources.Receiver
	asked     bool // whether the source could say who reads the target
	now       time.Time
}

// check is one thing that a plan looks at. A code that refuses is the only one
// said of its letter; the others add up.
type check struct {
	code        string
	refuses     bool
	mustConfirm bool
	message     string // of the warning; %s is how many letters
	applies     func(candidate) bool
}

// checks are all that a plan looks at, refusals first, the plainest before
// those that follow from it. The codes are those of the API.
var checks = []check{
	{code: "payload_gone", refuses: true, message: "the store has forgotten the bodies of %s", applies: func(c candidate) bool {
		return !c.letter.BodyKept
	}},
	{code: "not_the_original", refuses: true, message: "the values of %s describe the record and are not it", applies: func(c candidate) bool {
		return c.sent.NotTheOriginal
	}},
	{code: "edit_fails", refuses: true, message: "the edit cannot be made of %s", applies: func(c candidate) bool {
		return c.editErr != nil
	}},
	{code: "no_target", refuses: true, message: "nothing says where %s go back to", applies: func(c candidate) bool {
		return c.way.Queue == "" || c.way.Guess && errors.Is(c.aimed, sources.ErrNoSuchQueue)
	}},
	{code: "target_forbidden", refuses: true, message: "redrive_to does not allow the target of %s", applies: func(c candidate) bool {
		return !c.rules.Allowed(c.way.Queue) || errors.Is(c.aimed, sources.ErrNotAuthorised)
	}},
	{code: "target_missing", refuses: true, message: "the target of %s is not there", applies: func(c candidate) bool {
		return errors.Is(c.aimed, sources.ErrNoSuchQueue)
	}},
	{code: "too_large", refuses: true, message: "the target does not take letters of the size of %s", applies: func(c candidate) bool {
		return errors.Is(c.aimed, sources.ErrTooLarge)
	}},
	{code: "into_itself", mustConfirm: true, message: "%s would go to a dead-letter queue", applies: func(c candidate) bool {
		return c.kind == sources.DeadLetterQueue || c.way.Queue == c.letter.Queue
	}},
	{code: "returned_before", mustConfirm: true, message: "%s have come back twice or more", applies: func(c candidate) bool {
		return c.letter.Returns >= 2
	}},
	{code: "target_from_header", message: "only a header says where %s go: no name rule, mapping or policy confirms it", applies: func(c candidate) bool {
		return c.way.Hint
	}},
	{code: "many_receivers", message: "more than one group will receive %s", applies: func(c candidate) bool {
		return len(c.receivers) > 1
	}},
	{code: "no_reader", message: "nobody reads the target of %s", applies: func(c candidate) bool {
		return c.asked && len(c.receivers) == 0
	}},
	{code: "expires_soon", message: "the broker forgets %s within a day", applies: func(c candidate) bool {
		return !c.letter.ExpiresAt.IsZero() && c.letter.ExpiresAt.Before(c.now.Add(expiresSoon))
	}},
}

// judge runs the checks over a candidate.
func judge(c candidate) (refused string, warnings []string) {
	for _, k := range checks {
		if !k.applies(c) {
			continue
		}
		if k.refuses {
			return k.code, nil
		}
		warnings = append(warnings, k.code)
	}
	return "", warnings
}

// mostNamed is how many letters a warning of a plan names; it counts them all.
const mostNamed = 1000

// warned collects the letters of each code, for the warnings of the whole plan.
type warned map[string]*Warning

func (w warned) add(letter string, codes []string) {
	for _, c := range codes {
		if w[c] == nil {
			w[c] = &Warning{Code: c}
		}
		w[c].Count++
		if len(w[c].LetterIDs) < mostNamed {
			w[c].LetterIDs = append(w[c].LetterIDs, letter)
		}
	}
}

func letters(n int) string {
	if n == 1 {
		return "1 letter"
	}
	return fmt.Sprintf("%d letters", n)
}

// warnings are those of the plan, in the order of the checks.
func (w warned) warnings() []Warning {
	all := []Warning{}
	for _, k := range checks {
		if one := w[k.code]; one != nil {
			one.Message, one.MustConfirm = fmt.Sprintf(k.message, letters(one.Count)), k.mustConfirm
			all = append(all, *one)
		}
	}
	return all
}
