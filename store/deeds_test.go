package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// TestTheDeedsOfAnIncident are those about itself, its skips, its redrives and
// the letters of its records, and no others.
func TestTheDeedsOfAnIncident(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "unwedge.db"))
	in := wedge("one")
	in.Evidence.Line.Topic, in.Evidence.Line.Number, in.Evidence.Head = "payment.events", 0, &sources.Record{Topic: "payment.events", Partition: 0, Offset: 100_000}
	turn(t, s, alerts.Change{Incident: in}, alerts.Change{Incident: wedge("other")})
	taken := take(t, s, look(payments(0, 7), night, oneCause)) // the first and the last are of partition 0
	must(t, s.in(t.Context(), func(tx *sql.Tx) error {
		return writeAudit(t.Context(), tx, night,
			auditEntry{"asha", "incident.acknowledge", "one", "acknowledged"}, auditEntry{"asha", "incident.acknowledge", "other", "no"},
			auditEntry{"ben", "delete", taken.New[0], "the head"}, auditEntry{"ben", "delete", taken.New[1], "no"}, auditEntry{"", "delete", taken.New[6], "six further"})
	}))
	line := in.Evidence.Line
	line.Topic, line.Number = "requests", 3
	must(t, s.Arm(t.Context(), skips.Skip{ID: "sk_1", Line: line, State: skips.Armed, ArmedAt: night.Add(time.Minute)}, skips.Deed{By: "cy", Action: "skip", Outcome: "armed"}))
	line.Group = "another"
	must(t, s.Arm(t.Context(), skips.Skip{ID: "sk_2", Line: line, State: skips.Armed, ArmedAt: night.Add(time.Minute)}, skips.Deed{By: "cy", Action: "skip", Outcome: "no"}))
	said := func(most int) (out []string, cut bool) {
		deeds, cut, err := s.Deeds(t.Context(), "one", most)
		must(t, err)
		for _, d := range deeds {
			out = append(out, d.By+" "+d.Outcome)
		}
		return out, cut
	}
	got, cut := said(10)
	if diff := cmp.Diff([]string{"asha acknowledged", "ben the head", "unwedge six further", "cy armed"}, got); diff != "" || cut {
		t.Error(cut, diff)
	}
	if got, cut := said(2); len(got) != 2 || !cut {
		t.Errorf("%v, %v", got, cut)
	}
}

func TestTheTollOfAnIncidentIsKept(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "unwedge.db"))
	turn(t, s, alerts.Change{Incident: wedge("one")})
	want := alerts.Toll{Since: night, StoodAt: night.Add(time.Hour), Worst: 12, WorstAt: night, Last: 3, LastAt: night.Add(time.Hour), RecordSeconds: 1.5}
	must(t, s.Turn(context.Background(), alerts.Turn{Source: "payments", At: night, Tolls: map[string]alerts.Toll{"one": want}}))
	in, err := s.Incident(t.Context(), "one")
	must(t, err)
	if diff := cmp.Diff(want, in.Toll); diff != "" {
		t.Error(diff)
	}
}
