package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/unwedge/unwedge/review"
)

// statuses are those of a letter.
var statuses = []review.Status{review.Open, review.Snoozed, review.Redriving, review.Redriven, review.Discarded, review.Uncertain, review.Expired}

// statusWords is what a filter by status takes.
var statusWords = append(words(statuses), "all")

// letters reads the filter of letters and causes. Without a status it selects
// open and expired letters.
func (q *query) letters() review.Filter {
	return review.Filter{
		Sources: q.many("source"),
		Queues:  q.many("queue"),
		Status:  statusesOf(q.among("status", statusWords...)),
		Causes:  q.many("cause"),
		Text:    q.text("q"),
	}
}

// statusesOf is the statuses by their words, where "all" stands for every one.
func statusesOf(given []string) []review.Status {
	var out []review.Status
	for _, w := range given {
		if w == "all" {
			return statuses
		}
		out = append(out, review.Status(w))
	}
	return out
}

func (s *Server) showLettersJSON(c echo.Context) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	filter, limit, cursor := q.letters(), q.limit(), q.one("cursor")
	if err := q.done(); err != nil {
		return err
	}
	page, err := s.Letters.Letters(c.Request().Context(), filter, limit, cursor)
	if err != nil {
		return err
	}
	answer := lettersJSON{DeadLetters: make([]letterJSON, 0, len(page.Letters)), NextCursor: cursorJSON(page.Next), Total: page.Total}
	for _, l := range page.Letters {
		answer.DeadLetters = append(answer.DeadLetters, listedLetterOf(l))
	}
	return ok(c, answer)
}

// letter is the letter that the path names.
func (s *Server) letter(c echo.Context) (review.Letter, error) {
	id := segment(c, "id")
	l, err := s.Letters.Letter(c.Request().Context(), id)
	return l, orMissing(err, "dead letter", id)
}

func (s *Server) showLetterJSON(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	l, err := s.letter(c)
	if err != nil {
		return err
	}
	lives, err := s.livesOf(c.Request().Context(), l.ID)
	if err != nil {
		return err
	}
	answer := letterOf(l)
	answer.Lives = livesJSON(lives)
	return ok(c, answer)
}

func (s *Server) showLetterValue(c echo.Context) error {
	return s.showBytes(c, "value", func(l review.Letter) []byte { return l.Body })
}

func (s *Server) showLetterKey(c echo.Context) error {
	return s.showBytes(c, "key", func(l review.Letter) []byte { return l.Key })
}

// showBytes hands out exact bytes as a download. They are anybody's bytes: a
// browser is told in four ways not to show or run them.
func (s *Server) showBytes(c echo.Context, what string, of func(review.Letter) []byte) error {
	if err := noParameters(c); err != nil {
		return err
	}
	l, err := s.letter(c)
	if err != nil {
		return err
	}
	bytes := of(l)
	if bytes == nil {
		reason := "it is null"
		if !l.BodyKept {
			reason = "the store has forgotten it"
		}
		return &problem{status: http.StatusNotFound, code: codeNotFound, message: "the letter has no " + what + " to download: " + reason}
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Content-Disposition", `attachment; filename="`+fileName(l.ID, what)+`"`)
	h.Set("Content-Length", strconv.Itoa(len(bytes)))
	return c.Blob(http.StatusOK, "application/octet-stream", bytes)
}

// fileName is a name of our own making: nothing of what a message says ends up
// in a header or on a disk.
func fileName(id, what string) string {
	safe := make([]byte, 0, len(id))
	for i := range min(len(id), 80) {
		switch b := id[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '-', b == '_':
			safe = append(safe, b)
		default:
			safe = append(safe, '-')
		}
	}
	return string(safe) + "." + what + ".bin"
}
