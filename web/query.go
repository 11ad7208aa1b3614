package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
)

// Bounds of lists, and of one value in a query.
const (
	defaultLimit = 50
	mostLimit    = 500
	longestValue = 1024 // bytes
	mostWords    = 32   // of a search
)

// query reads the parameters of a request and gathers everything that is
// wrong with them, so that a client is told of all mistakes at once. An empty
// value is the same as none: forms send their empty fields.
type query struct {
	values url.Values
	known  []string
	wrong  []string
}

func readQuery(c echo.Context) (*query, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, invalid("the query cannot be read: %s", strings.ReplaceAll(err.Error(), "invalid URL escape", "bad escape"))
	}
	return &query{values: values}, nil
}

func (q *query) complain(format string, args ...any) {
	q.wrong = append(q.wrong, fmt.Sprintf(format, args...))
}

// many is every value of a parameter that may repeat.
func (q *query) many(name string) []string {
	q.known = append(q.known, name)
	var out []string
	for _, v := range q.values[name] {
		if len(v) > longestValue {
			q.complain("%s is longer than %d bytes", name, longestValue)
			return nil
		}
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// one is the value of a parameter that may be given once.
func (q *query) one(name string) string {
	all := q.many(name)
	if len(all) > 1 {
		q.complain("%s may be given only once", name)
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// text is the words of a search: so few that looking for them in a row takes no
// time.
func (q *query) text(name string) string {
	given := q.one(name)
	if len(review.Words([]byte(given))) > mostWords {
		q.complain("%s has more than %d words", name, mostWords)
	}
	return given
}

// among is every value of a parameter that takes only some words.
func (q *query) among(name string, words ...string) []string {
	all := q.many(name)
	for _, v := range all {
		if !slices.Contains(words, v) {
			q.complain("%s: %s is none of %s", name, quoted(v), strings.Join(words, ", "))
		}
	}
	return all
}

// limit is how many rows a page of a list has at most.
func (q *query) limit() int {
	given := q.one("limit")
	if given == "" {
		return defaultLimit
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > mostLimit {
		q.complain("limit: %s is no whole number from 1 to %d", quoted(given), mostLimit)
		return defaultLimit
	}
	return n
}

// done is the error that names everything that is wrong, parameters that
// nothing asked for among it.
func (q *query) done() error {
	for _, name := range slices.Sorted(keysOf(q.values)) {
		if !slices.Contains(q.known, name) {
			q.complain("unknown parameter %s", quoted(name))
		}
	}
	return q.lenient()
}

// lenient is done without a complaint about unknown parameters: what a mail
// program adds to a link does not spoil a page.
func (q *query) lenient() error {
	if len(q.wrong) == 0 {
		return nil
	}
	return invalid("%s", strings.Join(q.wrong, "; "))
}
