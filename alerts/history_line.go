package alerts

import (
	"github.com/unwedge/unwedge/sources"
)

// recorded is a reading of a group as replay reads it: what replay makes of it
// is what was judged.
func recorded(g sources.Group, t float64) traceReading {
	r := traceReading{T: &t, State: g.State, GroupError: textOf(g.Err), Members: []traceMember{}, Partitions: make([]traceLine, 0, len(g.Lines))}
	if !g.MembersKnown {
		r.MembersKnown = &g.MembersKnown
	}
	for _, m := range g.Members {
		member := traceMember{ID: m.ID, Assigned: make([]tracePlace, 0, len(m.Assigned))}
		for _, a := range m.Assigned {
			member.Assigned = append(member.Assigned, tracePlace{a.Topic, a.Partition})
		}
		r.Members = append(r.Members, member)
	}
	for _, l := range g.Lines {
		r.Partitions = append(r.Partitions, recordedLine(l))
	}
	return r
}

func recordedLine(l sources.Lag) traceLine {
	t := traceLine{
		Topic: l.Topic, Partition: l.Number, TopicID: l.TopicID, Head: string(l.Head),
		CommittedError: textOf(l.PositionErr), Error: textOf(l.Err),
	}
	if l.PositionErr == nil {
		t.Committed = &l.Position
	}
	if l.Metadata != "" {
		t.Metadata = &l.Metadata
	}
	if l.Err == nil {
		t.Start, t.End, t.StableEnd = &l.Start, &l.End, &l.StableEnd
	}
	return t
}

// textOf is an error as a history has it; nil for none.
func textOf(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	return &text
}
