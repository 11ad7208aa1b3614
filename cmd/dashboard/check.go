package main

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// checkFor is how long one source or notifier may take to answer.
const checkFor = 20 * time.Second

// check says what is wrong with a configuration and what can be reached. It
// writes nothing, but for the test pages that --send-test asks for.
func (p program) check(ctx context.Context, args []string) int {
	f := p.flags("check")
	path := f.String("config", "", "the configuration file")
	send := f.Bool("send-test", false, "send a test page through each notifier, and resolve it")
	if err := f.parse(args); err != nil {
		return codeOf(err)
	}
	c, code := p.readConfig(*path, "")
	if code != exitOK {
		return code
	}
	list, err := c.buildSources()
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitMistake
	}
	defer closeSources(list)
	for key, patterns := range c.patterns() {
		p.remarkPatterns(key, patterns)
	}
	well := true
	for _, s := range list {
		well = p.checkSource(ctx, s) && well
	}
	recipients := c.recipients()
	for i, n := range c.Notify {
		well = p.checkNotifier(ctx, n, recipients[i], *send) && well
	}
	if well = p.checkHeartbeat(ctx, c.Heartbeat) && well; !well {
		return exitFailed
	}
	fmt.Fprintln(p.stdout, "All well.")
	return exitOK
}

func (p program) checkSource(ctx context.Context, s source) (well bool) {
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	well = true
	for _, one := range s.Check(ctx) {
		fmt.Fprintf(p.stdout, "source %s: %s\n", s.Name(), told(one))
		well = well && one.Outcome != sources.Denied && one.Outcome != sources.Unreachable
	}
	return well
}

// told is what was tried, in one line.
func told(one sources.Checked) string {
	line := string(one.Outcome) + ": " + one.What
	if one.Right != "" {
		line += " (" + one.Right + ")"
	}
	if one.Detail != "" {
		line += ": " + one.Detail
	}
	return line
}

func (p program) remarkPatterns(key string, patterns []string) {
	for _, one := range patterns {
		if sources.LooksLikeRegexp(one) {
			fmt.Fprintf(p.stdout, "remark: %s: %q looks like a regular expression; patterns are globs over the whole name\n", key, one)
		}
	}
}

// checkAddress tells whether an address accepts connections.
func (p program) checkAddress(ctx context.Context, what string, read func() (string, error)) bool {
	address, err := read()
	if err == nil {
		err = accepts(ctx, address)
	}
	if err != nil {
		fmt.Fprintf(p.stdout, "%s: unreachable: %v\n", what, err)
		return false
	}
	fmt.Fprintf(p.stdout, "%s: its address accepts connections\n", what)
	return true
}

func (p program) checkHeartbeat(ctx context.Context, h *heartbeatConfig) bool {
	if h == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	return p.checkAddress(ctx, "heartbeat", h.URL.read)
}

func (p program) checkNotifier(ctx context.Context, n notifierConfig, to alerts.Recipient, send bool) bool {
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	if well := p.checkAddress(ctx, "notifier "+n.Name, n.address); !well || !send {
		return well
	}
	if err := alerts.SendTest(ctx, to); err != nil {
		fmt.Fprintf(p.stdout, "notifier %s: not accepted: %v\n", n.Name, err)
		return false
	}
	fmt.Fprintf(p.stdout, "notifier %s: a test page was accepted, and its resolve\n", n.Name)
	return true
}
