package sources

import "time"

// Record is one record of a topic: its exact bytes and where it lies.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Timestamp time.Time // zero when the broker gave none
	Key       []byte    // nil is null
	Body      []byte    // nil is null
	Headers   []Header
}

// HeadLook is what a read-committed look at the position of a line found.
type HeadLook struct {
	Head      Head
	Offset    int64     // of the first readable record at or after the position
	Timestamp time.Time // of that record
}

// Receiver is a group that reads a queue and will see what is sent there.
type Receiver struct {
	Queue string
	Group string
	State string
	Lag   int64 // NotKnown when not known
}

// Passed is how far the groups that read a queue have read it.
type Passed struct {
	TopicID string
	Groups  []string // those that read it; none: nobody is known to
	// Below has for each partition the offset below which every one of them has
	// passed all records. A partition that one of them has not begun is not in it.
	Below map[int32]int64
}
