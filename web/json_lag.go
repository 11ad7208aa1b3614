package web

import (
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// lagJSON is the answer of GET /api/v1/lag.
type lagJSON struct {
	Groups     []groupJSON  `json:"groups"`
	Sources    []sourceJSON `json:"sources"`
	NextCursor *string      `json:"next_cursor"`
}

type sourceJSON struct {
	Source string     `json:"source"`
	ReadAt *time.Time `json:"read_at"`
	Error  *string    `json:"error"`
}

type groupJSON struct {
	Source     string          `json:"source"`
	Group      string          `json:"group"`
	Protocol   *string         `json:"protocol"`
	State      *string         `json:"state"`
	Lag        *int64          `json:"lag"`
	LagUnknown int             `json:"lag_unknown"` // lines whose lag is not known: lag is then "at least"
	Verdict    string          `json:"verdict"`
	Members    *int64          `json:"members"`
	ReadAt     *time.Time      `json:"read_at"`
	Error      *string         `json:"error"`
	Partitions []partitionJSON `json:"partitions"`
}

type partitionJSON struct {
	Topic         string     `json:"topic"`
	Partition     *int64     `json:"partition"`
	MessageGroup  *string    `json:"message_group"`
	Position      *int64     `json:"position"`
	Start         *int64     `json:"start"`
	End           *int64     `json:"end"`
	StableEnd     *int64     `json:"stable_end"`
	Lag           *int64     `json:"lag"`
	BehindSeconds *float64   `json:"behind_seconds"`
	Owner         *string    `json:"owner"`
	Verdict       string     `json:"verdict"`
	Scope         *string    `json:"scope"`
	Since         *time.Time `json:"since"`
	Reason        string     `json:"reason"`
	Note          *string    `json:"note"`
	Error         *string    `json:"error"`
}

func sourceOf(r alerts.SourceRead) sourceJSON {
	return sourceJSON{Source: r.Source, ReadAt: instant(r.ReadAt), Error: known(r.Err)}
}

func groupOf(g alerts.GroupView) groupJSON {
	out := groupJSON{
		Source:     g.Source,
		Group:      g.Group,
		Protocol:   known(string(g.Protocol)),
		State:      known(g.State),
		Lag:        number(g.Lag),
		LagUnknown: g.NotKnown,
		Verdict:    string(g.Verdict),
		Members:    number(int64(g.Members)),
		ReadAt:     instant(g.ReadAt),
		Error:      known(g.Err),
		Partitions: make([]partitionJSON, 0, len(g.Lines)),
	}
	for _, l := range g.Lines {
		out.Partitions = append(out.Partitions, partitionOf(l))
	}
	return out
}

func partitionOf(l alerts.LineView) partitionJSON {
	return partitionJSON{
		Topic:         l.Topic,
		Partition:     number(int64(l.Number)),
		Position:      number(l.Position),
		Start:         number(l.Start),
		End:           number(l.End),
		StableEnd:     number(l.StableEnd),
		Lag:           number(l.Lag),
		BehindSeconds: seconds(l.Behind),
		Owner:         known(l.Owner),
		Verdict:       string(l.Verdict),
		Scope:         known(string(l.Scope)),
		Since:         instant(l.Since),
		Reason:        l.Reason,
		Note:          known(l.Note),
		Error:         known(l.Err),
	}
}
