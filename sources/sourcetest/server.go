package sourcetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// server is a real server on loopback, with a directory of its own.
type server struct {
	name    string // with its version
	dir     string
	command func(context.Context) *exec.Cmd // a fresh command of the same settings
	ready   func(context.Context) error     // whether it answers
	now     *process
}

// start starts the server and waits until it answers.
func (s *server) start() error {
	p, err := startProcess(s.dir, s.command(context.Background()))
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.now = p
	if err := p.wait(s.ready); err != nil {
		p.kill()
		return fmt.Errorf("start %s: %w; its log ends with:\n%s", s.name, err, p.lastLog())
	}
	return nil
}

// stop ends the server and forgets its data.
func (s *server) stop() {
	if s.now != nil {
		s.now.kill()
	}
	_ = os.RemoveAll(s.dir)
}

// Kill ends the server as kill -9 does. Its data stays for Restart.
func (s *server) Kill() { s.now.kill() }

// Restart starts the server again where it was, with its data, and waits until
// it answers. It may be called whether or not the server runs.
func (s *server) Restart(t testing.TB) {
	t.Helper()
	s.now.kill()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Log is the end of what the server printed.
func (s *server) Log() string { return s.now.lastLog() }

// starter makes and starts a server, on ports that it finds free.
type starter func() (*server, error)

// startAny tries a few times: between finding a port free and listening on it
// somebody else may take it.
func startAny(start starter) (s *server, err error) {
	for range 3 {
		if s, err = start(); err == nil {
			return s, nil
		}
		if s != nil {
			s.stop()
		}
	}
	return nil, err
}

// forTest gives a started server to one test: stopped at its end, and its log
// shown when it failed.
func (s *server) forTest(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of %s ends with:\n%s", s.name, s.Log())
		}
		s.stop()
	})
	Report(t, s.name, "ran")
}
