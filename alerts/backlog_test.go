package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// queueNight plays readings of a queue each half minute, with a restart of ours
// before each, and gives the incidents that opened and resolved.
func queueNight(t *testing.T, until int, at func(t int) sources.Backlog) (opened, resolved []*Incident) {
	t.Helper()
	var w QueueWatch
	for second := 0; second <= until; second += 30 {
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		w = QueueWatch{}
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		b := at(second)
		b.Queue = "orders"
		switch in := w.Next("aws", b, Rules{}.For("aws", "orders", "orders"), time.Unix(int64(second), 0)); {
		case in == nil:
		case in.ResolvedAt.IsZero():
			opened = append(opened, in)
		default:
			resolved = append(resolved, in)
		}
	}
	return opened, resolved
}

// busyQueue has about 500 messages, of which some are done and some come.
func busyQueue(t int) sources.Backlog {
	return sources.Backlog{Visible: 500 + int64(t/30%7) - int64(t/30%3), InFlight: 5, Visibility: 30 * time.Second}
}

// TestC46AQueueIsBusyStalledOrInProgress: what counts is not how many wait.
func TestC46AQueueIsBusyStalledOrInProgress(t *testing.T) {
	for name, c := range map[string]struct {
		at       func(t int) sources.Backlog
		verdict  Verdict // "": nothing opens
		from, to int     // when it opens
	}{
		"busy": {at: busyQueue},
		"stalled, nobody takes any": {func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{Visible: 500, Visibility: 30 * time.Second}
		}, Stopped, 600 + 240, 600 + 330},
		"stalled, taken and given back for ever": {func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{Visible: 500 - int64(t/30%4), InFlight: int64(t / 30 % 4), Visibility: 30 * time.Second}
		}, GroupStall, 600 + 240, 600 + 330},
		"a blocked message group": {func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{Visible: 499, InFlight: 1, Visibility: 30 * time.Second, FIFO: true}
		}, HeadOfLineStall, 600 + 240, 600 + 330},
		"in progress until the visibility timeout has passed twice": {func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{InFlight: 20, Visibility: 10 * time.Minute}
		}, GroupStall, 600 + 1200, 600 + 1290},
		"it grows while it is worked on: nobody can see what is done": {at: func(t int) sources.Backlog {
			return sources.Backlog{Visible: 500 + int64(t), InFlight: 10, Visibility: 30 * time.Second}
		}},
		"it grows and nobody takes any": {func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{Visible: 500 + int64(t), Visibility: 30 * time.Second}
		}, Stopped, 600 + 240, 600 + 330},
		"it is empty": {at: func(int) sources.Backlog { return sources.Backlog{} }},
		"it cannot be read": {at: func(t int) sources.Backlog {
			if t < 600 {
				return busyQueue(t)
			}
			return sources.Backlog{Err: errors.New("AccessDenied")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			opened, resolved := queueNight(t, 3600, c.at)
			if c.verdict == "" {
				if len(opened) != 0 {
					t.Errorf("opened: %s", opened[0].Reason)
				}
				return
			}
			if len(opened) != 1 || len(resolved) != 0 {
				t.Fatalf("opened %d, resolved %d", len(opened), len(resolved))
			}
			in := opened[0]
			if at := int(in.OpenedAt.Unix()); in.Verdict != c.verdict || at < c.from || at > c.to || in.Queue != "orders" || !in.Pages {
				t.Errorf("%s at %d: %+v", in.Verdict, at, in)
			}
			if !strings.Contains(in.Reason, "by our own observation") {
				t.Errorf("it does not say whose word it is: %s", in.Reason)
			}
		})
	}
}

// TestAQueueThatIsWorkedOnAgainResolves, once, when that has held.
func TestAQueueThatIsWorkedOnAgainResolves(t *testing.T) {
	opened, resolved := queueNight(t, 3*hour, func(t int) sources.Backlog {
		if t >= 600 && t < hour {
			return sources.Backlog{Visible: 500, Visibility: 30 * time.Second}
		}
		return busyQueue(t)
	})
	if len(opened) != 1 || len(resolved) != 1 || resolved[0].ID != opened[0].ID {
		t.Fatalf("opened %d, resolved %d", len(opened), len(resolved))
	}
	if at := resolved[0].ResolvedAt.Unix(); at < hour+240 || at > hour+600 {
		t.Errorf("resolved at %d", at)
	}
}

// TestAQueueThatNobodyEverWorkedOnIsAlreadySo: it is listed, and not paged.
func TestAQueueThatNobodyEverWorkedOnIsAlreadySo(t *testing.T) {
	opened, _ := queueNight(t, hour, func(int) sources.Backlog { return sources.Backlog{Visible: 7} })
	if len(opened) != 1 || !opened[0].AlreadySo || opened[0].Pages {
		t.Errorf("opened: %+v", opened)
	}
}

// counts are the queues of a source at one moment.
type counts []sources.Backlog

func (c *counts) Backlogs(context.Context) ([]sources.Backlog, error) { return *c, nil }

// TestOnlyQueuesThatARuleNamesAreWatched, each with one page and one resolve,
// through restarts and a store that fails.
func TestOnlyQueuesThatARuleNamesAreWatched(t *testing.T) {
	m, now, c := newMemory(), time.Unix(0, 0), &counts{}
	rules := Rules{List: []Rule{{Topic: "quiet"}, {Source: "aws", Topic: "ord*", Notify: []string{"oncall"}}}}
	for second := 0; second < 7200; second += 30 {
		b := busyQueue(second)
		if second >= 600 && second < hour {
			b.InFlight, b.Visible = 0, 500
		}
		orders, quiet := b, b
		orders.Queue, quiet.Queue = "orders", "quiet"
		*c = counts{orders, quiet}
		m.fail = map[bool]error{true: errFull}[second == 840 || second == 870]
		w := &QueueWatcher{Source: "aws", Reader: c, Rules: rules, Store: m, To: []Recipient{{Name: "oncall"}}, Log: slog.New(slog.DiscardHandler), Clock: func() time.Time { return now }, Changed: func(...string) {}}
		now = time.Unix(int64(second), 0)
		if err := w.Look(t.Context()); (err != nil) != (m.fail != nil) {
			t.Fatal(err)
		}
	}
	if all := m.all(); len(all) != 1 || all[0].Queue != "orders" || all[0].ResolvedAt.IsZero() || len(m.rows) != 2 {
		t.Errorf("%d incidents, %d events", len(all), len(m.rows))
	}
}
