package alerts

import (
	"errors"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// traceReading is one reading of a recorded group.
type traceReading struct {
	T          *float64      `json:"t"`
	State      string        `json:"state"`
	GroupError *string       `json:"group_error,omitempty"`
	Members    []traceMember `json:"members"`
	// MembersKnown is false where the broker did not tell the members of a group
	// that may have some; left out, members that are not listed are known not to
	// be there only of a group that is empty.
	MembersKnown *bool       `json:"members_known,omitempty"`
	Partitions   []traceLine `json:"partitions"`
}

type traceMember struct {
	ID       string       `json:"id"`
	Assigned []tracePlace `json:"assigned"`
}

type tracePlace struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

type traceLine struct {
	Topic          string  `json:"topic"`
	Partition      int32   `json:"partition"`
	Committed      *int64  `json:"committed"`
	CommittedError *string `json:"committed_error,omitempty"`
	Metadata       *string `json:"metadata,omitempty"`
	Start          *int64  `json:"start,omitempty"`
	End            *int64  `json:"end,omitempty"`
	StableEnd      *int64  `json:"stable_end,omitempty"`
	TopicID        string  `json:"topic_id,omitempty"`
	Head           string  `json:"head,omitempty"`
	Error          *string `json:"error,omitempty"`
}

func (r traceReading) group(head traceHead, now time.Time) sources.Group {
	g := sources.Group{
		Source: head.Source, Name: head.Group, Protocol: head.Protocol, State: r.State, ReadAt: now,
		MembersKnown: r.Members != nil || r.State == "Empty" || r.State == "Dead",
	}
	if r.MembersKnown != nil {
		g.MembersKnown = *r.MembersKnown
	}
	if r.GroupError != nil && *r.GroupError != "" {
		g.Err = errors.New(*r.GroupError)
	}
	for _, m := range r.Members {
		member := sources.Member{ID: m.ID}
		for _, a := range m.Assigned {
			member.Assigned = append(member.Assigned, sources.TopicPartition{Topic: a.Topic, Partition: a.Partition})
		}
		g.Members = append(g.Members, member)
	}
	for _, l := range r.Partitions {
		g.Lines = append(g.Lines, l.lag(g))
	}
	return g
}

var (
	errNoOffsets = errors.New("its offsets are not in the reading")
	errNoCommit  = errors.New("its commit is not in the reading")
)

// lag is the line as an adapter would have read it. What is not there was not
// read: it is never taken for 0.
func (t traceLine) lag(g sources.Group) sources.Lag {
	l := sources.Lag{
		Partition: sources.Partition{Source: g.Source, Group: g.Name, Topic: t.Topic, Number: t.Partition},
		Position:  sources.NotKnown, TopicID: t.TopicID, Head: sources.Head(t.Head),
	}
	if l.Head != sources.HeadRecord && l.Head != sources.HeadNone {
		l.Head = sources.HeadNotAsked
	}
	if t.Metadata != nil {
		l.Metadata = *t.Metadata
	}
	switch {
	case t.Error != nil && *t.Error != "":
		l.Err = errors.New(*t.Error)
	case t.End == nil || t.Start == nil:
		l.Err = errNoOffsets
	default:
		l.Start, l.End, l.StableEnd = *t.Start, *t.End, *t.End
		if t.StableEnd != nil {
			l.StableEnd = *t.StableEnd
		}
	}
	switch {
	case t.CommittedError != nil && *t.CommittedError != "":
		l.PositionErr = errors.New(*t.CommittedError)
	case t.Committed == nil:
		l.PositionErr = errNoCommit
	default:
		l.Position = max(*t.Committed, sources.NoCommit)
	}
	return l
}
