package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/review"
)

// sameItemCounts wants the counts that are kept to be those of the rows, and
// every letter held by the items that did not let it go.
func sameItemCounts(t *testing.T, s *Store) {
	t.Helper()
	read := func(query string) itemCounts {
		all := itemCounts{}
		must(t, each(t.Context(), s.read, func(r *sql.Rows) error {
			var k itemKind
			var n int64
			err := r.Scan(&k.redrive, &k.state, &n)
			all[k] = n
			return err
		}, query))
		return all
	}
	kept := read(`SELECT redrive, state, items FROM item_counts WHERE items <> 0`)
	counted := read(`SELECT redrive, state, COUNT(*) FROM items GROUP BY redrive, state`)
	if diff := cmp.Diff(counted, kept, cmp.AllowUnexported(itemKind{})); diff != "" {
		t.Fatalf("counts of items (-counted +kept):\n%s", diff)
	}
	var wrong int
	must(t, s.read.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM items WHERE
		(state IN ('failed', 'cancelled')) <> (holds IS NULL) OR holds <> letter`).Scan(&wrong))
	if wrong != 0 {
		t.Fatalf("%d items hold a letter that they should not, or the other way round", wrong)
	}
}

func TestMovedItemsAreCountedAndLetGo(t *testing.T) {
	o := newOffice(t, true)
	ids := take(t, o.Store, look(payments(0, 10), time.Now(), oneCause)).New
	job := o.start(t, ids)
	move := func(to review.ItemState, which string, want int64) {
		t.Helper()
		must(t, o.in(t.Context(), func(tx *sql.Tx) error {
			n, err := moveItems(t.Context(), tx, to, which)
			if n != want {
				t.Errorf("%d items became %s, want %d", n, to, want)
			}
			return err
		}))
		sameItemCounts(t, o.Store)
	}
	move(review.ItemConsumed, `number % 2 = 0`, 5)
	move(review.ItemReturned, `state = 'consumed' AND number > 5`, 3)
	move(review.ItemCancelled, `state = 'planned'`, 5)
	move(review.ItemFailed, `state = 'no such'`, 0)
	if got := o.job(t, job.ID).Counts; !cmp.Equal(got, map[review.ItemState]int{review.ItemConsumed: 2, review.ItemReturned: 3, review.ItemCancelled: 5}) {
		t.Errorf("%v", got)
	}
}
