package sqs

import (
	"encoding/json"
	"time"
)

// cursor is how far the looks at a queue are. The caller stores it in the
// transaction that stores the letters of a step, and gives it back for the
// next one: so a step is written down before it receives anything. When the
// program dies in the middle of one, the next run finds a step that an earlier
// run had begun, and knows that its looks are not accounted for.
type cursor struct {
	Run   string    `json:"run"`            // of the program
	Sweep int64     `json:"sweep"`          // counts up
	Step  int       `json:"step,omitempty"` // the step that comes next; 0: no sweep is under way
	At    time.Time `json:"at"`             // when it was written
	Hide  int       `json:"hide,omitempty"` // seconds for which the sweep hides messages
	Due   time.Time `json:"due,omitzero"`   // when the next sweep is due sooner than usual
	Note  string    `json:"note,omitempty"` // of the last sweep
	Lost  *lost     `json:"lost,omitempty"` // looks that nobody stored
}

// lost are looks of ours of which the letters were not stored, because the
// program died or an answer did not arrive. Which messages were looked at is
// not known; that they stayed hidden until Until is.
type lost struct {
	Until time.Time `json:"until"`
	Steps int       `json:"steps"` // how many looks at most at one message
	// Sure is set when a step was under way. Else the program ended between
	// sweeps, and only a redrive may have looked at letters that were new.
	Sure bool `json:"sure"`
}

// add is more losses together.
func (l *lost) add(until time.Time, sure bool) *lost {
	if l == nil {
		return &lost{Until: until, Steps: 1, Sure: sure}
	}
	sum := *l
	sum.Steps++
	sum.Sure = sum.Sure || sure
	if until.After(sum.Until) {
		sum.Until = until
	}
	return &sum
}

func (c cursor) encode() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has nothing that JSON lacks
	}
	return text
}

// decodeCursor reads a cursor; one that cannot be read is a first one.
func decodeCursor(text []byte) cursor {
	var c cursor
	if json.Unmarshal(text, &c) != nil {
		return cursor{}
	}
	return c
}

// idle tells whether no sweep is under way.
func (c cursor) idle() bool { return c.Step == 0 }

// foreign tells whether an earlier run of the program wrote it.
func (c cursor) foreign(run string) bool { return c.Run != "" && c.Run != run }

// resting tells whether it is too early for the next sweep. A new run of the
// program sweeps at once.
func (c cursor) resting(run string, every time.Duration, now time.Time) bool {
	const early = 10 // per cent, for callers whose clock ticks at the same rate
	if c.foreign(run) || c.Run == "" {
		return now.Before(c.Due)
	}
	if !c.Due.IsZero() {
		return now.Before(c.Due)
	}
	return now.Before(c.At.Add(every - every*early/100))
}
