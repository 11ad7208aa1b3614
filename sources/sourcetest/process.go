package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// startWithin is how long a server may take to answer, on a machine that is
// busy with other tests.
const startWithin = 3 * time.Minute

// process is one run of a server.
type process struct {
	cmd   *exec.Cmd
	log   string        // path of what it prints
	ended chan struct{} // closed when it has ended
}

// startProcess starts a command that prints to the log file in dir. It is
// started by a thread that waits for its end, because the kernel ties
// Pdeathsig to the thread (golang/go issue 27505).
func startProcess(dir string, cmd *exec.Cmd) (*process, error) {
	logPath := filepath.Join(dir, "log")
	out, err := os.OpenFile(logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, out, out, dieWithUs()
	p := &process{cmd: cmd, log: logPath, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(p.ended)
		defer func() { _ = out.Close() }()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how a server that was killed ended does not matter
		}
	}()
	return p, <-started
}

// kill ends the process at once, as kill -9 does, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// wait asks until the server answers.
func (p *process) wait(ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ask, done := context.WithTimeout(ctx, 5*time.Second)
		err := ready(ask)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return errors.New("it ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s: %w", startWithin, err)
		}
	}
}

// lastLog is the end of what the server printed.
func (p *process) lastLog() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text), 40)
}

// freePorts finds ports of the loopback address that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // all stay taken until the last one is found
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// answers asks for a page until it is there with a status that a working
// server gives.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= 500 {
			return fmt.Errorf("it answers %s", resp.Status)
		}
		return nil
	}
}
