package review

import (
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// changes collects what is another way than it was planned. The world of a plan
// is its letters, their targets with their partitions, and the groups that read
// those; lag, state and later arrivals do not count.
type changes struct {
	order []change
	found map[change]*changed
}

// change is what happened; the letters that it happened to stand between before
// and after.
type change struct{ before, after string }

// changed are the letters that something happened to.
type changed struct {
	first   []string
	letters int // 0: no letter is named
}

// tell notes a change that is told without letters.
func (c *changes) tell(format string, args ...any) {
	c.note(change{before: fmt.Sprintf(format, args...)})
}

// add notes a change of a letter.
func (c *changes) add(before, letter, after string) {
	of := c.note(change{before, after})
	of.letters++
	if len(of.first) < someMost {
		of.first = append(of.first, letter)
	}
}

func (c *changes) note(what change) *changed {
	if c.found == nil {
		c.found = map[change]*changed{}
	}
	of := c.found[what]
	if of == nil {
		of = &changed{}
		c.found[what], c.order = of, append(c.order, what)
	}
	return of
}

// lines are the changes as sentences, each once.
func (c *changes) lines() []string {
	var out []string
	for _, what := range c.order {
		names, of := "", c.found[what]
		switch {
		case of.letters == 1:
			names = "letter " + of.first[0]
		case of.letters > 1:
			names = fmt.Sprintf("%s (%s)", letters(of.letters), andMore(of.first, of.letters))
		}
		out = append(out, what.before+names+what.after)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// compare notes what is different about a letter.
func (c *changes) compare(was, is Planned) {
	switch {
	case was.Target == nil && is.Target == nil:
	case is.Target == nil:
		c.add(was.Target.Queue+", the target of ", was.LetterID, ", is gone")
		return
	case was.Target == nil:
		c.add("", was.LetterID, " has a target now: "+is.Target.Queue)
	case was.Target.Queue != is.Target.Queue:
		c.add("", was.LetterID, " would go to "+is.Target.Queue+" now, not to "+was.Target.Queue)
	case was.Target.TopicID != is.Target.TopicID:
		c.tell("%s was deleted and made again", was.Target.Queue)
	case !samePartition(was.Target.Partition, is.Target.Partition):
		c.add(was.Target.Queue+" has other partitions: ", was.LetterID, " would go to another one")
	}
	if was.Refused == "" && is.Refused != "" {
		c.add("", was.LetterID, " cannot be sent any more: "+is.Because)
	}
	for _, code := range []string{"stored_copy", "rescued"} {
		if !slices.Contains(was.Warnings, code) && slices.Contains(is.Warnings, code) {
			c.add("", was.LetterID, " has expired: the broker does not have it any more")
		}
	}
}

func samePartition(a, b *int32) bool { return a == b || a != nil && b != nil && *a == *b }

// compareTargets notes targets that were made again or have other partitions.
// That counts also where these letters would go to the same ones: what their
// keys share a partition with is another thing now.
func (c *changes) compareTargets(was, is []PlanTarget) {
	for _, t := range was {
		at := slices.IndexFunc(is, func(o PlanTarget) bool { return o.Source == t.Source && o.Queue == t.Queue })
		switch {
		case at < 0: // that it is gone is told of its letters
		case is[at].TopicID != t.TopicID:
			c.tell("%s was deleted and made again", t.Queue)
		case is[at].Partitions != t.Partitions:
			c.tell("%s has %d partitions now, not %d", t.Queue, is[at].Partitions, t.Partitions)
		}
	}
}

// compareReceivers notes groups that came to read a target, or went.
func (c *changes) compareReceivers(was, is []sources.Receiver) {
	in := func(list []sources.Receiver, r sources.Receiver) bool {
		return slices.ContainsFunc(list, func(o sources.Receiver) bool { return o.Queue == r.Queue && o.Group == r.Group })
	}
	for _, r := range is {
		if !in(was, r) {
			c.tell("group %s reads %s now", r.Group, r.Queue)
		}
	}
	for _, r := range was {
		if !in(is, r) {
			c.tell("group %s does not read %s any more", r.Group, r.Queue)
		}
	}
}
