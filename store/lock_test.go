//go:build unix

package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestHelperHoldsAStore is the second process of the test below: it opens a
// store, says so, and keeps it until it is killed.
func TestHelperHoldsAStore(t *testing.T) {
	path := os.Getenv("UNWEDGE_TEST_HOLD_STORE")
	if path == "" {
		t.Skip("it is started by another test")
	}
	if _, err := Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("open\n")
	select {}
}

// A second process on the same file would send the same letters: it is refused,
// and let in when the first is gone, however that ended.
func TestAStoreIsOpenInOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unwedge.db")
	other := exec.Command(os.Args[0], "-test.run", "TestHelperHoldsAStore")
	other.Env = append(os.Environ(), "UNWEDGE_TEST_HOLD_STORE="+path)
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	said := make([]byte, 5)
	if _, err := out.Read(said); err != nil || string(said) != "open\n" {
		t.Fatalf("the other process said %q, %v", said, err)
	}
	_, err = Open(t.Context(), path)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "process "+strconv.Itoa(other.Process.Pid)) {
		t.Errorf("while another process has it: %v", err)
	}
	must(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	s, err := Open(t.Context(), path)
	must(t, err)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second time in this process: %v", err)
	}
	must(t, s.Close())
	must(t, reopen(t, path).Close())
}
