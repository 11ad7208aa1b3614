package skips

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Cluster is a Kafka source as a skip needs it.
type Cluster interface {
	// Line reads one line of a group afresh, with the group around it.
	// sources.ErrNoSuchQueue: the group does not read it.
	Line(ctx context.Context, p sources.Partition) (sources.Group, sources.Lag, error)
	// Records reads committed records from an offset on and before another, at
	// most max.
	Records(ctx context.Context, topic string, partition int32, from, to int64, max int) ([]sources.Record, error)
	// Commit sets the position of a group that has no members, and fails with
	// sources.ErrHasMembers while it has some.
	Commit(ctx context.Context, p sources.Partition, offset int64) error
}

// Parking is where the records of a source are parked.
type Parking interface {
	// ParkingQueue is where records of a topic go; "" where there is none.
	ParkingQueue(ctx context.Context, topic string) (string, error)
	// PackParked and Ship are review.Sender's Pack and Ship, for copies.
	PackParked(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error)
	Ship(ctx context.Context, s sources.Shipment) ([]sources.Receipt, error)
}

// Source is a cluster with its parking.
type Source interface {
	Cluster
	Parking
}

// Shelter keeps records as letters of our own, where a topic has no dead-letter
// topic. A second time it changes nothing.
type Shelter interface {
	Keep(ctx context.Context, s Skip, at time.Time) error
}

// Deed is one thing that was done, for the audit.
type Deed struct {
	By, Action, Outcome string
}

// Book keeps skips.
type Book interface {
	// Arm keeps a new skip; another armed one of its line is a *StateError.
	Arm(ctx context.Context, s Skip, done Deed) error
	// Save keeps a skip as it is now, with what was done, if it was armed or done
	// with the state before; else it is a *StateError.
	Save(ctx context.Context, s Skip, before State, at time.Time, done ...Deed) error
	// Skip is one skip, or ErrNotFound.
	Skip(ctx context.Context, id string) (Skip, error)
	// Unfinished are the skips that are armed, and those that are done and whose
	// outcome is not known yet, oldest first.
	Unfinished(ctx context.Context) ([]Skip, error)
}

// History knows what the lag loop has seen of lines.
type History interface {
	// AdvancedAlone is when the position of a line last rose between two readings
	// in a row that both saw no members, other than by a skip or its undo; the
	// zero time when it never did.
	AdvancedAlone(ctx context.Context, p sources.Partition) (time.Time, error)
}
