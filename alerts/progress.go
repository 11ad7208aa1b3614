package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// progress is all that is remembered of one line between two readings. It is
// stored as JSON: what it forgets at a restart would page somebody twice, or
// not at all.
type progress struct {
	First       int64         `json:",omitzero"` // where the line stood before its oldest mark
	Position    int64         `json:",omitzero"` // as last read; sources.NoCommit
	High        int64         `json:",omitzero"` // the highest position that counts; sources.NoCommit
	Prior       int64         `json:",omitzero"` // High before its latest advance
	Start       int64         `json:",omitzero"` // log start as last read
	End         int64         `json:",omitzero"` // as last read
	StableEnd   int64         `json:",omitzero"` // as last read
	Arrived     int64         `json:",omitzero"` // what was written between the last two readings
	Every       time.Duration `json:",omitzero"` // between the last two readings
	TopicID     string        `json:",omitzero"`
	Base        int64         `json:",omitzero"` // where a line without a commit is taken to start
	Uncommitted bool          `json:",omitzero"` // the group reads past the stable end

	FirstAt time.Time `json:",omitzero"` // the first reading that worked
	ReadAt  time.Time `json:",omitzero"` // the last one
	RoseAt  time.Time `json:",omitzero"` // when the high-water position last rose; zero: never seen
	Wait    stopwatch `json:",omitzero"` // since the later of: it rose, something readable appeared
	Waits   waiting   `json:",omitzero"`
	Grown   int       `json:",omitzero"` // readings that saw the end rise while the position stood
	Looked  look      `json:",omitzero"`
	Habit   cadence   `json:",omitzero"`
	Marks   []mark    `json:",omitzero"`
	Ends    []logEnd  `json:",omitzero"`

	Owner        string    `json:",omitzero"` // the last that was seen; "" when there never was one
	OwnerChanges int       `json:",omitzero"` // since the position last rose
	Unowned      stopwatch `json:",omitzero"`
	Taken        stopwatch `json:",omitzero"` // since it has an owner again after stall_after without
	Metadata     string    `json:",omitzero"`
	Rewrites     int       `json:",omitzero"`  // how often the metadata changed under this owner, not counting the reading at which it came
	HeldAt       time.Time `json:",omitzero"`  // when its metadata last told of work past the position; zero: not since it rose
	MemberlessAt time.Time `json:",omitzero"`  // last advance between two readings in a row that both saw no members
	MemberlessTo int64     `json:",omitempty"` // and where to

	Hanging hanging   `json:",omitzero"`
	Loss    *loss     `json:",omitzero"`
	Rewound *jump     `json:",omitzero"` // a fall, while it is news
	Replay  *jump     `json:",omitzero"` // a deliberate fall that the line has not made good yet
	Lost    time.Time `json:",omitzero"` // when the commit vanished; zero: it is there
	Beyond  bool      `json:",omitzero"` // the topic was created again, and the position is still that of the old one
	Told    warned    `json:",omitzero"`
	Verdict Verdict   `json:",omitzero"` // as last given
	Since   time.Time `json:",omitzero"`
	Closing logStart  `json:",omitzero"` // the log start when the line began to stand
}

// look is what was last found at the head of a line.
type look struct {
	Head  sources.Head `json:",omitzero"`
	At    int64        `json:",omitzero"` // the offset that was looked at
	Limit int64        `json:",omitzero"` // where the readable log ended then
}

// hanging is a stable end that stands while the end moves on: an open
// transaction.
type hanging struct {
	Watch  stopwatch `json:",omitzero"`
	At     int64     `json:",omitzero"` // the stable end that stands
	End    int64     `json:",omitzero"` // the end when it began to
	Behind int64     `json:",omitzero"` // offsets that lie past it now

	By *sources.Transaction `json:",omitempty"` // what is known of it; nil: nothing yet
}

// jump is a position that went back.
type jump struct {
	At       time.Time `json:",omitzero"`
	From, To int64     `json:",omitzero"`
}

// loss is records that retention deleted before they were read.
type loss struct {
	At       time.Time `json:",omitzero"`
	From, To int64     `json:",omitzero"` // the offsets that are gone, To exclusive
}

// logStart is a log start, to tell how fast retention comes closer.
type logStart struct {
	At     time.Time `json:",omitzero"`
	Offset int64     `json:",omitzero"`
}

// warned is what was warned of already, once for each time that it is so.
type warned struct {
	Orphaned, Retention, Loss bool `json:",omitzero"`
}

// reading is what the whole group tells about the moment at which a line is
// read.
type reading struct {
	now         time.Time
	owner       string // "" when nobody is assigned
	rule        Rule
	settled     bool // members are known and their group is stable: who owns what is decided
	members     bool // at least one is there, or nobody can tell
	memberless  bool // neither this reading nor the one before saw any
	uncommitted bool
}

// next is the line one reading later.
func (p *progress) next(l sources.Lag, r reading) {
	if l.Err != nil || l.PositionErr != nil {
		p.pause(r.now)
		return
	}
	if p.FirstAt.IsZero() {
		p.begin(l, r)
	}
	if p.createdAgain(l) {
		p.forget(l, r)
	}
	if l.Position == sources.NoCommit && p.High != sources.NoCommit {
		p.pause(r.now) // a broker that loads its offsets shows none for a moment (linkedin/Burrow issue 150)
		if p.Lost.IsZero() {
			p.Lost = r.now
		}
		return
	}
	p.resume(r.now)
	p.Lost = time.Time{}
	p.Uncommitted = r.uncommitted
	p.own(r)
	p.observe(l, r)
	p.remember(l, r.now)
}

// observe moves the line on: what was lost, where it stands, what waits. The
// order matters: a loss is judged by how things stood before.
func (p *progress) observe(l sources.Lag, r reading) {
	if p.Beyond = p.Beyond && l.Position > l.End; p.Beyond {
		p.Wait.stop()
		return
	}
	p.Arrived = max(0, limit(l, p.Uncommitted)-p.limitBefore())
	p.lose(l, r)
	rose := p.move(l, r)
	p.look(l)
	if !rose && p.Arrived > 0 {
		p.grow(r.now)
	}
	p.Waits = p.waits(l)
	if p.Waits == nothingWaits {
		p.Wait.stop()
	} else {
		p.Wait.keep(r.now)
	}
	p.watchEnd(l, r.now)
	if rose {
		p.mark(l, r.now, r.rule.StallAfter)
	}
	p.hang(l, r.now)
	p.close(l, r.now)
}

// grow counts a rise of the end past a standing position. Where no more waited
// before than the marker of a transaction takes, and nobody looked, this is when
// something readable appeared.
func (p *progress) grow(now time.Time) {
	if p.Grown == 0 && p.Waits == maybeWaits && p.limitBefore()-max(p.Position, p.Start) <= markers {
		p.Wait.start(now)
	}
	p.Grown++
}

func (p *progress) begin(l sources.Lag, r reading) {
	*p = progress{Verdict: p.Verdict, Since: p.Since, FirstAt: r.now, First: l.Position, Position: l.Position, High: l.Position, Prior: sources.NoCommit}
	p.Base = limit(l, r.uncommitted)
	p.Metadata = l.Metadata
	p.remember(l, r.now)
}

// createdAgain tells whether this is another log than the one read before: the
// topic was deleted and created again, or its tail was cut off.
func (p *progress) createdAgain(l sources.Lag) bool {
	return (l.TopicID != "" && p.TopicID != "" && l.TopicID != p.TopicID) || l.End < p.End
}

// forget starts the line afresh. Its habit stays: that is its consumer's, not
// the topic's.
func (p *progress) forget(l sources.Lag, r reading) {
	kept := *p
	p.begin(l, r)
	p.Habit, p.Owner, p.Unowned = kept.Habit, kept.Owner, kept.Unowned
	if l.Position > l.End {
		p.Beyond, p.High, p.Position = true, sources.NoCommit, sources.NoCommit
	}
}

func (p *progress) remember(l sources.Lag, now time.Time) {
	if !p.ReadAt.IsZero() {
		p.Every = now.Sub(p.ReadAt)
	}
	p.ReadAt = now
	p.Start, p.End, p.StableEnd = l.Start, l.End, l.StableEnd
	if !p.Beyond {
		p.Position = l.Position
	}
	if l.TopicID != "" {
		p.TopicID = l.TopicID
	}
}

func (p *progress) limitBefore() int64 {
	return limit(sources.Lag{StableEnd: p.StableEnd, End: p.End}, p.Uncommitted)
}

func (p *progress) watches() []*stopwatch {
	return []*stopwatch{&p.Wait, &p.Unowned, &p.Taken, &p.Hanging.Watch}
}

// pause stops the line's clocks at a reading that failed.
func (p *progress) pause(now time.Time) {
	for _, w := range p.watches() {
		w.pause(now)
	}
}

func (p *progress) resume(now time.Time) {
	for _, w := range p.watches() {
		w.resume(now)
	}
}

// own notes who owns the line. The first owner that a line without a commit
// gets has its whole time from then on: what lay there before may not be his
// to read, and he could not have read it sooner.
func (p *progress) own(r reading) {
	switch {
	case r.owner != "":
		if p.Unowned.elapsed(r.now) >= r.rule.StallAfter {
			p.Taken.start(r.now)
		}
		p.Unowned.stop()
	case !r.members:
		p.Unowned.stop()
	case r.settled:
		p.Unowned.keep(r.now)
	}
	if r.owner == "" || r.owner == p.Owner {
		return
	}
	p.Rewrites = -1 // what is written at this reading may still be the last owner's
	if p.Owner != "" {
		p.OwnerChanges++
	} else if p.High == sources.NoCommit && r.now.After(p.FirstAt) {
		p.Base = max(p.Base, p.limitBefore())
		p.Wait.stop()
	}
	p.Owner = r.owner
}
