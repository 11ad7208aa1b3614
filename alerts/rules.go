package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Paging is whether a rule's incidents wake somebody.
type Paging string

// The ways to page. The zero value is PageOn.
const (
	PageOn   Paging = "true"
	PageWarn Paging = "false" // shown and told as a warning
	PageOff  Paging = "off"
)

// DefaultStallAfter is how long a line may stand where nothing else is
// configured: longer than the usual budget of a consumer's own retries.
const DefaultStallAfter = 4 * time.Minute

// Rule is how the lines that it matches are judged. Patterns are globs over
// the whole name; "" matches everything.
type Rule struct {
	Source, Group, Topic string
	StallAfter           time.Duration // 0: as the rules' own
	Page                 Paging
	Severity             string        // critical unless given
	BehindAfter          time.Duration // 0: age pages nobody
	Active               Schedule      // outside it nothing pages
	Owner                string
	Runbook              string
	Notify               []string // notifiers by name; empty: all
}

// Rules are the configured rules. The first that matches wins.
type Rules struct {
	PollEvery  time.Duration
	StallAfter time.Duration
	List       []Rule
}

// For is the rule that a line of this source, group and topic is judged by,
// with every default filled in. A source that is not known ("": a recorded
// trace does not say) is no reason for a rule not to match.
func (r Rules) For(source, group, topic string) Rule {
	for _, rule := range r.List {
		if rule.matches(source, group, topic) {
			return r.complete(rule)
		}
	}
	return r.complete(Rule{})
}

func (r Rule) matches(source, group, topic string) bool {
	return (source == "" || matches(r.Source, source)) && matches(r.Group, group) && matches(r.Topic, topic)
}

func matches(pattern, name string) bool {
	return pattern == "" || sources.Glob(pattern, name)
}

func (r Rules) complete(rule Rule) Rule {
	if rule.StallAfter <= 0 {
		rule.StallAfter = r.StallAfter
	}
	if rule.StallAfter <= 0 {
		rule.StallAfter = DefaultStallAfter
	}
	if rule.Page == "" {
		rule.Page = PageOn
	}
	if rule.Severity == "" {
		rule.Severity = "critical"
	}
	return rule
}
