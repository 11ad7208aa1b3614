package heartbeat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// outside is who waits for the beats.
type outside struct {
	beats  int
	status int
	err    error
}

func (o *outside) RoundTrip(r *http.Request) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	o.beats++
	return &http.Response{StatusCode: o.status, Status: http.StatusText(o.status), Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func TestTheHeartBeatsOnlyWhileAllIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		var wrong error
		o := &outside{status: http.StatusOK}
		h := &Heart{
			URL: func() (string, error) { return "https://hc.example.com/SECRET\n", nil }, Every: time.Minute, Client: &http.Client{Transport: o},
			Well: func(context.Context) error { return wrong }, Log: slog.New(slog.NewTextHandler(&said, nil)),
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = h.Run(ctx) }()
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		pass(10*time.Minute + time.Second)
		if o.beats != 11 {
			t.Errorf("%d beats in ten minutes", o.beats)
		}
		wrong = errors.New("the lag loop: late")
		pass(10 * time.Minute)
		if o.beats != 11 || strings.Count(said.String(), "the lag loop: late") != 1 {
			t.Errorf("%d beats while the lag loop is late; said %s", o.beats, &said)
		}
		wrong = nil
		pass(time.Minute)
		if o.beats != 12 {
			t.Errorf("%d beats after it was well again", o.beats)
		}
		o.err = errors.New("no route")
		pass(2 * time.Minute)
		o.err, o.status = nil, http.StatusNotFound
		pass(2 * time.Minute)
		if text := said.String(); !strings.Contains(text, "no route") || !strings.Contains(text, "Not Found") || strings.Contains(text, "SECRET") {
			t.Error(text)
		}
		stop()
		<-done
	})
}
