// Package sourcetest starts the real servers that adapters are tested on, and
// has the conformance suites that every server and every adapter passes.
//
// The servers are fetched from Maven Central and PyPI by the tools of their
// own world (mvn, pip) into a cache directory, run on loopback, and die with
// the test binary. A machine that lacks Java, mvn or Python skips those tests
// and says so; where CI=true is set, a skip is a failure.
package sourcetest

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// ReportFile is the environment variable that names the file to which each
// test binary appends what it ran on and what it had to skip, one line each:
// package, server, version, and "ran" or "skipped: why", separated by tabs.
const ReportFile = "UNWEDGE_TEST_REPORT"

// reported has the lines that this process has written already: one line per
// server and outcome is enough for a table.
var reported sync.Map

// Report notes that a test ran on a server, or why it did not. The server is
// named with its version at the end, such as "Apache Kafka 4.4.0".
func Report(t testing.TB, server, outcome string) {
	t.Helper()
	path := os.Getenv(ReportFile)
	name, version := splitVersion(server)
	line := strings.Join([]string{testPackage(), name, version, oneLine(outcome)}, "\t") + "\n"
	if _, again := reported.LoadOrStore(line, true); again || path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Errorf("note in %s that this ran on %s: %v", path, server, err)
		return
	}
	_, err = file.WriteString(line) // one write: appends of several test binaries do not mix
	if err := errors.Join(err, file.Close()); err != nil {
		t.Errorf("note in %s that this ran on %s: %v", path, server, err)
	}
}

// Missing skips the test because something that it needs is not on this
// machine. It says loudly what is skipped and why, and where CI=true is set it
// fails the test instead.
func Missing(t testing.TB, what, why string) {
	t.Helper()
	Report(t, what, "skipped: "+why)
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is needed in CI, and is not here: %s", what, why)
	}
	fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s needs %s: %s\n\n", t.Name(), what, oneLine(why))
	t.Skipf("needs %s: %s", what, why)
}

// testPackage is the import path of the package under test.
func testPackage() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return strings.TrimSuffix(info.Path, ".test")
}

func splitVersion(server string) (name, version string) {
	i := strings.LastIndexByte(server, ' ')
	if i < 0 || i+1 == len(server) || server[i+1] < '0' || server[i+1] > '9' {
		return server, ""
	}
	return server[:i], server[i+1:]
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
