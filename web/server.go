// Package web is the dashboard's outer face: the routes, the pages, the JSON
// beside them, server-sent events and metrics. It asks the store and the board
// of the lag loop; no page waits for a broker, but for the making of a plan.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// Budgets of a request. Plans ask brokers, and may be of a million letters;
// everything else reads the store.
const (
	budget         = 30 * time.Second
	planBudget     = 10 * time.Minute
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = time.Minute
	idleTimeout    = 2 * time.Minute
	shutdownBudget = 8 * time.Second
	mostHeader     = 64 << 10 // bytes
)

// Config is what a Server is made of. The readers from Board to Desk must be
// there; everything else has a default.
type Config struct {
	BaseURL  string         // as people reach it, with the path it is served under; "" when only loopback names are used
	TimeZone *time.Location // in which times are written where no script runs; nil: UTC
	Version  string
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default()

	Board     Board
	Letters   Letters
	Causes    Causes
	Queues    Queues
	Incidents Incidents
	Deeds     Deeds // nil: a report does not tell who did what
	Redrives  Redrives
	Plans     Plans
	Lives     Lives // nil: nobody keeps them
	Desk      Desk
	Control   Control
	Settler   Settler
	Clerk     Clerk
	Discards  Discards
	Audit     Audit
	Responder Responder
	Silences  Silences
	Tester    Tester
	Outbox    Outbox
	Inbox     Inbox // nil: no pager tells anything
	History   History
	Skipper   Skipper
	Skips     Skips
	Collector Collector // nil: only the board says when a source was read
	Keys      Keys      // nil: an Idempotency-Key is remembered as long as the program runs

	Notifiers []Notifier              // as configured, in that order
	Sources   []Source                // as configured, in that order
	Rules     map[string]review.Rules // of redrives, by source
	Events    *Events                 // nil: one that nobody publishes to
	Checks    []Check                 // of /readyz
	Mounts    []Mount                 // served beside the routes of this package
	Demo      bool                    // the demo runs: its page is in the navigation
}

// Source is a configured source.
type Source struct {
	Name  string
	Kind  string        // "Kafka, 3 brokers", "SQS, ap-south-1"
	Every time.Duration // how often it is read; 0: not said
	Note  string        // to know about reading it; "" for nothing
	Links sources.Links // to what knows more of one of its records
}

// Notifier is a configured notifier.
type Notifier struct {
	Name  string
	Kind  string        // "PagerDuty", "webhook", "Slack"
	After time.Duration // it is a second channel, told so much later; 0: told at once
	Hears bool          // what is done there is shown here
}

// Check is one part of the program that must be well for it to be ready.
type Check struct {
	Name string
	// Well is nil, or says what is wrong. It must not wait.
	Well func(ctx context.Context) error
}

// Mount is a part of the site that another package serves: everything under
// its path, with the base path taken off, behind the same gate and headers.
type Mount struct {
	Path    string // "/demo"
	Handler http.Handler
}

// Server is the dashboard's HTTP server.
type Server struct {
	Config
	openAPI  []byte
	base     string // path that everything is served under; "" for none
	gate     gate
	metrics  *prometheus.Registry
	notified *prometheus.CounterVec
	running  inFlight // requests with an Idempotency-Key
	handler  http.Handler
}

// New makes a server. A base URL that cannot be one is an error.
func New(config Config) (*Server, error) {
	base, err := url.Parse(config.BaseURL)
	if err != nil || config.BaseURL != "" && (base.Scheme != "http" && base.Scheme != "https" || base.Host == "") {
		return nil, fmt.Errorf("base_url %q is no address of http or https", config.BaseURL)
	}
	s := &Server{Config: config, base: strings.TrimRight(base.EscapedPath(), "/")}
	if s.gate, err = newGate(base); err != nil {
		return nil, fmt.Errorf("base_url %q: %w", config.BaseURL, err)
	}
	s.setDefaults()
	s.openAPI = openAPIFor(s.base)
	s.buildMetrics()
	s.handler = underBase(s.base, s.router())
	return s, nil
}

func (s *Server) setDefaults() {
	if s.TimeZone == nil {
		s.TimeZone = time.UTC
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	if s.Events == nil {
		s.Events = NewEvents()
	}
	if s.Keys == nil {
		s.Keys = newMemoryKeys()
	}
}

// router builds the routes of the table, and what other packages mounted.
func (s *Server) router() http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // echo's own log says nothing that ours does not
	e.Pre(s.guard)
	for _, r := range routes {
		handler := s.bind(r)
		e.Add(r.method, r.path, handler)
		if r.method == http.MethodGet {
			e.Add(http.MethodHead, r.path, handler)
		}
	}
	for _, m := range s.Mounts {
		e.Any(m.Path, echo.WrapHandler(m.Handler))
		e.Any(m.Path+"/*", echo.WrapHandler(m.Handler))
	}
	return e
}

// bind makes a handler of a route: with the limit on bodies, and with a time
// budget, unless its answer goes on for as long as somebody listens.
func (s *Server) bind(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r.long {
			return r.handle(s, c)
		}
		whole := c.Request()
		whole.Body = http.MaxBytesReader(c.Response(), whole.Body, r.mostBody())
		ctx, cancel := context.WithTimeout(whole.Context(), r.budget())
		defer cancel()
		if r.plans {
			if err := s.takeTime(c); err != nil {
				return err
			}
		}
		c.SetRequest(whole.WithContext(ctx))
		defer c.SetRequest(whole) // an error is told after the budget is spent
		return r.handle(s, c)
	}
}

// takeTime lets an answer take as long as a plan may, once the body was read:
// the time-outs of the connection are for requests that take a moment, and that
// for reading would end this one while it is worked on.
func (s *Server) takeTime(c echo.Context) error {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	c.Request().Body = io.NopCloser(bytes.NewReader(body))
	control, until := http.NewResponseController(c.Response()), time.Now().Add(planBudget+writeTimeout)
	err = errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until))
	if errors.Is(err, http.ErrNotSupported) { // a test's recorder
		return nil
	}
	return err
}

// guard stands before every route: headers, the gate, and a panic that ends one
// request and not the program.
func (s *Server) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		setHeaders(c.Response().Header())
		err := s.gate.check(c.Request())
		if err == nil {
			err = safely(next, c)
		}
		if err != nil {
			s.fail(err, c)
		}
		s.Log.Debug("http", "method", c.Request().Method, "route", c.Path(), "status", c.Response().Status, "took", time.Since(began))
		return nil
	}
}

// safely runs a handler, and makes an error of a panic.
func safely(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return next(c)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve serves a listener until the context ends, and then lets requests in
// flight finish for up to eight seconds.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    mostHeader,
		ErrorLog:          log.New(debugLines{s.Log}, "", 0),
	}
	server.RegisterOnShutdown(s.Events.Close)
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- shutdown(server) })
	err := server.Serve(listener)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return <-stopped
}

// shutdown ends a server; what does not end in time is cut off.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownBudget)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("stop serving: %w", err), server.Close())
	}
	return nil
}

// debugLines passes what net/http complains of, such as a broken handshake, to
// the log at debug.
type debugLines struct{ log *slog.Logger }

func (d debugLines) Write(line []byte) (int, error) {
	d.log.Debug("http", "said", strings.TrimSpace(string(line)))
	return len(line), nil
}
