package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/heartbeat"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/store"
	"github.com/unwedge/unwedge/web"
)

func (p program) serve(ctx context.Context, args []string) int {
	f := p.flags("serve")
	path := f.String("config", "", "the configuration file")
	listen := f.String("listen", "", "address, in place of the file's")
	format := f.String("log-format", "text", "text or json")
	if err := f.parse(args); err != nil {
		return codeOf(err)
	}
	log, err := p.logger(*format)
	if err != nil {
		return exitMistake
	}
	c, code := p.readConfig(*path, *listen)
	if code != exitOK {
		return code
	}
	if err := p.dashboard(ctx, &c, log, scenery{}); err != nil {
		log.Error("the dashboard ended", "err", err)
		return exitFailed
	}
	return exitOK
}

// readConfig reads the file that --config names and tells all mistakes.
func (p program) readConfig(path, listen string) (config, int) {
	if path == "" {
		fmt.Fprintln(p.stderr, "--config FILE is needed; see docs/configuration.md")
		return config{}, exitMistake
	}
	c, wrong := loadConfig(path, p.getenv)
	if listen != "" {
		c.Listen = listen
		if err := loopback(listen); err != nil {
			wrong.add("--listen", 0, "%w", err)
		}
	}
	if len(wrong) > 0 {
		p.tellMistakes(path, wrong)
		return c, exitMistake
	}
	return c, exitOK
}

func (p program) tellMistakes(path string, wrong mistakes) {
	for _, err := range wrong {
		fmt.Fprintf(p.stderr, "%s: %v\n", path, err)
	}
}

// scenery is what the demo adds to the dashboard.
type scenery struct {
	demo    bool
	mounts  func(server func() *web.Server) []web.Mount
	started func(address string)
}

// dashboard runs everything until ctx ends, and stops in reverse order.
func (p program) dashboard(ctx context.Context, c *config, log *slog.Logger, more scenery) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; --listen takes another address", c.Listen, err)
	}
	defer func() { err = errors.Join(err, ignoreClosed(listener.Close())) }()
	db, err := store.Open(ctx, c.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.SetReview(ctx, c.weekly()); err != nil {
		return err
	}
	list, err := c.buildSources()
	if err != nil {
		return err
	}
	defer closeSources(list)
	c.remark(log)
	c.remarkOrphans(ctx, db, log)
	go remarkSources(ctx, list, log)
	h, err := c.furnish(db, list, log, more)
	if err != nil {
		return err
	}
	if more.started != nil {
		more.started("http://" + listener.Addr().String())
	}
	log.Info("the dashboard is open", "address", "http://"+listener.Addr().String(), "version", version())
	return h.run(ctx, listener)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// house is the running program: its loops and its face.
type house struct {
	server    *web.Server
	watcher   *alerts.Watcher
	recorder  *alerts.Recorder
	bursts    *alerts.BurstWatcher
	queues    []*alerts.QueueWatcher
	collector *review.Collector
	worker    *review.Worker
	follower  *review.Follower
	remover   *review.Remover
	watchman  *skips.Watchman
	senders   []*alerts.Sender
	heart     *heartbeat.Heart // nil: nobody outside waits for it
}

// furnish puts the loops and the pages together.
func (c *config) furnish(db *store.Store, list []source, log *slog.Logger, more scenery) (*house, error) {
	h := &house{}
	events := web.NewEvents()
	to := c.recipients()

	h.watcher = alerts.NewWatcher(watched(list), c.rules(), db, to, log)
	h.watcher.Changed = events.Publish
	h.recorder = &alerts.Recorder{Store: db, Keep: time.Duration(c.History), Every: time.Duration(c.Alerts.PollEvery), Log: log}
	h.watcher.History = h.recorder
	h.watcher.Wake = func() {
		for _, s := range h.senders {
			s.Wake()
		}
	}
	told := func(ids ...string) {
		events.Publish("incident", ids...)
		h.watcher.Wake()
	}
	h.bursts = alerts.NewBurstWatcher(c.bursts(), db, to, log)
	h.bursts.Changed = told
	h.queues = c.queueWatchers(list, db, to, log, told)
	h.collector = &review.Collector{
		Feeds: feeds(list), Keeper: db, Fingerprint: review.Fingerprint, Log: log,
		Changed: func(ids []string) {
			events.Publish("letters", ids...)
			h.bursts.Wake()
		},
		Redriven: func(ids []string) {
			events.Publish("redrive", ids...)
			for _, id := range ids { // too many may have come back
				h.worker.Wake(id)
			}
		},
	}
	h.worker = review.NewWorker(review.Books{Ledger: db, Journal: db, Course: db, Fates: db, Shifts: db}, senders(list), log)
	h.worker.Readers, h.worker.Returns = readers(list), db
	h.worker.Changed = func(id string) { events.Publish("redrive", id) }
	h.follower = &review.Follower{Tracks: db, Passed: passers(list), Log: log, Changed: func(f review.Followed) {
		if len(f.Letters) > 0 {
			events.Publish("letters", f.Letters...)
		}
		events.Publish("redrive", f.Redrives...)
		for _, id := range f.Redrives { // it may wait for its canaries, or be paused
			h.worker.Wake(id)
		}
	}}

	h.watchman = skips.NewWatchman(skippable(list), db, c.rules().For("", "", "").StallAfter, log)
	h.watchman.Workers, h.watchman.Shelter = c.workers(), shelter{db}
	h.watchman.Alarm = &comeback{alerts.Comeback{Store: db, Rules: c.rules(), To: to, Wake: h.watcher.Wake}}
	h.watchman.Changed = func(id string) { events.Publish("incident", id) }

	h.remover = &review.Remover{Removals: db, Takers: takers(list), Log: log}

	if err := c.face(h, db, list, to, log, events, more); err != nil {
		return nil, err
	}
	wording := alerts.Wording{BaseURL: c.BaseURL, Zone: c.zone(), Waiting: h.watcher.Waiting, Links: c.links()}
	for _, one := range to {
		s := alerts.NewSender(one, db, wording, log)
		s.Counted, s.Changed, s.Mutes = h.server.CountNotification, events.Publish, db
		s.RepeatAfter = time.Duration(c.Alerts.RepeatAfter)
		h.senders = append(h.senders, s)
	}
	h.heart = c.heart(h.checks(db), log)
	return h, nil
}

// face makes the pages and the API.
func (c *config) face(h *house, db *store.Store, list []source, to []alerts.Recipient, log *slog.Logger, events *web.Events, more scenery) (err error) {
	faces, rules := c.faces(list)
	desk := &review.Desk{Letters: db, Plans: db, Starter: db, Takers: db, Stalls: db, Outlets: outlets(list), Now: time.Now, Started: h.worker.Wake}
	control := &review.Control{Orders: db, Decider: db, Ordered: func(id string) {
		h.worker.Wake(id)
		events.Publish("redrive", id)
	}}
	clerk := &review.Clerk{Bin: db, Now: time.Now, Changed: func() { events.Publish("letters") }}
	responder := &alerts.Responder{Attention: db, Ear: db, Now: time.Now, Changed: func(ids ...string) {
		events.Publish("incident", ids...)
		h.watcher.Wake()
	}}
	skipper := &skips.Desk{Sources: skippable(list), Book: db, History: db, Workers: c.workers(), Shelter: shelter{db}, Now: time.Now, Changed: func(id string) {
		events.Publish("incident", id)
		h.watchman.Wake()
	}}
	w := web.Config{
		BaseURL: c.BaseURL, TimeZone: c.zone(), Version: version(), Log: log,
		Board: h.watcher, Letters: db, Causes: db, Queues: db, Incidents: db, Deeds: db, Redrives: db, Plans: db, Lives: db, Desk: desk, Control: control, Settler: control,
		Clerk: clerk, Discards: db, Audit: db, Responder: responder, Silences: db, Outbox: db, Notifiers: c.notifiers(),
		Tester: &alerts.Tester{To: to, Book: db, Now: time.Now}, Inbox: c.inbox(responder.Hear), History: h.recorder, Skipper: skipper, Skips: db,
		Collector: h.collector, Keys: keys{db}, Sources: faces, Rules: rules, Events: events, Checks: h.checks(db), Demo: more.demo,
	}
	if more.mounts != nil {
		w.Mounts = more.mounts(func() *web.Server { return h.server })
	}
	h.server, err = web.New(w)
	return err
}

// checks are the parts that must be well for the program to be ready.
func (h *house) checks(db *store.Store) []web.Check {
	return []web.Check{
		{Name: "the store", Well: db.Writable},
		{Name: "the lag loop", Well: func(context.Context) error { return h.watcher.Ready(time.Now()) }},
		{Name: "the collect loop", Well: func(context.Context) error { return h.collector.Ready(time.Now()) }},
		{Name: "the pages", Well: func(ctx context.Context) error {
			var err error
			for _, s := range h.senders {
				err = errors.Join(err, s.Ready(ctx, time.Now()))
			}
			return err
		}},
	}
}

// run runs every part until ctx ends or one of them fails.
func (h *house) run(ctx context.Context, listener net.Listener) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error {
		defer func() { h.recorder.Flush(context.WithoutCancel(ctx), time.Now()) }()
		return h.watcher.Run(ctx)
	})
	all.Go(func() error { return h.bursts.Run(ctx) })
	for _, q := range h.queues {
		all.Go(func() error { return q.Run(ctx) })
	}
	all.Go(func() error { return h.collector.Run(ctx) })
	all.Go(func() error { return h.worker.Run(ctx) })
	all.Go(func() error { return h.follower.Run(ctx) })
	all.Go(func() error { return h.remover.Run(ctx) })
	all.Go(func() error { return h.watchman.Run(ctx) })
	for _, s := range h.senders {
		all.Go(func() error { return s.Run(ctx) })
	}
	if h.heart != nil {
		all.Go(func() error { return h.heart.Run(ctx) })
	}
	all.Go(func() error { return h.server.Serve(ctx, listener) })
	if err := all.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
