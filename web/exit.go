package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/views"
)

// crash is a panic of a handler.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v", c.value) }

// panicked makes an error of a panic. One that means "hang up" goes on.
func panicked(value any) error {
	if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(value)
	}
	return &crash{value: value, stack: debug.Stack()}
}

// fail is the one exit for errors: JSON for everything under /api/, a page for
// everything else. What is our own fault is logged here, once.
func (s *Server) fail(err error, c echo.Context) {
	p, theirs := asProblem(err)
	if !theirs {
		s.report(err, p, c)
	}
	if c.Response().Committed {
		return
	}
	var failed error
	if isAPI(c.Request().URL.Path) {
		failed = writeJSON(c, p.status, errorOf(p))
	} else {
		failed = s.render(c, p.status, views.Error(s.problemPage(c, p)))
	}
	if failed != nil && c.Request().Context().Err() == nil {
		s.Log.Warn("an error could not be told", "err", failed)
	}
}

// report logs an error that a client cannot mend, under an id that the client
// is told. A client that went away is nobody's error.
func (s *Server) report(err error, p *problem, c echo.Context) {
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return
	}
	id := rand.Text()[:10]
	p.message += " (look for " + id + " in the log)"
	attrs := []any{"id", id, "method", c.Request().Method, "route", c.Path(), "err", err}
	var fell *crash
	if errors.As(err, &fell) {
		attrs = append(attrs, "stack", string(fell.stack))
	}
	s.Log.Error("a request failed", attrs...)
}

func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
