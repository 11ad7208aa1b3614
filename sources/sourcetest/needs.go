package sourcetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// missing is a tool that this machine lacks, or a server that could not be
// fetched: tests are skipped for it, and fail for all other errors.
type missing struct{ why string }

func (m missing) Error() string { return m.why }

// java finds a Java of at least that version.
func java(atLeast int) (string, error) {
	path := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path = filepath.Join(home, "bin", "java")
	}
	out, err := exec.CommandContext(context.Background(), path, "-version").CombinedOutput()
	if err != nil {
		return "", missing{fmt.Sprintf("Java %d or newer is not installed (%v)", atLeast, err)}
	}
	if v := firstNumber(string(out)); v < atLeast {
		return "", missing{fmt.Sprintf("Java %d or newer is needed; %s is version %d", atLeast, path, v)}
	}
	return path, nil
}

func maven() error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return missing{"mvn, which fetches it from Maven Central, is not installed"}
	}
	return nil
}

// python finds a Python that the pinned LocalStack runs on: 3.10 to 3.13, best
// of all 3.11, on which it is tried.
func python() (string, error) {
	for _, name := range []string{"python3.11", "python3"} {
		out, err := exec.CommandContext(context.Background(), name, "-c", "import sys, venv, ensurepip; print(sys.version_info[1])").Output()
		if err != nil {
			continue
		}
		if minor := firstNumber(string(out)); minor >= 10 && minor <= 13 {
			return name, nil
		}
	}
	return "", missing{"Python 3.11 with venv, which fetches and runs it, is not installed"}
}

var number = regexp.MustCompile(`\d+`)

func firstNumber(s string) int {
	n, err := strconv.Atoi(number.FindString(s))
	if err != nil {
		return 0
	}
	return n
}
