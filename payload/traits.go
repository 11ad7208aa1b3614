package payload

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The paths of what is not in the body. They begin with a space, which no path
// of a field does.
const (
	aside       = " "
	bodyTrait   = " body"
	keyTrait    = " key"
	schemaTrait = " schema id"
	timeTrait   = " timestamp"
	headerTrait = " header:"
)

// notText is said after the kind of what should be UTF-8 and is not.
const notText = ", not UTF-8"

// traits are all that two records are compared by: the format of the body and
// the schema that it names, the key, the headers, the fields of the body.
func traits(r Record, whole bool) []Field {
	format := formatOf(r.Body)
	out := []Field{{Path: bodyTrait, Kind: Kind(format)}, keyOf(r.Key)}
	if format == FormatRegistry {
		id := binary.BigEndian.Uint32(r.Body[1:])
		out = append(out, Field{Path: schemaTrait, Kind: Number, Value: strconv.FormatUint(uint64(id), 10)})
	}
	for _, h := range r.Headers {
		out = append(out, headerOf(h))
		if len(out) > maxFields {
			break
		}
	}
	if !whole {
		return out
	}
	for _, f := range Fields(r.Body) {
		if f.Kind == String && !utf8.ValidString(f.Value) {
			f.Kind += notText
		}
		out = append(out, f)
	}
	return out
}

func keyOf(key []byte) Field {
	format := formatOf(key)
	if format != FormatText {
		return Field{Path: keyTrait, Kind: Kind(format)}
	}
	return Field{Path: keyTrait, Kind: String, Value: string(key)}
}

func headerOf(h Header) Field {
	f := Field{Path: headerTrait + h.Name, Kind: String, Value: Decode(h.Value, maxShown+1).Raw}
	switch {
	case h.Value == nil:
		f.Kind = Null
	case !utf8.Valid(h.Value):
		f.Kind += notText
	}
	return f
}

// formatOf is the format of bytes by their first part.
func formatOf(b []byte) string {
	format := Decode(b, 1024).Format
	if format == FormatText && !utf8.Valid(b) {
		format += notText
	}
	return format
}

// scalar tells whether a field has a value of its own.
func (f Field) scalar() bool {
	return f.Kind != Object && f.Kind != Array && f.Path != bodyTrait && (f.Path != keyTrait || f.Kind == String)
}

// shapeLimit bounds the shape of a value: longer ones are free text.
const shapeLimit = 24

// shapeOf is a text without what it says: runs of letters, digits and spaces are x,
// what is not ASCII is u, everything else stays. A date has another shape than a text
// that is none, an id with a brace in it another than the ids before.
func shapeOf(value string) string {
	var out strings.Builder
	last := rune(0)
	for _, r := range value {
		switch {
		case r >= utf8.RuneSelf:
			r = 'u'
		case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == ' ':
			r = 'x'
		}
		if r == last && (r == 'x' || r == 'u') {
			continue
		}
		if last = r; out.Len() >= shapeLimit {
			return "long"
		}
		out.WriteRune(r)
	}
	return out.String()
}
