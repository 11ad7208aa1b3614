package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Board is what the lag loop last saw of everything: what the pages and the
// API show without asking a broker.
type Board struct {
	Sources []SourceRead
	Groups  []GroupView // worst first
}

// SourceRead says when a source was last read, and why it was not.
type SourceRead struct {
	Source string
	ReadAt time.Time // of the last reading that worked; zero: never
	Err    string    // of the last reading; "" when it worked
}

// GroupView is one group as last judged.
type GroupView struct {
	Source   string
	Group    string
	Protocol sources.Protocol
	State    string
	Verdict  Verdict // the worst of its lines
	Lag      int64   // sum over the lines that are known; sources.NotKnown when none is
	NotKnown int     // lines whose lag is not known
	Members  int
	Lines    []LineView
	Err      string
	ReadAt   time.Time
}

// LineView is one line as last judged.
type LineView struct {
	Judgement
	Position  int64 // sources.NoCommit, or sources.NotKnown
	Start     int64
	End       int64
	StableEnd int64
	Behind    time.Duration // age of the oldest unread record; negative: not known
	Owner     string        // "client id (member id)"; "" when nobody is assigned
	Note      string        // "no commit yet", "1 control record after the last message"
	Err       string
	Grows     int64   // records a minute by which its lag grew at the last readings; 0: it does not, or nobody knows
	Spark     []int64 // lag at the last readings, oldest first
}
