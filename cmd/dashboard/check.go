package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/alerts/pagerduty"
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
	if !well {
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

func (p program) checkNotifier(ctx context.Context, n notifierConfig, to alerts.Recipient, send bool) bool {
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	if err := accepts(ctx, n.address()); err != nil {
		fmt.Fprintf(p.stdout, "notifier %s: unreachable: %v\n", n.Name, err)
		return false
	}
	fmt.Fprintf(p.stdout, "notifier %s: its address accepts connections\n", n.Name)
	if !send {
		return true
	}
	if err := alerts.SendTest(ctx, to); err != nil {
		fmt.Fprintf(p.stdout, "notifier %s: not accepted: %v\n", n.Name, err)
		return false
	}
	fmt.Fprintf(p.stdout, "notifier %s: a test page was accepted, and its resolve\n", n.Name)
	return true
}

func (n notifierConfig) address() string {
	switch {
	case n.Webhook != nil:
		return n.Webhook.URL
	case n.PagerDuty.URL != "":
		return n.PagerDuty.URL
	}
	return pagerduty.US
}

// accepts tells whether the host of an address accepts a connection. The rest
// of the address may be a secret, and is not told.
func accepts(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("its address cannot be read")
	}
	host := hostOf(u.Scheme, u.Host)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return fmt.Errorf("%s does not accept a connection: %w", host, err)
	}
	return conn.Close()
}
