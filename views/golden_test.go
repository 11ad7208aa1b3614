package views

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden pages anew: go test ./views -update")

// TestPagesAreAsTheyWere compares every page with the one that somebody looked
// at: read the difference before you write it anew.
func TestPagesAreAsTheyWere(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.name, func(t *testing.T) {
			got := inLines(render(t, f.page))
			path := filepath.Join("testdata", f.name+".golden.html")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from the page as rendered:\n%s", path, firstDifference(got, string(want)))
			}
		})
	}
}

// inLines breaks a page between its elements, so that differences can be read.
func inLines(page string) string { return strings.ReplaceAll(page, "><", ">\n<") + "\n" }

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}
