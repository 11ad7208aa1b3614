package alerts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A page goes where its configuration says and nowhere else: a receiver that sends
// it on has not taken it.
func TestARedirectIsNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		first := httptest.NewServer(http.RedirectHandler(other.URL, status))
		err := Post(t.Context(), NewClient(), first.URL, nil, []byte("{}"))
		first.Close()
		if err == nil || errors.Is(err, ErrPermanent) || elsewhere.Load() > 0 {
			t.Errorf("%d: %v, and %d requests elsewhere", status, err, elsewhere.Load())
		}
	}
}

// An answer that trickles in, or never ends, does not hold the sender up; what was
// accepted by then is accepted.
func TestAnAnswerThatNeverEndsIsCutOff(t *testing.T) {
	for _, status := range []int{202, 503} {
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		began := time.Now()
		err := Post(ctx, NewClient(), slow.URL, nil, []byte("{}"))
		cancel()
		if took := time.Since(began); took > 5*time.Second || (err == nil) != (status == 202) {
			t.Errorf("%d: %v after %s", status, err, took)
		}
		slow.CloseClientConnections()
		slow.Close()
	}
}

// A receiver that hangs up in the middle may have taken the page: it is tried
// again, never given up.
func TestAConnectionThatBreaksIsTriedAgain(t *testing.T) {
	for _, says := range []string{"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Le"} {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, says)
				_ = conn.Close()
			}
		}()
		err = Post(t.Context(), NewClient(), "http://"+listener.Addr().String(), nil, []byte("{}"))
		_ = listener.Close()
		if err == nil || errors.Is(err, ErrPermanent) {
			t.Errorf("after %q: %v", says, err)
		}
	}
}

func TestOnlyTroubleOfTheReceiverIsErrServer(t *testing.T) {
	for status, want := range map[int]bool{400: false, 404: false, 429: false, 500: true, 502: true, 503: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, strings.Repeat("long ", 10_000))
		}))
		err := Post(t.Context(), NewClient(), server.URL, nil, []byte("{}"))
		server.Close()
		if errors.Is(err, ErrServer) != want || len(err.Error()) > 3000 {
			t.Errorf("%d: %.200v", status, err)
		}
	}
}
