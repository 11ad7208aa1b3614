package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// Bounds of the pages of an edit.
const (
	mostBoxed    = 1 << 20 // bytes of a value or a key in a box
	mostRows     = 200     // headers that have a row each
	emptyRows    = 3       // rows for what is new
	mostNewRows  = 100
	patchRows    = 4
	mostPatching = 50
)

// letterEdit is the edit of one letter that a form asks for; nil when it leaves
// everything as it is.
func letterEdit(f form, l review.Letter) (*review.Edit, error) {
	var e review.Edit
	var err error
	if e.Value, err = (boxed{"the value", f.one("value"), f.one("value-as")}).replaced(l.Body); err != nil {
		return nil, err
	}
	if e.Key, err = (boxed{"the key", f.one("key"), f.one("key-as")}).replaced(l.Key); err != nil {
		return nil, err
	}
	if len(l.Headers) <= mostRows {
		e.Headers, err = headerList(f, l.Headers)
	} else {
		err = setAndDrop(f, &e)
	}
	if err != nil || e.IsEmpty() {
		return nil, err
	}
	return &e, nil
}

// headerList is the whole list of headers by the rows of a form; nil when it is
// the one that the letter has.
func headerList(f form, headers []sources.Header) (*[]sources.Header, error) {
	list := make([]sources.Header, 0, len(headers))
	changed := false
	for i, h := range headers {
		if f.one(fmt.Sprint("drop-", i)) != "" {
			changed = true
			continue
		}
		name, value, err := headerRow(f, i, h)
		if err != nil {
			return nil, err
		}
		changed = changed || name != h.Name || value.Is
		if value.Is {
			h.Value = value.Bytes
		}
		if name != h.Name {
			h.Name, h.Type = name, ""
		}
		list = append(list, h)
	}
	added, err := newRows(f)
	if err != nil || !changed && len(added) == 0 {
		return nil, err
	}
	list = append(list, added...)
	return &list, nil
}

func headerRow(f form, i int, h sources.Header) (string, review.Replaced, error) {
	name := h.Name
	if field := fmt.Sprint("name-", i); f.has(field) {
		if name = f.one(field); name == "" && h.Name != "" {
			return "", review.Replaced{}, invalid("header %d has no name any more: tick “leave out” to send the letter without it", i)
		}
	}
	value, err := boxed{fmt.Sprintf("header %d, %s", i, quoted(h.Name)), f.one(fmt.Sprint("value-", i)), f.one(fmt.Sprint("as-", i))}.replaced(h.Value)
	return name, value, err
}

// newRows are the headers of the rows for new ones, where they have a name.
func newRows(f form) ([]sources.Header, error) {
	var list []sources.Header
	for i := range mostNewRows {
		name, box := f.one(fmt.Sprint("new-name-", i)), f.one(fmt.Sprint("new-value-", i))
		switch {
		case name == "" && box == "":
			continue
		case name == "":
			return nil, invalid("a new header with the value %s has no name", quoted(box))
		}
		as := cmp.Or(f.one(fmt.Sprint("new-as-", i)), asText)
		value, err := boxed{"the new header " + quoted(name), box, as}.replaced(nil) // in place of a null
		if err != nil {
			return nil, err
		}
		list = append(list, sources.Header{Name: name, Value: value.Bytes})
	}
	return list, nil
}

// setAndDrop reads headers that are set and dropped by their name.
func setAndDrop(f form, e *review.Edit) (err error) {
	e.SetHeaders, err = newRows(f)
	e.DropHeaders = f.many("drop")
	return err
}

// manyEdit is the edit of many letters that a form asks for; nil when it changes
// nothing.
func manyEdit(f form) (*review.Edit, error) {
	var e review.Edit
	var operations [][]byte
	for i := range mostPatching {
		one, err := patchRow(f, i)
		if err != nil {
			return nil, err
		}
		if one != nil {
			operations = append(operations, one)
		}
	}
	if operations != nil {
		e.Patch = slices.Concat([]byte("["), bytes.Join(operations, []byte(",")), []byte("]"))
	}
	if err := setAndDrop(f, &e); err != nil || e.IsEmpty() {
		return nil, err
	}
	return &e, nil
}

// patchRow is one operation of a patch by a row of a form; nil when the row is
// empty.
func patchRow(f form, i int) ([]byte, error) {
	field := func(name string) string { return oneLineBreak(f.one(fmt.Sprint(name, "-", i))) }
	op, path, from, value := field("op"), field("path"), field("from"), field("patch")
	switch {
	case path == "" && from == "" && value == "":
		return nil, nil //nolint:nilnil // an empty row is no mistake
	case path == "":
		return nil, invalid("change %d has no path: /currency is the member currency of the value", i+1)
	}
	fields := map[string]json.RawMessage{"op": jsonString(op), "path": jsonString(path)}
	switch op {
	case "move", "copy":
		fields["from"] = jsonString(from)
	case "add", "replace", "test":
		if !json.Valid([]byte(value)) {
			return nil, invalid("change %d: %s is not JSON. A text stands in quotes: %s", i+1, quoted(value), jsonString(value))
		}
		fields["value"] = json.RawMessage(value)
	}
	return operationText(fields), nil
}

// operationText writes an operation with its value just as it was typed, which
// an encoder would lay out anew.
func operationText(fields map[string]json.RawMessage) []byte {
	var out []byte
	for _, name := range []string{"op", "path", "from", "value"} {
		if text, given := fields[name]; given {
			out = append(out, fmt.Sprintf(`,%q:%s`, name, text)...)
		}
	}
	return slices.Concat([]byte("{"), out[1:], []byte("}"))
}

func jsonString(s string) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string
	return bytes.TrimSpace(out.Bytes())
}
