package web

import (
	"errors"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
)

// segment is a part of the path by its name, decoded: the router matches the
// path as it was sent.
func segment(c echo.Context, name string) string {
	sent := c.Param(name)
	plain, err := url.PathUnescape(sent)
	if err != nil {
		return sent
	}
	return plain
}

// noParameters refuses every parameter of the query.
func noParameters(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	return q.done()
}

// orMissing is the error that names what is not there, where that is the error.
func orMissing(err error, what, id string) error {
	if errors.Is(err, review.ErrNotFound) || errors.Is(err, alerts.ErrNotFound) || errors.Is(err, skips.ErrNotFound) {
		return missing(what, id)
	}
	return err
}
