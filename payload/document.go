package payload

import "encoding/json"

// Document is a JSON document that was parsed once and is looked into often.
type Document struct{ raw []byte }

// ParseJSON reads a JSON document. It is false for bytes that are none, and
// for those that are too large to be parsed (4 MiB).
func ParseJSON(b []byte) (Document, bool) {
	if len(b) > parseLimit || !json.Valid(b) {
		return Document{}, false
	}
	return Document{trimSpace(b)}, true
}

// Lookup finds a value by its JSON pointer (RFC 6901) and returns its exact
// bytes, and false when there is none. Of equal names the last one counts, as
// in most parsers; "-1" is the last element of an array.
func (d Document) Lookup(pointer string) ([]byte, bool) { return lookup(d.raw, pointer) }

// Text is Lookup for people: a string without its quotes, anything else as it
// was written. A null is not found.
func (d Document) Text(pointer string) (string, bool) {
	raw, ok := d.Lookup(pointer)
	if !ok || kindOf(raw) == Null {
		return "", false
	}
	return textOf(raw), true
}

// Elements are the elements of the array at the pointer, as text.
func (d Document) Elements(pointer string) []string {
	raw, ok := d.Lookup(pointer)
	if !ok || kindOf(raw) != Array {
		return nil
	}
	var out []string
	elements(raw, func(value []byte) bool {
		out = append(out, textOf(value))
		return len(out) < maxElements*20
	})
	return out
}

// Names are the names of the members of the object at the pointer, in order.
func (d Document) Names(pointer string) []string {
	raw, ok := d.Lookup(pointer)
	if !ok || kindOf(raw) != Object {
		return nil
	}
	var out []string
	members(raw, func(name, _ []byte) bool {
		out = append(out, unquote(name))
		return len(out) < maxFields
	})
	return out
}
