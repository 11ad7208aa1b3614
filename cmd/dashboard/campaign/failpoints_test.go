package campaign

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var hit = regexp.MustCompile(`failpoint\.Hit\("([^"]+)"\)`)

// failpoints finds the names of all places at which the program of a source
// tree can be killed.
func failpoints(root string) ([]string, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range hit.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no failpoint.Hit in %s", root)
	}
	return slices.Sorted(maps.Keys(names)), err
}

// tally counts the kills of one kind of broker. Several runs share it.
type tally struct {
	points []string
	want   int // kills at each point
	random int // kills at random times wanted

	mu     sync.Mutex
	kills  map[string]int
	misses map[string]int // lives in which a point was armed and not reached
	other  int            // random kills
}

func newTally(points []string, want, random int) *tally {
	return &tally{points: points, want: want, random: random, kills: map[string]int{}, misses: map[string]int{}}
}

// next is what to do with the next life: a point, or "" for a kill at a random
// time; false when every count is reached. Points that were reached least come
// first; one that this kind of broker never reaches is given up.
func (t *tally) next(rnd *rand.Rand) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []string
	least := t.want
	for _, p := range t.points {
		if t.kills[p] < t.want && (t.misses[p] < 3 || t.misses[p] < 3*t.kills[p]) {
			open = append(open, p)
			least = min(least, t.kills[p])
		}
	}
	left := t.random - t.other
	if left <= 0 && len(open) == 0 {
		return "", false
	}
	if len(open) == 0 || left > 0 && rnd.IntN(5) == 0 {
		return "", true
	}
	open = slices.DeleteFunc(open, func(p string) bool { return t.kills[p] > least+t.want/10+2 && t.misses[p] < 3 })
	return open[rnd.IntN(len(open))], true
}

func (t *tally) killed(point string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if point == "" {
		t.other++
		return
	}
	t.kills[point]++
}

func (t *tally) missed(point string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.misses[point]++
}
