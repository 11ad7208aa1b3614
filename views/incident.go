package views

import "time"

// IncidentsPage lists open and past incidents.
type IncidentsPage struct {
	Frame
	Open    []IncidentRow
	Past    []IncidentRow
	Already []IncidentRow // stopped when we first looked: listed, not paged
	Filters []Filter
	Group   string
	Status  string
	Pager   Pager // of the past ones
}

// IncidentRow is one incident in a list.
type IncidentRow struct {
	IncidentRef
	Title      string
	Source     string
	Group      string
	Verdict    string
	Severity   string
	OpenedAt   time.Time
	ResolvedAt time.Time // zero while it is open
	Resolution string
	Pages      bool
	Deliveries []DeliveryRow
}

// DeliveryRow is what became of one message to one notifier.
type DeliveryRow struct {
	Notifier   string
	Event      string // trigger, acknowledge, resolve
	AcceptedAt time.Time
	Attempts   int
	Error      string
}

// IncidentPage is one incident.
type IncidentPage struct {
	Frame
	Incident IncidentRow
	What     string // as NowIncident.What
	Since    time.Time
	Scope    string
	Queue    string // of a dead-letter incident
	Reason   string
	Owner    string
	Runbook  string // URL
	Waiting  int64
	Peers    string
	LineOf   string // owner of the line: "client id (member id)"
	Lanes    []Lane
	Known    []Known
	Head     *Record
	HeadWhy  string // why there is no head record, in a sentence
	Suspects []SuspectRow
	Sample   int // records before the position that were compared; 0: none
	Timeline []Moment
	Chart    *Chart
	LagHref  string // the group on the lag page
	Links    []OutLink
}

// SuspectRow is a record that may be the one that blocks.
type SuspectRow struct {
	Offset int64
	Apart  []Apart
}

// Chart is lag over time.
type Chart struct {
	From, To time.Time
	Since    time.Time // when the line last moved; zero: not marked
	Until    time.Time // when it moved again; zero: not marked
	Line     []int64   // evenly spaced from From to To; Unknown where not read
	Others   []int64   // its peers together; empty: it has none
	LineName string    // "Partition 3"
}
