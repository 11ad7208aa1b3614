package views

import (
	"strconv"
	"time"
)

// RedrivesPage lists the redrives, newest first.
type RedrivesPage struct {
	Frame
	Jobs  []JobRow
	Pager Pager
}

// JobRow is one redrive.
type JobRow struct {
	ID        string
	Of        string // what was redriven: "InvalidCurrencyException, GatewayTimeout"
	State     string
	By        string
	CreatedAt time.Time
	EndedAt   time.Time // zero while it runs
	Total     int
	Counts    Counts
}

// Counts is how many letters of a redrive are in each state. They add up to
// its total.
type Counts struct {
	Planned, Sending, Sent, Confirmed, Consumed, Returned, Failed, Unknown, Cancelled int
}

// RedrivePage is one redrive with its ledger.
type RedrivePage struct {
	Frame
	Job         JobRow
	Reason      string        // why it stands in its state; "" when nothing is to be said
	Cancelling  bool          // nothing more is sent; it ends when what is out is settled
	Incident    string        // id of the incident at a record that it sent; "" when there is none
	ReturnsIn   time.Duration // how long a letter takes to come back
	ReturnsWhy  string        // how that was found; "" when it is not known
	FollowUntil time.Time     // until when letters that come back are waited for; zero: not known yet
	Options     []string      // how the letters are sent, a few words each: "edited", "to payment.retry"
	Rate        float64       // letters per second; 0: as fast as the target takes them
	Verdict     string        // what came of it, in a sentence; "" while it runs
	Items       []ItemRow
	Filters     []Filter // by state
	Pager       Pager
	Notices     []Notice
}

// ItemRow is one letter of a redrive.
type ItemRow struct {
	ID       string
	LetterID string
	Key      Bytes
	State    string
	Target   string
	Place    string // where it lies now: "partition 1, offset 90,331"; "" while not known
	Error    string
	Decide   bool   // a person can say whether it arrived
	What     string // what happened, in words; "" where the state says it
	CameBack string // id of the letter that it came back as
}

// title is what a redrive is called in a list.
func (j JobRow) title() string {
	if j.Of == "" {
		return Plural(j.Total, "letter")
	}
	return Visible(j.Of)
}

func (j JobRow) by() string {
	if j.By == "" {
		return Visible(j.ID)
	}
	return "by " + Visible(j.By) + " · " + Visible(j.ID)
}

// heading is what is so, in words: trouble first.
func (p RedrivePage) heading() string {
	c, all := p.Job.Counts, Plural(p.Job.Total, "letter")
	switch {
	case p.Job.State == "failed":
		return "Redrive of " + all + " failed"
	case p.Cancelling:
		return "Redrive of " + all + " is being cancelled"
	case p.Job.State == "paused":
		return "Redrive of " + all + " is paused"
	case p.Job.State == "waiting":
		return "Redrive of " + all + " waits for its canaries"
	case c.Unknown > 0:
		return "Redrive of " + all + ": " + number(c.Unknown) + " may or may not have arrived"
	case c.Returned > 0:
		return "Redrive of " + all + ": " + number(c.Returned) + " came back"
	case c.Failed > 0:
		return "Redrive of " + all + ": " + number(c.Failed) + " could not be sent"
	case p.Job.Total > 0 && c.Consumed == p.Job.Total:
		return "Redrive of " + all + ": all consumed"
	case p.Job.State == "done":
		return "Redrive of " + all + ": all sent"
	case p.Job.State == "running":
		return "Redrive of " + all + " is running"
	default:
		return "Redrive of " + all + ": " + markOf(p.Job.State).word
	}
}

// canPause, canResume and canCancel tell which orders it takes.
func (p RedrivePage) canPause() bool {
	return (p.Job.State == "running" || p.Job.State == "waiting") && !p.Cancelling
}

func (p RedrivePage) canResume() bool { return p.Job.State == "paused" && !p.Cancelling }

func (p RedrivePage) canCancel() bool { return p.canPause() || p.canResume() }

// left is how many letters would still be sent.
func (p RedrivePage) left() string { return number(p.Job.Counts.Planned) }

// rate is the rate as a form has it; "" for none.
func (p RedrivePage) rate() string {
	if p.Rate <= 0 {
		return ""
	}
	return strconv.FormatFloat(p.Rate, 'f', -1, 64)
}

// pace is how fast it goes.
func (p RedrivePage) pace() string {
	if p.Rate <= 0 {
		return "as fast as the target takes them"
	}
	return strconv.FormatFloat(p.Rate, 'g', 4, 64) + " a second at most"
}
