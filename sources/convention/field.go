package convention

import "strings"

// place is where a field's value stands.
type place int

const (
	inHeader   place = iota // a record header, or a message attribute
	inSystem                // what SQS itself says of the message
	inBody                  // at a JSON pointer of the body
	inEnclosed              // at a JSON pointer of what the body holds in base64
	inKey                   // a protobuf field of the key
	inAvro                  // a field of bakdata's DeadLetter
	aConstant               // the name itself
	theKey                  // the whole key
)

// field says where a value stands and how it was written.
type field struct {
	in    place
	name  string // of the header or attribute, the JSON pointer, the field's number
	path  string // JSON pointer inside a header's value, or "#4" for a protobuf field of it
	as    encoding
	plus  int  // is added to a number: conventions count attempts from 0, 1 or 2
	whole bool // of the record, not of one hop
}

// fields are alternatives: the first that is there counts. A header that is
// there with a null value counts, too: it says that there is none.
type fields []field

func head(names ...string) fields {
	var out fields
	for _, n := range names {
		out = append(out, field{name: n})
	}
	return out
}

func from(in place, names ...string) fields {
	out := head(names...)
	for i := range out {
		out[i].in = in
	}
	return out
}

// body names fields of a JSON body by their pointers.
func body(pointers ...string) fields { return from(inBody, pointers...) }

func (f fields) with(change func(*field)) fields {
	out := append(fields(nil), f...)
	for i := range out {
		change(&out[i])
	}
	return out
}

func (f fields) at(path string) fields        { return f.with(func(x *field) { x.path = path }) }
func (f fields) written(as encoding) fields   { return f.with(func(x *field) { x.as = as }) }
func (f fields) plus(n int) fields            { return f.with(func(x *field) { x.plus = n }) }
func (f fields) ofRecord() fields             { return f.with(func(x *field) { x.whole = true }) }
func (f fields) or(alternative fields) fields { return append(f.with(func(*field) {}), alternative...) }

// hop is one time that a letter was given up on: where its headers stand. The
// zero hop has all that does not stand in headers.
type hop map[string]int

// raw finds the value of the first alternative that is there. ok is false when
// none is; a nil value is null.
func (v *view) raw(c *convention, f fields, h hop) (value []byte, as field, ok bool) {
	for _, a := range f {
		if value, ok := v.one(c, a, h); ok {
			return value, a, true
		}
	}
	return nil, field{}, false
}

func (v *view) one(c *convention, a field, h hop) ([]byte, bool) {
	switch a.in {
	case inHeader:
		return v.header(c, a, h)
	case inSystem:
		value, ok := v.l.System[a.name]
		return []byte(value), ok
	case inBody:
		doc, ok := v.json()
		return pick(doc, ok, a)
	case inEnclosed:
		doc, ok := v.enclosed()
		return pick(doc, ok, a)
	case inKey:
		return wire(v.keyFields(), a.name)
	case inAvro:
		value, ok := v.deadLetter()[a.name]
		return []byte(value), ok
	case theKey:
		return v.l.Key, v.l.Key != nil
	}
	return []byte(a.name), true
}

// header reads a header of the hop, or a value inside it.
func (v *view) header(c *convention, a field, h hop) ([]byte, bool) {
	at, ok := h[a.name]
	if a.whole || h == nil {
		all := v.places(a.name, c.anyCase)
		if ok = len(all) > 0; ok {
			at = all[len(all)-1]
		}
	}
	if !ok {
		return nil, false
	}
	value := v.l.Headers[at].Value
	if a.path == "" || value == nil {
		return value, true
	}
	return inside(value, a)
}

// compact joins the lines of a list.
func compact(lines []string) string { return strings.Join(lines, "\n") }
