package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// answersKept is how long an answer is given again.
const answersKept = 24 * time.Hour

// Answer is what became of a request that had an idempotency key.
type Answer struct {
	Status int // of HTTP; 0 while the request is still running
	Body   []byte
}

// ErrOtherBody is an idempotency key that stood on another request before.
var ErrOtherBody = errors.New("this idempotency key was used with another request")

// Remember notes a request of a user by its idempotency key before it runs. It
// returns false when the key is new: run the request, then call Answered, or
// Forget when it may be tried again. It returns true and the earlier answer
// when it is known. Errors: ErrOtherBody.
func (s *Store) Remember(ctx context.Context, who, path, key, bodyHash string, now time.Time) (Answer, bool, error) {
	var a Answer
	var known bool
	err := s.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM answers WHERE asked_at < ?`, micros(now.Add(-answersKept))); err != nil {
			return err
		}
		var hash string
		err := tx.QueryRowContext(ctx, `SELECT body_hash, status, answer FROM answers WHERE who = ? AND path = ? AND key = ?`, who, path, key).
			Scan(&hash, &a.Status, &a.Body)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			_, err = tx.ExecContext(ctx, `INSERT INTO answers (who, path, key, body_hash, asked_at, status) VALUES (?, ?, ?, ?, ?, 0)`, who, path, key, bodyHash, micros(now))
		case err == nil && hash != bodyHash:
			err = ErrOtherBody
		case err == nil:
			known = true
		}
		return err
	})
	if err != nil {
		return Answer{}, false, fmt.Errorf("remember a request: %w", err)
	}
	return a, known, nil
}

// Answered keeps the answer of a request that was remembered.
func (s *Store) Answered(ctx context.Context, who, path, key string, a Answer) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE answers SET status = ?, answer = ? WHERE who = ? AND path = ? AND key = ?`, a.Status, a.Body, who, path, key)
		return err
	})
}

// ForgetRequest forgets a request that changed nothing, so that it can be tried
// again under the same key.
func (s *Store) ForgetRequest(ctx context.Context, who, path, key string) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM answers WHERE who = ? AND path = ? AND key = ?`, who, path, key)
		return err
	})
}
