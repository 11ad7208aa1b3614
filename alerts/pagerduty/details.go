package pagerduty

import (
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// details are what stands under the summary. No key, header or body of a record
// is in them: only what sets a suspect apart, which is masked already.
type details struct {
	Incident   int64     `json:"incident,omitempty"` // the short number
	Reason     string    `json:"reason,omitempty"`
	Verdict    string    `json:"verdict"`
	Scope      string    `json:"scope,omitempty"`
	Source     string    `json:"source"`
	Group      string    `json:"group,omitempty"`
	Queue      string    `json:"queue,omitempty"`
	Partitions []string  `json:"partitions,omitempty"` // the first 20, "and N more"
	Since      string    `json:"since,omitempty"`
	Opened     string    `json:"opened"`
	Ended      string    `json:"ended,omitempty"`
	Resolution string    `json:"resolution,omitempty"`
	Late       string    `json:"late,omitempty"`
	Waiting    *int64    `json:"waiting,omitempty"`
	Peers      string    `json:"peers,omitempty"`
	Grows      int64     `json:"grows_per_minute,omitempty"`
	Retention  string    `json:"retention_reaches_it_at,omitempty"`
	Head       *head     `json:"head,omitempty"`
	Suspects   []suspect `json:"suspects,omitempty"`
	NotKnown   string    `json:"not_known,omitempty"`
	Member     string    `json:"member,omitempty"` // who owns the line
	Owner      string    `json:"owner,omitempty"`  // who looks after the group
	Runbook    string    `json:"runbook,omitempty"`
}

// head is where the line stands: the record there is the first suspect.
type head struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

type suspect struct {
	Offset int64   `json:"offset"`
	Apart  []apart `json:"apart"`
}

type apart struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Usual string `json:"usual"`
}

func detailsOf(e alerts.Event) *details {
	in, ev := e.Incident, e.Incident.Evidence
	d := &details{
		Incident: in.Number, Reason: short(in.Reason), Verdict: string(in.Verdict), Scope: string(in.Scope),
		Source: short(in.Source), Group: short(in.Group), Queue: short(in.Queue), Partitions: alerts.PartitionNames(in),
		Since: instant(ev.Since), Opened: instant(in.OpenedAt), Ended: instant(in.ResolvedAt), Resolution: short(in.Resolution),
		Peers: short(ev.Peers), Head: headOf(ev), Suspects: suspectsOf(ev), NotKnown: short(ev.Missing),
		Member: short(ev.Owner), Owner: short(in.Owner), Runbook: in.Runbook,
	}
	d.Grows, d.Retention = ev.Grows, instant(ev.RetentionAt)
	if e.Waiting != sources.NotKnown {
		d.Waiting = &e.Waiting
	}
	if e.Late {
		d.Late = "it could not be sent before it was over"
	}
	return d
}

func headOf(ev alerts.Evidence) *head {
	switch {
	case ev.Head != nil:
		return &head{Topic: ev.Head.Topic, Partition: ev.Head.Partition, Offset: ev.Head.Offset}
	case ev.Line.Topic != "" && ev.Position >= 0:
		return &head{Topic: ev.Line.Topic, Partition: ev.Line.Number, Offset: ev.Position}
	}
	return nil
}

func suspectsOf(ev alerts.Evidence) []suspect {
	var out []suspect
	for _, s := range ev.Suspects[:min(len(ev.Suspects), suspects)] {
		one := suspect{Offset: s.Offset, Apart: []apart{}}
		for _, a := range s.Apart[:min(len(s.Apart), suspects)] {
			one.Apart = append(one.Apart, apart{Field: short(a.Field), Value: short(a.Value), Usual: short(a.Usual)})
		}
		out = append(out, one)
	}
	return out
}

func short(s string) string { return alerts.Cut(s, valueCharacters) }

// instant is a time as RFC 3339 in UTC, "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
