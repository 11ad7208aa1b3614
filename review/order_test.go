package review

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// groups is a shop whose letters lie in a FIFO queue, of so many groups in turn.
type groups struct {
	*shop
	of  int
	bad map[string]int // items of which nothing goes out, so many times
	// doubtful is an item of which nobody can tell whether it arrived.
	doubtful string
	back     []string // that were planned again
}

func newGroups(t *testing.T, letters, of int, pace Pace) *groups {
	return &groups{shop: newShop(t, letters, pace), of: of, bad: map[string]int{}}
}

func (g *groups) work() (stop func()) {
	_, stop = g.runWith(Books{g, g, g, g, g}, g, false)
	return stop
}

func (g *groups) NextLoad(ctx context.Context, id string, after int64, most int) (Load, error) {
	load, err := g.shop.NextLoad(ctx, id, after, most)
	for i := range load.Parcels {
		p := &load.Parcels[i]
		p.Queue, p.System = "dead.fifo", map[string]string{"MessageGroupId": fmt.Sprint(g.index(p.Item) % g.of)}
	}
	return load, err
}

// Pack packs one letter a shipment, as each may be sent again.
func (g *groups) Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	waits := map[string]bool{}
	g.look(func() { // as the adapter does with what it is given at once
		parcels = slices.DeleteFunc(slices.Clone(parcels), func(p sources.Parcel) bool {
			waits[p.Order()] = waits[p.Order()] || g.held[p.Item]
			return waits[p.Order()]
		})
	})
	all, refused, err := g.shop.Pack(ctx, parcels)
	var single []sources.Shipment
	for _, s := range all {
		for _, item := range s.Items {
			single = append(single, sources.Shipment{Items: []string{item}, Target: s.Target, RepeatUntil: time.Now().Add(5 * time.Minute)})
		}
	}
	return single, refused, err
}

func (g *groups) Ship(ctx context.Context, s sources.Shipment) ([]sources.Receipt, error) {
	item := s.Items[0]
	g.mu.Lock()
	bad := g.bad[item]
	g.bad[item]--
	g.mu.Unlock()
	switch {
	case bad > 0:
		return []sources.Receipt{{Item: item, Err: ErrNotSent}}, nil
	case item == g.doubtful:
		return []sources.Receipt{{Item: item, Err: sources.ErrAmbiguous}}, nil
	}
	return g.shop.Ship(ctx, s)
}

func (g *groups) RecordReceipts(ctx context.Context, id string, results []Result) error {
	var rest []Result
	g.mu.Lock()
	for _, r := range results {
		to := Planning
		switch err := r.Receipts[0].Err; {
		case err == nil:
			rest = append(rest, r)
			continue
		case !goesLater(r.Receipts[0]):
			to = ItemUnknown
		default:
			g.back = append(g.back, r.Receipts[0].Item)
		}
		g.set(g.shipments[r.Shipment].Items, to)
		delete(g.shipments, r.Shipment)
	}
	g.mu.Unlock()
	return g.shop.RecordReceipts(ctx, id, rest)
}

// overtaken gives letters that were sent before one in front of them in their
// group.
func (g *groups) overtaken() (all []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last := map[int]int{}
	for _, a := range g.arrived {
		i := g.index(a.item)
		if last[i%g.of] > i+1 {
			all = append(all, a.item)
		}
		last[i%g.of] = i + 1
	}
	return all
}

// TestNoneOvertakesALetterOfItsGroupThatWasLeftForLater: at a low rate a load is
// a letter or a few, and somebody holds one of the first. Its group waits for it,
// also in the loads behind; others do not.
func TestNoneOvertakesALetterOfItsGroupThatWasLeftForLater(t *testing.T) {
	for _, rate := range []float64{0, 5, 100} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroups(t, 700, 100, Pace{RatePerSecond: rate})
			g.held["3"], g.held["698"] = true, true
			defer g.work()()
			within(t, 5*time.Minute, "the other groups are sent", g.has(692))
			time.Sleep(time.Minute)
			if _, _, n := g.now(); n != 692 {
				t.Errorf("%g a second: %d were sent, want %d", rate, n, 692)
			}
			g.look(func() { clear(g.held) })
			within(t, 5*time.Minute, "it ends", g.is(JobDone))
			if over := g.overtaken(); len(over) > 0 || len(g.arrived) != 700 {
				t.Errorf("%g a second: %v overtook others; %d arrived", rate, over, len(g.arrived))
			}
		})
	}
}

// TestNoneOvertakesALetterThatIsPlannedAgain: one of a shipment in front could
// not be sent after all, when the redrive had gone on behind others.
func TestNoneOvertakesALetterThatIsPlannedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroups(t, 1200, 50, Pace{})
		g.held["1"] = true // so that it goes on behind what it leaves
		for _, item := range []string{"8", "498"} {
			g.bad[item] = 2
		}
		defer g.work()()
		time.Sleep(2 * time.Minute)
		g.look(func() { clear(g.held) })
		within(t, 5*time.Minute, "it ends", g.is(JobDone))
		if over := g.overtaken(); len(over) > 0 || len(g.arrived) != 1200 {
			t.Errorf("%v overtook others; %d arrived", over, len(g.arrived))
		}
	})
}

// TestWhatFollowsALetterThatIsUnknownIsNotSentYet: what stands behind it was
// written down with it, and goes back to the ledger, which knows the groups.
func TestWhatFollowsALetterThatIsUnknownIsNotSentYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroups(t, 12, 1, Pace{})
		g.doubtful = "4"
		defer g.work()()
		within(t, 2*time.Minute, "it is unknown", func() bool { n, _ := g.Counts(t.Context(), ""); return n[ItemUnknown] == 1 })
		g.look(func() {
			if want := []string{"5", "6", "7", "8", "9", "10", "11", "12"}; !slices.Equal(g.back, want) {
				t.Errorf("%v are planned again, want %v", g.back, want)
			}
		})
	})
}
