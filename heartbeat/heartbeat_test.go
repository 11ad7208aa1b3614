package heartbeat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// outside is who waits for the beats.
type outside struct {
	mu     sync.Mutex
	beats  int
	status int
	err    error
	wrong  error // with us
}

// set changes what it is like outside, or with us.
func (o *outside) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

func (o *outside) well(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrong
}

func (o *outside) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	o.beats++
	return &http.Response{StatusCode: o.status, Status: http.StatusText(o.status), Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func TestTheHeartBeatsOnlyWhileAllIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		o := &outside{status: http.StatusOK}
		h := &Heart{
			URL: func() (string, error) { return "https://hc.example.com/SECRET\n", nil }, Every: time.Minute, Client: &http.Client{Transport: o},
			Well: o.well, Log: slog.New(slog.NewTextHandler(&said, nil)),
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = h.Run(ctx) }()
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		pass(10*time.Minute + time.Second)
		if o.beats != 11 {
			t.Errorf("%d beats in ten minutes", o.beats)
		}
		o.set(func() { o.wrong = errors.New("the lag loop: late") })
		pass(10 * time.Minute)
		if o.beats != 11 || strings.Count(said.String(), "the lag loop: late") != 1 {
			t.Errorf("%d beats while the lag loop is late; said %s", o.beats, &said)
		}
		o.set(func() { o.wrong = nil })
		pass(time.Minute)
		if o.beats != 12 {
			t.Errorf("%d beats after it was well again", o.beats)
		}
		o.set(func() { o.err = errors.New("no route") })
		pass(2 * time.Minute)
		o.set(func() { o.err, o.status = nil, http.StatusNotFound })
		pass(2 * time.Minute)
		if text := said.String(); !strings.Contains(text, "no route") || !strings.Contains(text, "Not Found") || strings.Contains(text, "SECRET") {
			t.Error(text)
		}
		stop()
		<-done
	})
}
