package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// keyLasts is how long the answer to a request with an Idempotency-Key is kept.
const keyLasts = 24 * time.Hour

// longestKey is how long an Idempotency-Key may be, in bytes.
const longestKey = 255

// once runs a request that changes something. With an Idempotency-Key it runs
// once, however often it is sent: the same body is answered as before. An
// answer that says it is our fault is not kept: the request may be sent again.
func (s *Server) once(c echo.Context, body []byte, run func(context.Context) (int, any, error)) error {
	key, err := idempotencyKey(c.Request())
	if err != nil {
		return err
	}
	if key == "" {
		status, answer, err := run(c.Request().Context())
		if err != nil {
			return err
		}
		return writeJSON(c, status, answer)
	}
	path := c.Request().URL.Path
	claimed, err := s.claim(c, path, key, body)
	if err != nil || claimed.Status != 0 {
		return answerAgain(c, claimed, err)
	}
	if !s.running.begin(path, key) {
		return conflict("the request with this Idempotency-Key is still running; ask again")
	}
	defer s.running.end(path, key)
	// A request that was claimed before and runs nowhere is one that a crash
	// interrupted, or that has ended this moment: look once more.
	if !claimed.Ours {
		if claimed, err = s.claim(c, path, key, body); err != nil || claimed.Status != 0 {
			return answerAgain(c, claimed, err)
		}
	}
	return s.runClaimed(c, path, key, run)
}

// claim takes a key for a body, or finds what became of it.
func (s *Server) claim(c echo.Context, path, key string, body []byte) (Claimed, error) {
	sum := sha256.Sum256(body)
	claimed, err := s.Keys.Claim(c.Request().Context(), localUser, path, key, hex.EncodeToString(sum[:]), s.Now())
	switch {
	case err != nil:
		return claimed, fmt.Errorf("look up the Idempotency-Key: %w", err)
	case claimed.OtherBody:
		return claimed, &problem{status: http.StatusUnprocessableEntity, code: codeInvalid, message: "this Idempotency-Key was used with another body"}
	}
	return claimed, nil
}

// answerAgain gives the answer that was given before.
func answerAgain(c echo.Context, before Claimed, err error) error {
	if err != nil {
		return err
	}
	return writeBody(c, before.Status, before.Answer)
}

func idempotencyKey(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1 || keys[0] == "" || len(keys[0]) > longestKey:
		return "", invalid("Idempotency-Key must be given once, with 1 to %d characters", longestKey)
	}
	return keys[0], nil
}

// runClaimed runs the request and keeps its answer, even when whoever asked is
// gone by then.
func (s *Server) runClaimed(c echo.Context, path, key string, run func(context.Context) (int, any, error)) (err error) {
	ctx := c.Request().Context()
	lasting := context.WithoutCancel(ctx)
	kept := false
	defer func() {
		if !kept {
			if freed := s.Keys.Free(lasting, localUser, path, key); freed != nil {
				s.Log.Warn("an Idempotency-Key could not be given back", "err", freed)
			}
		}
	}()
	status, answer, err := run(ctx)
	if err != nil {
		p, theirs := asProblem(err)
		if !theirs || p.status >= http.StatusInternalServerError {
			return err
		}
		status, answer = p.status, errorOf(p)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	text = append(text, '\n')
	if err := s.Keys.Keep(lasting, localUser, path, key, status, text); err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	kept = true
	return writeBody(c, status, text)
}

// inFlight are the keys of requests that run just now in this process.
type inFlight struct {
	mu   sync.Mutex
	keys map[[2]string]bool
}

func (f *inFlight) begin(path, key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := [2]string{path, key}
	if f.keys[id] {
		return false
	}
	if f.keys == nil {
		f.keys = map[[2]string]bool{}
	}
	f.keys[id] = true
	return true
}

func (f *inFlight) end(path, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, [2]string{path, key})
}

// memoryKeys remembers answers for as long as the program runs.
type memoryKeys struct {
	mu   sync.Mutex
	kept map[[3]string]keptAnswer
}

type keptAnswer struct {
	body   string
	at     time.Time
	status int
	answer []byte
}

func newMemoryKeys() *memoryKeys { return &memoryKeys{kept: map[[3]string]keptAnswer{}} }

// Claim takes a key, and forgets those that are older than a day.
func (m *memoryKeys) Claim(_ context.Context, who, path, key, body string, now time.Time) (Claimed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, a := range m.kept {
		if now.Sub(a.at) >= keyLasts {
			delete(m.kept, k)
		}
	}
	id := [3]string{who, path, key}
	if before, there := m.kept[id]; there {
		return Claimed{OtherBody: before.body != body, Status: before.status, Answer: before.answer}, nil
	}
	m.kept[id] = keptAnswer{body: body, at: now}
	return Claimed{Ours: true}, nil
}

// Keep stores an answer.
func (m *memoryKeys) Keep(_ context.Context, who, path, key string, status int, answer []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := [3]string{who, path, key}
	a := m.kept[id]
	a.status, a.answer = status, answer
	m.kept[id] = a
	return nil
}

// Free gives a key back.
func (m *memoryKeys) Free(_ context.Context, who, path, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, [3]string{who, path, key})
	return nil
}
