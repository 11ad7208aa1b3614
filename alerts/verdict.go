// Package alerts decides what each line of each group is doing, opens and
// resolves incidents, and sees to it that every page gets out exactly once.
package alerts

import (
	"time"

	"github.com/unwedge/unwedge/sources"
)

// Verdict is what a partition is doing.
type Verdict string

// The verdicts. See docs/verdicts.md for when each is given.
const (
	OK              Verdict = "ok"
	Slow            Verdict = "slow"
	HeadOfLineStall Verdict = "head_of_line_stall"
	GroupStall      Verdict = "group_stall"
	Stopped         Verdict = "stopped"
	Unassigned      Verdict = "unassigned"
	Orphaned        Verdict = "orphaned"
	OpenTransaction Verdict = "open_transaction"
	DataLoss        Verdict = "data_loss"
	Rewind          Verdict = "rewind"
	Unknown         Verdict = "unknown"
	DeadLetterBurst Verdict = "dead_letter_burst" // of a dead-letter queue, never of a line
)

// Scope is how far a verdict reaches.
type Scope string

// The scopes. A line that is ok has none.
const (
	NoScope        Scope = ""
	PartitionScope Scope = "partition"
	MemberScope    Scope = "member"
	GroupScope     Scope = "group"
	TopicScope     Scope = "topic"
)

// Judgement is the verdict on one line at one moment, and why.
type Judgement struct {
	sources.Partition
	Verdict Verdict
	Scope   Scope
	Since   time.Time // when the line began to be so, on our clock; zero when not known
	Reason  string    // one sentence, never ""
	Lag     int64     // readable records that wait; sources.NotKnown when not known

	Behind time.Duration // age of the oldest unread record by our own history of the end; negative: that does not reach back
	// RetentionAt is when retention reaches the position, at the speed at which it
	// came closer; zero when it does not, or nobody knows.
	RetentionAt time.Time

	Note string // what is worth saying beside the lag: "no commit yet"; "" when nothing is
	Page bool   // this reading opened an incident that pages, and the line is one of its lines
}

// ranks order the verdicts from what can wait to what cannot.
var ranks = map[Verdict]int{
	OK: 0, Orphaned: 1, Unknown: 2, Rewind: 3, Slow: 4, OpenTransaction: 5,
	Unassigned: 6, Stopped: 7, HeadOfLineStall: 8, GroupStall: 9, DataLoss: 10, DeadLetterBurst: 8,
}

// Rank orders verdicts: the higher, the worse.
func (v Verdict) Rank() int { return ranks[v] }

// stalls tells whether the verdict says that work stands still although
// somebody is there to do it.
func (v Verdict) stalls() bool { return v == HeadOfLineStall || v == GroupStall }
