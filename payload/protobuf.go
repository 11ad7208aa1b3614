package payload

import (
	"encoding/binary"
	"errors"
)

// ErrNotProtobuf is a message that does not parse as protobuf to its end.
var ErrNotProtobuf = errors.New("not protobuf")

// Wire is one field of a protobuf message as it stands on the wire.
type Wire struct {
	Number uint64
	Type   int    // 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes
	Varint uint64 // of types 0, 1 and 5
	Bytes  []byte // of type 2
}

// maxWire is how many fields of a message are read at most.
const maxWire = 1000

// ProtobufFields reads the fields of a message without its schema. Every byte
// must belong to one: a lenient reader shows wrong values as right (C14).
func ProtobufFields(b []byte) ([]Wire, error) {
	var out []Wire
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 || len(out) == maxWire {
			return nil, ErrNotProtobuf
		}
		field := Wire{Number: tag >> 3, Type: int(tag & 7)}
		used, ok := field.read(b[n:])
		if !ok {
			return nil, ErrNotProtobuf
		}
		out = append(out, field)
		b = b[n+used:]
	}
	return out, nil
}

func (f *Wire) read(b []byte) (used int, ok bool) {
	switch f.Type {
	case 0:
		v, n := binary.Uvarint(b)
		f.Varint = v
		return n, n > 0
	case 1:
		if len(b) < 8 {
			return 0, false
		}
		f.Varint = binary.LittleEndian.Uint64(b)
		return 8, true
	case 2:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0, false
		}
		f.Bytes = b[n : n+int(size)]
		return n + int(size), true
	case 5:
		if len(b) < 4 {
			return 0, false
		}
		f.Varint = uint64(binary.LittleEndian.Uint32(b))
		return 4, true
	}
	return 0, false
}
