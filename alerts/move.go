package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// move judges the position against the highest that counts, and tells whether
// it rose.
func (p *progress) move(l sources.Lag, r reading) (rose bool) {
	if p.Rewound != nil && (l.Position >= p.Rewound.From || r.now.Sub(p.Rewound.At) >= r.rule.StallAfter) {
		p.Rewound = nil // it is back, or no news any more
	}
	switch {
	case l.Position > p.High:
		p.rise(l, r)
		rose = true
	case l.Position < p.Position:
		p.fall(l, r)
	}
	p.hold(l, r.now, rose)
	return rose
}

func (p *progress) rise(l sources.Lag, r reading) {
	waited := p.Wait.elapsed(r.now)
	p.Habit.add(waited)
	if waited >= r.rule.StallAfter || (p.Loss != nil && p.Position < p.Loss.To) {
		p.unmark(p.High) // what piled up while it stood, or was lost, says nothing of how fast it reads
	}
	p.Prior, p.High, p.RoseAt = p.High, l.Position, r.now
	p.Wait.stop()
	p.Taken.stop()
	p.Grown, p.OwnerChanges, p.HeldAt = 0, 0, time.Time{}
	p.Told.Retention = false
	p.Closing = logStart{}
	if r.memberless {
		p.MemberlessAt, p.MemberlessTo = r.now, l.Position
	}
	if p.Replay != nil && l.Position > p.Replay.From {
		p.Replay = nil
	}
}

// fall judges a position that went back. Three things look alike:
//
//   - a consumer that fails on a record and takes the last few again, for ever:
//     its clock runs on, for the highest position has not risen;
//   - a member that lost its partitions and commits an older offset once;
//   - somebody who set the group back on purpose: the line works again on what
//     it had passed, so its clock must start afresh.
//
// A replay goes back by less than its latest advance. Only a fall behind where
// the line stood stall_after before it last rose starts the clock afresh.
func (p *progress) fall(l sources.Lag, r reading) {
	back := &jump{At: r.now, From: p.High, To: l.Position}
	if p.Rewound == nil && (p.RoseAt.IsZero() || l.Position <= p.Prior) {
		p.Rewound = back
	}
	if !p.RoseAt.IsZero() && l.Position >= p.stoodAt(p.RoseAt.Add(-r.rule.StallAfter)) {
		return
	}
	if p.Replay != nil && p.Position >= p.Replay.From && l.Position >= p.Replay.To {
		return // it was back where it fell from and fell again: a loop
	}
	if p.Replay != nil {
		back.From = max(back.From, p.Replay.From)
		back.To = min(back.To, p.Replay.To)
	}
	p.Replay = back
	p.High, p.Prior, p.RoseAt = l.Position, l.Position, r.now
	p.unmark(l.Position)
	p.Grown = 0
	p.Wait.stop()
}

// hold notices work that goes on past a record that is held: parallel
// consumers write what they have done beyond the position into the commit's
// metadata. Some clients write their member id there, so the first text of each
// owner is no progress, and neither is one that is the owner's id.
func (p *progress) hold(l sources.Lag, now time.Time, rose bool) {
	fresh := p.Rewrites < 0
	p.Rewrites = max(0, p.Rewrites)
	if l.Metadata == "" || l.Metadata == p.Metadata {
		return
	}
	known := p.Metadata != ""
	p.Metadata = l.Metadata
	if fresh || !known || l.Metadata == p.Owner || l.Metadata == sources.MetadataHash(p.Owner) {
		return
	}
	p.Rewrites++
	if rose || p.Rewrites < 2 {
		return
	}
	p.HeldAt = now
	p.Wait.stop() // and started again at this reading, for something waits still
}

// lose notices retention that passed the position while something unread lay
// before it. Where the group has started over at the log start by the time of
// the next reading, only its speed tells the jump from honest reading.
func (p *progress) lose(l sources.Lag, r reading) {
	if p.Loss != nil && l.Position < l.Start && l.Start > p.Loss.To {
		p.Loss.To = l.Start
	}
	if p.Loss != nil && p.Loss.To <= l.Position && r.now.Sub(p.Loss.At) >= r.rule.StallAfter {
		p.Loss = nil
	}
	if p.Position == sources.NoCommit || l.Position == sources.NoCommit ||
		p.Start > p.Position || l.Start <= p.Position || !p.unread() {
		return
	}
	if l.Position >= l.Start && p.couldRead(l.Start-p.Position, r) {
		return
	}
	p.Loss = &loss{At: r.now, From: p.Position, To: l.Start}
	if l.Position < l.Start {
		p.Loss.From = max(p.Position, l.Position) // what it read up to then is not lost
	}
	p.unmark(l.Position)
	p.Told.Loss = true
}

// unread tells whether something readable waited at the last reading. Offsets
// that nobody looked at count when they are more than the marker of a
// transaction.
func (p *progress) unread() bool {
	return p.Waits == recordWaits || (p.Waits == maybeWaits && p.limitBefore()-p.Position > markers)
}

// couldRead tells whether so many records can have been read since the position
// last rose, going by three times the longest step that the line was seen to
// make: a consumer may have worked on them for all that time. Where retention
// removed all that waited, nothing tells. A line that had stood for as long as a
// stall takes did not work on them: it has no more time than since the last
// reading, and no benefit of a doubt.
func (p *progress) couldRead(records int64, r reading) bool {
	since, stalled := p.RoseAt, p.Wait.elapsed(r.now) >= p.Habit.threshold(r.rule.StallAfter)
	if stalled {
		since = p.ReadAt
	} else if len(p.Marks) < fewestMarks || p.Position+records >= p.limitBefore() || p.neverHadSoMuch() {
		return true // a loss is only claimed when it was seen
	}
	var longest float64
	for i := 1; i < len(p.Marks); i++ {
		a, b := p.Marks[i-1], p.Marks[i]
		steps := max(1, float64(r.now.UnixMilli()-since.UnixMilli())/float64(max(1, b.At-a.At)))
		longest = max(longest, float64(b.Position-a.Position)*steps)
	}
	return float64(records) <= 3*longest
}

// neverHadSoMuch tells whether more than twice as much waits as at the begin of
// any step before: how fast the line reads when it need not wait for records is
// then not known. A
// transaction that ends lets go of all that it held, and a log whose start is
// moved right behind its reader (as Kafka Streams does with repartition topics)
// follows at once.
func (p *progress) neverHadSoMuch() bool {
	most := int64(0)
	for _, m := range p.Marks[:len(p.Marks)-1] {
		most = max(most, m.Lag)
	}
	return p.limitBefore()-p.Position > 2*most+p.Arrived
}

// hang watches a stable end that stands.
func (p *progress) hang(l sources.Lag, now time.Time) {
	if p.Uncommitted || p.Waits != nothingWaits || l.StableEnd >= l.End {
		p.Hanging = hanging{}
		return
	}
	if !p.Hanging.Watch.running() || p.Hanging.At != l.StableEnd {
		p.Hanging = hanging{At: l.StableEnd, End: l.End}
		p.Hanging.Watch.start(now)
	}
	p.Hanging.Behind = l.End - l.StableEnd
	if l.Transaction != nil {
		p.Hanging.By = l.Transaction
	}
}

// close watches how retention comes closer to a position that stands.
func (p *progress) close(l sources.Lag, now time.Time) {
	if p.Waits == nothingWaits {
		p.Closing = logStart{}
	} else if p.Closing.At.IsZero() {
		p.Closing = logStart{At: now, Offset: l.Start}
	}
}

// timeLeft is how long until retention reaches the position at the speed at
// which it came closer; false when it does not.
func (p *progress) timeLeft(now time.Time) (time.Duration, bool) {
	came := p.Start - p.Closing.Offset
	took := now.Sub(p.Closing.At)
	if p.Closing.At.IsZero() || came <= 0 || took <= 0 || p.Position <= p.Start {
		return 0, false
	}
	return time.Duration(float64(p.Position-p.Start) / float64(came) * float64(took)), true
}
