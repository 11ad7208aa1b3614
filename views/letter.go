package views

import "time"

// LetterPage is one dead letter.
type LetterPage struct {
	Frame
	ID         string
	CauseID    string
	CauseTitle string
	Status     string
	Outcome    string // consumed, returned; "" while not known
	Source     string
	Queue      string
	Place      string
	Attempts   int // Unknown when not known
	DeadAt     time.Time
	FailedAt   time.Time
	WrittenAt  time.Time // the timestamp of the record; zero: it has none
	ExpiresAt  time.Time
	ExpiryIs   string // "", never, exact, not before
	Size       int64  // of the whole record: key, value and headers
	Key        Bytes
	Body       Body
	Headers    []HeaderRow // in wire order, every one of them
	// HeadersAre names them: "headers", or "message attributes" on SQS.
	HeadersAre string
	System     []Fact // what the broker says of an SQS message
	Reason     LetterReason
	Origin     LetterOrigin
	Convention string // what the reason and origin were read from; "" when nothing was recognised
	Ways       []Way
	NoWay      string // why it cannot be redriven, in a sentence; "" when it can
	Timeline   []Moment
	// ReturnedFrom and CameBackAs are the ids of the letter that was redriven
	// and came back as this one, and of the one that this one came back as.
	ReturnedFrom string
	CameBackAs   string
	Redrive      string // id of the redrive that it is or was in
	Links        []OutLink
	Previous     *Link
	Next         *Link
	ValueHref    string // the exact bytes; "" when they are null or forgotten
	KeyHref      string
}

// LetterReason is why it was given up on, as far as anyone recorded it.
type LetterReason struct {
	Class   string
	Root    string
	Message string
	Code    string
	Stack   string
}

// LetterOrigin is where it came from, as far as anyone recorded it.
type LetterOrigin struct {
	Queue     string
	Partition int64 // Unknown when not known
	Offset    int64
	Group     string
	At        time.Time // the timestamp of the original
}

// HeaderRow is one header.
type HeaderRow struct {
	Name    string
	Value   Bytes
	Type    string // data type of an SQS attribute
	Meaning string // what its bytes mean: "3" for 00 00 00 03; "" where the text says it
	As      string // how that was read: "int32"
	Hex     string // its bytes, where they are no text
	Fate    string // of a redrive: kept, dropped
}

// Way is a queue that a letter may go back to.
type Way struct {
	Queue     string
	Partition int64  // Unknown: the broker chooses
	Why       string // "by rule of this source"
	Chosen    bool
	Receivers []Receiver
	// ReceiversKnown is false where the broker does not say who reads.
	ReceiversKnown bool
	Warning        string
}

// OutLink leads out of the program, to a log or a trace.
type OutLink struct {
	Text string
	URL  string
}
