package review

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Look is what one look at a dead-letter queue brought, to be kept in one
// transaction with the cursor to go on from.
type Look struct {
	Source, Queue string
	At            time.Time
	Letters       []Letter // with their ids and causes; those known already change nothing
	Causes        []Cause  // id, title and why of the letters' causes
	Cursor        []byte   // nil: as it was
	Scanned       bool     // false: nothing was looked at; the note or the error says why
	More          bool     // the queue has more that was not looked at yet
	Older         int64    // letters before the configured start
	Note          string
	Err           error           // why the look failed; what it brought before counts
	Present       map[string]bool // message ids of a finished sweep; nil when it is not one
	Start         map[int32]int64 // log starts that have moved since the last look; nil when none has
}

// Taken is what a look changed.
type Taken struct {
	New      []string // ids of letters that were not known
	Returned int      // of these, came back after a redrive
	Changed  []string // ids of letters that expired or turned up again, and of redriven ones that came back
	Redrives []string // ids of redrives whose counts changed
}

// Inventory is a reading of the queues of a source.
type Inventory struct {
	Source   string
	ReadAt   time.Time
	Queues   []sources.Queue
	Findings []sources.Finding // nil: not asked
	// Scanned has the queues whose letters were last looked at without news, and
	// when.
	Scanned map[string]time.Time
}

// newLook makes a look of a batch: ids and causes for its letters.
func newLook(source, queue string, batch sources.Batch, at time.Time, fingerprint Fingerprinter) Look {
	look := Look{
		Source: source, Queue: queue, At: at, Cursor: batch.Next, Older: batch.Older,
		More: batch.More, Note: batch.Note, Present: batch.Present, Start: batch.Start,
	}
	named := map[string]bool{}
	for _, d := range batch.Letters {
		d.Source, d.Queue = source, queue
		id, title, why := fingerprint(d)
		if !named[id] {
			named[id] = true
			look.Causes = append(look.Causes, Cause{ID: id, Title: title, Why: why})
		}
		size := int64(len(d.Body))
		if d.Body == nil {
			size = sources.NotKnown
		}
		look.Letters = append(look.Letters, Letter{
			ID: LetterID(d), DeadLetter: d, CauseID: id, Status: Open, FoundAt: at, BodyKept: true, Size: size,
		})
	}
	return look
}

// Shelter takes letters into the store that no scan finds: records that were
// parked where there is no dead-letter topic. One that is there already is the
// same letter.
func Shelter(ctx context.Context, keeper Keeper, letters []sources.DeadLetter, at time.Time) error {
	for _, l := range letters {
		look := newLook(l.Source, l.Queue, sources.Batch{Letters: []sources.DeadLetter{l}}, at, Fingerprint)
		if _, err := keeper.Take(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

// Fingerprinter tells why letters belong together: the id of their cause, what
// a person would call it, and why they are together.
type Fingerprinter func(sources.DeadLetter) (id, title, why string)
