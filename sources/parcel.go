package sources

import (
	"strings"
	"time"
)

// Target is where a redriven letter goes.
type Target struct {
	Queue     string
	Partition *int32 // nil: the broker chooses
	TopicID   string // of the topic as it was when planned; "" on SQS
}

// Parcel is one letter made ready to be sent: the bytes that will go.
type Parcel struct {
	Item    string // id of the ledger's item
	Place   Place  // where the letter lies
	Queue   string // the dead-letter queue that it lies in
	Target  Target
	Key     []byte
	Body    []byte
	Headers []Header
	System  map[string]string // of the letter; an SQS adapter takes the message group from it
	// Timestamp is what the copy is to have (Kafka); zero: that of the sending.
	Timestamp time.Time
	// StoredCopy says that the broker has forgotten the letter: what is sent is
	// our own copy, and nothing is held or taken off.
	StoredCopy bool
}

// Order names what a parcel keeps its place in: of those with the same none may
// be sent before one in front of it. It is the message group of a FIFO queue, whose
// name ends in .fifo (SQS API, CreateQueue); "" elsewhere. The order of a Kafka
// partition is that of the target.
func (p Parcel) Order() string {
	group := p.System["MessageGroupId"]
	if group == "" || !strings.HasSuffix(p.Queue, ".fifo") {
		return ""
	}
	return p.Queue + "\n" + group
}

// Shipment is one or more parcels packed into what is sent in one request. Its
// data is written to the ledger before the first send, and sent again as it is
// after a crash.
type Shipment struct {
	Target Target
	Items  []string // in the order in which they are sent
	Data   []byte   // opaque to everyone but its adapter
	// RepeatUntil is how long the broker recognises a second copy of the same
	// shipment and drops it. Zero: never; a send whose answer was lost is then
	// unknown, unless the shipment is traceable.
	RepeatUntil time.Time
	// Traceable says that its adapter finds out whether an earlier copy arrived:
	// however often it is shipped, it arrives once.
	Traceable bool
	// Repeated says that it may have been sent before, by this run or by one that
	// did not live to hear the answer.
	Repeated bool
	// Stays says that its letters stay where they lay when they were sent, so that
	// nothing is to be settled.
	Stays bool
}

// Receipt is what became of one item of a shipment.
type Receipt struct {
	Item      string
	Offset    int64  // Kafka: where it lies now
	Partition int32  // Kafka
	MessageID string // SQS: what it is called now
	Err       error  // nil: accepted. ErrAmbiguous: nobody can tell; ErrNotSent: it goes later; anything else: it was refused
}

// Destination is what a queue takes that letters are sent to.
type Destination struct {
	TopicID    string        // Kafka
	Partitions int           // 0 on SQS
	MaxBytes   int           // largest batch or message; 0: not known
	Compacted  bool          // a null body deletes its key, a null key is refused
	Retention  time.Duration // what is older goes; 0: not known, negative: nothing goes
	// OldestTaken is how far behind the broker's clock the timestamp of a record
	// may be (message.timestamp.before.max.ms, KIP-937); 0: not known, or as far
	// as one likes.
	OldestTaken time.Duration
	// StampsItself is set where records get the broker's own time
	// (message.timestamp.type LogAppendTime): none can be kept.
	StampsItself bool
	FIFO         bool // SQS
	DefaultDedup bool // SQS FIFO: a second message with the same body is dropped for five minutes
}
