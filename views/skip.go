package views

import "time"

// SkipPage is one park and skip: before it is armed what it would park, then how
// far it has come. The form of a plan goes to POST /skips with source, group,
// topic, partition, offset and to_offset; POST /skips/{id} with do=disarm or
// do=undo takes it back. Either answers 303.
type SkipPage struct {
	Frame
	ID        string // "" of a plan
	State     string // armed, done, failed, disarmed, undone; "" of a plan
	Step      string // of an armed one: "", copy, copied, move
	Source    string
	Group     string
	Topic     string
	Partition int32
	From, To  int64
	End       int64 // of what is readable; Unknown when not known
	Queue     string
	Parked    []ParkedRow
	Head      *Record // the first of them
	ToOffset  string  // as it was asked for; "" for the next record
	WaitsFor  string
	By        string
	ArmedAt   time.Time
	ExpiresAt time.Time
	EndedAt   time.Time
	Outcome   string // freed, did_not_help
	Error     string
	Problem   string // why nothing was done
	Stoppable bool   // its group's workers can be stopped and started by us
	Incident  *IncidentRef
}

// ParkedRow is a record that is or would be parked.
type ParkedRow struct {
	Offset int64
	Key    Bytes
	At     time.Time
	Size   int64
	Place  string // of the copy: "payment.events.dlq, partition 0, offset 12"; "" while there is none
}

// SkipsPage lists skips, newest first.
type SkipsPage struct {
	Frame
	Skips []SkipRow
	Pager Pager
}

// SkipRow is one skip in a list.
type SkipRow struct {
	ID        string
	State     string
	Outcome   string
	Source    string
	Group     string
	Topic     string
	Partition int32
	From, To  int64
	Records   int
	By        string
	At        time.Time
}

func (p SkipPage) planned() bool { return p.ID == "" }

func (p SkipPage) line() string {
	return "partition " + digits(int(p.Partition)) + " of " + Visible(p.Topic)
}

// place is where the records are parked.
func (p SkipPage) place() string { return oneOf(p.Queue == "", "our own store", Visible(p.Queue)) }

// them is what is parked, in words.
func (p SkipPage) them() string { return Plural(len(p.Parked), "record") }

func (p SkipPage) heading() string {
	switch p.State {
	case "":
		if len(p.Parked) == 0 {
			return "Nothing can be parked here now"
		}
		return "Park " + p.them() + ", and skip " + oneOf(len(p.Parked) == 1, "it", "them")
	case "armed":
		if p.Step != "" {
			return "The group is empty: parking " + p.them()
		}
		return "Armed: waits until the group is empty"
	case "done":
		return oneOf(p.Outcome == "freed", "Parked and skipped: the partition moves", oneOf(p.Outcome == "did_not_help", "Parked and skipped, and it did not help", "Parked and skipped"))
	case "failed":
		return "Given up: the position is where it was"
	case "undone":
		return "Undone: the position is back at " + commas(p.From)
	}
	return "Disarmed: nothing was moved"
}

func (p SkipPage) lede() string {
	if len(p.Parked) == 0 {
		return capital(p.line()) + ", group " + Visible(p.Group) + "."
	}
	goes := capital(p.them()) + " of " + Visible(p.Topic) + ", partition " + digits(int(p.Partition)) + ", " + oneOf(len(p.Parked) == 1, "goes", "go") + " to " + p.place() +
		"; then " + Visible(p.Group) + " starts at " + commas(p.To) + "."
	switch p.State {
	case "":
		return goes + " Nothing has been written."
	case "armed":
		return goes + oneOf(p.Step == "", " So far nothing has been written.", "")
	case "done":
		return capital(p.them()) + " of " + p.line() + " lie in " + p.place() + ", and " + Visible(p.Group) + " went on at " + commas(p.To) + "."
	}
	return capital(p.them()) + " of " + p.line() + ", group " + Visible(p.Group) + "."
}

// figureSays is the figure of the line in words.
func (p SkipPage) figureSays() string {
	return "Records before " + commas(p.From) + " are done. " + capital(p.them()) + " from there " + oneOf(len(p.Parked) == 1, "is", "are") + " lifted out and parked. " + commas(p.To) + " becomes the head."
}

// lifted names what is lifted out.
func (p SkipPage) lifted() string {
	if p.To == p.From+1 {
		return commas(p.From)
	}
	return commas(p.From) + "–" + commas(p.To-1)
}

// stepState is how one of the steps stands: done, now, or to come.
func (p SkipPage) stepState(n int) string {
	at := map[string]int{"": 1, "copy": 2, "copied": 3, "move": 3}[p.Step]
	switch p.State {
	case "":
		at = -1
	case "done", "undone":
		at = 4
		if p.Outcome != "" || p.State == "undone" {
			at = 5
		}
	case "failed", "disarmed":
		return oneOf(n < at, "done", "")
	}
	return oneOf(n < at, "done", oneOf(n == at, "now", ""))
}

// outcome is what a skip of a list led to.
func (s SkipRow) outcome() string {
	switch s.Outcome {
	case "freed":
		return "the partition moved on"
	case "did_not_help":
		return "it did not help"
	}
	return ""
}
