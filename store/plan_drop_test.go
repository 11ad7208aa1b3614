package store

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

// A crash may leave a plan of which some letters are forgotten already.
func TestAPlanThatIsDroppedInPartCannotBeStarted(t *testing.T) {
	o := newOffice(t, true)
	take(t, o.Store, look(payments(0, 20), time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	must(t, err)
	must(t, o.in(t.Context(), func(tx *sql.Tx) error { return dropPart(t.Context(), tx, plan.ID, 0) }))
	if _, err := o.desk.Start(t.Context(), review.Request{Plan: plan.ID}); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("starting what is left of a plan: %v", err)
	}
	_, err = o.Freeze(t.Context(), review.Plan{ID: "pl_next", CreatedAt: time.Now().Add(2 * review.PlanKept)}, review.Selection{Cause: "ca_one"})
	must(t, err)
	left, err := column[string](t.Context(), o.read, `SELECT id FROM plans UNION SELECT plan FROM plan_letters UNION SELECT plan FROM plan_order`)
	if err != nil || len(left) != 1 || left[0] != "pl_next" {
		t.Errorf("plans that are left: %v, %v", left, err)
	}
}

// The partitions of a plan take turns, each in its own order.
func TestPartitionsTakeTurns(t *testing.T) {
	o := newOffice(t, true)
	letters := payments(0, 2*runOfLine+20)
	for i := range letters {
		letters[i].Place.Partition, letters[i].Place.Offset = int32(i%2), int64(i/2)
	}
	take(t, o.Store, look(letters, time.Now(), oneCause))
	plan, err := o.desk.Plan(t.Context(), review.Request{Selection: review.Selection{Cause: "ca_one"}})
	must(t, err)
	lines, err := column[int32](t.Context(), o.read, `SELECT l.line FROM plan_order p JOIN letters l ON l.number = p.letter WHERE p.plan = ? ORDER BY p.place`, plan.ID)
	must(t, err)
	for i, want := range map[int]int32{0: 0, runOfLine - 1: 0, runOfLine: 1, 2*runOfLine - 1: 1, 2 * runOfLine: 0, 2*runOfLine + 19: 1} {
		if lines[i] != want {
			t.Errorf("at place %d is a letter of partition %d, want %d", i, lines[i], want)
		}
	}
	places, err := column[int64](t.Context(), o.read, `SELECT l.place FROM plan_order p JOIN letters l ON l.number = p.letter WHERE p.plan = ? AND l.line = 1 ORDER BY p.place`, plan.ID)
	must(t, err)
	for i := range places[1:] {
		if places[i+1] <= places[i] {
			t.Fatalf("offset %d goes behind %d", places[i+1], places[i])
		}
	}
}
