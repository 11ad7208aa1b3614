package review

import (
	"slices"
	"strings"
)

const (
	// mostNamed is how many letters a warning of a plan names; it counts them all.
	mostNamed = 1000
	// mostEvidence is how many lines of evidence a warning has, mostTold how many
	// sentences.
	mostEvidence = 20
	mostTold     = 3
)

// warned collects what the checks found, for the warnings of the whole plan.
type warned map[string]*warnings

// warnings are those of one code.
type warnings struct {
	Warning
	groups []*together // in the order in which they came
	by     map[string]*together
}

// together are letters that are told of in one sentence.
type together struct {
	first   candidate
	letters int
}

// add notes what was found of a letter.
func (w warned) add(c *candidate, found []*check) {
	for _, k := range found {
		all := w[k.code]
		if all == nil {
			all = &warnings{Warning: Warning{Code: k.code, MustConfirm: k.mustConfirm}, by: map[string]*together{}}
			w[k.code] = all
		}
		all.add(c, k)
	}
}

func (w *warnings) add(c *candidate, k *check) {
	w.Count++
	if len(w.LetterIDs) < mostNamed {
		w.LetterIDs = append(w.LetterIDs, c.letter.ID)
	}
	about := ""
	if k.about != nil {
		about = k.about(c)
	}
	group := w.by[about]
	fresh := group == nil
	if fresh {
		group = &together{first: c.withoutBody()}
		w.by[about] = group
		w.groups = append(w.groups, group)
	}
	group.letters++
	if k.seen != nil && (fresh || k.about == nil) && len(w.Evidence) < mostEvidence {
		for _, line := range k.seen(c) {
			if len(w.Evidence) < mostEvidence && !slices.Contains(w.Evidence, line) {
				w.Evidence = append(w.Evidence, line)
			}
		}
	}
}

// withoutBody is a candidate that may be kept.
func (c *candidate) withoutBody() candidate {
	kept := *c
	kept.letter.Body, kept.sent.Body = nil, nil
	kept.letter.Headers, kept.sent.Headers = nil, nil
	return kept
}

// all are the warnings of the plan, in the order of the checks.
func (w warned) all() []Warning {
	out := []Warning{}
	for i := range checks {
		if one := w[checks[i].code]; one != nil {
			one.Message = one.message(&checks[i])
			out = append(out, one.Warning)
		}
	}
	return out
}

func (w *warnings) message(k *check) string {
	var told []string
	left := 0
	for i, g := range w.groups {
		if i < mostTold {
			told = append(told, k.says(&g.first, g.letters))
		} else {
			left += g.letters
		}
	}
	if left > 0 {
		told = append(told, "and so for "+letters(left)+" more")
	}
	return strings.Join(told, "; ")
}

// confirmable are the warnings that a person must confirm.
func confirmable(all []Warning) []Warning {
	var out []Warning
	for _, w := range all {
		if w.MustConfirm {
			out = append(out, w)
		}
	}
	return out
}
