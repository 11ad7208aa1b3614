package views

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// LagPage shows every group, worst first.
type LagPage struct {
	Frame
	Groups     []GroupRow // of this page of the list
	AllGroups  int        // of the whole list, as filtered
	Partitions int        // of the whole list, as filtered
	ReadAt     time.Time  // of the oldest reading shown; zero: nothing was read yet
	Filters    []Filter   // by verdict
	Group      string     // the filters as asked for
	Topic      string
	Verdict    string // kept in the form; "" for all
	Sources    []Option
	Pager      Pager
	// Empty says why no group is listed, and what to do if that is a surprise.
	Empty string
}

// GroupRow is one group.
type GroupRow struct {
	Source   string
	Group    string
	Protocol string // classic, consumer, share, streams; or "SQS"
	State    string
	Members  int // Unknown when they cannot be read
	Verdict  string
	Said     string // what is so, in a few words: "Partition 3 wedged"; "" for a group that is ok
	Why      string // the same in a sentence, for those who open the group
	Incident *IncidentRef
	Lag      int64
	// LagUnknown is how many of its lines have a lag that is not known: the sum
	// is then "at least".
	LagUnknown int
	Behind     time.Duration // of the oldest unread record; negative: not known
	Spark      []int64       // lag over the last hour, oldest first; Unknown where not read
	Lines      []LineRow     // worst first
	LinesMore  int           // lines that are not listed
	Strip      []Cell        // every line; empty where Lines has them all
	MoreHref   string
	Open       bool
	Error      string
	ReadAt     time.Time
}

// LineRow is one line of a group.
type LineRow struct {
	Topic     string
	Partition int32
	Named     string // message group of SQS FIFO, in place of the number; "" otherwise
	Verdict   string
	Scope     string
	Position  int64 // Unknown: none, see Note
	End       int64
	StableEnd int64
	Lag       int64
	Behind    time.Duration
	Owner     string
	Since     time.Time
	Reason    string
	Note      string
	Error     string
	Spark     []int64
	Head      *Record
}

// legend says what each verdict means.
var legend = []Fact{
	{"ok", "moving, or nothing readable to move to"},
	{"slow", "moves, but falls further behind; never pages as a stall"},
	{"head_of_line_stall", "one line stands still on a readable record while its peers move"},
	{"group_stall", "every line with work stands still, members alive"},
	{"stopped", "no members, and something waits"},
	{"unassigned", "the group is stable, this partition has no owner"},
	{"orphaned", "nobody in the group reads this topic any more; never pages"},
	{"open_transaction", "a producer holds a transaction open; the consumer cannot pass"},
	{"data_loss", "retention passed the position: records were deleted unread"},
	{"rewind", "the position went back by more than a replay"},
	{"unknown", "no fresh reading; clocks stop, nothing opens or resolves"},
}

func (p LagPage) empty() string {
	if p.Empty != "" {
		return p.Empty
	}
	return "No group matches these filters."
}

// kind is where a group lives and how it works: "payments, classic, 6
// members".
func (g GroupRow) kind() string {
	s := Visible(g.Source) + ", " + protocol(g.Protocol)
	switch {
	case g.Members < 0:
		return s + ", members not known"
	case g.Members == 0:
		return s + ", no members"
	default:
		return s + ", " + Plural(g.Members, "member")
	}
}

// lagSays is a group's lag; with lines that are not known it is "at least".
func (g GroupRow) lagSays() string {
	if g.Lag >= 0 && g.LagUnknown > 0 {
		return "≥ " + commas(g.Lag)
	}
	return Number(g.Lag)
}

func (g GroupRow) whySays() string {
	switch {
	case g.Error != "":
		return "This group could not be read: " + g.Error
	case g.Why != "":
		return g.Why
	case g.State != "":
		return "State " + g.State + "."
	default:
		return ""
	}
}

// several tells whether the group reads more than one topic, so that a
// partition needs its topic's name.
func (g GroupRow) several() bool {
	for _, l := range g.Lines {
		if l.Topic != g.Lines[0].Topic {
			return true
		}
	}
	return false
}

// cells is the group as a strip, in the order of topics and partitions: the
// rows are worst first, and a strip that moved about could not be learnt.
func (g GroupRow) cells() []Cell {
	if len(g.Strip) > 0 {
		return g.Strip
	}
	lines := slices.Clone(g.Lines)
	slices.SortStableFunc(lines, func(a, b LineRow) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Named, b.Named))
	})
	several := g.several()
	cells := make([]Cell, len(lines))
	for i, l := range lines {
		cells[i] = Cell{l.short(several), l.verdict()}
	}
	return cells
}

// short names a line within its group.
func (l LineRow) short(several bool) string {
	n := l.Named
	if n == "" {
		n = strconv.Itoa(int(l.Partition))
	}
	if several {
		return l.Topic + " " + n
	}
	return n
}

// behindSays is how old the oldest unread record is: where nothing waits there
// is none, which is not the same as not known.
func (l LineRow) behindSays() string { return behind(l.Lag, l.Behind) }

func (g GroupRow) behindSays() string { return behind(g.Lag, g.Behind) }

func behind(lag int64, d time.Duration) string {
	if lag == 0 && d < 0 {
		return "–"
	}
	return span(d)
}

// verdict of a line: one that could not be read is unknown, whatever it was.
func (l LineRow) verdict() string {
	if l.Error != "" {
		return "unknown"
	}
	return l.Verdict
}

// more tells whether a line has something to say below it.
func (l LineRow) more(g GroupRow) bool { return l.Head != nil || l.says(g) != "" }

// says is the reason of a line that is not well, unless its group says it
// already.
func (l LineRow) says(g GroupRow) string {
	switch {
	case l.Error != "":
		return l.Error
	case l.Verdict == "ok" || l.Reason == "" || sentence(l.Reason) == sentence(g.Why):
		return ""
	case l.Note != "":
		return sentence(l.Reason) + " " + l.Note
	default:
		return sentence(l.Reason)
	}
}

func (l LineRow) positionSays() string {
	if l.Position < 0 {
		if l.Note != "" {
			return Visible(l.Note)
		}
		return "none yet"
	}
	return commas(l.Position)
}
