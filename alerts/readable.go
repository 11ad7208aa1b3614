package alerts

import (
	"fmt"

	"github.com/unwedge/unwedge/sources"
)

// waiting is whether something readable waits at a position.
type waiting string

// What waits. Offsets alone do not tell: transaction markers, aborted tails
// and compacted holes take offsets that nobody reads.
const (
	nothingWaits waiting = ""
	maybeWaits   waiting = "maybe" // offsets are there, and nobody has looked at them
	recordWaits  waiting = "record"
)

// enoughGrowth is how often the end must have been seen to rise past a standing
// position before, without a look, a record is taken to wait. Once may be an
// aborted transaction; a log that goes on growing is no tail of markers.
const enoughGrowth = 2

// markers is how many offsets at the end of a log may well be markers of
// transactions only.
const markers = 2

// limit is the offset that the group reads up to: the stable end, or the end
// for a group that was seen to read past the stable end.
func limit(l sources.Lag, uncommitted bool) int64 {
	if uncommitted {
		return l.End
	}
	return min(l.StableEnd, l.End)
}

// from is the first offset that the group has yet to read: its position, not
// below the log start. A line without a commit is taken to start where the log
// ended when its owner came: records before that are read or passed over by
// auto.offset.reset, which no broker tells.
func (p *progress) from(l sources.Lag) int64 {
	if l.Position == sources.NoCommit {
		return max(p.Base, l.Start)
	}
	return max(l.Position, l.Start)
}

// raw counts the offsets between where the group stands and its limit.
func (p *progress) raw(l sources.Lag) int64 { return max(0, limit(l, p.Uncommitted)-p.from(l)) }

// look remembers what was found at the head, for the readings at which nobody
// looks.
func (p *progress) look(l sources.Lag) {
	if l.Position == sources.NoCommit && p.Base > l.Start && l.Head == sources.HeadRecord {
		return // it was seen at the log start, before all that surely is this group's to read
	}
	if l.Head != sources.HeadNotAsked {
		p.Looked = look{Head: l.Head, At: p.from(l), Limit: limit(l, p.Uncommitted)}
	}
}

// waits tells whether something readable waits. A look may be missing at any
// reading: then the last one at the same offset counts, and that it found
// nothing only while nothing was written since.
func (p *progress) waits(l sources.Lag) waiting {
	if p.raw(l) == 0 {
		return nothingWaits
	}
	if p.Uncommitted && l.StableEnd < l.End {
		return recordWaits // a read-committed look cannot see what lies past the stable end
	}
	if p.Looked.At == p.from(l) {
		switch {
		case p.Looked.Head == sources.HeadRecord:
			return recordWaits
		case p.Looked.Limit == limit(l, p.Uncommitted):
			return nothingWaits
		}
	}
	if p.Grown >= enoughGrowth {
		return recordWaits
	}
	return maybeWaits
}

// lag counts the readable records that wait; sources.NotKnown when the group
// has not committed and may start anywhere.
func (p *progress) lag(l sources.Lag) int64 {
	switch {
	case p.Beyond:
		return sources.NotKnown
	case l.Position == sources.NoCommit && l.Start < limit(l, p.Uncommitted) && p.Base > l.Start:
		return sources.NotKnown
	case p.Waits == nothingWaits:
		return 0
	}
	return p.raw(l)
}

// note is what is worth saying beside the number; "" when nothing is.
func (p *progress) note(l sources.Lag) string {
	switch raw := p.raw(l); {
	case p.Beyond:
		return fmt.Sprintf("the position lies beyond the end %s: the topic was created again", count(l.End))
	case l.Position == sources.NoCommit && l.Start >= l.End:
		return "empty, no commit"
	case l.Position == sources.NoCommit:
		return "no commit yet"
	case l.Position < l.Start:
		return "records expired before they were read: up to " + count(l.Start-l.Position)
	case l.Position > l.End:
		return "read past the end that the broker told a moment before"
	case p.Waits == nothingWaits && raw == 1:
		return "1 control record after the last message"
	case p.Waits == nothingWaits && raw > 1:
		return count(raw) + " offsets after the last message hold no record: markers, aborted or compacted"
	case p.Waits == maybeWaits:
		return "nobody looked yet whether a record waits"
	}
	return ""
}
