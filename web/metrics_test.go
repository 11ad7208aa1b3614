package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

func TestMetrics(t *testing.T) {
	w := story()
	w.desk.waiting = []alerts.Backlog{{Notifier: "oncall", Events: 2, Oldest: thursday}}
	s := w.server(t)
	s.CountNotification("oncall", alerts.Trigger, "accepted")
	body := get(s, "/metrics").Body.String()
	const line = `group="payment-retry-consumer-group",partition="3",source="payments",topic="payment.retry.requests"`
	for _, want := range []string{
		"unwedge_partition_lag{" + line + "} 12412\n",
		"unwedge_partition_verdict{" + line + `,verdict="head_of_line_stall"} 1` + "\n",
		`unwedge_dead_letters{queue="orders.dlq",source="payments",status="open"} 37` + "\n",
		`unwedge_incidents_open{verdict="head_of_line_stall"} 1` + "\n",
		`unwedge_incidents_open{verdict="group_stall"} 0` + "\n",
		`unwedge_notifications_total{event="trigger",notifier="oncall",outcome="accepted"} 1` + "\n",
		`unwedge_source_read_timestamp_seconds{source="payments"} 1.788988746e+09` + "\n",
		`unwedge_notifications_waiting{notifier="oncall"} 2` + "\n",
		`unwedge_notifications_waiting{notifier="second"} 0` + "\n",
		`unwedge_notifications_oldest_timestamp_seconds{notifier="oncall"} 1.788988752e+09` + "\n",
		`unwedge_build_info{version="test"} 1` + "\n",
		"go_goroutines ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestMetricsLeaveOutWhatIsNotKnown: an alert on lag must not see a zero.
func TestMetricsLeaveOutWhatIsNotKnown(t *testing.T) {
	body := get(story().server(t), "/metrics").Body.String()
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "unwedge_partition_lag{") && strings.Contains(line, `group="a/b%"`) {
			t.Errorf("a lag that is not known: %s", line)
		}
	}
	if !strings.Contains(body, `unwedge_partition_verdict{group="a/b%",partition="0",source="payments",topic="secret",verdict="unknown"} 1`) {
		t.Error("its verdict is left out")
	}
}

func TestMetricsGoOnWithoutTheStore(t *testing.T) {
	w := story()
	w.broken = errors.New("disk full")
	a := get(w.server(t), "/metrics")
	if a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "unwedge_partition_lag{") || strings.Contains(a.Body.String(), "unwedge_dead_letters{") {
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
}

func TestMetricsTakeAnyName(t *testing.T) {
	w := story()
	w.board.Groups[0].Lines[3].Partition = sources.Partition{Source: "payments", Group: "\xff\"}\nx 1\n", Topic: "t", Number: 3}
	if a := get(w.server(t), "/metrics"); a.Code != http.StatusOK || strings.Contains(a.Body.String(), "\nx 1\n") {
		t.Errorf("%d", a.Code)
	}
}

func TestReadyNamesThePartThatIsNot(t *testing.T) {
	c := story().config()
	c.Checks = []Check{
		{"store", func(context.Context) error { return nil }},
		{"lag of payments", func(context.Context) error { return errors.New("last read 5 min ago") }},
	}
	s := newServer(t, c)
	o := object(t, get(s, "/readyz"), http.StatusServiceUnavailable)
	if at(t, o, "failed", "lag of payments") != "last read 5 min ago" || len(at(t, o, "failed").(map[string]any)) != 1 {
		t.Errorf("%v", o)
	}
	object(t, get(s, "/healthz"), http.StatusOK)
	c.Checks = nil
	object(t, get(newServer(t, c), "/readyz"), http.StatusOK)
}
