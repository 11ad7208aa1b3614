package payload

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// apply makes one operation's change of a valid document. It returns another
// slice whenever it changes something.
func (o operation) apply(doc []byte) ([]byte, error) {
	switch o.op {
	case "add":
		return add(doc, o.path, o.value)
	case "remove":
		return remove(doc, o.path)
	case "replace":
		at, err := find(doc, o.path)
		if err != nil {
			return nil, err
		}
		return splice(doc, at, o.value), nil
	case "test":
		return doc, test(doc, o.path, o.value)
	}
	at, err := find(doc, o.from)
	if err != nil {
		return nil, err
	}
	value := slices.Clone(at.of(doc))
	if o.op == "move" && o.from.String() != o.path.String() {
		if doc, err = remove(doc, o.from); err != nil {
			return nil, err
		}
	}
	return add(doc, o.path, value)
}

func splice(doc []byte, at stretch, parts ...[]byte) []byte {
	return slices.Concat(doc[:at.from], slices.Concat(parts...), doc[at.to:])
}

func test(doc []byte, path jsonPointer, want []byte) error {
	at, err := find(doc, path)
	if err != nil {
		return err
	}
	if is := at.of(doc); !sameJSON(is, want) {
		return fmt.Errorf("test failed at %s: it is %s", path.words(), brief(is))
	}
	return nil
}

// brief is the beginning of a value, for a message.
func brief(raw []byte) string {
	if len(raw) > maxShown {
		return Visible(cut(raw, maxShown)) + "…"
	}
	return Visible(raw)
}

// root is the whole value of a document, without the spaces around it.
func root(doc []byte) stretch {
	from := skipSpace(doc, 0)
	return stretch{from, from + len(trimSpace(doc))}
}

// find finds the value that a pointer names.
func find(doc []byte, path jsonPointer) (stretch, error) {
	at := root(doc)
	for i, token := range path {
		s, err := survey(doc, at, token)
		if err == nil && !s.found {
			err = errMissing
		}
		if err != nil {
			return at, lacking(path[:i+1], err)
		}
		at = s.is.value
	}
	return at, nil
}

// errMissing is a name or a number that a value does not have.
var errMissing = errors.New("is not there")

func lacking(path jsonPointer, err error) error {
	if errors.Is(err, errMissing) {
		return fmt.Errorf("the value has no %s", path)
	}
	return fmt.Errorf("the value has no %s: %w", path, err)
}

// surveyed is what there is around an item of an object or array.
type surveyed struct {
	object        bool
	open, count   int // where it opens, how many items it has
	found         bool
	is            item // the item itself
	previous      *item
	next          *item
	first         item
	last, oneLast item // the last item, and the one before it
}

// survey looks through an object or array for an item. A name that occurs more
// than once names nothing.
func survey(doc []byte, at stretch, token string) (surveyed, error) {
	s := surveyed{open: at.from, object: doc[at.from] == '{'}
	if !s.object && doc[at.from] != '[' {
		return s, fmt.Errorf("there it is a %s", kindOf(at.of(doc)))
	}
	n, isNumber := index(token)
	if !s.object && !isNumber && token != "-" {
		return s, fmt.Errorf("it is an array there, and %q is no number of an element", token)
	}
	twice := false
	eachItem(doc, at.from, func(it item) bool {
		hit := s.object && unquote(it.name.of(doc)) == token || !s.object && isNumber && n == s.count
		twice = twice || hit && s.found
		s.pass(it, hit)
		return true
	})
	if twice {
		return s, fmt.Errorf("the name %q occurs more than once, and it is not clear which is meant", token)
	}
	return s, nil
}

func (s *surveyed) pass(it item, hit bool) {
	switch {
	case hit && !s.found:
		if s.count > 0 {
			before := s.last
			s.previous = &before
		}
		s.is, s.found = it, true
	case s.found && s.next == nil:
		s.next = &it
	}
	if s.count == 0 {
		s.first = it
	}
	s.oneLast, s.last = s.last, it
	s.count++
}

// gap is what stands between two items, the comma among it: as between the
// last two, or as before the only one.
func (s *surveyed) gap(doc []byte) []byte {
	switch s.count {
	case 0:
		return nil
	case 1:
		return append([]byte{','}, doc[s.open+1:s.first.name.from]...)
	}
	return doc[s.oneLast.value.to:s.last.name.from]
}

// remove takes an item out, with the comma that it does not need any more.
func remove(doc []byte, path jsonPointer) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("the whole value cannot be removed")
	}
	s, err := around(doc, path)
	if err == nil && !s.found {
		err = lacking(path, errMissing)
	}
	if err != nil {
		return nil, err
	}
	out := stretch{s.is.name.from, s.is.value.to}
	switch {
	case s.next != nil:
		out.to = s.next.name.from
	case s.previous != nil:
		out.from = s.previous.value.to
	}
	return splice(doc, out), nil
}

// around surveys what the last token of a pointer names.
func around(doc []byte, path jsonPointer) (surveyed, error) {
	last := len(path) - 1
	at, err := find(doc, path[:last])
	if err != nil {
		return surveyed{}, err
	}
	s, err := survey(doc, at, path[last])
	if err != nil {
		err = lacking(path, err)
	}
	return s, err
}

// add puts a value in: in place of the member of that name, at the end of an
// object, or before the element of that number.
func add(doc []byte, path jsonPointer, value []byte) ([]byte, error) {
	if len(path) == 0 {
		return splice(doc, root(doc), value), nil
	}
	s, err := around(doc, path)
	token := path[len(path)-1]
	n, _ := index(token)
	switch {
	case err != nil:
		return nil, err
	case s.object && s.found:
		return splice(doc, s.is.value, value), nil
	case s.object:
		return s.append(doc, quote(token), s.colon(doc), value), nil
	case s.found:
		here := s.is.value.from
		return splice(doc, stretch{here, here}, value, s.gap(doc)), nil
	case token != "-" && n != s.count:
		return nil, fmt.Errorf("the array has %s", plural(s.count, "element"))
	}
	return s.append(doc, value), nil
}

func (s *surveyed) append(doc []byte, parts ...[]byte) []byte {
	end := s.open + 1
	if s.count > 0 {
		end = s.last.value.to
	}
	return splice(doc, stretch{end, end}, append([][]byte{s.gap(doc)}, parts...)...)
}

// colon is what stands between a name and its value, as the last member has it.
func (s *surveyed) colon(doc []byte) []byte {
	if s.count == 0 {
		return []byte{':'}
	}
	return doc[s.last.name.to:s.last.value.from]
}

// quote is a text as a JSON string, its bytes as they are but for those that
// must be escaped.
func quote(text string) []byte {
	var out bytes.Buffer
	out.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out.Write([]byte{'\\', c})
		case c < 0x20:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.Bytes()
}
