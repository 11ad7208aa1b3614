package convention

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// avroField is a field of a record that is read without a schema registry.
type avroField struct {
	name     string
	nullable bool
	number   bool // else text
}

// deadLetterType are the fields of com.bakdata.kafka.DeadLetter in the order of
// its schema (DeadLetter.avsc of bakdata/kafka-error-handling). A schema is as
// good as its writer: what does not fit to the last byte is not of this type.
var deadLetterType = []avroField{
	{"input_value", true, false},
	{"topic", true, false},
	{"partition", true, true},
	{"offset", true, true},
	{"description", false, false},
	{"cause.error_class", true, false},
	{"cause.message", true, false},
	{"cause.stack_trace", true, false},
	{"input_timestamp", true, true},
}

// readDeadLetter reads a body as bakdata's DeadLetter, with the framing of a
// schema registry before it; nil when it is none.
func readDeadLetter(b []byte) map[string]string {
	if len(b) < 15 || b[0] != 0 {
		return nil
	}
	out := map[string]string{}
	rest := b[5:]
	for _, f := range deadLetterType {
		used, ok := f.read(rest, out)
		if !ok {
			return nil
		}
		rest = rest[used:]
	}
	if len(rest) > 0 || !strings.Contains(out["cause.error_class"], ".") {
		return nil
	}
	return out
}

func (f avroField) read(b []byte, out map[string]string) (used int, ok bool) {
	if f.nullable {
		branch, n := binary.Varint(b)
		if n <= 0 || branch < 0 || branch > 1 {
			return 0, false
		}
		if branch == 0 {
			return n, true
		}
		used = n
	}
	v, n := binary.Varint(b[used:])
	if n <= 0 {
		return 0, false
	}
	used += n
	if f.number {
		out[f.name] = strconv.FormatInt(v, 10)
		return used, true
	}
	if v < 0 || v > int64(len(b)-used) {
		return 0, false
	}
	out[f.name] = string(b[used : used+int(v)])
	return used + int(v), true
}
