package review

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

const (
	// expiresSoon is how little time is left to a letter that a plan warns about:
	// less than a night in which nobody looks whether the redrive worked.
	expiresSoon = 24 * time.Hour
	// dedupFor is how long a FIFO queue drops a second message with the same
	// deduplication id (SQS API, SendMessage).
	dedupFor = 5 * time.Minute
	// returnsMost is how many lives a letter may have had before a further one
	// needs a person's word.
	returnsMost = 2
)

// candidate is one letter of a plan with all that its checks look at.
type candidate struct {
	letter    Letter
	sent      sources.DeadLetter // as it would be sent: edited, with the headers that it goes with
	editErr   error              // why it cannot be edited so
	misfit    string             // why its edited value does not fit its schema; "" when it does
	way       Way
	aimed     error // what the source said when it was asked where the letter would go
	rules     Rules
	keepTime  bool
	kind      sources.QueueKind   // of the target; "" when it is not listed
	about     sources.Destination // the target
	receivers []sources.Receiver
	asked     bool     // whether the source could say who reads the target
	others    []string // who else reads the queue that it lies in
	stalls    []string // at whose head it stood
	done      string   // where its work is written down as done; "" when it was not seen
	newer     string   // a record of the same key that came later; "" when none was seen
	now       time.Time
	total     int // letters of the whole plan
}

// check is one thing that a plan looks at. A code that refuses is the only one
// said of its letter; the others add up.
type check struct {
	code        string
	refuses     bool
	mustConfirm bool
	applies     func(*candidate) bool
	// because says in words why this letter is refused.
	because func(*candidate) string
	// about is what letters have in common that are told of together, such as
	// their target; nil: nothing but the code.
	about func(*candidate) string
	// says is the warning, for so many letters of which this is the first.
	says func(c *candidate, letters int) string
	// seen is the evidence: of the first of the letters that are told of together,
	// and without about of each letter. nil: the warning says it all.
	seen func(*candidate) []string
}

// checks are all that a plan looks at: refusals, the plainest before those that
// follow from it, then what is to be confirmed, then what is only told. The
// codes are those of the API.
var checks = slices.Concat(refusals, confirmations, schemaChecks, remarks)

var refusals = []check{
	{
		code: "payload_gone", refuses: true,
		applies: func(c *candidate) bool { return !c.letter.BodyKept },
		because: func(*candidate) string { return "the store has forgotten its body" },
	},
	{
		code: "not_the_original", refuses: true,
		applies: func(c *candidate) bool { return c.sent.NotTheOriginal },
		because: func(*candidate) string {
			return "its value describes the record, or points to it, and is not the record: only an edit that replaces the whole value can be sent"
		},
	},
	{
		code: "edit_fails", refuses: true,
		applies: func(c *candidate) bool { return c.editErr != nil },
		because: func(c *candidate) string { return c.editErr.Error() },
	},
	{
		code: "no_target", refuses: true,
		applies: func(c *candidate) bool {
			return c.way.Queue == "" || c.way.Guess && errors.Is(c.aimed, sources.ErrNoSuchQueue)
		},
		because: func(c *candidate) string {
			if c.way.Queue == "" {
				return c.way.Why
			}
			return fmt.Sprintf("only the name of %s says that it came from %s, and there is no such queue", c.letter.Queue, c.way.Queue)
		},
	},
	{
		code: "target_forbidden", refuses: true,
		applies: func(c *candidate) bool {
			return !c.rules.Allowed(c.way.Queue) || errors.Is(c.aimed, sources.ErrNotAuthorised)
		},
		because: func(c *candidate) string {
			if c.aimed != nil {
				return c.aimed.Error()
			}
			return fmt.Sprintf("redrive_to of source %s does not allow %s", c.letter.Source, c.way.Queue)
		},
	},
	{
		code: "target_missing", refuses: true,
		applies: func(c *candidate) bool { return errors.Is(c.aimed, sources.ErrNoSuchQueue) },
		because: func(c *candidate) string { return fmt.Sprintf("%s is not there", c.way.Queue) },
	},
	{
		code: "too_large", refuses: true,
		applies: func(c *candidate) bool { return errors.Is(c.aimed, sources.ErrTooLarge) },
		because: func(c *candidate) string { return c.aimed.Error() },
	},
}

var confirmations = []check{
	{
		code: "already_done", mustConfirm: true,
		applies: func(c *candidate) bool { return c.done != "" },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s of %s done already: leave %s out", payload.Count(n), count(c.total, "letter is", "letters are"), either(n, "it", "them"))
		},
		seen: func(c *candidate) []string { return []string{"letter " + c.letter.ID + ": " + c.done} },
	},
	{
		code: "returned_before", mustConfirm: true,
		applies: func(c *candidate) bool { return c.letter.Returns >= returnsMost },
		says: func(_ *candidate, n int) string {
			return count(n, "letter has", "letters have") + " come back twice or more after a redrive"
		},
		seen: func(c *candidate) []string {
			return []string{fmt.Sprintf("letter %s came back %d times", c.letter.ID, c.letter.Returns)}
		},
	},
	{
		code: "wedged_before", mustConfirm: true,
		applies: func(c *candidate) bool { return len(c.stalls) > 0 },
		says: func(_ *candidate, n int) string {
			return letters(n) + " stood at the head of a stall before, and may wedge " + either(n, "its", "their") + " group again: send one first"
		},
		seen: func(c *candidate) []string { return each("letter "+c.letter.ID+": ", c.stalls) },
	},
	{
		code: "into_itself", mustConfirm: true,
		applies: func(c *candidate) bool {
			return c.kind == sources.DeadLetterQueue || c.way.Queue == c.letter.Queue
		},
		about: func(c *candidate) string {
			return c.way.Queue + " " + strconv.FormatBool(c.way.Queue == c.letter.Queue)
		},
		says: func(c *candidate, n int) string {
			if c.way.Queue == c.letter.Queue {
				return fmt.Sprintf("the target is the source: %s would go back into %s", letters(n), c.way.Queue)
			}
			return fmt.Sprintf("%s would go to %s, a dead-letter queue", letters(n), c.way.Queue)
		},
	},
	{
		code: "source_read_by_others", mustConfirm: true,
		applies: func(c *candidate) bool { return len(c.others) > 0 },
		about:   func(c *candidate) string { return c.letter.Source + " " + c.letter.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("somebody else reads %s and may redrive too: %s from there", c.letter.Queue, count(n, "letter is", "letters are"))
		},
		seen: func(c *candidate) []string { return c.others },
	},
	{
		code: "old_timestamp", mustConfirm: true,
		applies: func(c *candidate) bool { return tooOld(c) != "" },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s so old that %s deletes or refuses %s when the original timestamp is kept: send with the current time",
				count(n, "letter is", "letters are"), c.way.Queue, either(n, "it", "them"))
		},
		seen: func(c *candidate) []string { return []string{"letter " + c.letter.ID + ": " + tooOld(c)} },
	},
	{
		code: "stored_copy", mustConfirm: true,
		applies: func(c *candidate) bool { return c.letter.Status == Expired && c.letter.Place.MessageID != "" },
		about:   func(c *candidate) string { return c.letter.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s not in %s any more, and somebody else may have taken %s: our stored %s would be sent",
				count(n, "letter is", "letters are"), c.letter.Queue, either(n, "it", "them"), either(n, "copy", "copies"))
		},
	},
}

// tooOld says why a letter that keeps its original timestamp does not last in
// its target; "" when it does, or nobody knows.
func tooOld(c *candidate) string {
	at := OriginalTime(c.letter.DeadLetter)
	if !c.keepTime || c.about.StampsItself || at.IsZero() || c.letter.Place.MessageID != "" {
		return ""
	}
	age := c.now.Sub(at)
	switch {
	case c.about.OldestTaken > 0 && age > c.about.OldestTaken:
		return fmt.Sprintf("of %s; %s refuses records older than %s (message.timestamp.before.max.ms)", moment(at), c.way.Queue, span(c.about.OldestTaken))
	case c.about.Retention > 0 && age > c.about.Retention:
		return fmt.Sprintf("of %s; %s keeps records for %s", moment(at), c.way.Queue, span(c.about.Retention))
	}
	return ""
}

// judge runs the checks over a candidate.
func judge(c *candidate) (refused *check, warnings []*check) {
	for i := range checks {
		k := &checks[i]
		if !k.applies(c) {
			continue
		}
		if k.refuses {
			return k, nil
		}
		warnings = append(warnings, k)
	}
	return nil, warnings
}

// count is a number of things in words: "1 letter is", "12,000 letters are".
func count(n int, one, many string) string { return payload.Count(n) + " " + either(n, one, many) }

func either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// each puts the same words in front of each line.
func each(before string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = before + line
	}
	return out
}

// moment is an instant as evidence has it.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// span is a length of time in words: whole days where it has some.
func span(d time.Duration) string {
	if days := d / (24 * time.Hour); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return d.Round(time.Second).String()
}

// letters is a number of letters in words.
func letters(n int) string { return count(n, "letter", "letters") }

// KnownWarnings tells whether all of the codes are those of warnings.
func KnownWarnings(codes []string) bool {
	for _, code := range codes {
		if !slices.ContainsFunc(checks, func(c check) bool { return c.code == code && !c.refuses }) {
			return false
		}
	}
	return true
}
