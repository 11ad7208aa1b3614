package views

import "time"

// PlanPage is a redrive before it starts: exactly what would be sent where.
type PlanPage struct {
	Frame
	ID       string
	FixedAt  time.Time
	Total    int // letters in the plan
	Refused  int // of these, letters that cannot be sent: while there are any, nothing starts
	Warnings []PlanWarning
	Targets  []TargetRow
	Letters  []PlanLetter // the first thousand
	// Changed says what changed since the plan was made, where a start was
	// refused for it; empty otherwise.
	Changed []string
	// Problem says why a start was refused for another reason; "" otherwise.
	Problem  string
	Started  string // id of the redrive, when this plan was started already
	Expired  bool   // older than a day: a new one must be made
	BackHref string
}

// PlanWarning is something to know, or to confirm.
type PlanWarning struct {
	Code        string
	Message     string
	Letters     []string // ids
	MustConfirm bool
	Confirmed   bool // was ticked in a start that was refused
}

// TargetRow is one target with the letters that go there.
type TargetRow struct {
	Count          int
	Source         string
	Kind           string // "SQS standard", "SQS FIFO"; "" on Kafka
	Queue          string
	Why            string
	Causes         []string
	Receivers      []Receiver
	ReceiversKnown bool
	Promise        string // "Once"
	PromiseMore    string // "never sent twice by us"
}

// PlanLetter is what the plan says of one letter.
type PlanLetter struct {
	ID        string
	Key       Bytes
	Queue     string
	Place     string
	Target    string // "" when there is none
	Partition int64  // Unknown: the broker chooses
	Why       string
	Headers   int
	Size      int64
	Kept      []string // header names, in wire order
	Dropped   []string
	Added     []string
	Warnings  []string // codes
	Refused   string   // code; "" when it may be sent
}
