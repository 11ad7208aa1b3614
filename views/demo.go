package views

import "time"

// DemoPage has the switches of the demo and what its pager received.
type DemoPage struct {
	Frame
	FixDeployed    bool
	WorkersRunning bool
	BadWritten     int // bad records written so far
	StallAfter     time.Duration
	Story          []Moment // what happened so far
	Received       []PagerMessage
}

// PagerMessage is one message that the fake pager received.
type PagerMessage struct {
	At       time.Time
	Event    string // trigger, acknowledge, resolve
	Summary  string
	Severity string
	DedupKey string
	Incident *IncidentRef // nil: it names none of ours
	Body     string       // the JSON as received
}

func (p DemoPage) lede() string {
	return "Payments run through an embedded Kafka and SQS on this machine, and one in a while goes wrong. Deploy the fix, redrive what died, see whether it passes."
}

func (p DemoPage) badSays() string {
	if p.BadWritten == 0 {
		return "None written yet. Its currency is “INRR”."
	}
	return Plural(p.BadWritten, "bad record") + " written so far. Its currency is “INRR”."
}
