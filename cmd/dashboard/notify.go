package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/alerts/pagerduty"
	"github.com/unwedge/unwedge/alerts/slack"
	"github.com/unwedge/unwedge/alerts/webhook"
	"github.com/unwedge/unwedge/heartbeat"
	"github.com/unwedge/unwedge/web"
)

// recipients are the configured notifiers.
func (c *config) recipients() (list []alerts.Recipient) {
	var before []string
	for _, n := range c.Notify {
		to := n.recipient()
		to.Before = slices.Clone(before)
		list, before = append(list, to), append(before, n.Name)
	}
	return list
}

// recipient is a notifier with a client of its own: no other waits for its
// connections.
func (n notifierConfig) recipient() alerts.Recipient {
	to := alerts.Recipient{Name: n.Name, Warnings: true, Updates: true, After: time.Duration(n.After)}
	client := alerts.NewClient()
	switch {
	case n.PagerDuty != nil:
		to.Notifier = &pagerduty.Notifier{URL: n.PagerDuty.URL, Key: n.PagerDuty.RoutingKey.read, Client: client}
		to.Warnings, to.Updates = false, false
	case n.Slack != nil:
		to.Notifier = &slack.Notifier{URL: n.Slack.URL.read, Client: client}
	default:
		to.Notifier = &webhook.Notifier{URL: func() (string, error) { return n.Webhook.URL, nil }, Secret: n.Webhook.Secret.read, Client: client}
	}
	return to
}

// remarkOrphans says at start what waits for notifiers that are no longer
// configured: nobody is told of it any more.
func (c *config) remarkOrphans(ctx context.Context, outbox web.Outbox, log *slog.Logger) {
	waiting, err := outbox.Undelivered(ctx)
	if err != nil {
		log.Error("the outbox cannot be read", "err", err)
	}
	for _, b := range waiting {
		if !slices.ContainsFunc(c.Notify, func(n notifierConfig) bool { return n.Name == b.Notifier }) {
			log.Error("events wait for a notifier that is no longer configured: what it was paged of has to be resolved there by hand, or the notifier configured again",
				"notifier", b.Notifier, "events", b.Events, "oldest", b.Oldest)
		}
	}
}

// notifiers are the configured notifiers as the pages name them.
func (c *config) notifiers() (out []web.Notifier) {
	for _, n := range c.Notify {
		one := web.Notifier{Name: n.Name, Kind: "webhook", After: time.Duration(n.After)}
		switch {
		case n.PagerDuty != nil:
			one.Kind, one.Hears = "PagerDuty", n.PagerDuty.WebhookSecret.set
		case n.Slack != nil:
			one.Kind = "Slack"
		}
		out = append(out, one)
	}
	return out
}

// inbox takes what the pagers tell of our incidents.
func (c *config) inbox(hear func(context.Context, alerts.Elsewhere) error) *pagerduty.Inbox {
	in := &pagerduty.Inbox{Secrets: map[string]func() (string, error){}, Hear: hear}
	for _, n := range c.Notify {
		if n.PagerDuty != nil && n.PagerDuty.WebhookSecret.set {
			in.Secrets[n.Name] = n.PagerDuty.WebhookSecret.read
		}
	}
	return in
}

// heart is the dead man's switch; nil when none is configured. It beats while
// every check of /readyz is well.
func (c *config) heart(checks []web.Check, log *slog.Logger) *heartbeat.Heart {
	if c.Heartbeat == nil {
		return nil
	}
	return &heartbeat.Heart{
		URL: c.Heartbeat.URL.read, Every: time.Duration(c.Heartbeat.Every), Client: alerts.NewClient(), Log: log,
		Well: func(ctx context.Context) error {
			var all []error
			for _, one := range checks {
				if err := one.Well(ctx); err != nil {
					all = append(all, fmt.Errorf("%s: %w", one.Name, err))
				}
			}
			return errors.Join(all...)
		},
	}
}

// address is where a notifier sends to.
func (n notifierConfig) address() (string, error) {
	switch {
	case n.Webhook != nil:
		return n.Webhook.URL, nil
	case n.Slack != nil:
		return n.Slack.URL.read()
	}
	return cmp.Or(n.PagerDuty.URL, pagerduty.US), nil
}

// accepts tells whether the host of an address accepts a connection. The rest
// of the address may be a secret, and is not told.
func accepts(ctx context.Context, address string) error {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return errors.New("its address cannot be read")
	}
	host := hostOf(u.Scheme, u.Host)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return fmt.Errorf("%s does not accept a connection: %w", host, err)
	}
	return conn.Close()
}

// hostOf is the host and port of an address, for a look whether it accepts
// connections.
func hostOf(scheme, host string) string {
	if strings.Contains(host, ":") {
		return host
	}
	return host + map[string]string{"http": ":80", "https": ":443"}[scheme]
}
