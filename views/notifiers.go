package views

import "time"

// NotifiersPage lists who is told of incidents. POST /notifiers/{name}/test sends a
// test page through one.
type NotifiersPage struct {
	Frame
	Notifiers []NotifierRow
	Said      *Notice // what came of a test page; nil: nothing to say
}

// NotifierRow is one notifier.
type NotifierRow struct {
	Name    string
	Kind    string
	After   time.Duration // a second channel is told so much later; 0: at once
	Hears   bool          // what is done there is shown here
	Waiting int           // events that it has not been told yet
	Since   time.Time     // when the oldest of them was written
	Error   string        // of the last attempt
}

func (n NotifierRow) told() string {
	if n.After == 0 {
		return "at once"
	}
	return "after " + Age(n.After) + ", when nobody before it was reached or nobody acknowledged"
}

func (n NotifierRow) hears() string {
	if n.Hears {
		return "; what is done there is shown here"
	}
	return ""
}
