//go:build campaign

package campaign

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

const (
	runsTitle      = "What was killed, and what became of the letters"
	mutationsTitle = "What happens when a guard rail is broken"
)

func fixedRand() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// document is where the tables stand.
func document() string {
	if path := os.Getenv("CAMPAIGN_TABLE"); path != "" {
		return path
	}
	return filepath.Join(moduleRoot, "docs", "campaign-redrive.md")
}

// section writes one section of the document anew, and leaves the others.
func section(title, text string) error {
	old, err := os.ReadFile(document())
	if err != nil {
		old = []byte("# Can a redrive be trusted?\n")
	}
	parts := strings.Split(string(old), "\n## ")
	fresh := title + "\n\n" + strings.TrimSpace(text) + "\n"
	i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, title+"\n") })
	if i < 0 {
		parts = append(parts, fresh)
	} else {
		parts[i] = fresh
	}
	return os.WriteFile(document(), []byte(strings.Join(parts, "\n## ")), 0o644)
}

func commit() string {
	out, err := exec.Command("git", "-C", moduleRoot, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// bound is the rule of three: none of n says that the rate is below 3/n, at
// 95 %.
func bound(found, n int) string {
	if n == 0 {
		return "–"
	}
	if found > 0 {
		return fmt.Sprintf("**%d of %d**", found, n)
	}
	return fmt.Sprintf("0 of %d: below %.2g %% at 95 %%", n, 300/float64(n))
}

// write writes the tables as they are by now.
func (c *campaign) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "`make campaign-redrive` of %s: commit %s, %s, %s, %s, our own SQS endpoint; seed %d, %s of running, %d letters a run, %d kills of a broker.\n\n",
		c.began.UTC().Format("2006-01-02 15:04 UTC"), commit(), runtime.Version(), sourcetest.SharedKafka(c.t).Version(), sourcetest.SharedLocalStack(c.t).Version(), c.seed,
		time.Since(c.began).Round(time.Second), c.letters, brokerKills.Load())
	c.writeTotals(&b)
	c.writePoints(&b)
	c.writeResults(&b)
	if len(c.lines) > 0 {
		b.WriteString("\nWhat failed:\n\n")
		for _, line := range c.lines {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	if err := section(runsTitle, b.String()); err != nil {
		c.t.Error(err)
	}
}

func (c *campaign) writeTotals(b *strings.Builder) {
	all := c.judged
	fmt.Fprintf(b, "| of the runs that came to their end | |\n|---|---|\n")
	fmt.Fprintf(b, "| kills of the program | %d |\n", all.kills)
	fmt.Fprintf(b, "| letters lost | %s |\n", bound(all.lost, all.letters))
	fmt.Fprintf(b, "| letters duplicated, not flagged before | %s |\n", bound(all.duplicated, all.letters))
	fmt.Fprintf(b, "| letters with other bytes | %s |\n", bound(all.changed, all.arrived))
	fmt.Fprintf(b, "| the same, in kills after which something was lost, duplicated or changed | %s |\n\n", bound(all.lost+all.duplicated+all.changed, all.kills))
}

func (c *campaign) writePoints(b *strings.Builder) {
	kinds := c.kindNames()
	fmt.Fprintf(b, "Kills by failpoint (`internal/failpoint`):\n\n| failpoint | %s | all |\n|---|%s---|\n", strings.Join(kinds, " | "), strings.Repeat("---|", len(kinds)))
	for _, p := range append(slices.Clone(c.points), "") {
		name, sum := "`"+p+"`", 0
		if p == "" {
			name = "at a random time"
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, k := range kinds {
			n := c.kinds[k].count(p)
			sum += n
			fmt.Fprintf(b, " %d |", n)
		}
		fmt.Fprintf(b, " %d |\n", sum)
	}
	b.WriteString("\n")
}

func (c *campaign) writeResults(b *strings.Builder) {
	b.WriteString("| broker, and what went wrong with it | runs | kills | letters | arrived | lost | duplicated | changed | flagged | flagged, and there twice | bytes compared | audit lines | paused after crashes | violations |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(c.results)) {
		r := c.results[kind]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", kind, r.runs, r.kills, r.letters, r.arrived,
			r.lost, r.duplicated, r.changed, r.flagged, r.resent, r.bytes, r.audited, r.pausedByCrashes, r.violations)
	}
}
