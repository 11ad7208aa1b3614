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
}
