package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/unwedge/unwedge/demo"
	"github.com/unwedge/unwedge/views"
	"github.com/unwedge/unwedge/web"
)

// demo plays the story of the product with nothing installed.
func (p program) demo(ctx context.Context, args []string) int {
	f := p.flags("demo")
	listen := f.String("listen", "127.0.0.1:8080", "address of the dashboard")
	format := f.String("log-format", "text", "text or json")
	if err := f.parse(args); err != nil {
		return codeOf(err)
	}
	if err := loopback(*listen); err != nil {
		fmt.Fprintln(p.stderr, "--listen:", err)
		return exitMistake
	}
	if _, err := p.logger(*format); err != nil {
		return exitMistake
	}
	if err := p.playDemo(ctx, *listen, *format); err != nil {
		fmt.Fprintln(p.stderr, "demo:", err)
		return exitFailed
	}
	return exitOK
}

func (p program) playDemo(ctx context.Context, listen, format string) (err error) {
	dir, err := os.MkdirTemp("", "unwedge-demo-store-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	world, err := demo.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	c := demoConfig(world, listen, filepath.Join(dir, "unwedge.db"))
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if format == "json" {
		log = slog.New(slog.NewJSONHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	return p.dashboard(ctx, &c, log, scenery{
		demo:    true,
		mounts:  func(server func() *web.Server) []web.Mount { return []web.Mount{demoMount(world, server)} },
		started: func(address string) { tellDemo(p.stdout, address) },
	})
}

// tellDemo says where to look, and when something will happen.
func tellDemo(out io.Writer, address string) {
	fmt.Fprintf(out, `The demo is at %s

  %s/         what is so right now
  %s/review   the Monday queue: what was given up on, by cause
  %s/demo     the switches: deploy the fix, stop the workers, write a bad record

In about half a minute one bad record wedges a partition, and the pager rings.
Ctrl-C ends it and leaves nothing behind.
`, address, address, address, address)
}

func demoMount(world *demo.World, server func() *web.Server) web.Mount {
	frame := func(r *http.Request) views.Frame { return server().Frame(r.Context(), views.DemoSection, "Demo") }
	return web.Mount{Path: "/demo", Handler: world.Handler(frame)}
}

// demoConfig is the demo's world as a configuration. A visitor waits seconds
// where an owner would wait minutes.
func demoConfig(world *demo.World, listen, store string) config {
	c := defaults()
	c.Listen, c.BaseURL, c.Store = listen, "http://"+listen, store
	c.TimeZone = "Local"
	c.Alerts.PollEvery, c.Alerts.StallAfter = span(time.Second), span(demo.StallAfter)
	c.Sources = []sourceConfig{
		{Name: "payments", Kafka: &kafkaConfig{
			Brokers:   world.Brokers,
			Redrive:   []routeConfig{{From: "payment.events.dlq", To: "payment.events"}},
			Park:      []routeConfig{{From: "payment.retry.requests", To: "payment.events.dlq"}},
			Consumers: []consumerConfig{{Group: "payment-retry-*", Stop: callConfig{world.StopURL}, Start: callConfig{world.StartURL}, Secret: secret{value: world.CallSecret, set: true}}},
		}},
		{Name: "aws", SQS: &sqsConfig{Region: demo.Region, Endpoint: world.SQSEndpoint, ScanEvery: span(10 * time.Second)}},
	}
	c.Alerts.Rules = []ruleConfig{
		{Group: "nightly-*", Page: "false", Owner: "ledger"},
		{Group: "payment-*", Severity: "critical", Owner: "payments"},
	}
	c.Notify = []notifierConfig{{Name: "oncall", PagerDuty: &pagerDutyConfig{URL: world.PagerURL, RoutingKey: secret{value: demo.NewRoutingKey(), set: true}}}}
	return c
}
