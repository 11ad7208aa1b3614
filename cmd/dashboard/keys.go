package main

import (
	"context"
	"errors"
	"time"

	"github.com/unwedge/unwedge/store"
	"github.com/unwedge/unwedge/web"
)

// keys keeps the answers to requests with an Idempotency-Key in the store.
type keys struct{ db *store.Store }

func (k keys) Claim(ctx context.Context, who, path, key, body string, now time.Time) (web.Claimed, error) {
	answer, known, err := k.db.Remember(ctx, who, path, key, body, now)
	switch {
	case errors.Is(err, store.ErrOtherBody):
		return web.Claimed{OtherBody: true}, nil
	case err != nil:
		return web.Claimed{}, err
	}
	return web.Claimed{Ours: !known, Status: answer.Status, Answer: answer.Body}, nil
}

func (k keys) Keep(ctx context.Context, who, path, key string, status int, answer []byte) error {
	return k.db.Answered(ctx, who, path, key, store.Answer{Status: status, Body: answer})
}

func (k keys) Free(ctx context.Context, who, path, key string) error {
	return k.db.ForgetRequest(ctx, who, path, key)
}
