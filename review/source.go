package review

import (
	"context"

	"github.com/unwedge/unwedge/sources"
)

// Reader is a source whose dead letters are collected.
type Reader interface {
	Name() string
	// Queues lists the queues that hold dead letters or feed them. A queue that
	// could not be read has an error of its own.
	Queues(ctx context.Context) ([]sources.Queue, error)
	// DeadLetters looks for at most max letters from the cursor on; a nil cursor
	// is the configured start.
	DeadLetters(ctx context.Context, queue string, cursor []byte, max int) (sources.Batch, error)
}

// Finder is a source that can tell risks in the set-up of its queues.
type Finder interface {
	Findings(ctx context.Context) ([]sources.Finding, error)
}

// Changer is a source that tells at little cost which queues have news, so
// that the others need not be read.
type Changer interface {
	// Changed gives those of the queues in which something may have come or gone
	// since they were last read.
	Changed(ctx context.Context, queues []string) ([]string, error)
}

// Sender is a source that letters can be sent back to. See docs and
// facts of each transport for what it promises about a second copy.
type Sender interface {
	// Aim says where in the queue a letter would go, and why there. Nothing is
	// sent. sources.ErrNoSuchQueue: the queue is not there.
	// sources.ErrTooLarge: the queue does not take so large a letter.
	Aim(ctx context.Context, queue string, l sources.DeadLetter) (sources.Target, string, error)
	// Pack makes parcels of one source ready to be sent. A parcel that can never
	// be sent is in the map, by its item; one that is in neither is left for a
	// later time.
	Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error)
	// Ship sends a shipment, or sends it again: the very same bytes. Without an
	// error there is a receipt for every item.
	Ship(ctx context.Context, s sources.Shipment) ([]sources.Receipt, error)
	// Settle takes what was sent off the queue that it lay in, where the
	// transport has that. A receipt with an error was not taken off yet.
	Settle(ctx context.Context, s sources.Shipment, sent []sources.Receipt) ([]sources.Receipt, error)
}

// Receivers is a source that knows who reads a queue.
type Receivers interface {
	Receivers(ctx context.Context, queue string) ([]sources.Receiver, error)
}

// Destinations is a source that tells what its queues take.
type Destinations interface {
	About(ctx context.Context, queue string) (sources.Destination, error)
}

// Refresher is a source that remembers what it has read of queues for a moment,
// and can be told to forget it: what is planned or started now goes by what is
// so now.
type Refresher interface{ Refresh() }

// OtherReaders is a source that can tell who else takes letters off a
// dead-letter queue, or reads it: a sentence each.
type OtherReaders interface {
	OtherReaders(ctx context.Context, queue string) ([]string, error)
}

// Past is a source whose queues can be looked through and stay as they are.
type Past interface {
	// LookThrough gives see the records of a stretch, partition by partition in
	// their order, those of aborted transactions left out, until all that is
	// readable now was seen or a bound is reached.
	LookThrough(ctx context.Context, s sources.Stretch, most sources.Bounds, see func(sources.Record)) sources.Looked
}
