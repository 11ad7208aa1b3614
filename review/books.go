package review

import (
	"context"
	"errors"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// ErrHalted is a shipment that was not begun: meanwhile the redrive was paused
// or cancelled, or has ended.
var ErrHalted = errors.New("the redrive was halted")

// Dispatch is a shipment in the ledger that is not settled yet.
type Dispatch struct {
	Number int64 // in the ledger
	Source string
	State  ItemState // Sending or Sent
	sources.Shipment
	Receipts []sources.Receipt // of its items that were sent

	tries int  // sends of this run whose outcome stayed open
	again bool // it may have been sent already, by this run or an earlier one
}

// Load is what goes next: planned letters of one source.
type Load struct {
	Source  string
	Parcels []sources.Parcel
	// Lost are items whose letters cannot be sent any more, and why.
	Lost map[string]error
	Last int64 // place of the last of them in the order of the redrive

	waiting int // letters up to there that are left out, because they stand behind one that goes later
}

// Result is what became of a shipment.
type Result struct {
	Shipment int64
	Receipts []sources.Receipt
}

// Standing is how a redrive stands when the worker looks at it.
type Standing struct {
	State      JobState
	Cancelling bool
	Reason     string // why it is in this state
	Crashes    int    // in a row
	Pace
	Caution
}

// Ledger is what the worker reads of the redrives.
type Ledger interface {
	// Working lists the redrives that are to be worked on, by id: those that may
	// send, and those of which something is out.
	Working(ctx context.Context) ([]string, error)
	// InFlight gives at most max shipments of a redrive that are not settled: those
	// that may be out before those that are to be settled, oldest first.
	InFlight(ctx context.Context, redrive string, max int) ([]Dispatch, error)
	// NextLoad gives at most max planned letters of a redrive, in their order, of
	// those behind a place in it.
	NextLoad(ctx context.Context, redrive string, after int64, max int) (Load, error)
}

// Journal is what the worker writes of the letters. Each call is one
// transaction, synced to the disk when it returns, with the letters and the
// audit in it.
type Journal interface {
	// BeginShipments writes shipments with their bytes before they are sent, and
	// fails the items that can never be. It returns the shipments' numbers. Errors:
	// ErrHalted, when the redrive may send nothing any more.
	BeginShipments(ctx context.Context, redrive, source string, shipments []sources.Shipment, refused map[string]error) ([]int64, error)
	// RecordReceipts writes what became of shipments: accepted items are sent, refused
	// ones failed, ambiguous ones unknown.
	RecordReceipts(ctx context.Context, redrive string, results []Result) error
	// RecordSettled writes which sent items are settled at their source: confirmed.
	RecordSettled(ctx context.Context, redrive string, results []Result) error
	// FinishRedrive ends it when nothing is left, and tells whether it has.
	FinishRedrive(ctx context.Context, redrive string) (bool, error)
}

// Course is how a redrive stands as a whole.
type Course interface {
	Standing(ctx context.Context, redrive string) (Standing, error)
	// Steer writes how a redrive stands now, unless it stands otherwise by now than
	// it did: then it does nothing and says so. A pause is in the audit.
	Steer(ctx context.Context, redrive string, was, now Standing) (bool, error)
	// SetTrouble writes why the redrive does not get on just now; "" when it does.
	SetTrouble(ctx context.Context, redrive, text string) error
}

// Fates counts what became of the letters of a redrive.
type Fates interface {
	// Counts are all of its letters by state.
	Counts(ctx context.Context, redrive string) (map[ItemState]int, error)
	// Pending are those on a target whose end is not known, by target.
	Pending(ctx context.Context, redrive string) ([]Pending, error)
}

// Shifts are which redrives the running program works on, so that the next run
// knows whether it died at it.
type Shifts interface {
	// CountCrashes counts a crash for each redrive that a run worked on when it
	// died. It pauses those with too many in a row, and returns them.
	CountCrashes(ctx context.Context) ([]string, error)
	BeginShift(ctx context.Context, redrive string) error
	EndShift(ctx context.Context, redrive string) error
	ForgetCrashes(ctx context.Context, redrive string) error
}

// CrashesMost is how many crashes in a row a redrive gets over by itself, and
// one more: with this one it stays paused.
const CrashesMost = 3

// Returns knows how long the letters of a redrive take to come back as a rule,
// after they were consumed; 0 when nothing is known.
type Returns interface {
	UsualReturn(ctx context.Context, redrive string) (time.Duration, error)
}

// Releaser is a sender that holds letters from Pack on, and can let those go
// that will not be sent now. What cannot be let go is free by itself later.
type Releaser interface {
	Release(ctx context.Context, shipments []sources.Shipment)
}
