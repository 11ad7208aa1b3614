package web

import (
	"context"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/unwedge/unwedge/alerts"
)

// scrapeBudget is how long the store may take to count for a scrape.
const scrapeBudget = 5 * time.Second

var (
	lagDesc     = prometheus.NewDesc("unwedge_partition_lag", "Readable records between the position and the stable end. Left out while it is not known.", []string{"source", "group", "topic", "partition"}, nil)
	verdictDesc = prometheus.NewDesc("unwedge_partition_verdict", "1 for the verdict that each partition has.", []string{"source", "group", "topic", "partition", "verdict"}, nil)
	lettersDesc = prometheus.NewDesc("unwedge_dead_letters", "Dead letters in the store, by status.", []string{"source", "queue", "status"}, nil)
	openDesc    = prometheus.NewDesc("unwedge_incidents_open", "Open incidents, by verdict.", []string{"verdict"}, nil)
	waitDesc    = prometheus.NewDesc("unwedge_notifications_waiting", "Events that a notifier has not been told yet; what is held back on purpose is not among them.", []string{"notifier"}, nil)
	oldestDesc  = prometheus.NewDesc("unwedge_notifications_oldest_timestamp_seconds", "When the oldest of those was written. Left out while none waits.", []string{"notifier"}, nil)
	readDesc    = prometheus.NewDesc("unwedge_source_read_timestamp_seconds", "When a source was last read with success. Left out while it never was.", []string{"source"}, nil)
)

// figures collects what the board and the store say at the moment of a scrape:
// nothing is counted twice, and what is gone is gone at once.
type figures struct {
	board     Board
	readings  func(alerts.Board) []alerts.SourceRead
	queues    Queues
	incidents Incidents
	waiting   func(context.Context) ([]alerts.Backlog, error)
	notifiers []Notifier
	log       *slog.Logger
}

// Describe names the metrics.
func (f figures) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lagDesc, verdictDesc, lettersDesc, openDesc, waitDesc, oldestDesc, readDesc} {
		out <- d
	}
}

// Collect reads them. What the store cannot say is left out, never 0.
func (f figures) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeBudget)
	defer cancel()
	board := f.board.Board()
	for _, r := range f.readings(board) {
		if !r.ReadAt.IsZero() {
			out <- gauge(readDesc, float64(r.ReadAt.UnixMilli())/1000, r.Source)
		}
	}
	for _, g := range board.Groups {
		for _, l := range g.Lines {
			collectLine(out, l)
		}
	}
	if err := f.letters(ctx, out); err != nil {
		f.log.Warn("letters could not be counted for /metrics", "err", err)
	}
	if err := f.open(ctx, out); err != nil {
		f.log.Warn("incidents could not be counted for /metrics", "err", err)
	}
	if err := f.undelivered(ctx, out); err != nil {
		f.log.Warn("events that wait could not be counted for /metrics", "err", err)
	}
}

// undelivered counts what notifiers have not been told yet, of those who have been
// told everything the zeros.
func (f figures) undelivered(ctx context.Context, out chan<- prometheus.Metric) error {
	list, err := f.waiting(ctx)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, n := range f.notifiers {
		counts[n.Name] = 0
	}
	for _, b := range list {
		counts[b.Notifier] = b.Events
		out <- gauge(oldestDesc, float64(b.Oldest.UnixMilli())/1000, b.Notifier)
	}
	for name, n := range counts {
		out <- gauge(waitDesc, float64(n), name)
	}
	return nil
}

func collectLine(out chan<- prometheus.Metric, l alerts.LineView) {
	partition := strconv.Itoa(int(l.Number))
	if l.Lag >= 0 {
		out <- gauge(lagDesc, float64(l.Lag), l.Source, l.Group, l.Topic, partition)
	}
	out <- gauge(verdictDesc, 1, l.Source, l.Group, l.Topic, partition, string(l.Verdict))
}

func (f figures) letters(ctx context.Context, out chan<- prometheus.Metric) error {
	counts, err := f.queues.LetterCounts(ctx)
	if err != nil {
		return err
	}
	for _, n := range counts {
		out <- gauge(lettersDesc, float64(n.Count), n.Source, n.Queue, string(n.Status))
	}
	return nil
}

// open counts by verdict; of verdicts that may open an incident also the zeros,
// so that an alert on them sees an end.
func (f figures) open(ctx context.Context, out chan<- prometheus.Metric) error {
	counts := map[alerts.Verdict]int{alerts.HeadOfLineStall: 0, alerts.GroupStall: 0, alerts.Stopped: 0, alerts.Unassigned: 0, alerts.DataLoss: 0, alerts.OpenTransaction: 0, alerts.DeadLetterBurst: 0, alerts.Unknown: 0}
	open, err := f.incidents.OpenIncidents(ctx)
	if err != nil {
		return err
	}
	maps.Copy(counts, open)
	for verdict, n := range counts {
		out <- gauge(openDesc, float64(n), string(verdict))
	}
	return nil
}

// gauge is one reading. Names from a broker may have any bytes: what is not
// UTF-8 would spoil the whole scrape.
func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	for i, l := range labels {
		labels[i] = validText(l)
	}
	m, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

func (s *Server) buildMetrics() {
	s.notified = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "unwedge_notifications_total",
		Help: "Attempts to tell a notifier of an incident, by how they ended: accepted, failed, gave_up.",
	}, []string{"notifier", "event", "outcome"})
	built := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "unwedge_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": s.Version},
	})
	built.Set(1)
	s.metrics = prometheus.NewRegistry()
	s.metrics.MustRegister(
		figures{s.Board, s.readings, s.Queues, s.Incidents, s.undelivered, s.Notifiers, s.Log}, s.notified, built,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
}

// CountNotification counts one attempt to tell a notifier of an incident, for
// /metrics.
func (s *Server) CountNotification(notifier string, event alerts.EventKind, outcome string) {
	s.notified.WithLabelValues(validText(notifier), string(event), outcome).Inc()
}

func (s *Server) showMetrics(c echo.Context) error {
	promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).
		ServeHTTP(c.Response(), c.Request())
	return nil
}
