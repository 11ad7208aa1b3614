package views

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// NowPage answers at a glance whether anything is wedged, stopped or losing
// data, whether a source is unread, and how many letters came in.
type NowPage struct {
	Frame
	Incidents []NowIncident // open ones that page, worst first
	Lost      []LostSource  // sources that could not be read
	Watch     []WatchRow    // not well, and no page
	// Groups, Partitions and Strips are of everything that was read.
	Groups     int
	Partitions int
	ReadWithin time.Duration // how long ago the oldest reading of them was
	Strips     []GroupStrip
	Last       *PastIncident // the last one that ended; nil: there was none
	Letters    NowLetters
	Expiring   NowExpiring
	Holds      []SourceRow
}

// NowIncident is an open incident, told so that a person half asleep knows
// what is so.
type NowIncident struct {
	IncidentRef
	Verdict string
	Source  string
	Group   string // or the dead-letter queue
	// What is the sentence without its end: "Partition 3 of
	// payment.retry.requests is wedged at or after offset 118,204". Since and a
	// full stop are added.
	What     string
	Since    time.Time
	Waiting  int64     // readable records behind it; Unknown when not known
	OldestAt time.Time // of the oldest of them
	Peers    string    // "The other five partitions are fine."; "" when there are none
	Lanes    []Lane    // the lines of the group; left out where there are more than a dozen
	Head     *Record   // nil: not read, or there is none
	HeadWhy  string    // why there is no head record, in a sentence
	Known    []Known
	Paged    *Paged // nil: nothing was sent yet
	Runbook  string // URL; "" for none
	Owner    string // who looks after the group
}

// Lane is one line of an incident's group.
type Lane struct {
	Name    string
	Verdict string
	Waiting int64
}

// Known is one thing that is known, or is known not to be.
type Known struct {
	Text string
	Not  bool // it is not known
}

// Paged says that somebody was told.
type Paged struct {
	At     time.Time // when it was accepted; zero: not yet
	By     string    // the notifier
	Error  string    // why it was not accepted yet
	Others int       // further notifiers that accepted it
}

// LostSource is a source that cannot be read now.
type LostSource struct {
	Name       string
	Kind       string // "Kafka, 3 brokers"
	ReadAt     time.Time
	Error      string
	Groups     int
	Partitions int
	TryEvery   time.Duration // 0: not said
}

// WatchRow is a group that is not well and does not page.
type WatchRow struct {
	Source  string
	Group   string
	Verdict string
	Means   string
	Lag     int64
}

// GroupStrip is a group as a row of cells.
type GroupStrip struct {
	Source string
	Group  string
	Cells  []Cell
}

// PastIncident is an incident that ended.
type PastIncident struct {
	IncidentRef
	OpenedAt   time.Time
	ResolvedAt time.Time
}

// NowLetters sums up the letters since the last review.
type NowLetters struct {
	Since  time.Time // the last review; zero: there was none yet
	Total  int
	Causes int
	Days   []DayCount
	Top    []CauseLine
}

// DayCount is how many letters came on one day.
type DayCount struct {
	Day   time.Time
	Count int
}

// CauseLine is a cause in one line.
type CauseLine struct {
	ID    string
	Title string
	Badge string // new, growing, back, known
	Count int
}

// NowExpiring sums up the letters that a broker forgets before the next
// review.
type NowExpiring struct {
	Before time.Time
	Total  int
	Of     int // open letters
	Queues []ExpiringQueue
}

// ExpiringQueue is a queue that forgets letters before the next review.
type ExpiringQueue struct {
	Source    string
	Queue     string
	First     time.Time
	Count     int
	Retention time.Duration // 0: not known
}

// SourceRow is a source and what it holds.
type SourceRow struct {
	Name   string
	Kind   string // "Kafka, 3 brokers", "SQS, ap-south-1"
	Holds  string // "13 groups, 128 partitions"
	ReadAt time.Time
	State  string // fresh, on_time, late, down, never
	Error  string
	Note   string
}

// quiet tells whether the page may say that nothing is wrong: never while a
// source is unread.
func (p NowPage) quiet() bool { return len(p.Incidents) == 0 && len(p.Lost) == 0 }

// notWell is how many of the groups that page nobody stand still, stopped or
// lost data: by their rule, or because they were so already.
func (p NowPage) notWell() int {
	n := 0
	for _, w := range p.Watch {
		if markOf(w.Verdict).hue == Stuck {
			n++
		}
	}
	return n
}

// clearSays is the page's answer when nothing pages.
func (p NowPage) clearSays() string {
	if p.notWell() > 0 {
		return "Nothing pages."
	}
	return "Nothing is wedged, stopped or losing data."
}

// clearNext says what stands nevertheless, and what was read.
func (p NowPage) clearNext() string {
	if n := p.notWell(); n > 0 {
		return Plural(n, "group") + oneOf(n == 1, " is", " are") + " not well all the same, by rule or since before we first looked: see below. " + p.readSays()
	}
	return p.readSays()
}

// readSays is what was read, and how lately.
func (p NowPage) readSays() string {
	return Plural(p.Partitions, "partition") + " in " + Plural(p.Groups, "group") + ", all read in the last " + Age(max(p.ReadWithin, time.Second)) + "."
}

func (p NowPage) onTime() string {
	n := 0
	for _, s := range p.Holds {
		if s.State == "fresh" || s.State == "on_time" {
			n++
		}
	}
	return number(n) + " of " + number(len(p.Holds)) + " read on time"
}

func (x NowIncident) waits() string {
	if x.Waiting == 1 {
		return "1 record waits behind it"
	}
	return Number(x.Waiting) + " records wait behind it"
}

// short is how people call an incident: its number, where it has one.
func (r IncidentRef) short() string {
	if r.Number > 0 {
		return strconv.FormatInt(r.Number, 10)
	}
	return r.ID
}

// says is what sets a record apart, as one text: `currency: "INRR"`.
func (a Apart) says() string { return a.Field + ": " + a.Value }

func (q ExpiringQueue) says() string {
	s := Visible(q.Source)
	if q.Retention > 0 {
		s += ", keeps " + Age(q.Retention)
	}
	return s
}

// verdict is the hue of a source's state.
func (s SourceRow) verdict() string {
	switch s.State {
	case "down", "never":
		return "unknown"
	case "late":
		return "slow"
	default:
		return "ok"
	}
}

// groupHref is a group on the lag page.
func (f Frame) groupHref(source, group string) templ.SafeURL {
	return f.URL("/lag?" + url.Values{"source": {source}, "group": {group}}.Encode())
}

// incidentLink is a link to an incident, in a sentence.
func (f Frame) incidentLink(r IncidentRef, before string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := fmt.Fprintf(w, `<a href="%s">%s</a>`,
			templ.EscapeString(string(f.to("incidents", r.ID))), templ.EscapeString(before+Visible(r.short())))
		return err
	})
}

// domID is an id for an element that a foreign name belongs to.
func domID(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + "-" + hex.EncodeToString(sum[:4])
}
