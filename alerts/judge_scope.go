package alerts

import "time"

// scopes tells how far the stalls among the verdicts reach, by the lines that
// do not stall.
func (g group) scopes(lines []line, out []Judgement) {
	first := g.firstStall(lines, out, every(lines))
	if first.IsZero() {
		return
	}
	var standing []int
	healthy := 0
	for i, l := range lines {
		switch {
		case g.standing(l, out[i].Verdict, first):
			standing = append(standing, i)
		case well(out[i].Verdict):
			healthy++
		}
	}
	if (len(standing) >= 2 && healthy == 0) || g.churn.endless(lines[standing[0]].rule.StallAfter) {
		for _, i := range standing {
			if out[i].Verdict != DataLoss {
				out[i].Verdict, out[i].Scope = GroupStall, GroupScope
			}
		}
		return
	}
	g.memberScopes(lines, out)
}

// firstStall is when the first of these lines that stall began to stand; zero
// when none does.
func (g group) firstStall(lines []line, out []Judgement, of []int) time.Time {
	var first time.Time
	for _, i := range of {
		since := lines[i].p.Wait.Since
		if out[i].Verdict == HeadOfLineStall && (first.IsZero() || since.Before(first)) {
			first = since
		}
	}
	return first
}

// well tells whether a line with this verdict moves or has nothing to read.
func well(v Verdict) bool {
	return v == OK || v == Slow || v == Rewind || v == OpenTransaction || v == DataLoss
}

// standing tells whether a line stalls, or began to stand together with the
// first that does: within half of stall_after, and for longer than it usually
// does. Readings are seconds apart, and what stopped at one moment passes its
// threshold at different ones: the page must name its scope at once.
func (g group) standing(l line, v Verdict, first time.Time) bool {
	if v == HeadOfLineStall || (v == DataLoss && l.frozen(g)) {
		return true
	}
	together := !l.p.Wait.Since.After(first.Add(l.rule.StallAfter / 2))
	return (v == OK || v == Slow || v == Rewind) && together && l.stands(g, l.threshold()/2) && !l.justTaken(g)
}

// memberScopes finds members all of whose lines with something to read froze
// together: then the member hangs, whatever the record.
func (g group) memberScopes(lines []line, out []Judgement) {
	for _, own := range byOwner(lines) {
		hung := g.hung(lines, out, own)
		if len(hung) < 2 {
			continue
		}
		for _, i := range hung {
			if out[i].Verdict != DataLoss {
				out[i].Verdict, out[i].Scope = HeadOfLineStall, MemberScope
			}
		}
	}
}

// hung are the lines of one member that stand, when none of the others moves
// and none stopped at another time; nil otherwise.
func (g group) hung(lines []line, out []Judgement, own []int) []int {
	first := g.firstStall(lines, out, own)
	if first.IsZero() {
		return nil
	}
	var hung []int
	for _, i := range own {
		l := lines[i]
		switch {
		case g.standing(l, out[i].Verdict, first) && !l.p.RoseAt.After(first.Add(l.rule.StallAfter/2)):
			hung = append(hung, i)
		case l.p.Waits != nothingWaits || l.unread():
			return nil
		}
	}
	return hung
}

// byOwner groups the lines of a reading by who owns them, or did last.
func byOwner(lines []line) map[string][]int {
	owned := map[string][]int{}
	for i, l := range lines {
		if l.p.Owner != "" {
			owned[l.p.Owner] = append(owned[l.p.Owner], i)
		}
	}
	return owned
}

func every(lines []line) []int {
	all := make([]int, len(lines))
	for i := range lines {
		all[i] = i
	}
	return all
}
