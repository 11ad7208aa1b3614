package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
)

// writeJSON answers with a value as JSON. It is encoded whole before anything
// is written, so that an answer is never half an answer.
func writeJSON(c echo.Context, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	return writeBody(c, status, append(body, '\n'))
}

func writeBody(c echo.Context, status int, body []byte) error {
	h := c.Response().Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}

// errorJSON is an error as the API tells it.
type errorJSON struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Warnings   []warningJSON `json:"warnings,omitempty"`
	Letters    []refusalJSON `json:"letters,omitempty"`
	Difference []string      `json:"difference,omitempty"` // of a plan that has changed
	Redrive    string        `json:"redrive,omitempty"`    // that the plan has started already
	Free       []string      `json:"free,omitempty"`       // ids of the letters that can be had
}

type warningJSON struct {
	Code        string   `json:"code"`
	Message     string   `json:"message"`
	IDs         []string `json:"ids"`
	MustConfirm bool     `json:"must_confirm"`
	Count       int      `json:"count"`    // of all its letters; ids has the first thousand
	Evidence    []string `json:"evidence"` // what was seen, a line each
}

type refusalJSON struct {
	ID      string `json:"id"`
	Refused string `json:"refused"`
}

func errorOf(p *problem) errorJSON {
	out := errorJSON{Difference: p.changed, Redrive: p.redrive, Free: p.free}
	out.Error.Code, out.Error.Message = p.code, p.message
	if p.warnings != nil {
		out.Warnings = warningsOf(p.warnings)
	}
	for _, l := range p.letters {
		out.Letters = append(out.Letters, refusalJSON{ID: l.LetterID, Refused: l.Refused})
	}
	return out
}

func warningsOf(warnings []review.Warning) []warningJSON {
	out := make([]warningJSON, 0, len(warnings))
	for _, w := range warnings {
		out = append(out, warningJSON{Code: w.Code, Message: w.Message, IDs: list(w.LetterIDs), MustConfirm: w.MustConfirm, Count: w.Count, Evidence: list(w.Evidence)})
	}
	return out
}

// list is a list that is [] and not null when it is empty.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// known is a text, or null for one that is not known.
func known[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}

// number is a count or an offset, or null for one that is not known.
func number(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// instant is a time in UTC, or null for one that is not known. A year that
// RFC 3339 cannot write is not known either: brokers hand on any timestamp.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

// seconds is a duration, or null for one that is not known.
func seconds(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	s := math.Round(d.Seconds()*1000) / 1000
	return &s
}

// inBase64 is bytes in base64, null told apart from empty.
func inBase64(b []byte) *string {
	if b == nil {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(b)
	return &text
}

// cursorJSON is the cursor of the next page, null at the end.
func cursorJSON(next string) *string { return known(next) }

// ok answers 200 with a value.
func ok(c echo.Context, value any) error { return writeJSON(c, http.StatusOK, value) }

// validText is a name with what is not UTF-8 marked.
func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
