package alerts

import (
	"context"
	"time"
)

// Turn is all that one reading of a source changes. It is written in one
// transaction: killed at any moment, we have either not seen the reading or
// have its incidents and their pages.
type Turn struct {
	Source    string
	At        time.Time
	Watches   map[string][]byte // JSON of the watches that changed, by group
	Forgotten []string          // groups that are gone for good
	Incidents []Change
	Tolls     map[string]Toll // what each open incident costs by now, by id
}

// Change is an incident as a reading left it.
type Change struct {
	Incident
	Tell     []string // notifiers that hear of it; each is told once, however often it is named
	Update   []string // of those who were told, the notifiers that hear of this change
	Evidence bool     // its evidence is new, to be laid over what the store has (Evidence.Keeping)
}

// WatchStore keeps what the watcher must not forget.
type WatchStore interface {
	// Watches has the JSON of each watch of a source, by group.
	Watches(ctx context.Context, source string) (map[string][]byte, error)
	// SourceIncidents are the open incidents of a source itself, of no group and
	// no queue.
	SourceIncidents(ctx context.Context, source string) ([]Incident, error)
	// Turn writes down what a reading changed, all or nothing. An incident that
	// is resolved is told to everybody who was told of it.
	Turn(ctx context.Context, t Turn) error
}
