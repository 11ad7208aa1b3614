package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// paged is an open incident in a store, with its page at two notifiers.
func paged(t *testing.T, id string) (*Store, alerts.Incident) {
	t.Helper()
	s := openAt(t, filepath.Join(t.TempDir(), "unwedge.db"))
	in := wedge(id)
	turn(t, s, alerts.Change{Incident: in, Tell: []string{"oncall", "hook"}})
	return s, in
}

func TestAnAcknowledgementIsToldToWhoWasPaged(t *testing.T) {
	s, _ := paged(t, "a")
	if _, err := s.Acknowledge(t.Context(), "a", "ops-1", night.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, "oncall", night.Add(time.Hour)); !slices.Equal(got, []string{"a trigger"}) {
		t.Errorf("before the page was taken, due is %v", got)
	}
	if err := s.Settle(t.Context(), alerts.Pending{Incident: "a", Notifier: "oncall", Event: alerts.Trigger, Step: alerts.FirstStep}, alerts.Result{At: night, Accepted: true}); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, "oncall", night.Add(time.Hour)); !slices.Equal(got, []string{"a acknowledge"}) {
		t.Errorf("then, due is %v", got)
	}
	in, err := s.Incident(t.Context(), "a")
	if err != nil || in.AcknowledgedBy != "ops-1" {
		t.Errorf("%+v, %v", in, err)
	}
	var state *alerts.StateError
	if _, err := s.Acknowledge(t.Context(), "a", "ops-2", night.Add(2*time.Minute)); !errors.As(err, &state) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := s.Acknowledge(t.Context(), "x", "ops-2", night); !errors.Is(err, alerts.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestASilencedPageWaitsAndIsNoBacklog(t *testing.T) {
	s, in := paged(t, "a")
	one := alerts.Silence{ID: "si_1", Source: "*", Group: in.Group, Topic: "*", From: night, Until: time.Now().Add(time.Hour), By: "ops-1", SetAt: night}
	if err := s.SetSilence(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	m, err := s.Muted(t.Context(), "a", night.Add(time.Minute))
	if err != nil || !m.Equal(one.Until.Truncate(time.Microsecond)) {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, notifier := range []string{"oncall", "hook"} {
		if err := s.Settle(t.Context(), alerts.Pending{Incident: "a", Notifier: notifier, Event: alerts.Trigger, Step: alerts.FirstStep}, alerts.Result{Held: true, NextAt: m, Silenced: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := due(t, s, "oncall", night.Add(2*time.Minute)); len(got) != 0 {
		t.Errorf("in the silence, due is %v", got)
	}
	if waiting, err := s.Undelivered(t.Context()); err != nil || len(waiting) != 0 {
		t.Errorf("a page that is held back counts as undelivered: %+v, %v", waiting, err)
	}
	if err := s.EndSilence(t.Context(), "si_1", "ops-2", night.Add(3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, "oncall", night.Add(3*time.Minute)); !slices.Equal(got, []string{"a trigger"}) {
		t.Errorf("after it, due is %v", got)
	}
	if err := s.EndSilence(t.Context(), "si_1", "ops-2", night.Add(4*time.Minute)); !errors.Is(err, alerts.ErrNoSilence) {
		t.Errorf("ended twice: %v", err)
	}
}

// Of what began and ended in a silence nobody hears, also not of the end.
func TestWhatEndsInASilenceIsToldToNobody(t *testing.T) {
	s, in := paged(t, "a")
	in.ResolvedAt, in.Resolution = night.Add(time.Minute), "it moved"
	turn(t, s, alerts.Change{Incident: in})
	if err := s.Settle(t.Context(), alerts.Pending{Incident: "a", Notifier: "oncall", Event: alerts.Trigger, Step: alerts.FirstStep}, alerts.Result{At: night, Muted: true}); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, "oncall", night.Add(time.Hour)); len(got) != 0 {
		t.Errorf("due is %v", got)
	}
	if got := due(t, s, "hook", night.Add(time.Hour)); !slices.Equal(got, []string{"a trigger"}) {
		t.Errorf("at another notifier due is %v", got)
	}
}

func TestSilencesAreListedNewestFirst(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "unwedge.db"))
	for i, id := range []string{"over", "b", "c"} {
		one := alerts.Silence{ID: id, Source: "*", Group: "*", Topic: "*", From: night, SetAt: night, Until: night.Add(time.Duration(i) * time.Hour)}
		if err := s.SetSilence(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	first, next, err := s.Silences(t.Context(), false, night, 1, "")
	if err != nil || len(first) != 1 || first[0].ID != "c" || next == "" {
		t.Fatalf("%+v %q %v", first, next, err)
	}
	if rest, next, err := s.Silences(t.Context(), false, night, 5, next); err != nil || len(rest) != 1 || rest[0].ID != "b" || next != "" {
		t.Errorf("%+v %q %v", rest, next, err)
	}
	if all, _, err := s.Silences(t.Context(), true, night, 5, ""); err != nil || len(all) != 3 {
		t.Errorf("%+v %v", all, err)
	}
}
