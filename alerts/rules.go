package alerts

import "time"

// Paging is whether a rule's incidents wake somebody.
type Paging string

// The ways to page. The zero value is PageOn.
const (
	PageOn   Paging = "true"
	PageWarn Paging = "false" // shown and told as a warning
	PageOff  Paging = "off"
)

// Rule is how the lines that it matches are judged. Patterns are globs over
// the whole name; "" matches everything.
type Rule struct {
	Source, Group, Topic string
	StallAfter           time.Duration // 0: as the rules' own
	Page                 Paging
	Severity             string // critical unless given
	BehindAfter          time.Duration
	Owner                string
	Runbook              string
	Notify               []string // notifiers by name; empty: all
}

// Rules are the configured rules. The first that matches wins.
type Rules struct {
	PollEvery   time.Duration
	StallAfter  time.Duration
	RepeatAfter time.Duration
	List        []Rule
}
