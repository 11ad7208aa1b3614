package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// mostEditBody is how many bytes a request's body may have that brings an edit.
const mostEditBody = 16 << 20

// editFields are the names of an edit's fields.
var editFields = []string{"value_base64", "key_base64", "headers", "json_patch"}

// editOf reads the edit of a request: nil when there is none. What it does not
// name stays as it is; a null in value_base64 and key_base64 is a null value and
// key, which is not the same as an empty one.
func editOf(raw json.RawMessage) (*review.Edit, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	fields, err := fieldsOf(raw, "edit", editFields...)
	if err != nil {
		return nil, err
	}
	var e review.Edit
	if e.Value, err = replacedOf(fields, "value_base64"); err != nil {
		return nil, err
	}
	if e.Key, err = replacedOf(fields, "key_base64"); err != nil {
		return nil, err
	}
	if patch, given := fields["json_patch"]; given {
		e.Patch = patch
	}
	if headers, given := fields["headers"]; given {
		if err := readHeaders(&e, headers); err != nil {
			return nil, err
		}
	}
	if err := e.Validate(1); err != nil {
		return nil, err
	}
	return &e, nil
}

// fieldsOf is the fields of a JSON object as they were written. Fields that are
// not among the names, or given twice, are mistakes. Where is the object's name
// for a message.
func fieldsOf(raw json.RawMessage, where string, names ...string) (map[string]json.RawMessage, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil, invalid("%s must be a JSON object", where)
	}
	if err := checkFields(raw, names); err != nil {
		return nil, invalid("%s: %s", where, err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, explain(err)
	}
	return fields, nil
}

func replacedOf(fields map[string]json.RawMessage, name string) (review.Replaced, error) {
	raw, given := fields[name]
	if !given {
		return review.Replaced{}, nil
	}
	b, err := fromBase64(raw, "edit."+name)
	return review.Replaced{Is: true, Bytes: b}, err
}

// fromBase64 reads bytes in base64; null is nil.
func fromBase64(raw json.RawMessage, where string) ([]byte, error) {
	var text *string
	if json.Unmarshal(raw, &text) != nil {
		return nil, invalid("%s must be base64 in a string, or null", where)
	}
	if text == nil {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(*text)
	if err != nil {
		return nil, invalid("%s is not base64 (RFC 4648, with padding): %s", where, strings.TrimPrefix(err.Error(), "illegal base64 data "))
	}
	return b, nil
}

// readHeaders reads the whole list of headers, or those to set and to drop.
func readHeaders(e *review.Edit, raw json.RawMessage) error {
	switch raw[0] {
	case '[':
		list, err := newHeaders(raw, "edit.headers")
		e.Headers = &list
		return err
	case '{':
		return readChanges(e, raw)
	}
	return invalid("edit.headers must be the whole list, or an object with set and drop")
}

func readChanges(e *review.Edit, raw json.RawMessage) error {
	fields, err := fieldsOf(raw, "edit.headers", "set", "drop")
	if err != nil {
		return err
	}
	if given, there := fields["set"]; there {
		if e.SetHeaders, err = newHeaders(given, "edit.headers.set"); err != nil {
			return err
		}
	}
	given, there := fields["drop"]
	if there && json.Unmarshal(given, &e.DropHeaders) != nil {
		return invalid("edit.headers.drop must be a list of names")
	}
	return nil
}

// newHeaders is a list of headers; it is not nil.
func newHeaders(raw json.RawMessage, where string) ([]sources.Header, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return nil, invalid("%s must be a list of headers", where)
	}
	headers := make([]sources.Header, 0, len(list))
	for i, one := range list {
		h, err := newHeader(one, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return nil, err
		}
		headers = append(headers, h)
	}
	return headers, nil
}

func newHeader(raw json.RawMessage, where string) (sources.Header, error) {
	var h sources.Header
	fields, err := fieldsOf(raw, where, "name", "value_base64")
	if err != nil {
		return h, err
	}
	for _, name := range []string{"name", "value_base64"} {
		if _, given := fields[name]; !given {
			return h, invalid("%s has no %s", where, name)
		}
	}
	if name := fields["name"]; slices.Equal(name, []byte("null")) || json.Unmarshal(name, &h.Name) != nil {
		return h, invalid("%s.name must be a string", where)
	}
	h.Value, err = fromBase64(fields["value_base64"], where+".value_base64")
	return h, err
}
