package web

import (
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

type incidentsJSON struct {
	Incidents  []incidentJSON `json:"incidents"`
	NextCursor *string        `json:"next_cursor"`
}

type incidentJSON struct {
	ID             string         `json:"id"`
	Number         int64          `json:"number"`
	Source         string         `json:"source"`
	Group          *string        `json:"group"`
	Verdict        string         `json:"verdict"`
	Scope          *string        `json:"scope"`
	Partitions     []lineJSON     `json:"partitions"`
	Queue          *string        `json:"queue"`
	Severity       *string        `json:"severity"`
	Owner          *string        `json:"owner"`
	Runbook        *string        `json:"runbook"`
	Links          []linkJSON     `json:"links"` // outside, of the record at the head
	Pages          bool           `json:"pages"`
	Title          string         `json:"title"`
	Reason         string         `json:"reason"`
	Evidence       evidenceJSON   `json:"evidence"`
	Toll           tollJSON       `json:"toll"`
	OpenedAt       *time.Time     `json:"opened_at"`
	UpdatedAt      *time.Time     `json:"updated_at"`
	AcknowledgedAt *time.Time     `json:"acknowledged_at"`
	AcknowledgedBy *string        `json:"acknowledged_by"`
	ResolvedAt     *time.Time     `json:"resolved_at"`
	Resolution     *string        `json:"resolution"`
	Deliveries     []deliveryJSON `json:"deliveries"`
}

type linkJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// tollJSON is what an incident costs, as far as readings tell.
type tollJSON struct {
	Since          *time.Time `json:"since"`    // it stands, on our clock
	StoodAt        *time.Time `json:"stood_at"` // seen for the last time
	MinutesBlocked *float64   `json:"minutes_blocked"`
	WaitingAtWorst *int64     `json:"waiting_at_worst"`
	WorstAt        *time.Time `json:"worst_at"`
	WaitingLast    *int64     `json:"waiting_last"`
	RecordMinutes  *float64   `json:"record_minutes"`
}

type lineJSON struct {
	Topic        string  `json:"topic"`
	Partition    *int64  `json:"partition"`
	MessageGroup *string `json:"message_group"`
}

type evidenceJSON struct {
	Head     *headJSON     `json:"head"`
	Suspects []suspectJSON `json:"suspects"`
	Waiting  *int64        `json:"waiting"`
	Peers    *string       `json:"peers"`
	Owner    *string       `json:"owner"`
	Sample   int           `json:"sample"` // records before the position that were compared

	Topic       *string    `json:"topic"`     // of the line that all this is of
	Partition   *int64     `json:"partition"` // of that line
	Position    *int64     `json:"position"`
	Since       *time.Time `json:"since"`
	Missing     *string    `json:"missing"` // what could not be read, in a sentence
	Grows       *int64     `json:"grows_per_minute"`
	RetentionAt *time.Time `json:"retention_reaches_it_at"`
}

type headJSON struct {
	Topic     string       `json:"topic"`
	Partition int32        `json:"partition"`
	Offset    int64        `json:"offset"`
	Timestamp *time.Time   `json:"timestamp"`
	Key       keyJSON      `json:"key"`
	Headers   []headerJSON `json:"headers"`
	Value     valueJSON    `json:"value"`
}

type suspectJSON struct {
	Offset int64       `json:"offset"`
	Apart  []apartJSON `json:"apart"`
}

type apartJSON struct {
	Field string  `json:"field"`
	Value *string `json:"value"`
	Usual *string `json:"usual"`
}

type deliveryJSON struct {
	Notifier   string     `json:"notifier"`
	Event      string     `json:"event"`
	State      string     `json:"state"`
	AcceptedAt *time.Time `json:"accepted_at"`
	Attempts   int        `json:"attempts"`
	Error      *string    `json:"error"`
}

func (s *Server) incidentOf(i alerts.Incident) incidentJSON {
	out := incidentJSON{
		ID:             i.ID,
		Number:         i.Number,
		Source:         i.Source,
		Group:          known(i.Group),
		Verdict:        string(i.Verdict),
		Scope:          known(string(i.Scope)),
		Partitions:     make([]lineJSON, 0, len(i.Lines)),
		Queue:          known(i.Queue),
		Severity:       known(i.Severity),
		Owner:          known(i.Owner),
		Runbook:        known(i.Runbook),
		Pages:          i.Pages,
		Title:          i.Title,
		Reason:         i.Reason,
		Evidence:       evidenceOf(i.Evidence),
		Toll:           tollOf(i.Toll),
		Links:          make([]linkJSON, 0),
		OpenedAt:       instant(i.OpenedAt),
		UpdatedAt:      instant(i.UpdatedAt),
		AcknowledgedAt: instant(i.AcknowledgedAt),
		AcknowledgedBy: known(i.AcknowledgedBy),
		ResolvedAt:     instant(i.ResolvedAt),
		Resolution:     known(i.Resolution),
		Deliveries:     make([]deliveryJSON, 0, len(i.Deliveries)),
	}
	for _, at := range s.configured(i.Source).Links.For(i.Subject()) {
		out.Links = append(out.Links, linkJSON(at))
	}
	for _, l := range i.Lines {
		out.Partitions = append(out.Partitions, lineJSON{Topic: l.Topic, Partition: number(int64(l.Number))})
	}
	for _, d := range i.Deliveries {
		out.Deliveries = append(out.Deliveries, deliveryJSON{Notifier: d.Notifier, Event: d.Event, State: string(d.State), AcceptedAt: instant(d.AcceptedAt), Attempts: d.Attempts, Error: known(d.Err)})
	}
	return out
}

func evidenceOf(e alerts.Evidence) evidenceJSON {
	out := evidenceJSON{
		Suspects: make([]suspectJSON, 0, len(e.Suspects)),
		Waiting:  number(e.Waiting),
		Peers:    known(e.Peers),
		Owner:    known(e.Owner),
		Sample:   e.Sample,

		Topic: known(e.Line.Topic), Position: number(e.Position), Since: instant(e.Since), Missing: known(e.Missing), RetentionAt: instant(e.RetentionAt),
	}
	if e.Line.Topic == "" { // of a dead-letter queue, or not looked at
		out.Position = nil
	} else {
		out.Partition = number(int64(e.Line.Number))
	}
	if e.Grows > 0 {
		out.Grows = &e.Grows
	}
	if e.Head != nil {
		out.Head = headOf(*e.Head)
	}
	for _, s := range e.Suspects {
		suspect := suspectJSON{Offset: s.Offset, Apart: make([]apartJSON, 0, len(s.Apart))}
		for _, a := range s.Apart {
			suspect.Apart = append(suspect.Apart, apartJSON{Field: a.Field, Value: known(a.Value), Usual: known(a.Usual)})
		}
		out.Suspects = append(out.Suspects, suspect)
	}
	return out
}

func tollOf(t alerts.Toll) tollJSON {
	out := tollJSON{Since: instant(t.Since), StoodAt: instant(t.StoodAt), WorstAt: instant(t.WorstAt)}
	if !t.Since.IsZero() {
		minutes := t.Blocked().Minutes()
		out.MinutesBlocked = &minutes
	}
	if t.Known() {
		records := t.RecordMinutes()
		out.WaitingAtWorst, out.WaitingLast, out.RecordMinutes = &t.Worst, &t.Last, &records
	}
	return out
}

func headOf(r sources.Record) *headJSON {
	return &headJSON{
		Topic:     r.Topic,
		Partition: r.Partition,
		Offset:    r.Offset,
		Timestamp: instant(r.Timestamp),
		Key:       keyJSON{Text: textOf(r.Key, mostListedValue), Base64: inBase64(r.Key)},
		Headers:   headersOf(r.Headers),
		Value:     bytesOf(r.Body, int64(len(r.Body)), mostListedValue),
	}
}
