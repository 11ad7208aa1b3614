package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// mostBody is how many bytes a request's body may have.
const mostBody = 1 << 20

// readBody reads the whole of a body; the server has put the limit on it.
func readBody(c echo.Context) ([]byte, error) {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return body, nil
}

// decodeBody fills out from a body that is one JSON object. Fields that are
// not among the names, fields given twice, and anything after the object are
// mistakes: in a request that sends letters nothing may be left to a guess.
func decodeBody(body []byte, out any, names ...string) error {
	if !utf8.Valid(body) {
		return invalid("the body is not UTF-8")
	}
	if err := checkFields(body, names); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return explain(err)
	}
	return nil
}

// checkFields reads the object's own fields, without what is in them.
func checkFields(body []byte, names []string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return invalid("the body must be a JSON object")
	}
	var unknown, seen []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return explain(err)
		}
		name, _ := t.(string)
		if slices.Contains(seen, name) {
			return invalid("field %s is given twice", quoted(name))
		}
		seen = append(seen, name)
		if !slices.Contains(names, name) && len(unknown) < 10 {
			unknown = append(unknown, quoted(name))
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return explain(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("something follows the JSON object")
	}
	if unknown != nil {
		return invalid("unknown field %s; there are %s", strings.Join(unknown, ", "), strings.Join(names, ", "))
	}
	return nil
}

// explain is a mistake in JSON in a client's words.
func explain(err error) error {
	var kind *json.UnmarshalTypeError
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &kind):
		return invalid("field %s cannot be a %s", quoted(kind.Field), kind.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalid("the JSON of the body ends too early")
	}
	return invalid("the JSON of the body cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// oneOrMany is a value that may be given alone or as a list.
type oneOrMany []string

// UnmarshalJSON reads a string or a list of strings.
func (o *oneOrMany) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = nil
		if one != "" {
			*o = oneOrMany{one}
		}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}
