package convention

import (
	"strings"

	"github.com/unwedge/unwedge/payload"
)

// pick reads a field of a JSON document.
func pick(doc payload.Document, ok bool, a field) ([]byte, bool) {
	if !ok {
		return nil, false
	}
	if a.as == jsonLines {
		if lines := doc.Elements(a.name); lines != nil {
			return []byte(compact(lines)), true
		}
	}
	value, found := doc.Text(a.name)
	return []byte(value), found
}

// inside reads a value inside a header's value: JSON by pointer, protobuf by
// the number behind a '#'. Behind "=>" follows the pointer into the JSON that a
// text inside the JSON holds.
func inside(value []byte, a field) ([]byte, bool) {
	if a.path[0] == '#' {
		fields, err := payload.ProtobufFields(value)
		if err != nil {
			return nil, false
		}
		return wire(fields, a.path[1:])
	}
	ok := true
	for _, pointer := range strings.Split(a.path, "=>") {
		doc, parsed := payload.ParseJSON(value)
		a.name = pointer
		if value, ok = pick(doc, parsed, a); !ok {
			return nil, false
		}
	}
	return value, ok
}
