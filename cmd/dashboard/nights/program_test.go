//go:build campaign

package nights

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// moduleRoot is where the program is built, seen from this package.
const moduleRoot = "../../.."

var built struct {
	once sync.Once
	path string
	err  error
}

// executable is the program, built once per test binary.
func executable(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "unwedge-nights-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "unwedge")
		cmd := exec.Command("go", "build", "-o", built.path, "./cmd/dashboard")
		cmd.Dir = moduleRoot
		_, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// free is a loopback address that nobody listens on.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
