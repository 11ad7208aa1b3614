package sources

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Finished says where the work of letters is written down when it is done: a
// record there with the same key, header or JSON value as a letter means that
// nobody waits for that letter any more.
type Finished struct {
	For   string // pattern of queues: that a letter came from, goes to, or lies in
	Topic string
	By    Field
}

// Field names a part of a record by which two records are compared.
type Field struct {
	In   FieldIn
	Name string // of a header, or a JSON pointer; "" for the key
}

// FieldIn is the part of a record in which a field is.
type FieldIn string

// The parts of a record.
const (
	InKey    FieldIn = "key"
	InHeader FieldIn = "header"
	InJSON   FieldIn = "json" // of the value
)

// String is the field as ParseField reads it.
func (f Field) String() string {
	if f.In == InKey {
		return string(InKey)
	}
	return string(f.In) + ":" + f.Name
}

// ParseField reads "key", "header:x" or "json:/path", a JSON pointer (RFC 6901).
func ParseField(text string) (Field, error) {
	in, name, named := strings.Cut(text, ":")
	f := Field{In: FieldIn(in), Name: name}
	switch {
	case f.In == InKey && !named, f.In == InHeader && name != "", f.In == InJSON && strings.HasPrefix(name, "/"):
		return f, nil
	}
	return Field{}, fmt.Errorf("%q is none of key, header:x and json:/path", text)
}

// Validate tells what is wrong with a place of finished work, each mistake with
// its key in front.
func (f Finished) Validate() (errs []error) {
	if f.For == "" {
		errs = append(errs, errors.New("for: is missing: a pattern of the queues whose letters this is about"))
	}
	if f.Topic == "" {
		errs = append(errs, errors.New("topic: is missing: where finished work is written down"))
	}
	if f.By == (Field{}) {
		errs = append(errs, errors.New("by: is missing: key, header:x or json:/path"))
	}
	return errs
}

// Stretch is a part of a queue that is to be looked through: up to what is
// readable now.
type Stretch struct {
	Queue string
	Since time.Time // records of that time and later; zero: only the partitions of From
	// From has partitions that begin at an offset, or at Since where that is
	// earlier.
	From map[int32]int64
}

// Bounds are how much a look may take; what is reached first ends it.
type Bounds struct {
	Records int64
	Bytes   int64
	Time    time.Duration
}

// Looked is how far a look got.
type Looked struct {
	Records int64 // that were read
	Bytes   int64
	Left    int64     // that were not, at most: offsets up to the end
	Until   time.Time // everything written before was looked at, as far as the records' own times tell; zero: nothing was
	Err     error     // why the rest could not be read; nil: all was, or a bound was reached
}
