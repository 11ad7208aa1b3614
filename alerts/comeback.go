package alerts

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Comeback pages of groups whose workers were stopped on purpose and do not come
// back. It is an incident of its own: that of the line may be over by then.
type Comeback struct {
	Store WatchStore
	Rules Rules
	To    []Recipient
	Wake  func()
}

// Raise opens the incident with an id that the caller has written down: a second
// time is no second page.
func (c *Comeback) Raise(ctx context.Context, id string, p sources.Partition, why string, at time.Time) error {
	in := c.incident(id, p, why, at)
	return c.turn(ctx, Change{Incident: in, Tell: told(&in, c.To)})
}

// Over resolves it.
func (c *Comeback) Over(ctx context.Context, id string, p sources.Partition, why string, at time.Time) error {
	in := c.incident(id, p, why, at)
	in.ResolvedAt, in.Resolution = at, "its workers are back"
	return c.turn(ctx, Change{Incident: in})
}

func (c *Comeback) incident(id string, p sources.Partition, why string, at time.Time) Incident {
	rule := c.Rules.For(p.Source, p.Group, p.Topic)
	in := Incident{
		ID: id, Source: p.Source, Group: p.Group, Verdict: Stopped, Scope: GroupScope, Severity: rule.Severity, Owner: rule.Owner,
		Runbook: rule.Runbook, Notify: rule.Notify, Pages: true, OpenedAt: at, UpdatedAt: at,
		Title:  "The workers of group " + p.Group + " were stopped for a skip and do not come back",
		Reason: why,
	}
	in.Evidence.Waiting, in.Evidence.Position = sources.NotKnown, sources.NotKnown
	return in
}

func (c *Comeback) turn(ctx context.Context, change Change) error {
	err := c.Store.Turn(ctx, Turn{Source: change.Source, At: change.UpdatedAt, Incidents: []Change{change}})
	if err == nil && c.Wake != nil {
		c.Wake()
	}
	return err
}
