package sourcetest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CacheDir is the environment variable that names where fetched servers are
// kept; without it they are in the user's cache directory, unwedge-test.
const CacheDir = "UNWEDGE_TEST_CACHE"

// fetchWithin is how long one step of fetching a server may take.
const fetchWithin = 10 * time.Minute

//go:embed servers
var recipes embed.FS

// cacheDir is where fetched servers are kept, and made when it is not there.
func cacheDir() (string, error) {
	dir := os.Getenv(CacheDir)
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a place for fetched servers: %w; set %s", err, CacheDir)
		}
		dir = filepath.Join(base, "unwedge-test")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// cached is the directory of one fetched server. It is there whole or not at
// all: fetch fills a directory beside it, which is then renamed. Test binaries
// that run at the same time wait for each other.
func cached(name string, fetch func(dir string) error) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	if there(dir) {
		return dir, nil
	}
	unlock, err := lock(filepath.Join(cache, name+".lock"))
	if err != nil {
		return "", fmt.Errorf("wait for others that fetch %s: %w", name, err)
	}
	defer unlock()
	if there(dir) { // another one was faster
		return dir, nil
	}
	part := fmt.Sprintf("%s.part-%d", dir, os.Getpid())
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := fetch(part); err != nil {
		return "", errors.Join(fmt.Errorf("fetch %s: %w", name, err), os.RemoveAll(part))
	}
	return dir, os.Rename(part, dir)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// jars has the jars of a server and of all that it depends on, by the pom of
// that name.
func jars(name, version string) (string, error) {
	return cached(name+"-"+version, func(dir string) error {
		pom, cleanUp, err := recipe(name + ".xml")
		if err != nil {
			return err
		}
		defer cleanUp()
		return run("mvn", "-q", "-B", "-Dstyle.color=never", "-f", pom,
			"dependency:copy-dependencies", "-DoutputDirectory="+dir, "-DincludeScope=runtime")
	})
}

// virtualenv has a Python environment with the pins of that name.
func virtualenv(name, version, python string) (string, error) {
	return cached(name+"-"+version, func(dir string) error {
		pins, cleanUp, err := recipe(name + ".txt")
		if err != nil {
			return err
		}
		defer cleanUp()
		if err := run(python, "-m", "venv", dir); err != nil {
			return err
		}
		return run(filepath.Join(dir, "bin", "python"), "-m", "pip", "-q", "install", "-r", pins)
	})
}

// recipe writes an embedded recipe to where a tool can read it.
func recipe(name string) (path string, cleanUp func(), err error) {
	text, err := recipes.ReadFile("servers/" + name)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "unwedge-recipe-")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, name)
	return path, func() { _ = os.RemoveAll(dir) }, os.WriteFile(path, text, 0o600)
}

// run runs a tool to its end; an error has the end of what it printed.
func run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, lastLines(string(out), 5))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// runDir makes a directory for the data of one server. Those that a killed
// test binary left behind are removed.
func runDir(name string) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	base := filepath.Join(cache, "run")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	removeLeft(base)
	return os.MkdirTemp(base, fmt.Sprintf("%d-%s-", os.Getpid(), name))
}

func removeLeft(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		owner, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(owner); err == nil && gone(pid) {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}

// gone tells whether no process of that id runs any more.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
