package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// TestLettersOfATopicThatWasMadeAgainAreExpired: by its new id, or by the first
// letter of the new one. Those are open.
func TestLettersOfATopicThatWasMadeAgainAreExpired(t *testing.T) {
	o := newOffice(t, true)
	now := time.Now()
	ids := take(t, o.Store, look(payments(0, 3), now, oneCause)).New
	again := payments(0, 1)
	again[0].Place.TopicID, again[0].Place.Offset = "made-again", 0
	fresh := take(t, o.Store, look(again, now, oneCause)).New
	if a, b := o.statuses(t, ids), o.statuses(t, fresh); a != "map[expired:3]" || b != "map[open:1]" {
		t.Errorf("old %s, new %s", a, b)
	}

	o = newOffice(t, true)
	list := payments(0, 3)
	queue := sources.Queue{Source: list[0].Source, Name: list[0].Queue, Kind: sources.DeadLetterQueue, ID: list[0].Place.TopicID, ReadAt: now}
	inventory := review.Inventory{Source: queue.Source, ReadAt: now, Queues: []sources.Queue{queue}}
	must(t, o.KeepInventory(t.Context(), inventory))
	ids = take(t, o.Store, look(list, now, oneCause)).New
	inventory.Queues[0].ID = "made-again"
	must(t, o.KeepInventory(t.Context(), inventory))
	if got := o.statuses(t, ids); got != "map[expired:3]" {
		t.Errorf("an empty topic in its place: %s", got)
	}
}

// TestWhatExpiresWhileItIsDecidedIsExpiredAfterwards: an undo does not bring
// back what the broker has forgotten meanwhile.
func TestWhatExpiresWhileItIsDecidedIsExpiredAfterwards(t *testing.T) {
	o := newOffice(t, true)
	now := time.Now()
	list := payments(0, 3)
	ids := take(t, o.Store, look(list, now, oneCause)).New
	clerk := o.clerk(&now)
	d, err := clerk.Discard(t.Context(), review.DiscardRequest{Selection: review.Selection{IDs: ids[:1]}, Reason: "x"})
	must(t, err)
	later := look(list, now, oneCause)
	later.Letters, later.Start = nil, map[int32]int64{}
	for _, l := range list {
		later.Start[l.Place.Partition] = 1_000_000
	}
	take(t, o.Store, later)
	if got := o.statuses(t, ids); got != "map[discarded:1 expired:2]" {
		t.Errorf("after retention: %s", got)
	}
	_, err = clerk.Undo(t.Context(), d.ID, "asha")
	must(t, err)
	if got := o.statuses(t, ids); got != "map[expired:3]" {
		t.Errorf("after the undo: %s", got)
	}
}

// TestAnExpiredLetterOfSQSIsSentFromOurCopy: nothing is looked for in its queue.
func TestAnExpiredLetterOfSQSIsSentFromOurCopy(t *testing.T) {
	o := newOffice(t, false)
	ids := take(t, o.Store, look(o.messages(2), time.Now(), oneCause)).New
	o.expireLetters(t, ids[:1])
	job, err := o.desk.Start(t.Context(), review.Request{Selection: review.Selection{IDs: ids}, Confirm: []string{"stored_copy"}})
	must(t, err)
	load, err := o.NextLoad(t.Context(), job.ID, 0, 10)
	must(t, err)
	for _, p := range load.Parcels {
		if want := p.Place.MessageID == o.letter(t, ids[0]).Place.MessageID; p.StoredCopy != want {
			t.Errorf("%s: our copy: %t, want %t", p.Place.MessageID, p.StoredCopy, want)
		}
	}
	if len(load.Parcels) != 2 {
		t.Errorf("%d of 2: %v", len(load.Parcels), load.Lost)
	}
}

func (o *office) letter(t *testing.T, id string) review.Letter {
	t.Helper()
	l, err := o.Letter(t.Context(), id)
	must(t, err)
	return l
}

func (o *office) expireLetters(t *testing.T, ids []string) {
	t.Helper()
	must(t, o.in(t.Context(), func(tx *sql.Tx) error {
		in, args := inList("id", ids)
		return move(t.Context(), tx, review.Expired, in, args...)
	}))
}
