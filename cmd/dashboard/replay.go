package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/unwedge/unwedge/alerts"
)

// replay runs recorded lag through the detector. Each file is a trace of its
// own: nothing that was learned from one is used for the next.
func (p program) replay(_ context.Context, args []string) int {
	f := p.flags("replay")
	path := f.String("config", "", "rules to judge by; the defaults without")
	if err := f.parse(args); err != nil {
		return codeOf(err)
	}
	if f.NArg() == 0 {
		fmt.Fprintln(p.stderr, "replay: name at least one file of recorded lag")
		return exitMistake
	}
	c := defaults()
	if *path != "" {
		var wrong mistakes
		if c, wrong = loadConfig(*path, p.getenv); len(wrong) > 0 {
			p.tellMistakes(*path, wrong)
			return exitMistake
		}
	}
	out := bufio.NewWriter(p.stdout)
	defer func() { _ = out.Flush() }() // nobody reads on
	for _, name := range f.Args() {
		if err := replayFile(name, c.rules(), out); err != nil {
			_ = out.Flush()
			fmt.Fprintln(p.stderr, err)
			return exitFailed
		}
	}
	return exitOK
}

func replayFile(name string, rules alerts.Rules, out *bufio.Writer) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if err := alerts.Replay(bufio.NewReader(file), rules, out); err != nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	return nil
}
