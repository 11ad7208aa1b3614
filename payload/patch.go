package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPatch is a document that is no JSON Patch.
var ErrPatch = errors.New("this is no JSON patch (RFC 6902)")

// ErrNotJSON is a value that a patch was to change and that is not JSON.
var ErrNotJSON = errors.New("the value is not JSON")

const (
	// mostOperations bounds a patch: each operation reads the value anew.
	mostOperations = 1000
	// patchedLimit is how large a value may become by a patch, in bytes: copies of
	// copies grow without end.
	patchedLimit = 16 << 20
)

// Patch is a JSON Patch (RFC 6902) that works on the very bytes of a value:
// what it does not name stays as it was written, and what it puts in is as it
// is written in the patch.
type Patch struct{ operations []operation }

// operation is one step of a patch. The value is as it stands in the patch;
// nil when it has none.
type operation struct {
	op         string
	path, from jsonPointer
	value      []byte
}

// ParsePatch reads a patch. Errors: ErrPatch, with what is wrong. Members that
// RFC 6902 does not know are ignored, as it asks.
func ParsePatch(text []byte) (Patch, error) {
	var p Patch
	text = trimSpace(text)
	if !json.Valid(text) {
		return p, fmt.Errorf("%w: it is not JSON", ErrPatch)
	}
	if kindOf(text) != Array {
		return p, fmt.Errorf("%w: it is a list of operations", ErrPatch)
	}
	var err error
	elements(text, func(one []byte) bool {
		var o operation
		if o, err = parseOperation(one); err != nil {
			err = fmt.Errorf("%w: operation %d: %w", ErrPatch, len(p.operations)+1, err)
			return false
		}
		if p.operations = append(p.operations, o); len(p.operations) > mostOperations {
			err = fmt.Errorf("%w: it has more than %s operations", ErrPatch, Count(mostOperations))
		}
		return err == nil
	})
	if err == nil && len(p.operations) == 0 {
		err = fmt.Errorf("%w: it has no operation", ErrPatch)
	}
	return p, err
}

func parseOperation(text []byte) (operation, error) {
	var o operation
	if kindOf(text) != Object {
		return o, errors.New("it is not an object")
	}
	fields := map[string][]byte{}
	var err error
	members(text, func(name, value []byte) bool {
		n := unquote(name)
		if _, twice := fields[n]; twice {
			err = fmt.Errorf("%q is given twice", n)
		}
		fields[n] = value
		return err == nil
	})
	if err != nil {
		return o, err
	}
	if o.op, err = stringField(fields, "op"); err != nil {
		return o, err
	}
	if o.path, err = pointerField(fields, "path"); err != nil {
		return o, err
	}
	return o, o.fill(fields)
}

// fill reads what only some operations have.
func (o *operation) fill(fields map[string][]byte) (err error) {
	switch o.op {
	case "add", "replace", "test":
		o.value = fields["value"]
		if o.value == nil {
			return fmt.Errorf("%s has no value", o.op)
		}
	case "move", "copy":
		o.from, err = pointerField(fields, "from")
		if err == nil && o.op == "move" && o.path.within(o.from) {
			err = fmt.Errorf("%s cannot be moved into itself", o.from.words())
		}
	case "remove":
		if len(o.path) == 0 {
			err = errors.New("the whole value cannot be removed")
		}
	default:
		err = fmt.Errorf("op %q is none of add, remove, replace, move, copy and test", o.op)
	}
	return err
}

func stringField(fields map[string][]byte, name string) (string, error) {
	raw, ok := fields[name]
	switch {
	case !ok:
		return "", fmt.Errorf("it has no %s", name)
	case kindOf(raw) != String:
		return "", fmt.Errorf("%s is not a string", name)
	}
	return unquote(raw), nil
}

func pointerField(fields map[string][]byte, name string) (jsonPointer, error) {
	text, err := stringField(fields, name)
	if err != nil {
		return nil, err
	}
	return parsePointer(text)
}

// Apply changes a value and returns the changed one; the value itself stays.
// A byte order mark and the frame of a schema registry stay before it, too.
// Errors: ErrNotJSON, and in words what the value does not have, which name is
// not the only one of its kind, or which test failed.
func (p Patch) Apply(value []byte) ([]byte, error) {
	head := HeadOfJSON(value)
	doc := value[head:]
	if !json.Valid(doc) {
		return nil, fmt.Errorf("%w%s", ErrNotJSON, rather(value))
	}
	most := max(patchedLimit, len(value))
	for i, o := range p.operations {
		var err error
		if doc, err = o.apply(doc); err == nil && len(doc) > most {
			err = fmt.Errorf("the value would grow over %s", plural(most, "byte"))
		}
		if err != nil {
			return nil, p.failed(i, err)
		}
	}
	if !json.Valid(doc) {
		return nil, fmt.Errorf("%w any more: it is nested too deeply", ErrNotJSON)
	}
	return bytes.Join([][]byte{value[:head], doc}, nil), nil
}

// failed says which operation failed, by number where there are several.
func (p Patch) failed(i int, err error) error {
	o := p.operations[i]
	if len(p.operations) == 1 {
		return fmt.Errorf("%s %s: %w", o.op, o.path.words(), err)
	}
	return fmt.Errorf("operation %d, %s %s: %w", i+1, o.op, o.path.words(), err)
}

// rather says what a value is that is not JSON, where that is quickly told.
func rather(value []byte) string {
	switch {
	case value == nil:
		return ": it is null"
	case len(value) == 0:
		return ": it is empty"
	}
	return ""
}

// registryHead is the frame before a value whose schema a registry has: a zero
// and four bytes of the schema's id (Confluent's wire format).
const registryHead = 5

// SchemaID is the id in the frame before a value whose schema is in a registry.
func SchemaID(value []byte) (id int, ok bool) {
	if len(value) < registryHead || value[0] != 0 {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(value[1:registryHead])), true
}

// HeadOfJSON is how many bytes stand before the JSON of a value: those of a
// byte order mark, or of the frame of a schema registry.
func HeadOfJSON(value []byte) int {
	if bytes.HasPrefix(value, []byte("\xef\xbb\xbf")) {
		return 3
	}
	if _, framed := SchemaID(value); framed {
		return registryHead
	}
	return 0
}
