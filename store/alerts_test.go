package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

var night = time.Date(2026, 9, 9, 21, 6, 42, 0, time.UTC)

// openAt opens the store at a path and closes it with the test.
func openAt(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// turn writes a reading that must be taken.
func turn(t *testing.T, s *Store, changes ...alerts.Change) {
	t.Helper()
	err := s.Turn(t.Context(), alerts.Turn{Source: "payments", At: night, Incidents: changes})
	if err != nil {
		t.Fatal(err)
	}
}

func wedge(id string) alerts.Incident {
	line := sources.Partition{Source: "payments", Group: "retry", Topic: "requests", Number: 3}
	return alerts.Incident{
		ID: id, Source: "payments", Group: "retry", Verdict: alerts.HeadOfLineStall, Scope: alerts.PartitionScope,
		Lines: []sources.Partition{line}, Severity: "critical", Owner: "payments", Runbook: "https://wiki.example.com/wedge",
		Notify: []string{"oncall"}, Pages: true, Title: "Partition 3 of requests is wedged", Reason: "it stands", OpenedAt: night, UpdatedAt: night,
		Evidence: alerts.Evidence{
			Head: &sources.Record{Topic: "requests", Partition: 3, Offset: 118204, Key: []byte{}, Body: nil, Headers: []sources.Header{{Name: "h", Value: nil}}},
			Line: line, Position: 118204, Since: night, Waiting: 12, Suspects: []alerts.Suspect{{Offset: 118204, Apart: []alerts.Apart{{Field: "currency", Value: `"INRR"`, Usual: "INR"}}}},
		},
	}
}

// due are the events of a notifier that may be sent now, as "incident event".
func due(t *testing.T, s *Store, notifier string, now time.Time) []string {
	t.Helper()
	pending, _, err := s.Due(t.Context(), notifier, now, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range pending {
		out = append(out, p.Incident+" "+string(p.Event))
	}
	return out
}

func settle(t *testing.T, s *Store, p alerts.Pending, r alerts.Result) {
	t.Helper()
	if _, there, err := s.Attempt(t.Context(), p, r.At); err != nil || !there {
		t.Fatalf("attempt: %v, %v", there, err)
	}
	if err := s.Settle(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
}

func TestAnIncidentComesBackAsItWent(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"oncall", "hook"}})
	got, err := s.Incident(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got.Number != 1 || got.Title != "Partition 3 of requests is wedged" || !got.OpenedAt.Equal(night) || !got.ResolvedAt.IsZero() || !got.Pages {
		t.Errorf("%+v", got)
	}
	head := got.Evidence.Head
	if head == nil || head.Key == nil || head.Body != nil || head.Headers[0].Value != nil || got.Evidence.Suspects[0].Apart[0].Value != `"INRR"` {
		t.Errorf("null and empty were confused, or evidence was lost: %+v", got.Evidence)
	}
	if len(got.Deliveries) != 2 || got.Deliveries[0].Event != "trigger" || !got.Deliveries[0].AcceptedAt.IsZero() {
		t.Errorf("deliveries %+v", got.Deliveries)
	}
	if _, err := s.Incident(t.Context(), "b"); !errors.Is(err, alerts.ErrNotFound) {
		t.Errorf("an incident that is not there: %v", err)
	}
}

func TestAnUpdateKeepsNumberEvidenceAndPage(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"oncall"}})
	more := wedge("a")
	more.Verdict, more.Evidence = alerts.GroupStall, alerts.Evidence{Line: more.Lines[0], Position: 118204, Missing: "the broker is away", Peers: "none moves"}
	more.Lines = append(more.Lines, sources.Partition{Topic: "requests", Number: 4})
	turn(t, s, alerts.Change{Incident: more, Evidence: true, Tell: []string{"oncall"}})
	got, err := s.Incident(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got.Number != 1 || got.Verdict != alerts.GroupStall || len(got.Lines) != 2 {
		t.Errorf("%+v", got)
	}
	if got.Evidence.Head == nil || got.Evidence.Missing != "" || got.Evidence.Peers != "none moves" {
		t.Errorf("the head record that was read is forgotten, or what is new is: %+v", got.Evidence)
	}
	if len(got.Deliveries) != 1 {
		t.Errorf("an update wrote a second page: %+v", got.Deliveries)
	}
}

func TestAResolveNeverOvertakesItsTrigger(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"oncall"}}, alerts.Change{Incident: wedge("b"), Tell: []string{"oncall"}})
	over := wedge("a")
	over.ResolvedAt, over.Resolution = night.Add(time.Minute), "it moved on"
	turn(t, s, alerts.Change{Incident: over})
	if got := due(t, s, "oncall", night); !slices.Equal(got, []string{"a trigger", "b trigger"}) {
		t.Errorf("due %v", got)
	}
	trigger := alerts.Pending{Incident: "a", Notifier: "oncall", Event: alerts.Trigger, Step: alerts.FirstStep}
	settle(t, s, trigger, alerts.Result{At: night, NextAt: night.Add(time.Minute), Err: "503"})
	if got := due(t, s, "oncall", night); !slices.Equal(got, []string{"b trigger"}) {
		t.Errorf("while the trigger waits: due %v", got)
	}
	if _, next, _ := s.Due(t.Context(), "oncall", night, 100); !next.Equal(night.Add(time.Minute)) {
		t.Errorf("next is %s", next)
	}
	settle(t, s, trigger, alerts.Result{At: night.Add(time.Minute), Accepted: true})
	if got := due(t, s, "oncall", night.Add(time.Minute)); !slices.Contains(got, "a resolve") {
		t.Errorf("after the trigger: due %v", got)
	}
}

func TestOnlyWhoWasToldHearsOfTheEnd(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"hook"}})
	over := wedge("a")
	over.ResolvedAt = night
	turn(t, s, alerts.Change{Incident: over}, alerts.Change{Incident: over})
	got, err := s.Incident(t.Context(), "a")
	if err != nil || len(got.Deliveries) != 2 || got.Deliveries[1].Event != "resolve" || got.Deliveries[1].Notifier != "hook" {
		t.Errorf("%+v %v", got.Deliveries, err)
	}
}

func TestAnEventThatIsSettledIsNotAttemptedAgain(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"oncall"}})
	p := alerts.Pending{Incident: "a", Notifier: "oncall", Event: alerts.Trigger, Step: alerts.FirstStep}
	settle(t, s, p, alerts.Result{At: night, GaveUp: true, Err: "400"})
	if _, there, err := s.Attempt(t.Context(), p, night); there || err != nil {
		t.Errorf("attempted again: %v %v", there, err)
	}
	if got, _ := s.Incident(t.Context(), "a"); got.Deliveries[0].Err != "400" || got.Deliveries[0].Attempts != 1 {
		t.Errorf("%+v", got.Deliveries)
	}
}

func TestUndeliveredTellsSinceWhenAndWhy(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	turn(t, s, alerts.Change{Incident: wedge("a"), Tell: []string{"oncall", "hook"}}, alerts.Change{Incident: wedge("b"), Tell: []string{"oncall"}})
	settle(t, s, alerts.Pending{Incident: "a", Notifier: "oncall", Event: alerts.Trigger, Step: alerts.FirstStep}, alerts.Result{At: night, Err: "answered 503"})
	settle(t, s, alerts.Pending{Incident: "a", Notifier: "hook", Event: alerts.Trigger, Step: alerts.FirstStep}, alerts.Result{At: night, Accepted: true})
	got, err := s.Undelivered(t.Context())
	want := []alerts.Backlog{{Notifier: "oncall", Events: 2, Oldest: night, Err: "answered 503"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
}

func TestIncidentsPageNewestFirstAndHoldStill(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	for i := range 5 {
		turn(t, s, alerts.Change{Incident: wedge(fmt.Sprint("i", i))})
	}
	first, cursor, err := s.Incidents(t.Context(), alerts.IncidentFilter{}, 2, "")
	if err != nil || len(first) != 2 || first[0].ID != "i4" || cursor == "" {
		t.Fatalf("%v %q %v", first, cursor, err)
	}
	turn(t, s, alerts.Change{Incident: wedge("late")})
	rest, end, err := s.Incidents(t.Context(), alerts.IncidentFilter{}, 10, cursor)
	if err != nil || len(rest) != 3 || rest[0].ID != "i2" || end != "" {
		t.Errorf("%d incidents from %q on, end %q, %v", len(rest), cursor, end, err)
	}
	if _, _, err := s.Incidents(t.Context(), alerts.IncidentFilter{}, 10, "nonsense"); !errors.Is(err, alerts.ErrCursor) {
		t.Errorf("a cursor of nobody: %v", err)
	}
}

func TestIncidentsAreFilteredAndCounted(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "u.db"))
	over, other := wedge("over"), wedge("other")
	over.ResolvedAt = night
	other.Group, other.Verdict = "refunds", alerts.Stopped
	turn(t, s, alerts.Change{Incident: wedge("open")}, alerts.Change{Incident: over}, alerts.Change{Incident: other})
	for _, c := range []struct {
		filter alerts.IncidentFilter
		want   int
	}{
		{alerts.IncidentFilter{}, 3},
		{alerts.IncidentFilter{Status: alerts.Open}, 2},
		{alerts.IncidentFilter{Status: alerts.Resolved}, 1},
		{alerts.IncidentFilter{Groups: []string{"refunds", "nobody"}}, 1},
		{alerts.IncidentFilter{Sources: []string{"aws"}}, 0},
	} {
		if got, _, err := s.Incidents(t.Context(), c.filter, 50, ""); err != nil || len(got) != c.want {
			t.Errorf("%+v: %d incidents, want %d, %v", c.filter, len(got), c.want, err)
		}
	}
	counts, err := s.OpenIncidents(t.Context())
	if err != nil || counts[alerts.HeadOfLineStall] != 1 || counts[alerts.Stopped] != 1 {
		t.Errorf("%v %v", counts, err)
	}
}

// A reading is one transaction: after a kill it is there as a whole or not.
func TestATurnIsWrittenWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u.db")
	s := openAt(t, path)
	half := alerts.Turn{
		Source: "payments", At: night, Watches: map[string][]byte{"retry": []byte(`{"Group":"retry"}`)},
		Incidents: []alerts.Change{{Incident: wedge("a"), Tell: []string{"oncall"}}},
	}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Turn(dead, half); err == nil {
		t.Fatal("a turn was written after its context had ended")
	}
	if watches, err := s.Watches(t.Context(), "payments"); err != nil || len(watches) != 0 {
		t.Errorf("half a turn is there: %v %v", watches, err)
	}
	if err := s.Turn(t.Context(), half); err != nil {
		t.Fatal(err)
	}
	if err := s.unlock(); err != nil { // as after a kill: s was never closed
		t.Fatal(err)
	}
	again := openAt(t, path)
	watches, err := again.Watches(t.Context(), "payments")
	if err != nil || string(watches["retry"]) != `{"Group":"retry"}` {
		t.Errorf("%s %v", watches["retry"], err)
	}
	if got := due(t, again, "oncall", night); !slices.Equal(got, []string{"a trigger"}) {
		t.Errorf("due after a restart: %v", got)
	}
	if err := again.Turn(t.Context(), alerts.Turn{Source: "payments", Forgotten: []string{"retry"}}); err != nil {
		t.Fatal(err)
	}
	if watches, _ := again.Watches(t.Context(), "payments"); len(watches) != 0 {
		t.Errorf("a group that is gone is remembered: %v", watches)
	}
}
