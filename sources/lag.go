// Package sources has the words that every transport shares: what a consumer
// group has read and left unread, and what a dead letter is. Adapters fill
// these types in; the packages that decide (alerts, review) read them.
package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// NoCommit is the position of a line whose group has committed nothing yet.
const NoCommit int64 = -1

// NotKnown is an offset or a count that could not be read. It is never shown
// as a number.
const NotKnown int64 = -1

// Partition is one line of a group's work.
type Partition struct {
	Source string // name of the source in the configuration
	Group  string
	Topic  string
	Number int32
}

// Protocol is how the members of a group share its work.
type Protocol string

// The protocols of Kafka groups.
const (
	Classic  Protocol = "classic"
	Consumer Protocol = "consumer" // KIP-848
	Share    Protocol = "share"    // KIP-932
	Streams  Protocol = "streams"  // KIP-1071
)

// Head tells whether a read-committed fetch at the position returns a record.
type Head string

// What a look at the head found. HeadNotAsked is the zero value.
const (
	HeadNotAsked Head = ""
	HeadRecord   Head = "record" // a record waits there
	HeadNone     Head = "none"   // markers, aborted tails, compacted holes only
)

// TopicPartition names a partition of a topic, whoever reads it.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Member is one live member of a group, as its coordinator describes it.
type Member struct {
	ID       string
	ClientID string
	Host     string
	Assigned []TopicPartition
}

// Lag is one reading of one line.
type Lag struct {
	Partition
	Position    int64  // committed offset; NoCommit when there is none
	PositionErr error  // the commit could not be read; Position then means nothing
	Metadata    string // MetadataHash of the commit's metadata, "" when it has none
	Start       int64  // log start
	End         int64  // high-water mark: the next offset to be written
	StableEnd   int64  // last stable offset
	TopicID     string // changes when a topic is deleted and created again; "" when not known
	Head        Head
	Owner       string // member id of the owner, "" when nobody is assigned
	Err         error  // the partition could not be read; the offsets then mean nothing
	// Counted is the number of records that wait as the broker itself counts
	// them; nil when it does not. Share groups have it (KIP-1226): records behind
	// their position may be done already.
	Counted *int64
	// Transaction is the one that holds the stable end; nil when nobody asked, or
	// none is known to.
	Transaction *Transaction
}

// Transaction is one that is open in a partition.
type Transaction struct {
	ProducerID int64
	ID         string        // transactional id; "" when it is not known
	Since      time.Time     // by the broker's clock; zero when not known
	Timeout    time.Duration // the producer's transaction.timeout.ms; 0 when not known
}

// Group is one reading of one group: the whole of it at one moment, because
// whether a line is stuck depends on how its peers do.
type Group struct {
	Source       string
	Name         string
	Protocol     Protocol
	State        string // as the coordinator says: Stable, Empty, PreparingRebalance, …
	Members      []Member
	MembersKnown bool // false when the members cannot be read (streams groups before their describe)
	Lines        []Lag
	ReadAt       time.Time // on our own clock
	Err          error     // the group could not be read

	// OffsetsRetention is the broker's offsets.retention.minutes: how long after
	// its last use the commits of an empty group are kept. 0: not known.
	OffsetsRetention time.Duration
}

// MetadataHash is how the metadata of a commit is kept: enough to see that it
// changed, and nothing of what it says. "" stays "".
func MetadataHash(metadata string) string {
	if metadata == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(metadata))
	return hex.EncodeToString(sum[:8])
}
