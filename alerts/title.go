package alerts

import (
	"cmp"
	"fmt"

	"github.com/unwedge/unwedge/sources"
)

// title names what is wrong in one line, without what changes from reading to
// reading.
func title(in *Incident, ill []trouble, worst trouble) string {
	l := worst.line
	lines := named(ill, worst.said.Verdict, worst.said.Scope)
	switch worst.said.Verdict {
	case GroupStall:
		return fmt.Sprintf("Group %s stands still: none of its %s with something to read moves", in.Group, several(int64(len(lines)), "partition"))
	case Stopped:
		return fmt.Sprintf("Group %s has stopped: no members, and %s waiting", in.Group, several(int64(len(lines)), "partition"))
	case HeadOfLineStall:
		if worst.said.Scope == MemberScope {
			return fmt.Sprintf("Member %s of group %s hangs: %s stand still together", l.p.Owner, in.Group, partitions(lines))
		}
		if len(lines) > 1 {
			return capital(partitions(lines)) + " are wedged"
		}
		return fmt.Sprintf("Partition %d of %s is wedged at or after offset %s", l.Number, l.Topic, count(l.p.from(l.Lag)))
	case Unassigned:
		return capital(partitions(lines)) + " of group " + in.Group + has(len(lines)) + "no owner"
	case DataLoss:
		return fmt.Sprintf("%s of partition %d of %s were deleted before group %s read them", several(l.p.Loss.To-l.p.Loss.From, "offset"), l.Number, l.Topic, in.Group)
	case OpenTransaction:
		return fmt.Sprintf("A transaction of %s holds partition %d of %s at offset %s, past its own time-out", cmp.Or(l.p.Hanging.By.ID, fmt.Sprintf("producer %d", l.p.Hanging.By.ProducerID)), l.Number, l.Topic, count(l.StableEnd))
	case Slow:
		return capital(partitions(lines)) + has(len(lines)) + "fallen behind by more than " + about(l.rule.BehindAfter)
	}
	return fmt.Sprintf("%s: %s", in.Group, worst.said.Verdict)
}

func has(n int) string {
	if n == 1 {
		return " has "
	}
	return " have "
}

// named are the lines that share a verdict and its scope.
func named(ill []trouble, v Verdict, s Scope) []sources.Partition {
	var out []sources.Partition
	for _, t := range ill {
		if t.said.Verdict == v && t.said.Scope == s {
			out = append(out, t.line.Partition)
		}
	}
	return out
}
