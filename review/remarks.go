package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// remarks are what a plan tells and nobody needs to confirm.
var remarks = []check{
	{
		code:    "target_from_header",
		applies: func(c *candidate) bool { return c.way.Hint },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("only a header says that %s to %s: no name rule, mapping or policy confirms it, and whoever writes the record writes its headers",
				count(n, "letter goes", "letters go"), c.way.Queue)
		},
	},
	{
		code:    "many_receivers",
		applies: func(c *candidate) bool { return len(c.receivers) > 1 },
		about:   func(c *candidate) string { return c.way.Queue + " " + c.letter.Origin.Group },
		says:    alsoReceive,
		seen:    receiversSeen,
	},
	{
		code:    "no_reader",
		applies: func(c *candidate) bool { return c.asked && len(c.receivers) == 0 },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("nobody reads %s: %s would wait there for a reader", c.way.Queue, letters(n))
		},
		seen: func(c *candidate) []string {
			return []string{"no group has a member on " + c.way.Queue + ", or has ever committed a position there"}
		},
	},
	{
		code:    "newer_same_key",
		applies: func(c *candidate) bool { return c.newer != "" },
		says: func(_ *candidate, n int) string {
			return count(n, "letter has", "letters have") + " newer records of the same key: what " + either(n, "it says", "they say") + " may be out of date"
		},
		seen: func(c *candidate) []string { return []string{"letter " + c.letter.ID + ": " + c.newer} },
	},
	{
		code:    "tombstone",
		applies: func(c *candidate) bool { return c.about.Compacted && c.sent.Body == nil && c.sent.Key != nil },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s no value: in %s, which is compacted, that deletes %s", count(n, "letter has", "letters have"), c.way.Queue, either(n, "its key", "their keys"))
		},
	},
	{
		code:    "key_needed",
		applies: func(c *candidate) bool { return c.about.Compacted && c.sent.Key == nil },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s is compacted: a key is needed, and %s none: the broker will refuse %s", c.way.Queue, count(n, "letter has", "letters have"), either(n, "it", "them"))
		},
	},
	{
		code:    "fifo_dedup",
		applies: func(c *candidate) bool { return dedups(c) != "" },
		about:   func(c *candidate) string { return c.way.Queue + strconv.FormatBool(c.about.DefaultDedup) },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s to %s, which drops repeats within five minutes: %s of our own, and a repeat that the producer sends is not recognised by it",
				count(n, "letter goes", "letters go"), c.way.Queue, either(n, "it gets a deduplication id", "they get deduplication ids"))
		},
		seen: func(c *candidate) []string { return []string{dedups(c)} },
	},
	{
		code:    "fifo_order",
		applies: func(c *candidate) bool { return c.about.FIFO && c.letter.System["MessageGroupId"] != "" },
		about:   func(c *candidate) string { return c.way.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s to the end of %s in %s: behind what was sent there since", count(n, "letter goes", "letters go"), either(n, "its message group", "their message groups"), c.way.Queue)
		},
	},
	{
		code:    "rescued",
		applies: func(c *candidate) bool { return c.letter.Status == Expired && c.letter.Place.MessageID == "" },
		about:   func(c *candidate) string { return c.letter.Queue },
		says: func(c *candidate, n int) string {
			return fmt.Sprintf("%s has forgotten %s: our stored %s sent", c.letter.Queue, letters(n), either(n, "copy is", "copies are"))
		},
	},
	{
		code: "expires_soon",
		applies: func(c *candidate) bool {
			return c.letter.Status != Expired && !c.letter.ExpiresAt.IsZero() && c.letter.ExpiresAt.Before(c.now.Add(expiresSoon))
		},
		says: func(_ *candidate, n int) string {
			return "the broker forgets " + letters(n) + " within a day"
		},
		seen: func(c *candidate) []string {
			return []string{fmt.Sprintf("letter %s may be gone from %s on", c.letter.ID, moment(c.letter.ExpiresAt))}
		},
	},
}

// alsoReceive names the groups that receive letters besides the one that failed
// on them (C76).
func alsoReceive(c *candidate, n int) string {
	var others []string
	failed := false
	for _, r := range c.receivers {
		if r.Group == c.letter.Origin.Group {
			failed = true
			continue
		}
		others = append(others, r.Group)
	}
	these := either(n, "this 1 letter", "these "+payload.Count(n)+" letters")
	if !failed {
		return fmt.Sprintf("%s will each receive %s, for all of them read %s", namesIn(others), these, c.way.Queue)
	}
	return fmt.Sprintf("%s will also receive %s, and not only %s, which failed on %s", namesIn(others), these, c.letter.Origin.Group, either(n, "it", "them"))
}

// receiversSeen are the groups that read a target, as they stand.
func receiversSeen(c *candidate) []string {
	var out []string
	for _, r := range c.receivers {
		line := fmt.Sprintf("%s reads %s: %s, %s", r.Group, r.Queue, orUnknown(r.State), lagWords(r.Lag))
		switch {
		case r.Group == c.letter.Origin.Group:
			line += "; it is the one that failed"
		case r.Lag == 0 && c.letter.Origin.Queue == r.Queue:
			line += "; it has read past the original already"
		}
		out = append(out, line)
	}
	return out
}

func orUnknown(state string) string {
	if state == "" {
		return "state unknown"
	}
	return state
}

func lagWords(lag int64) string {
	if lag == sources.NotKnown {
		return "lag unknown"
	}
	return "lag " + payload.Count(lag)
}

// dedups says why a FIFO queue might take a letter for a repeat; "" when it is
// none, or would not.
func dedups(c *candidate) string {
	switch {
	case !c.about.FIFO:
		return ""
	case c.about.DefaultDedup:
		return c.way.Queue + " tells repeats by the body (content-based deduplication); it does not look at the body where an id is given"
	}
	sent := sentAt(c.letter)
	if sent.IsZero() || c.now.Sub(sent) > dedupFor {
		return ""
	}
	return fmt.Sprintf("letter %s was sent at %s, less than five minutes ago", c.letter.ID, moment(sent))
}

// sentAt is when SQS took a message; zero when it does not say.
func sentAt(l Letter) time.Time {
	ms, err := strconv.ParseInt(l.System["SentTimestamp"], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// namesIn are names in a sentence: "a", "a and b", "a, b and 3 more".
func namesIn(names []string) string {
	const most = 5
	names = slices.Clone(names)
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
