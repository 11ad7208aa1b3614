// Package convention reads what frameworks write on the messages that they give
// up on: where a letter came from, why it died, after how many attempts, and
// where it may go back to. Each convention is a row of a table; what is not in
// the table can be configured as a Mapping.
package convention

import "slices"

// transport is what a convention is used on.
type transport int

const (
	onKafka transport = 1 << iota
	onSQS
)

// repeat is what becomes of the headers of a letter that is given up on again.
type repeat int

const (
	replaced  repeat = iota // only the newest are there
	appended                // the newest come last
	prepended               // the newest come first (SmallRye alone)
	kept                    // only the oldest are there (Dapr alone)
)

// content is what the body of a letter is.
type content int

const (
	theRecord     content = iota // the bytes of the record, or what its consumer expects
	aDescription                 // a report about the record, or a pointer to it
	headersOnly                  // nothing, when key and body are null (KIP-1191's default)
	aContentShape                // the record; the row knows the shape of bodies, not how they died
)

// clock is what the timestamp of the record is.
type clock int

const (
	ofDeath    clock = iota // when it was written to the dead-letter queue
	ofEvent                 // something else
	ofOriginal              // the original record's: when it died is not known
)

// convention is a row of the table: how to know a letter of it, and where each
// thing stands.
type convention struct {
	id   string // as in the API: never changed
	name string // of the framework
	on   transport

	// A letter is of this convention when one of any is there, or all of all,
	// or two of weak, or, without any such names, when shape says so. With
	// names, shape must agree. Names are those of headers or attributes.
	any, all, weak []string
	least          int // how many of any and weak must be there; 0: one of any
	shape          func(*view) bool
	alone          bool // only when no other convention fits
	anyCase        bool // header names in capitals or not

	queue, partition, offset, stamp, group fields
	class, root, message, stack, code      fields
	attempts, failedAt                     fields
	way                                    fields // where it may go back to; none: to its origin
	key                                    fields // the key before the convention put its own there

	repeat     repeat
	reasonOnce bool                                // exception headers are replaced although origins are appended
	keepsFirst bool                                // the origin is the first one, however many hops there were
	noWay      bool                                // the origin is nothing that a message can be sent to
	groupOf    func(v *view, origin string) string // from a name, where no header has it
	codeOf     func(code string) string
	originOf   func(v *view, o *found)

	written []string // patterns of the headers that it wrote
	body    content
	clock   clock
	failed  bool // the timestamp is when its last attempt failed
	about   string
}

// fits tells whether a letter is of this convention.
func (c *convention) fits(v *view) bool {
	if c.any == nil && c.all == nil && c.weak == nil {
		return c.shape != nil && c.shape(v)
	}
	strong, weak := v.present(c.any), v.present(c.weak)
	named := strong > 0
	if c.least > 0 {
		named = strong+weak >= c.least
	}
	named = named || len(c.all) > 0 && v.present(c.all) == len(c.all) || weak > 1
	return named && (c.shape == nil || c.shape(v))
}

// present counts the names that the letter has as headers.
func (v *view) present(names []string) int {
	n := 0
	for _, name := range names {
		if v.has(name) {
			n++
		}
	}
	return n
}

// Convention is a row of the table, for people.
type Convention struct {
	ID        string
	Framework string
	Transport string // "kafka", "sqs", "kafka, sqs"
	Marks     []string
	Drops     []string // patterns of the headers that a redrive leaves out
	Note      string
}

// Conventions lists all that are known, with those that write nothing that
// could be recognised.
func Conventions() []Convention {
	var out []Convention
	for _, c := range table {
		row := Convention{ID: c.id, Framework: c.name, Transport: c.on.String(), Drops: c.written, Note: c.about}
		row.Marks = slices.Concat(c.any, c.all, c.weak)
		out = append(out, row)
	}
	return append(out, silent...)
}

// String is the transport's name.
func (t transport) String() string {
	return [...]string{"", "kafka", "sqs", "kafka, sqs"}[t]
}

// table has all conventions, the most specific first: where two share names,
// the one that asks for more stands before the other.
var table = slices.Concat(kafkaTable, sqsTable, homemadeTable)

// silent are frameworks that were looked into and write nothing.
var silent = []Convention{
	{ID: "camel-kafka", Framework: "Apache Camel Kafka component", Transport: "kafka", Note: "its own headers are filtered on the way out; map those that a route sets"},
	{ID: "faust", Framework: "Faust, faust-streaming", Transport: "kafka", Note: "no dead letters of its own"},
	{ID: "kafkaflow-core", Framework: "KafkaFlow", Transport: "kafka", Note: "no dead letters of its own; its retry extension keeps them in a database"},
	{ID: "confluent-parallel-consumer", Framework: "Confluent Parallel Consumer", Transport: "kafka", Note: "no dead letters of its own (issues 34 and 196 ask for them)"},
}
