package sources

import "time"

// Header is a Kafka record header or an SQS message attribute. Order and
// repetition are those of the wire.
type Header struct {
	Name  string
	Value []byte // nil is null, which is not the same as empty
	Type  string // data type of an SQS attribute ("String", "Number.int", "Binary"); "" on Kafka
}

// Place is where a dead letter lies.
type Place struct {
	TopicID   string // Kafka
	Partition int32  // Kafka
	Offset    int64  // Kafka
	MessageID string // SQS; "" on Kafka
}

// Origin is where a dead letter came from, as far as anyone recorded it.
// A field that is not known is its zero value or nil.
type Origin struct {
	Queue     string
	Partition *int32
	Offset    *int64
	Group     string
	Timestamp time.Time // of the original record
}

// Reason is why a message was given up on, as far as anyone recorded it.
type Reason struct {
	Class     string // outermost exception class or error code
	RootClass string // innermost known cause; "" when there is none besides Class
	Message   string
	Stack     string
	Code      string // short reason some conventions record: "rejected", "delivery-count-exceeded"
}

// DeadLetter is one message in a dead-letter queue: its exact bytes, and what
// a convention told of its past.
type DeadLetter struct {
	Source  string
	Queue   string // the dead-letter queue
	Place   Place
	Key     []byte // nil is null
	Body    []byte // nil is null
	Headers []Header
	// System has what the broker itself says of an SQS message: SentTimestamp,
	// ApproximateReceiveCount, MessageGroupId, DeadLetterQueueSourceArn, ….
	System map[string]string

	Timestamp time.Time // of the record; zero when the broker gave none
	DeadAt    time.Time // when it was dead-lettered, as well as it can be known; zero: not known
	FailedAt  time.Time // when its last attempt failed; zero: not known
	ExpiresAt time.Time // when the broker may forget it, at the earliest; zero: not known or never
	// ExpiryIs says how ExpiresAt was found: "" (not known), "never",
	// "exact", "not before".
	ExpiryIs string

	Origin   Origin
	Reason   Reason
	Attempts *int // nil: not known
	// Looks is how many receives of an SQS message were our own since it was
	// last told of: each look counts in ApproximateReceiveCount. They are taken
	// off Attempts, which is right for a letter that is seen for the first time.
	Looks      int
	Convention string // id of the convention that was recognised; "" when none was
	// ErrorHeaders are the names of the headers that the convention wrote: what
	// a redrive drops so that failures do not pile up.
	ErrorHeaders []string
	// RedriveTo is the queue that the convention names as the way back, a hint
	// and never an authority; "" when it names none.
	RedriveTo string
	// Earlier are the origins of earlier hops, newest first, of a letter that was
	// dead-lettered or retried more than once.
	Earlier []Origin
	// Inferred names what was read from the names of queues and not from the
	// record: "origin", "attempts".
	Inferred []string
	// OriginalKey is the key that the record had before the convention put its
	// own data there (uForwarder); nil when Key is the key. Empty is null.
	OriginalKey []byte
	// NotTheOriginal is set when the body is a description of the record, or a
	// pointer to it, and not the record itself.
	NotTheOriginal bool
}

// RedriveKey is the key that a letter goes back with: the one that the record
// had before a convention put its own data there. nil is null.
func (l DeadLetter) RedriveKey() []byte {
	switch {
	case l.OriginalKey == nil:
		return l.Key
	case len(l.OriginalKey) == 0:
		return nil
	}
	return l.OriginalKey
}

// QueueKind is what a queue is for.
type QueueKind string

// The kinds of queues.
const (
	DeadLetterQueue QueueKind = "dead_letter"
	RetryQueue      QueueKind = "retry"
	WorkQueue       QueueKind = "work"
)

// Queue is one reading of a topic or queue.
type Queue struct {
	Source       string
	Name         string
	Kind         QueueKind
	ID           string // topic id or ARN
	Partitions   int    // 0 on SQS
	Count        int64  // NotKnown when not known
	CountIsExact bool
	Retention    time.Duration // 0: not known; negative: for ever
	FeedsFrom    []string      // queues whose dead letters land here
	RedriveTo    string        // the way back that policy or configuration names; "" when none does
	Redriving    string        // a move task that runs at the broker, in words; "" when none does
	// GivesUpAfter is how long a message that fails every time takes at most to
	// come (back) into this dead-letter queue: on SQS the maxReceiveCount times the
	// visibility timeout of the queue that feeds it, the longest of several. 0: not
	// known.
	GivesUpAfter time.Duration
	ReadAt       time.Time
	Err          error
}

// Batch is what one look at a dead-letter queue brought.
type Batch struct {
	Letters []DeadLetter
	// Next is the cursor to go on from, to be stored in the transaction that
	// stores the letters. It is opaque to everyone but its adapter.
	Next []byte
	// More is true when a further look would bring more at once.
	More bool
	// Older counts letters before the configured start, known by their offsets
	// and not read.
	Older int64
	// Present has the message ids of a finished sweep of an SQS queue, so that
	// letters that are gone can be told; nil when the sweep is not finished.
	Present map[string]bool
	// Start has the log start of each partition, so that letters that the
	// broker forgot can be told; nil on SQS.
	Start map[int32]int64
	// Note says what could not be seen, in a sentence: "10 of about 400: a FIFO
	// group hands out at most ten". "" when nothing was hidden.
	Note string
}

// Finding is a risk in the set-up of a queue or topic.
type Finding struct {
	ID       string // stable: the same risk of the same queue has the same id
	Kind     string
	Source   string
	Queue    string
	Message  string
	Advice   string
	Evidence map[string]any
}
