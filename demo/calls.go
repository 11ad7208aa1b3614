package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/unwedge/unwedge/alerts/webhook"
)

// caller is whoever may stop and start the workers of the retries: in the demo
// this process, elsewhere something beside the workers (see deploy/consumers).
type caller struct {
	server *http.Server
	secret string
}

func startCaller(stop, start func()) (c *caller, address string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	c = &caller{secret: rand.Text()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /stop", c.signed(stop))
	mux.HandleFunc("POST /start", c.signed(start))
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = c.server.Serve(listener) }()
	return c, "http://" + listener.Addr().String(), nil
}

// signed carries a call out when it is signed. To stop what is stopped does
// nothing, so a second call with the same id may come.
func (c *caller) signed(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err == nil {
			err = c.verify(r.Header, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		do()
		w.WriteHeader(http.StatusAccepted)
	}
}

func (c *caller) verify(h http.Header, body []byte) error {
	seconds, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		return fmt.Errorf("webhook-timestamp: %w", err)
	}
	want, err := webhook.Sign(c.secret, h.Get("webhook-id"), time.Unix(seconds, 0), body)
	if err != nil || want.Get("webhook-signature") != h.Get("webhook-signature") {
		return fmt.Errorf("the signature is not ours")
	}
	return nil
}
