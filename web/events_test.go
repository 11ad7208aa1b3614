package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are pipes in memory: inside a bubble of
// synctest their deadlines run on its clock.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

// dial opens a connection and sends a request for the event stream.
func (p *pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	p.conns <- theirs
	if _, err := fmt.Fprint(ours, "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ours
}

// served runs a server over pipes inside a bubble until the test is done.
func served(t *testing.T, s *Server) (p *pipes, stop func() error) {
	t.Helper()
	p = newPipes()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, p) }()
	return p, func() error { cancel(); return <-ended }
}

// listener reads a stream line by line.
type listener struct {
	conn  net.Conn
	lines chan string // closed at the end of the stream
}

func listen(t *testing.T, p *pipes) *listener {
	t.Helper()
	l := &listener{conn: p.dial(t), lines: make(chan string, 10000)}
	go func() {
		defer close(l.lines)
		for scan := bufio.NewScanner(l.conn); scan.Scan(); {
			l.lines <- scan.Text()
		}
	}()
	return l
}

// until reads on until a line has a prefix.
func (l *listener) until(t *testing.T, prefix string) string {
	t.Helper()
	for line := range l.lines {
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
	t.Fatalf("the stream ended before %q", prefix)
	return ""
}

func TestEventsAreToldToEveryone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := story().server(t)
		p, stop := served(t, s)
		both := []*listener{listen(t, p), listen(t, p)}
		synctest.Wait()
		s.Events.Publish(LettersEvent, "dl_json", "a/b%\n")
		for _, l := range both {
			if got := l.until(t, "Content-Type"); got != "Content-Type: text/event-stream" {
				t.Errorf("%s", got)
			}
			if got := l.until(t, "event:"); got != "event: letters" {
				t.Errorf("%s", got)
			}
			if got := l.until(t, "data:"); got != `data: {"ids":["dl_json","a/b%\n"]}` {
				t.Errorf("%s", got)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestEventStreamOutlivesTheTimeLimits: answers that end have limits of time;
// this one does not, and a comment every 15 seconds keeps proxies from cutting
// it.
func TestEventStreamOutlivesTheTimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := story().server(t)
		p, stop := served(t, s)
		l := listen(t, p)
		time.Sleep(10 * time.Minute) // on the bubble's clock
		synctest.Wait()
		s.Events.Publish(LagEvent)
		beats := 0
		for line := range l.lines {
			if strings.HasPrefix(line, ": alive") {
				beats++
			}
			if line == "event: lag" {
				break
			}
		}
		if beats != 40 {
			t.Errorf("%d heartbeats in ten minutes, want 40", beats)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestStreamsDoNotHoldUpTheEnd: SIGTERM ends them at once.
func TestStreamsDoNotHoldUpTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := story().server(t)
		p, stop := served(t, s)
		l := listen(t, p)
		synctest.Wait()
		before := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took > time.Second {
			t.Errorf("stopping took %s", took)
		}
		for range l.lines { // ends
		}
	})
}

// TestSlowListenersAreDropped: who reads nothing holds up nobody, and is let go.
func TestSlowListenersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := story().server(t)
		p, stop := served(t, s)
		p.dial(t) // and never reads
		good := listen(t, p)
		synctest.Wait()
		for n := range 3 * streamBuffer {
			s.Events.Publish(LagEvent, fmt.Sprint(n))
			good.until(t, "data:")
		}
		time.Sleep(writeWithin + time.Second)
		synctest.Wait()
		s.Events.mu.Lock()
		left := len(s.Events.streams)
		s.Events.mu.Unlock()
		if left != 1 {
			t.Errorf("%d streams are left, want the one that reads", left)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStreamsAreLimited(t *testing.T) {
	e := NewEvents()
	for range mostStreams {
		if _, err := e.listen(); err != nil {
			t.Fatal(err)
		}
	}
	var p *problem
	if _, err := e.listen(); !errors.As(err, &p) || p.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %v", err)
	}
	e.Close()
	if _, err := e.listen(); err == nil {
		t.Error("a stream was opened after the end")
	}
	e.Publish(LagEvent, "x") // to nobody
}

func TestEventsNameSoManyIDs(t *testing.T) {
	ids := make([]string, mostEventIDs+1)
	for i := range ids {
		ids[i] = "x"
	}
	if got := strings.Count(string(encodeEvent(LettersEvent, ids)), `"x"`); got != mostEventIDs {
		t.Errorf("%d ids", got)
	}
	if got := string(encodeEvent(LagEvent, nil)); got != "event: lag\ndata: {\"ids\":[]}\n\n" {
		t.Errorf("%q", got)
	}
}
