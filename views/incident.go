package views

import (
	"slices"
	"strings"
	"time"
)

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
	Event      string // trigger, acknowledge, update, resolve
	State      string // pending, held, accepted, gave_up, needless; "" tells by AcceptedAt
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
	Lines    []IncidentLine // of the incident, as last read; none of one that ended
	// LinesMore is how many of its lines are not listed.
	LinesMore  int
	Cost       *Cost // nil: nobody counted
	ReportHref string
	Known      []Known
	Redrives   []string // ids of those that sent the record at its head, or one of the next
	Head       *Record
	HeadWhy    string // why there is no head record, in a sentence
	Suspects   []SuspectRow
	Sample     int // records before the position that were compared; 0: none
	Timeline   []Moment
	Chart      *Chart
	LagHref    string // the group on the lag page
	Links      []OutLink

	AcknowledgedBy string // "" while nobody has
	AcknowledgedAt time.Time
	Silences       []SilenceRow // that hold back its page now
	Skip           string       // address of the plan of a skip past its head; "" where there is none
	Skips          []SkipRow    // of its lines since it began, oldest first
}

// SuspectRow is a record that may be the one that blocks.
type SuspectRow struct {
	Offset int64
	Apart  []Apart
	Links  []OutLink // of one that is not at the head
}

// IncidentLine is one line of an incident.
type IncidentLine struct {
	Name        string
	Verdict     string
	Position    int64
	Waiting     int64
	Grows       int64 // records a minute; 0: it does not, or nobody knows
	Since       time.Time
	RetentionAt time.Time // when retention reaches the position; zero: not known
	Owner       string
	Reason      string
}

// Cost is what an incident cost.
type Cost struct {
	Blocked       time.Duration
	Worst         int64 // records that waited at once; Unknown when nobody knows
	Last          int64 // of them at the end, or now
	RecordMinutes int64
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

func (p IncidentsPage) lede() string {
	s := "None open."
	if n := len(p.Open); n > 0 {
		s = capital(number(n)) + " open."
	}
	return s + " One incident is one page: it is sent once, and its end is sent once."
}

func (p IncidentsPage) empty() string {
	if p.Group != "" || p.Status != "" {
		return "No incident matches these filters."
	}
	return "Nothing stood still, stopped or lost data since Unwedge runs here."
}

// events is what a message to a notifier said.
var events = map[string]string{"trigger": "page", "acknowledge": "acknowledgement", "update": "change", "resolve": "end"}

func (d DeliveryRow) event() string {
	if word, ok := events[d.Event]; ok {
		return word
	}
	return Visible(d.Event)
}

// taken tells in a word or two whether it was.
func (d DeliveryRow) taken() string {
	switch d.State {
	case "held":
		return "held back"
	case "gave_up":
		return "refused for good"
	case "needless":
		return "not sent"
	}
	return "not taken yet"
}

// hue is that of what was not taken: held back is meant to be so.
func (d DeliveryRow) hue() Hue {
	switch d.State {
	case "held", "needless":
		return NotKnown
	case "gave_up":
		return Stuck
	}
	return Risk
}

// tries is how a delivery went.
func (d DeliveryRow) tries() string {
	switch {
	case d.Attempts == 0 && d.AcceptedAt.IsZero() && d.Error != "":
		return capital(Visible(d.Error))
	case d.AcceptedAt.IsZero() && d.Error != "":
		return Plural(d.Attempts, "attempt") + "; the last said: " + Visible(d.Error)
	case d.AcceptedAt.IsZero():
		return Plural(d.Attempts, "attempt")
	case d.Attempts <= 1:
		return "accepted at the first try"
	case d.Error != "":
		return "accepted at try " + number(d.Attempts) + "; before: " + Visible(d.Error)
	default:
		return "accepted at try " + number(d.Attempts)
	}
}

// headline is what is, or what was: of one that ended the title, without since
// when.
func (p IncidentPage) headline() string {
	if p.What == "" || !p.Incident.ResolvedAt.IsZero() {
		return strings.TrimSuffix(p.Incident.Title, ".")
	}
	return p.What
}

func (p IncidentPage) headlineSince() time.Time {
	if p.What == "" || !p.Incident.ResolvedAt.IsZero() {
		return time.Time{}
	}
	return p.Since
}

// in is what the incident belongs to.
func (p IncidentPage) in() string {
	if p.Queue != "" {
		return p.Queue
	}
	return p.Incident.Group
}

func (p IncidentPage) sampleSays() string {
	if p.Sample <= 0 {
		return "A consumer stands at the first record of what it polled: any of the next 500 may be the one that blocks."
	}
	return "Compared with " + Plural(p.Sample, "record") + " before the position. A consumer stands at the first record of what it polled: any of the next 500 may be the one that blocks."
}

func number64(n int64) string { return Number(n) }

// The box that a chart is drawn in.
const (
	chartWidth = 300
	chartTop   = 10
	chartFloor = 91
)

func (c Chart) drawable() bool { return len(c.Line) > 1 && c.To.After(c.From) }

// most is the highest lag that is drawn.
func (c Chart) most() int64 {
	most := int64(0)
	for _, v := range slices.Concat(c.Line, c.Others) {
		most = max(most, v)
	}
	return most
}

// points is a line of the chart, one text for each run of readings.
func (c Chart) points(values []int64) []string {
	var runs, run []string
	for i, v := range values {
		if v < 0 {
			runs, run = endRun(runs, run), nil
			continue
		}
		x := float64(i) * chartWidth / float64(max(1, len(values)-1))
		y := chartFloor - float64(chartFloor-chartTop)*float64(v)/float64(max(1, c.most()))
		run = append(run, coordinate(x)+","+coordinate(y))
	}
	return endRun(runs, run)
}

// marks is where on the chart the line stopped, and where it went on.
func (c Chart) marks() []string {
	var at []string
	for _, t := range []time.Time{c.Since, c.Until} {
		if t.IsZero() || t.Before(c.From) || t.After(c.To) {
			continue
		}
		at = append(at, coordinate(chartWidth*float64(t.Sub(c.From))/float64(c.To.Sub(c.From))))
	}
	return at
}

// nothingApart says that no record was found to differ.
func (p IncidentPage) nothingApart() string {
	if len(p.Suspects) > 0 || p.Sample <= 0 || p.Head == nil {
		return ""
	}
	return "Nothing sets it, or the records after it, apart from the " + Plural(p.Sample, "record") + " before."
}

// tells tells whether the timeline says something already.
func (p IncidentPage) tells(what string) bool {
	return slices.ContainsFunc(p.Timeline, func(m Moment) bool { return m.More == what })
}
