package alerts

import (
	"cmp"
	"slices"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// sparkReadings is how many readings of a line's lag are kept to be drawn.
const sparkReadings = 60

// worstFirst orders groups as they are shown.
func worstFirst(a, b GroupView) int {
	return cmp.Or(cmp.Compare(b.Verdict.Rank(), a.Verdict.Rank()), cmp.Compare(b.Lag, a.Lag), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Group, b.Group))
}

// viewer makes the views of one group out of what was read and judged.
type viewer struct {
	now    time.Time
	every  time.Duration // between two readings
	heads  heads
	before *GroupView                      // the view one reading ago; nil when there was none
	lines  map[sources.Partition]*LineView // those of before
}

// group is a group as it is shown.
func (v viewer) group(g sources.Group, judged []Judgement) GroupView {
	view := GroupView{
		Source: g.Source, Group: g.Name, Protocol: g.Protocol, State: g.State, Members: len(g.Members), ReadAt: v.now, Verdict: OK,
	}
	if g.Err != nil {
		view.Err = g.Err.Error()
		view.Verdict = Unknown
		view.keep(v.before)
	}
	read := make(map[sources.Partition]sources.Lag, len(g.Lines))
	for _, l := range g.Lines {
		read[l.Partition] = l
	}
	v.index()
	owners := clientNames(g.Members)
	for _, j := range judged {
		var line LineView
		if l, ok := read[j.Partition]; ok {
			line = v.line(j, l, cmp.Or(owners[l.Owner], l.Owner))
		} else {
			line = v.unread(j)
		}
		line.Spark = v.spark(line)
		line.Grows = grows(line.Spark, v.every)
		view.Lines = append(view.Lines, line)
	}
	view.sum()
	return view
}

// keep takes over what a reading that failed could not tell.
func (g *GroupView) keep(before *GroupView) {
	g.ReadAt = time.Time{}
	if before == nil {
		return
	}
	g.Protocol = cmp.Or(g.Protocol, before.Protocol)
	g.State = cmp.Or(g.State, before.State)
	g.ReadAt = before.ReadAt
	g.Members = max(g.Members, before.Members)
}

// sum adds up the lines. A topic that the group reads no more is no work of
// its: it counts neither for the lag nor for what is not known of it.
func (g *GroupView) sum() {
	known := false
	for _, l := range g.Lines {
		if l.Verdict.Rank() > g.Verdict.Rank() {
			g.Verdict = l.Verdict
		}
		switch {
		case l.Verdict == Orphaned:
		case l.Lag == sources.NotKnown:
			g.NotKnown++
		default:
			g.Lag += l.Lag
			known = true
		}
	}
	if !known && g.NotKnown > 0 || len(g.Lines) == 0 && g.Err != "" {
		g.Lag = sources.NotKnown
	}
}

// line is a line that was read.
func (v viewer) line(j Judgement, l sources.Lag, owner string) LineView {
	view := LineView{
		Judgement: j, Position: l.Position, Start: l.Start, End: l.End, StableEnd: l.StableEnd, Owner: owner,
		Behind: v.behind(j, l), Note: j.Note,
	}
	switch {
	case l.Err != nil:
		view.Err = l.Err.Error()
		view.Position, view.Start, view.End, view.StableEnd = sources.NotKnown, sources.NotKnown, sources.NotKnown, sources.NotKnown
	case l.PositionErr != nil:
		view.Err = l.PositionErr.Error()
		view.Position = sources.NotKnown
	}
	return view
}

// unread is a line of a group that could not be read: its offsets are those of
// the last reading, what waits there now nobody knows.
func (v viewer) unread(j Judgement) LineView {
	view := LineView{
		Judgement: j, Behind: notKnown,
		Position: sources.NotKnown, Start: sources.NotKnown, End: sources.NotKnown, StableEnd: sources.NotKnown,
	}
	if last := v.lines[j.Partition]; last != nil {
		view.Position, view.Start, view.End, view.StableEnd, view.Owner = last.Position, last.Start, last.End, last.StableEnd, last.Owner
	}
	return view
}

// index makes the lines of the view before easy to find.
func (v *viewer) index() {
	if v.before == nil {
		return
	}
	v.lines = make(map[sources.Partition]*LineView, len(v.before.Lines))
	for i := range v.before.Lines {
		v.lines[v.before.Lines[i].Partition] = &v.before.Lines[i]
	}
}

// notKnown is an age that is not known.
const notKnown = time.Duration(-1)

// behind is the age of the oldest unread record: 0 when none waits; by our own
// history of the end, and where that does not reach back by the record's own
// timestamp, if its producer's clock gave one that has been.
func (v viewer) behind(j Judgement, l sources.Lag) time.Duration {
	switch {
	case j.Lag == sources.NotKnown || l.Err != nil || l.PositionErr != nil:
		return notKnown
	case j.Lag == 0:
		return 0
	case j.Behind >= 0:
		return j.Behind
	}
	if look, ok := v.heads.of(l); ok && !look.Timestamp.IsZero() && !look.Timestamp.After(v.now) {
		return v.now.Sub(look.Timestamp)
	}
	return notKnown
}

// spark is the lag at the last readings with this one, oldest first: a reading
// that failed is a gap, and no zero.
func (v viewer) spark(line LineView) []int64 {
	spark := make([]int64, 0, sparkReadings)
	if last := v.lines[line.Partition]; last != nil {
		spark = append(spark, last.Spark[max(0, len(last.Spark)-sparkReadings+1):]...)
	}
	return append(spark, line.Lag)
}

// growthOver is at how many of the last readings is looked for how fast a lag
// grows: five minutes of them at the usual pace.
const growthOver = 20

// grows is by how many records a minute a lag grew; 0 when it did not, or when
// too few readings tell.
func grows(spark []int64, every time.Duration) int64 {
	spark = spark[max(0, len(spark)-growthOver):]
	first := slices.IndexFunc(spark, func(lag int64) bool { return lag >= 0 })
	last := len(spark) - 1
	if first < 0 || last-first < 3 || spark[last] < 0 || every <= 0 {
		return 0
	}
	took := time.Duration(last-first) * every
	return max(0, int64(float64(spark[last]-spark[first])/took.Minutes()))
}

// clientNames names members as "client id (member id)", by member id.
func clientNames(members []sources.Member) map[string]string {
	names := make(map[string]string, len(members))
	for _, m := range members {
		names[m.ID] = m.ID
		if m.ClientID != "" {
			names[m.ID] = m.ClientID + " (" + m.ID + ")"
		}
	}
	return names
}

// sameView tells whether two views of a group differ in nothing that is shown
// but the time of reading.
func sameView(a, b GroupView) bool {
	if a.State != b.State || a.Verdict != b.Verdict || a.Lag != b.Lag || a.Err != b.Err || a.Members != b.Members || len(a.Lines) != len(b.Lines) {
		return false
	}
	return slices.EqualFunc(a.Lines, b.Lines, func(x, y LineView) bool {
		return x.Judgement == y.Judgement && x.Position == y.Position && x.Start == y.Start && x.End == y.End &&
			x.Owner == y.Owner && x.Note == y.Note && x.Err == y.Err
	})
}
