package review

import "github.com/unwedge/unwedge/sources"

// order is what keeps the letters of a redrive from overtaking one another on
// its way through them. A redrive promises nothing about the letters of others.
type order struct {
	waiting map[string]bool // what parcels keep their place in (Parcel.Order), of those that were left for later
	anew    bool            // letters behind which it went on are planned again
}

// wait has everything behind a parcel wait for it, until the redrive begins
// again with those that it left.
func (o *order) wait(p sources.Parcel) {
	name := p.Order()
	if name == "" {
		return
	}
	if o.waiting == nil {
		o.waiting = map[string]bool{}
	}
	o.waiting[name] = true
}

// keep leaves out of a load what stands behind a letter that was left for later,
// and gives how many those are.
func (o *order) keep(load *Load) (left int) {
	if len(o.waiting) == 0 {
		return 0
	}
	var kept []sources.Parcel
	for _, p := range load.Parcels {
		if name := p.Order(); name != "" && o.waiting[name] {
			left++
			continue
		}
		kept = append(kept, p)
	}
	load.Parcels = kept
	return left
}

// inOrder takes out of a load what stands behind letters that were left for
// later. It tells whether nothing remains, and the redrive goes on behind it.
func (j *job) inOrder(load *Load) (nothing bool) {
	load.waiting = j.order.keep(load)
	if load.weight() > 0 {
		return false
	}
	j.after, j.left = load.Last, j.left+load.waiting
	return true
}

// beginAnew has the redrive go on with the first of its letters that are
// planned, those that were left for later among them.
func (j *job) beginAnew() {
	j.after, j.left, j.order, j.ahead = 0, 0, order{}, nil
}

// tried notes whether a shipment is still to be sent, and how often it was
// tried.
func (j *job) tried(d Dispatch) {
	delete(j.tries, d.Number)
	if d.State != Sending || d.again {
		delete(j.fresh, d.Number)
	}
	if d.State == Sending && d.again {
		j.tries[d.Number] = d.tries + 1
	}
}
