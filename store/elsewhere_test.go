package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
)

// lane is what a notifier was told, or will be, of an incident, in its order.
func lane(t *testing.T, s *Store, notifier string) (out []string) {
	t.Helper()
	err := each(t.Context(), s.read, func(r *sql.Rows) error {
		var event, state string
		err := r.Scan(&event, &state)
		out = append(out, event+" "+state)
		return err
	}, `SELECT event, state FROM outbox WHERE notifier = ? ORDER BY step`, notifier)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// accept has a notifier take the first event that it has not taken.
func accept(t *testing.T, s *Store, notifier string, now time.Time) {
	t.Helper()
	list, _, err := s.Due(t.Context(), notifier, now, 1)
	if err != nil || len(list) != 1 {
		t.Fatalf("due at %s: %v, %v", notifier, list, err)
	}
	settle(t, s, list[0], alerts.Result{At: now, Accepted: true})
}

func hearing(t *testing.T, s *Store, what alerts.Turned, ref string, now time.Time) bool {
	t.Helper()
	changed, err := s.Hear(t.Context(), alerts.Elsewhere{Incident: "a", Notifier: "oncall", What: what, By: "anna in PagerDuty", Ref: ref}, now)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestWhoAcknowledgesInThePagerIsShownHereAndToldToTheOthers(t *testing.T) {
	s, _ := paged(t, "a")
	accept(t, s, "oncall", night)
	if !hearing(t, s, alerts.TurnedAcknowledged, "P1", night.Add(time.Minute)) || hearing(t, s, alerts.TurnedAcknowledged, "P1", night.Add(2*time.Minute)) {
		t.Error("it is heard once")
	}
	in, err := s.Incident(t.Context(), "a")
	if err != nil || in.AcknowledgedBy != "anna in PagerDuty" || !in.AcknowledgedAt.Equal(night.Add(time.Minute)) {
		t.Errorf("%+v, %v", in, err)
	}
	if got := lane(t, s, "hook"); !slices.Equal(got, []string{"trigger pending", "acknowledge pending"}) {
		t.Errorf("the others: %v", got)
	}
	if got := lane(t, s, "oncall"); !slices.Equal(got, []string{"trigger accepted"}) {
		t.Errorf("where it was said: %v", got)
	}
	hearing(t, s, alerts.TurnedUnacknowledged, "P1", night.Add(3*time.Minute))
	if in, _ = s.Incident(t.Context(), "a"); !in.AcknowledgedAt.IsZero() {
		t.Error("it was taken back, and stays")
	}
	audit, err := s.Audit(t.Context(), review.AuditFilter{}, 10, "")
	if err != nil || len(audit.Entries) != 2 || audit.Entries[1].By != "anna in PagerDuty" || audit.Entries[1].Action != "incident.acknowledged" {
		t.Errorf("%+v, %v", audit, err)
	}
}

func TestWhatIsClosedInThePagerWhileItStandsIsPagedAgain(t *testing.T) {
	s, _ := paged(t, "a")
	accept(t, s, "oncall", night)
	now := night
	for n := 1; n <= 2; n++ {
		now = now.Add(time.Hour)
		if ref := fmt.Sprint("P", n); !hearing(t, s, alerts.TurnedClosed, ref, now) || hearing(t, s, alerts.TurnedClosed, ref, now) {
			t.Fatal("what is closed is closed once")
		}
		in, _ := s.Incident(t.Context(), "a")
		if !in.ClosedAt.Equal(now) || in.AcknowledgedBy == "" {
			t.Errorf("%+v", in)
		}
		accept(t, s, "oncall", now.Add(30*time.Minute))
		if in, _ = s.Incident(t.Context(), "a"); !in.ClosedAt.IsZero() || !in.AcknowledgedAt.IsZero() {
			t.Errorf("after it was paged again: %+v", in)
		}
		if hearing(t, s, alerts.TurnedClosed, fmt.Sprint("P", n), now.Add(time.Hour)) {
			t.Error("a message that was delayed closes what was opened again")
		}
	}
	if got := lane(t, s, "oncall"); !slices.Equal(got, []string{"trigger accepted", "trigger accepted", "trigger accepted"}) {
		t.Errorf("%v", got)
	}
	if got := lane(t, s, "hook"); !slices.Equal(got, []string{"trigger pending", "acknowledge pending", "acknowledge pending"}) {
		t.Errorf("nobody closed it there: %v", got)
	}
}

func TestWhatIsClosedAndThenOverPagesNobodyAgain(t *testing.T) {
	s, in := paged(t, "a")
	accept(t, s, "oncall", night)
	hearing(t, s, alerts.TurnedClosed, "P1", night)
	in.ResolvedAt, in.Resolution = night.Add(time.Minute), "it moved on"
	turn(t, s, alerts.Change{Incident: in})
	if got := lane(t, s, "oncall"); !slices.Equal(got, []string{"trigger accepted", "trigger muted", "resolve pending"}) {
		t.Errorf("%v", got)
	}
	if hearing(t, s, alerts.TurnedClosed, "P2", night.Add(time.Hour)) {
		t.Error("our own resolve, told back, is taken for a person's")
	}
}

func TestOfAnIncidentThatIsNoneOfOursNothingIsHeard(t *testing.T) {
	s, _ := paged(t, "a")
	changed, err := s.Hear(t.Context(), alerts.Elsewhere{Incident: "x", Notifier: "oncall", What: alerts.TurnedClosed}, night)
	if err != nil || changed {
		t.Errorf("%v, %v", changed, err)
	}
}

func TestAChangeIsToldToWhoTookThePage(t *testing.T) {
	s, in := paged(t, "a")
	accept(t, s, "hook", night)
	for range 2 {
		in.Verdict = alerts.GroupStall
		turn(t, s, alerts.Change{Incident: in, Tell: []string{"oncall", "hook"}, Update: []string{"oncall", "hook"}})
	}
	if got := lane(t, s, "hook"); !slices.Equal(got, []string{"trigger accepted", "update pending"}) {
		t.Errorf("%v", got)
	}
	if got := lane(t, s, "oncall"); !slices.Equal(got, []string{"trigger pending"}) {
		t.Errorf("a page that waits tells of the change itself: %v", got)
	}
}

// The end goes with the key of its page, also after a restart.
func TestTheKeyOfAPageIsRememberedByItsFingerprint(t *testing.T) {
	s, in := paged(t, "a")
	list, _, err := s.Due(t.Context(), "oncall", night, 1)
	if err != nil {
		t.Fatal(err)
	}
	list[0].Key = "0a1b2c"
	settle(t, s, list[0], alerts.Result{At: night, Accepted: true})
	in.ResolvedAt = night.Add(time.Minute)
	turn(t, s, alerts.Change{Incident: in})
	list, _, err = s.Due(context.Background(), "oncall", night.Add(time.Hour), 1)
	if err != nil || len(list) != 1 || list[0].Event != alerts.Resolve || list[0].Key != "0a1b2c" {
		t.Errorf("%+v, %v", list, err)
	}
}

// What grows beyond a silence is told at once.
func TestAChangeLetsAHeldPageBeLookedAtAgain(t *testing.T) {
	s, in := paged(t, "a")
	list, _, _ := s.Due(t.Context(), "oncall", night, 1)
	if err := s.Settle(t.Context(), list[0], alerts.Result{Held: true, Silenced: true, NextAt: night.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, "oncall", night.Add(time.Minute)); len(got) > 0 {
		t.Fatalf("held back, and due: %v", got)
	}
	turn(t, s, alerts.Change{Incident: in})
	if got := due(t, s, "oncall", night.Add(time.Minute)); !slices.Equal(got, []string{"a trigger"}) {
		t.Errorf("%v", got)
	}
}
