//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

var (
	mu   sync.Mutex
	left = armed(os.Getenv("UNWEDGE_FAILPOINT"))
)

// armed reads "name=3": the program is killed when it reaches the place for the
// third time.
func armed(text string) map[string]int {
	points := map[string]int{}
	for _, one := range strings.Fields(text) {
		name, count, _ := strings.Cut(one, "=")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			panic(fmt.Sprintf("UNWEDGE_FAILPOINT: %q is not name=count", one))
		}
		points[name] = n
	}
	return points
}

// Hit kills the program, as kill -9 does, when a place that is armed is reached
// for the last of so many times.
func Hit(name string) {
	mu.Lock()
	defer mu.Unlock()
	if left[name] == 0 {
		return
	}
	if left[name]--; left[name] == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing more happens
	}
}
