// Package heartbeat is a dead man's switch: it calls an address as long as the
// program is well, so that somebody outside notices when the calls stop. Whoever
// watches over pages that never come cannot be the one who sends them.
package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// callFor bounds one call.
const callFor = 10 * time.Second

// Heart beats: it calls an address at even intervals, but never while something
// is wrong.
type Heart struct {
	URL    func() (string, error) // asked for at each beat, because its file may change
	Every  time.Duration
	Client *http.Client
	// Well is nil while every part of the program does its work, or says what
	// does not.
	Well func(ctx context.Context) error
	Log  *slog.Logger

	said string // what was wrong at the last beat; "" for nothing
}

// Run beats until ctx ends.
func (h *Heart) Run(ctx context.Context) error {
	tick := time.NewTicker(h.Every)
	defer tick.Stop()
	for {
		h.say(ctx, h.Beat(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Beat calls once, when all is well. Its error is what was wrong, here or there;
// the address, which is a secret, is not in it.
func (h *Heart) Beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	if err := h.Well(ctx); err != nil {
		return fmt.Errorf("no heartbeat is sent, because not all is well: %w", err)
	}
	address, err := h.URL()
	if err != nil {
		return fmt.Errorf("the address of the heartbeat cannot be read: %w", err)
	}
	return h.call(ctx, strings.TrimSpace(address))
}

func (h *Heart) call(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the address of the heartbeat is none")
	}
	req.Header.Set("User-Agent", "unwedge")
	answer, err := h.Client.Do(req)
	if err != nil {
		return fmt.Errorf("the heartbeat did not arrive: %w", withoutAddress(err))
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<10) // so that the connection can be used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the heartbeat was answered with %s", answer.Status)
	}
	return nil
}

// withoutAddress is an error of net/http without the URL that it prints.
func withoutAddress(err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		return withURL.Err
	}
	return err
}

// say logs what is wrong, and that it is well again, once each.
func (h *Heart) say(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == h.said || ctx.Err() != nil {
		return
	}
	if h.said = text; err != nil {
		h.Log.Error("the dead man's switch", "err", err)
		return
	}
	h.Log.Info("the heart beats")
}
