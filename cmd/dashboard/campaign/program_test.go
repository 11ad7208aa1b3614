package campaign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// moduleRoot is where the program is built, seen from this package.
const moduleRoot = "../../.."

// shortHold is how long letters of SQS are held by a life that is to be killed:
// what it leaves hidden is visible again after seconds. The lives that are not,
// the first, which lists the letters, and the last, which finishes what is left,
// hold them as the program does that is shipped.
const shortHold = 3 * time.Second

var built struct {
	once sync.Once
	path string
	err  error
}

// executable is the program with its failpoints, built once per test binary.
func executable(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "unwedge-campaign-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "unwedge")
		built.err = build(moduleRoot, built.path)
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// build builds the program of a source tree, as it is shipped but for the
// failpoints.
func build(root, path string) error {
	cmd := exec.Command("go", "build", "-tags", "failpoints", "-o", path, "./cmd/dashboard")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// program is one installation of the program: its configuration and its store,
// over all of its lives.
type program struct {
	api
	binary, dir string
	address     string

	cmd   *exec.Cmd
	ended chan struct{} // closed when this life is over
	ours  bool          // we killed it
	lives int
}

// install makes an installation with that source in its configuration.
func install(t testing.TB, binary, source string) *program {
	t.Helper()
	p := &program{binary: binary, dir: t.TempDir(), address: freeAddress(t)}
	p.api = newAPI("http://" + p.address)
	text := fmt.Sprintf("listen: %s\nstore: %s\nsources:\n%s", p.address, filepath.Join(p.dir, "unwedge.db"), source)
	if err := os.WriteFile(p.configFile(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the log of the program ends with:\n%s", p.lastLog(30))
		}
	})
	return p
}

func (p *program) configFile() string { return filepath.Join(p.dir, "unwedge.yaml") }

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start begins a life, with a failpoint armed ("name=count"; "" for none), which
// holds letters for so long; 0: as the program does that is shipped.
func (p *program) start(armed string, hold time.Duration) error {
	out, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.lives++
	fmt.Fprintf(out, "--- life %d %s\n", p.lives, armed)
	cmd := exec.Command(p.binary, "serve", "--config", p.configFile())
	cmd.Env = append(os.Environ(), "UNWEDGE_FAILPOINT="+armed, "UNWEDGE_HOLD="+envHold(hold), "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, dieWithUs()
	p.cmd, p.ours, p.ended = cmd, false, make(chan struct{})
	ended, started := p.ended, make(chan error)
	go func() { // the kernel ties Pdeathsig to the thread (golang/go issue 27505)
		runtime.LockOSThread()
		defer close(ended)
		defer out.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return <-started
}

func envHold(hold time.Duration) string {
	if hold == 0 {
		return ""
	}
	return hold.String()
}

// kill ends the program as kill -9 does, and waits until it is gone. It tells
// whether it was alive until then.
func (p *program) kill() bool {
	if p.cmd == nil || p.cmd.Process == nil || p.over() {
		return false
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	p.ours = true
	return true
}

// stop ends the program as an operator does.
func (p *program) stop() error {
	if p.over() {
		return errors.New("the program had ended before it was told to stop")
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(20 * time.Second):
		p.kill()
		return errors.New("the program did not end within 20 s of SIGTERM")
	}
}

func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// killedItself tells whether this life ended at its failpoint.
func (p *program) killedItself() (bool, error) {
	if !p.over() || p.ours {
		return false, nil
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true, nil
	}
	return false, fmt.Errorf("the program ended by itself with %s:\n%s", p.cmd.ProcessState, p.lastLog(20))
}

// ready waits until the program answers; false when it ended before.
func (p *program) ready(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err := p.get(ctx, "/healthz", nil); err == nil {
			return true, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.ended:
			return false, nil
		case <-ctx.Done():
			return false, fmt.Errorf("the program does not answer: %w\n%s", ctx.Err(), p.lastLog(20))
		}
	}
}

func (p *program) lastLog(lines int) string {
	text, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
