package views

import "time"

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
