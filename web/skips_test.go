package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// siding parks in memory.
type siding struct {
	asked  []skips.Request
	kept   []skips.Skip
	refuse error
}

func (s *siding) Plan(_ context.Context, r skips.Request) (skips.Skip, error) {
	s.asked = append(s.asked, r)
	one := skips.Skip{Line: r.Line, From: r.Offset, To: r.Offset + 1, Queue: "payment.events.dlq", WaitsFor: "Stop group retry.", ExpiresAt: thursday.Add(skips.ExpiresIn)}
	one.Parked = []skips.Parked{{Record: sources.Record{Topic: r.Line.Topic, Offset: r.Offset, Body: []byte(`{"currency":"INRR"}`)}, AtOffset: sources.NotKnown}}
	return one, s.refuse
}

func (s *siding) Stoppable(p sources.Partition) bool { return p.Group == "retry" }

func (s *siding) Arm(ctx context.Context, r skips.Request) (skips.Skip, error) {
	one, err := s.Plan(ctx, r)
	if err == nil {
		one.ID, one.State, one.ArmedAt = "sk_1", skips.Armed, thursday
		s.kept = append(s.kept, one)
	}
	return one, err
}

func (s *siding) order(id string, state skips.State) (skips.Skip, error) {
	for i := range s.kept {
		if s.kept[i].ID == id {
			s.kept[i].State = state
			return s.kept[i], s.refuse
		}
	}
	return skips.Skip{}, skips.ErrNotFound
}

func (s *siding) Disarm(_ context.Context, id, _ string) (skips.Skip, error) {
	return s.order(id, skips.Disarmed)
}

func (s *siding) Undo(_ context.Context, id, _ string) (skips.Skip, error) {
	return s.order(id, skips.Undone)
}

func (s *siding) Skips(_ context.Context, _ []skips.State, limit int, cursor string) ([]skips.Skip, string, error) {
	page, next, ok := pageOf(s.kept, func(k skips.Skip) string { return k.ID }, limit, cursor)
	if !ok {
		return nil, "", skips.ErrCursor
	}
	return page, next, nil
}

func (s *siding) Skip(_ context.Context, id string) (skips.Skip, error) {
	for _, k := range s.kept {
		if k.ID == id {
			return k, nil
		}
	}
	return skips.Skip{}, skips.ErrNotFound
}

func (s *siding) SkipsOf(context.Context, string, string, time.Time) ([]skips.Skip, error) {
	return s.kept, nil
}

const oneSkip = `{"source":"payments","group":"retry","topic":"payment.retry","partition":3,"offset":118204`

func TestASkipIsPlannedArmedAndDisarmed(t *testing.T) {
	w := story()
	s := w.server(t)
	plan := object(t, ask(s, http.MethodPost, "/api/v1/skips", oneSkip+`,"dry_run":true}`), http.StatusOK)
	if at(t, plan, "id") != nil || at(t, plan, "state") != nil || len(w.siding.kept) != 0 {
		t.Errorf("a dry run: %v", plan)
	}
	armed := object(t, ask(s, http.MethodPost, "/api/v1/skips", oneSkip+`,"expires_in":"5m","to_offset":118300}`), http.StatusAccepted)
	if at(t, armed, "state") != "armed" || at(t, armed, "waits_for") == nil {
		t.Errorf("armed: %v", armed)
	}
	if r := w.siding.asked[1]; r.ExpiresIn != 5*time.Minute || r.ToOffset != 118300 || r.Offset != 118204 {
		t.Errorf("asked for %+v", r)
	}
	if got := object(t, ask(s, http.MethodPost, "/api/v1/skips/sk_1/disarm", ""), http.StatusOK); at(t, got, "state") != "disarmed" {
		t.Errorf("disarmed: %v", got)
	}
	if a := ask(s, http.MethodPost, "/api/v1/skips/sk_9/undo", ""); a.Code != http.StatusNotFound {
		t.Errorf("one that is not there: %d %s", a.Code, a.Body)
	}
	w.siding.refuse = &skips.StateError{Why: "it stands at 118,206 by now"}
	if a := ask(s, http.MethodPost, "/api/v1/skips", oneSkip+`}`); a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "118,206") {
		t.Errorf("elsewhere by now: %d %s", a.Code, a.Body)
	}
}

func TestASkipThatIsNoneSaysWhichField(t *testing.T) {
	s := story().server(t)
	for body, want := range map[string]string{
		`{"group":"g","topic":"t","partition":1,"offset":1}`:                "source",
		`{"source":"s","group":"g","topic":"t","offset":1}`:                 "partition",
		`{"source":"s","group":"g","topic":"t","partition":1}`:              "offset",
		oneSkip + `,"expires_in":"soon"}`:                                   "expires_in",
		oneSkip + `,"to":1}`:                                                `\"to\"`,
		`{"source":"s","group":"g","topic":"t","partition":1,"offset":1.5}`: "offset",
	} {
		if a := ask(s, http.MethodPost, "/api/v1/skips", body); a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s: %d %s", body, a.Code, a.Body)
		}
	}
}

// The way from an incident to an armed skip works without script, and a plan
// that is refused says why.
func TestASkipIsArmedFromItsPlan(t *testing.T) {
	w := story()
	s := w.server(t)
	g := w.board.Groups[0]
	l := g.Lines[0]
	target := newSkipHref(l.Partition)
	page := get(s, target).Body.String()
	for _, want := range []string{"payment.events.dlq", "Stop group retry.", "INRR", `action="/skips"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the plan does not have %q", want)
		}
	}
	form := "source=" + l.Source + "&group=" + l.Group + "&topic=" + l.Topic + "&partition=0&offset=7&to_offset="
	if a := post(s, "/skips", form); a.Code != http.StatusSeeOther || !strings.HasSuffix(a.Header().Get("Location"), "/skips/sk_1") {
		t.Fatalf("armed: %d %s", a.Code, a.Body)
	}
	if page := get(s, "/skips/sk_1").Body.String(); !strings.Contains(page, "Disarm") || !strings.Contains(page, "Stop group retry.") {
		t.Error("the page of an armed skip has no way back, or not what it waits for")
	}
	if page := get(s, "/skips").Body.String(); !strings.Contains(page, "/skips/sk_1") {
		t.Error("it is not listed")
	}
	if a := post(s, "/skips/sk_1", "do=disarm"); a.Code != http.StatusSeeOther || w.siding.kept[0].State != skips.Disarmed {
		t.Errorf("disarmed: %d %s", a.Code, w.siding.kept[0].State)
	}
	w.siding.refuse = &skips.StateError{Why: "it stands at 9 by now"}
	if a := post(s, "/skips", form); a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "stands at 9 by now") {
		t.Errorf("refused: %d", a.Code)
	}
}
