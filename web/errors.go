package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
)

// The codes of errors, as the contract names them. codeInternal is for what
// is our own fault.
const (
	codeInvalid          = "invalid"
	codeUnauthorised     = "unauthorised"
	codeForbidden        = "forbidden"
	codeNotFound         = "not_found"
	codeMethodNotAllowed = "method_not_allowed"
	codeConflict         = "conflict"
	codePlanChanged      = "plan_changed"
	codeTooLarge         = "too_large"
	codeRefused          = "refused"
	codeUnconfirmed      = "needs_confirmation"
	codeUnavailable      = "unavailable"
	codeInternal         = "internal"
)

// problem is an error as a client is told of it. What stands below the message
// is of a redrive that was not started.
type problem struct {
	status   int
	code     string
	message  string
	warnings []review.Warning // to be confirmed
	letters  []review.Refusal // that cannot be sent
	changed  []string         // since the plan was made
	redrive  string           // that the plan has started already
	free     []string         // ids of the letters that can be had
}

func (p *problem) Error() string { return p.message }

// invalid is a request that was not understood: the message names the
// parameter or field.
func invalid(format string, args ...any) error {
	return &problem{status: http.StatusBadRequest, code: codeInvalid, message: fmt.Sprintf(format, args...)}
}

// missing is an id that is not there.
func missing(what, id string) error {
	return &problem{status: http.StatusNotFound, code: codeNotFound, message: fmt.Sprintf("there is no %s %s", what, quoted(id))}
}

// conflict is a request that what is going on does not allow.
func conflict(format string, args ...any) error {
	return &problem{status: http.StatusConflict, code: codeConflict, message: fmt.Sprintf(format, args...)}
}

// forbidden is a request that nobody may make from where it came.
func forbidden(message string) error {
	return &problem{status: http.StatusForbidden, code: codeForbidden, message: message}
}

// unavailable is something that would work at another time.
func unavailable(format string, args ...any) error {
	return &problem{status: http.StatusServiceUnavailable, code: codeUnavailable, message: fmt.Sprintf(format, args...)}
}

// quoted is a name from a request as it may stand in a message: never longer
// than a line, control characters made visible.
func quoted(name string) string {
	const most = 120
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", name)
}

// asProblem turns any error of a handler into what a client is told. ok is
// false for an error that is nobody's but ours: it is logged, and the client
// learns no more than where to look.
func asProblem(err error) (p *problem, ok bool) {
	var tooLarge *http.MaxBytesError
	var echoed *echo.HTTPError
	switch {
	case errors.As(err, &p):
		return p, true
	case errors.As(err, &tooLarge):
		return &problem{status: http.StatusRequestEntityTooLarge, code: codeTooLarge, message: fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit)}, true
	case errors.As(err, &echoed):
		return ofRouter(echoed), echoed.Code < http.StatusInternalServerError
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{status: http.StatusServiceUnavailable, code: codeUnavailable, message: "this took too long and was given up; try again, or with a narrower filter"}, false
	}
	for _, of := range []func(error) *problem{ofAlerts, ofSkips} {
		if p := of(err); p != nil {
			return p, true
		}
	}
	return ofReview(err)
}

// ofAlerts is what incidents and silences say to a request; nil for what is none
// of theirs.
func ofAlerts(err error) *problem {
	var state *alerts.StateError
	var test *alerts.TestError
	p := &problem{message: err.Error()}
	switch {
	case errors.As(err, &test):
		p.status, p.code = http.StatusServiceUnavailable, codeUnavailable
	case errors.Is(err, alerts.ErrSignature):
		p.status, p.code = http.StatusUnauthorized, codeUnauthorised
	case errors.Is(err, alerts.ErrNoNotifier):
		p.status, p.code = http.StatusNotFound, codeNotFound
	case errors.Is(err, alerts.ErrMessage):
		p.status, p.code = http.StatusBadRequest, codeInvalid
	case errors.As(err, &state):
		p.status, p.code = http.StatusConflict, codeConflict
	case errors.Is(err, alerts.ErrSilence), errors.Is(err, alerts.ErrCursor):
		p.status, p.code = http.StatusBadRequest, codeInvalid
	case errors.Is(err, alerts.ErrNoSilence):
		p.status, p.code = http.StatusNotFound, codeNotFound
	default:
		return nil
	}
	return p
}

// ofSkips is what a skip says to a request; nil for what is none of its.
func ofSkips(err error) *problem {
	var state *skips.StateError
	p := &problem{message: err.Error()}
	switch {
	case errors.As(err, &state):
		p.status, p.code = http.StatusConflict, codeConflict
	case errors.Is(err, skips.ErrInvalid), errors.Is(err, skips.ErrCursor):
		p.status, p.code = http.StatusBadRequest, codeInvalid
	case errors.Is(err, skips.ErrUnavailable):
		p.status, p.code = http.StatusServiceUnavailable, codeUnavailable
	case errors.Is(err, skips.ErrNotFound):
		p.status, p.code = http.StatusNotFound, codeNotFound
	default:
		return nil
	}
	return p
}

// ofRouter is what the router says of an address that it does not know.
func ofRouter(err *echo.HTTPError) *problem {
	switch err.Code {
	case http.StatusNotFound:
		return &problem{status: err.Code, code: codeNotFound, message: "nothing is served at this address"}
	case http.StatusMethodNotAllowed:
		return &problem{status: err.Code, code: codeMethodNotAllowed, message: "this address does not take this method; the header Allow says which it takes"}
	}
	return &problem{status: err.Code, code: codeInvalid, message: http.StatusText(err.Code)}
}

// ofReview is what the review says to a request that it did not carry out.
// Whatever else there is, is our own fault.
func ofReview(err error) (*problem, bool) {
	var taken *review.ConflictError
	var refused *review.RefusedError
	var unconfirmed *review.NeedsConfirmationError
	var changed *review.PlanChangedError
	var state *review.StateError
	p := &problem{message: err.Error()}
	switch {
	case errors.Is(err, review.ErrUnavailable):
		p.status, p.code = http.StatusServiceUnavailable, codeUnavailable
	case errors.Is(err, review.ErrNotFound):
		p.status, p.code = http.StatusNotFound, codeNotFound
	case errors.Is(err, review.ErrInvalid), errors.Is(err, review.ErrBadCursor):
		p.status, p.code = http.StatusBadRequest, codeInvalid
	case errors.As(err, &taken):
		p.status, p.code, p.redrive, p.free = http.StatusConflict, codeConflict, taken.Redrive, taken.Free
	case errors.As(err, &state):
		p.status, p.code = http.StatusConflict, codeConflict
	case errors.As(err, &changed):
		p.status, p.code, p.changed = http.StatusConflict, codePlanChanged, changed.Difference
	case errors.As(err, &refused):
		p.status, p.code, p.letters = http.StatusUnprocessableEntity, codeRefused, refused.Letters
	case errors.As(err, &unconfirmed):
		p.status, p.code, p.warnings = http.StatusUnprocessableEntity, codeUnconfirmed, unconfirmed.Warnings
	default:
		return &problem{status: http.StatusInternalServerError, code: codeInternal, message: "something went wrong here"}, false
	}
	return p, true
}
