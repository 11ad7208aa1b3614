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
	ctx, path := c.Request().Context(), c.Path()
	if key == "" {
		status, answer, err := run(ctx)
		if err != nil {
			return err
		}
		return writeJSON(c, status, answer)
	}
	sum := sha256.Sum256(body)
	claimed, err := s.Keys.Claim(ctx, path, key, hex.EncodeToString(sum[:]), s.Now())
	if err != nil {
		return fmt.Errorf("look up the Idempotency-Key: %w", err)
	}
	if !claimed.Ours {
		return answerAgain(c, claimed, hex.EncodeToString(sum[:]))
	}
	return s.runClaimed(c, path, key, run)
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

// answerAgain answers a request whose key was used before.
func answerAgain(c echo.Context, before Claimed, body string) error {
	switch {
	case before.Body != body:
		return &problem{status: http.StatusUnprocessableEntity, code: codeInvalid, message: "this Idempotency-Key was used with another body"}
	case before.Status == 0:
		return conflict("the request with this Idempotency-Key is still running; ask again")
	}
	return writeBody(c, before.Status, before.Answer)
}

// runClaimed runs the request and keeps its answer, even when whoever asked is
// gone by then.
func (s *Server) runClaimed(c echo.Context, path, key string, run func(context.Context) (int, any, error)) (err error) {
	ctx := c.Request().Context()
	lasting := context.WithoutCancel(ctx)
	kept := false
	defer func() {
		if !kept {
			if freed := s.Keys.Free(lasting, path, key); freed != nil {
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
	if err := s.Keys.Keep(lasting, path, key, status, text); err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	kept = true
	return writeBody(c, status, text)
}

// memoryKeys remembers answers for as long as the program runs.
type memoryKeys struct {
	mu   sync.Mutex
	kept map[[2]string]keptAnswer
}

type keptAnswer struct {
	Claimed
	at time.Time
}

func newMemoryKeys() *memoryKeys { return &memoryKeys{kept: map[[2]string]keptAnswer{}} }

// Claim takes a key, and forgets those that are older than a day.
func (m *memoryKeys) Claim(_ context.Context, path, key, body string, now time.Time) (Claimed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, a := range m.kept {
		if now.Sub(a.at) >= keyLasts {
			delete(m.kept, k)
		}
	}
	id := [2]string{path, key}
	if before, there := m.kept[id]; there {
		return before.Claimed, nil
	}
	m.kept[id] = keptAnswer{Claimed: Claimed{Body: body}, at: now}
	return Claimed{Ours: true}, nil
}

// Keep stores an answer.
func (m *memoryKeys) Keep(_ context.Context, path, key string, status int, answer []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := [2]string{path, key}
	a := m.kept[id]
	a.Status, a.Answer = status, answer
	m.kept[id] = a
	return nil
}

// Free gives a key back.
func (m *memoryKeys) Free(_ context.Context, path, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, [2]string{path, key})
	return nil
}
