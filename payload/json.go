package payload

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the kind of a value.
type Kind string

// The kinds of JSON values.
const (
	Object  Kind = "object"
	Array   Kind = "array"
	String  Kind = "string"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Null    Kind = "null"
)

// parseLimit is the largest body that is parsed; larger ones are shown, not
// taken apart.
const parseLimit = 4 << 20

// isJSON tells whether the bytes are one JSON object, array or string. A bare
// number or word is text: most of them are keys and names.
func isJSON(b []byte) bool {
	b = trimSpace(b)
	return len(b) > 1 && len(b) <= parseLimit && strings.IndexByte(`{["`, b[0]) >= 0 && json.Valid(b)
}

// LookupText is Document.Text for a look or two.
func LookupText(b []byte, pointer string) (string, bool) {
	d, ok := ParseJSON(b)
	if !ok {
		return "", false
	}
	return d.Text(pointer)
}

func lookup(at []byte, pointer string) ([]byte, bool) {
	if pointer == "" {
		return at, true
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		next, ok := child(at, token)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

// textOf is a string without its quotes, anything else as it was written.
func textOf(raw []byte) string {
	if kindOf(raw) == String {
		return unquote(raw)
	}
	return string(raw)
}

func child(raw []byte, token string) (found []byte, ok bool) {
	switch kindOf(raw) {
	case Object:
		members(raw, func(name, value []byte) bool {
			if unquote(name) == token {
				found, ok = value, true
			}
			return true
		})
	case Array:
		want, err := strconv.Atoi(token)
		if err != nil || want < -1 {
			return nil, false
		}
		i := 0
		elements(raw, func(value []byte) bool {
			if want == -1 || i == want {
				found, ok = value, true
			}
			i++
			return want == -1 || i <= want
		})
	}
	return found, ok
}

// kindOf is the kind of a valid JSON value, told by its first byte.
func kindOf(raw []byte) Kind {
	if len(raw) == 0 {
		return Null
	}
	switch raw[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return Number
}

// members calls each for the members of a valid object, in order, until it
// returns false. Names come with their quotes.
func members(raw []byte, each func(name, value []byte) bool) {
	eachItem(raw, 0, func(it item) bool { return each(it.name.of(raw), it.value.of(raw)) })
}

// elements calls each for the elements of a valid array until it returns false.
func elements(raw []byte, each func(value []byte) bool) {
	eachItem(raw, 0, func(it item) bool { return each(it.value.of(raw)) })
}

// stretch is a run of bytes in a document.
type stretch struct{ from, to int }

func (s stretch) of(doc []byte) []byte { return doc[s.from:s.to] }

// item is a member of an object or an element of an array, by where its bytes
// are. The name of an element is empty and stands where its value begins.
type item struct{ name, value stretch }

// eachItem calls each for the items of the valid object or array that begins
// at open, in order, until it returns false.
func eachItem(doc []byte, open int, each func(item) bool) {
	object := doc[open] == '{'
	for i := skipSpace(doc, open+1); i < len(doc) && doc[i] != '}' && doc[i] != ']'; {
		it := item{name: stretch{i, i}}
		if object {
			it.name.to = valueEnd(doc, i)
			i = skipSpace(doc, it.name.to) // the colon
			i = skipSpace(doc, i+1)
		}
		it.value = stretch{i, valueEnd(doc, i)}
		if it.value.to <= i || !each(it) {
			return
		}
		i = nextItem(doc, it.value.to)
	}
}

func nextItem(raw []byte, i int) int {
	i = skipSpace(raw, i)
	if i < len(raw) && raw[i] == ',' {
		i = skipSpace(raw, i+1)
	}
	return i
}

// valueEnd is where the valid value that begins at i ends.
func valueEnd(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return scalarEnd(raw, i)
			}
		}
		if depth == 0 {
			return min(i+1, len(raw))
		}
	}
	return len(raw)
}

func scalarEnd(raw []byte, i int) int {
	for i < len(raw) && strings.IndexByte(" \t\r\n,:]}", raw[i]) < 0 {
		i++
	}
	return i
}

// stringEnd is behind the closing quote of the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

func trimSpace(b []byte) []byte {
	b = b[skipSpace(b, 0):]
	for len(b) > 0 && skipSpace(b, len(b)-1) == len(b) {
		b = b[:len(b)-1]
	}
	return b
}

// unquote is the text of a valid JSON string. Half of a surrogate pair stays
// the escape that it was (C09): no text can hold it, and it must not vanish.
func unquote(raw []byte) string {
	if len(raw) < 2 {
		return ""
	}
	body := raw[1 : len(raw)-1]
	var out strings.Builder
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 >= len(body) {
			out.WriteByte(body[i])
			i++
			continue
		}
		i += unescape(&out, body[i:])
	}
	return out.String()
}

// unescape writes what the escape at the start of b stands for and returns how
// many bytes it took.
func unescape(out *strings.Builder, b []byte) int {
	if at := strings.IndexByte(`"\/bfnrt`, b[1]); at >= 0 {
		out.WriteByte("\"\\/\b\f\n\r\t"[at])
		return 2
	}
	r := hexRune(b)
	if !utf16.IsSurrogate(r) {
		out.WriteRune(r)
		return min(6, len(b))
	}
	if len(b) >= 12 {
		if both := utf16.DecodeRune(r, hexRune(b[6:])); both != utf8.RuneError {
			out.WriteRune(both)
			return 12
		}
	}
	out.Write(b[:min(6, len(b))])
	return min(6, len(b))
}

// hexRune reads the \uXXXX at the start of b; U+FFFD when there is none.
func hexRune(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// maxIndent bounds the indentation, so that deep nesting cannot make the text
// grow with its square.
const maxIndent = 40

// indent lays JSON out over lines, with every token as it was written. It
// takes a document that was cut off somewhere, too.
func indent(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/4)
	depth := 0
	line := func() {
		out = append(out, '\n')
		for range min(depth, maxIndent) {
			out = append(out, ' ', ' ')
		}
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case ' ', '\n', '\t', '\r':
		case '"':
			end := stringEnd(b, i)
			out = append(out, b[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			depth++
			if next := skipSpace(b, i+1); next < len(b) && b[next] != '}' && b[next] != ']' {
				line()
			}
		case '}', ']':
			depth--
			if len(out) > 0 && out[len(out)-1] != '{' && out[len(out)-1] != '[' {
				line()
			}
			out = append(out, c)
		case ',':
			out = append(out, c)
			line()
		case ':':
			out = append(out, ':', ' ')
		default:
			out = append(out, c)
		}
	}
	return out
}
