package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// form is what a page of ours sent.
type form struct{ values url.Values }

// readForm reads a form from the body; what stands in the query is no part of
// it. Only the encoding that our pages use is taken.
func readForm(c echo.Context) (form, error) {
	r := c.Request()
	if kind := r.Header.Get("Content-Type"); kind != "" && !isForm(kind) {
		return form{}, &problem{status: http.StatusBadRequest, code: codeInvalid, message: "a form must be sent as application/x-www-form-urlencoded"}
	}
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return form{}, err
		}
		return form{}, invalid("the form cannot be read: %s", err)
	}
	return form{r.PostForm}, nil
}

func isForm(kind string) bool {
	const ours = "application/x-www-form-urlencoded"
	return kind == ours || len(kind) > len(ours) && kind[:len(ours)+1] == ours+";"
}

func (f form) one(name string) string { return f.values.Get(name) }

// has tells whether a form has a field, empty or not.
func (f form) has(name string) bool { return f.values.Has(name) }

// many is every value of a field that is not empty, each once.
func (f form) many(name string) []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range f.values[name] {
		if v != "" && !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// number is a field with a number; nil when it was left empty.
func (f form) number(name string) (*float64, error) {
	text := strings.TrimSpace(f.one(name))
	if text == "" {
		return nil, nil //nolint:nilnil // an empty field is no mistake
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, invalid("%s: %s is no number", name, quoted(text))
	}
	return &n, nil
}
