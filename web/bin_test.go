package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

// bin keeps discards in memory, and what it was asked for.
type bin struct {
	asked []review.DiscardRequest
	list  []review.Discard
	items []review.DiscardItem
	err   error
}

func (b *bin) Draft(_ context.Context, r review.DiscardRequest) (review.Discard, error) {
	b.asked = append(b.asked, r)
	d := review.Discard{ID: "di_1", State: review.DiscardDraft, By: r.By, CreatedAt: thursday, Total: 2, Counts: map[review.DiscardItemState]int{review.DiscardPlanned: 2}}
	b.list = []review.Discard{d}
	b.items = []review.DiscardItem{{ID: "di_1-1", LetterID: "dl_json", State: review.DiscardPlanned}, {ID: "di_1-2", LetterID: "dl_null", State: review.DiscardPlanned}}
	return d, b.err
}

func (b *bin) set(state review.DiscardState, item review.DiscardItemState) review.Discard {
	d := &b.list[0]
	d.State, d.UndoUntil, d.Messages = state, thursday.Add(review.UndoFor), 1
	d.Counts = map[review.DiscardItemState]int{item: 2}
	for i := range b.items {
		b.items[i].State = item
	}
	return *d
}

func (b *bin) Decide(_ context.Context, id, reason, _ string) (review.Discard, error) {
	if b.err != nil {
		return review.Discard{}, b.err
	}
	b.list[0].Reason = reason
	return b.set(review.DiscardOpen, review.ItemDiscarded), nil
}

func (b *bin) Discard(ctx context.Context, r review.DiscardRequest) (review.Discard, error) {
	if _, err := b.Draft(ctx, r); err != nil {
		return review.Discard{}, err
	}
	return b.Decide(ctx, "di_1", r.Reason, r.By)
}

func (b *bin) Undo(ctx context.Context, id, _ string) (review.Discard, error) {
	if _, err := b.DiscardByID(ctx, id); err != nil || b.err != nil {
		return review.Discard{}, fmt.Errorf("undo: %w", firstOf(err, b.err))
	}
	d := b.set(review.DiscardUndone, review.DiscardItemBack)
	b.list[0].UndoneAt = thursday
	return d, nil
}

func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bin) Discards(context.Context, int, string) (review.Discards, error) {
	return review.Discards{Discards: b.list, Total: int64(len(b.list))}, nil
}

func (b *bin) DiscardByID(_ context.Context, id string) (review.Discard, error) {
	if len(b.list) == 0 || b.list[0].ID != id {
		return review.Discard{}, review.ErrNotFound
	}
	return b.list[0], nil
}

func (b *bin) DiscardItems(context.Context, string, int, string) (review.DiscardItems, error) {
	return review.DiscardItems{Items: b.items, Total: int64(len(b.items))}, nil
}

func (b *bin) Audit(_ context.Context, f review.AuditFilter, limit int, cursor string) (review.Audit, error) {
	all := []review.AuditEntry{
		{ID: "au_2", At: thursday, By: "asha", Action: "discard", On: "dl_json", Outcome: "discarded: test data"},
		{ID: "au_1", At: thursday.Add(-time.Minute), By: "asha", Action: "redrive", On: "rd_1", Outcome: "started with 37 letters"},
	}
	all = slices.DeleteFunc(all, func(e review.AuditEntry) bool { return f.Action != "" && e.Action != f.Action })
	rows, next, ok := pageOf(all, func(e review.AuditEntry) string { return e.ID }, limit, cursor)
	if !ok {
		return review.Audit{}, review.ErrBadCursor
	}
	return review.Audit{Entries: rows, Next: next}, nil
}

func serverWithBin(t *testing.T) (*Server, *bin) {
	w := story()
	return w.server(t), &w.bin
}

const discardTwo = `{"ids":["dl_json","dl_null"],"reason":"test data"}`

func TestADiscardIsAnsweredAndUndone(t *testing.T) {
	s, b := serverWithBin(t)
	o := object(t, ask(s, "POST", "/api/v1/discards", discardTwo, "Idempotency-Key", "k"), http.StatusAccepted)
	if at(t, o, "id") != "di_1" || at(t, o, "state") != "discarded" || at(t, o, "total") != 2.0 || at(t, o, "counts", "discarded") != 2.0 || at(t, o, "undo_until") != "2026-09-09T21:29:12Z" || at(t, o, "items", 0, "letter") != "dl_json" || at(t, o, "items", 0, "error") != nil {
		t.Errorf("%v", o)
	}
	object(t, ask(s, "POST", "/api/v1/discards", discardTwo, "Idempotency-Key", "k"), http.StatusAccepted)
	if len(b.asked) != 1 || b.asked[0].Reason != "test data" || len(b.asked[0].IDs) != 2 || b.asked[0].By == "" {
		t.Errorf("asked for %+v", b.asked)
	}
	if o := object(t, get(s, "/api/v1/discards/di_1"), http.StatusOK); at(t, o, "state") != "discarded" {
		t.Errorf("%v", o)
	}
	o = object(t, ask(s, "POST", "/api/v1/discards/di_1/undo", ""), http.StatusOK)
	if at(t, o, "counts", "undone") != 2.0 || at(t, o, "counts", "discarded") != 0.0 {
		t.Errorf("%v", o)
	}
	refused(t, ask(s, "POST", "/api/v1/discards/di_9/undo", ""), http.StatusNotFound)
	b.err = &review.StateError{Subject: "discard di_1", State: "undone already", Allowed: "its letters are what they were"}
	refused(t, ask(s, "POST", "/api/v1/discards/di_1/undo", ""), http.StatusConflict)
	b.err = &review.ConflictError{IDs: []string{"dl_json"}}
	refused(t, ask(s, "POST", "/api/v1/discards", discardTwo), http.StatusConflict)
}

// TestWhatIsNoDiscardIsSaid: a body that selects nothing, in two ways, or with a
// word that is not known, decides nothing.
func TestWhatIsNoDiscardIsSaid(t *testing.T) {
	s, b := serverWithBin(t)
	for body, says := range map[string]string{
		`{}`: "exactly one", `{"ids":[],"reason":"r"}`: "empty", `{"ids":[""],"reason":"r"}`: "empty id",
		`{"ids":["dl_json"],"cause":"ca_1","reason":"r"}`: "exactly one", `{"ids":["dl_json"],"why":"r"}`: "why",
	} {
		if _, message := refused(t, ask(s, "POST", "/api/v1/discards", body), http.StatusBadRequest); !strings.Contains(message, says) {
			t.Errorf("%s: %s", body, message)
		}
	}
	if len(b.asked) != 0 {
		t.Errorf("asked for %+v", b.asked)
	}
}

func TestDiscardAnswersAreAsDescribed(t *testing.T) {
	doc := document(t)
	s, _ := serverWithBin(t)
	for _, c := range [][4]string{
		{"POST", "/api/v1/discards", "/api/v1/discards", discardTwo},
		{"GET", "/api/v1/discards/{id}", "/api/v1/discards/di_1", ""},
		{"POST", "/api/v1/discards/{id}/undo", "/api/v1/discards/di_1/undo", ""},
		{"GET", "/api/v1/audit", "/api/v1/audit", ""},
	} {
		a := ask(s, c[0], c[2], c[3])
		for _, fault := range (validator{doc}).check(schemaOf(t, doc, c[0], c[1], a), any(object(t, a, a.Code)), "") {
			t.Errorf("%s %s: %s", c[0], c[2], fault)
		}
	}
}

// TestDiscardAndUndoOnPages: a form shows exactly what it would discard first,
// and nothing is decided until the second is sent.
func TestDiscardAndUndoOnPages(t *testing.T) {
	s, b := serverWithBin(t)
	send := func(path string, fields url.Values) {
		t.Helper()
		a := ask(s, "POST", path, fields.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/discards/di_1" {
			t.Fatalf("%s: %d to %s: %s", path, a.Code, a.Header().Get("Location"), a.Body)
		}
	}
	send("/discards", url.Values{"letter": {"dl_json", "dl_null"}})
	page := get(s, "/discards/di_1").Body.String()
	for _, want := range []string{"Discard these 2 letters", "Nothing has been decided", `name="reason" required`} {
		if !strings.Contains(page, want) {
			t.Errorf("the draft says nothing of %q", want)
		}
	}
	if b.list[0].State != review.DiscardDraft {
		t.Fatalf("%+v", b.list[0])
	}
	send("/discards/di_1", url.Values{"do": {"discard"}, "reason": {"test data"}})
	if page := get(s, "/discards/di_1").Body.String(); !strings.Contains(page, `value="undo"`) || !strings.Contains(page, "test data") {
		t.Error("no way back")
	}
	if page := get(s, "/discards").Body.String(); !strings.Contains(page, "test data") {
		t.Error("it is not listed")
	}
	b.err = &review.StateError{Subject: "discard di_1", State: "past its undo", Allowed: "the store still has them"}
	if a := ask(s, "POST", "/discards/di_1", "do=undo", "Content-Type", "application/x-www-form-urlencoded"); a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "past its undo") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestTheAuditIsPagedAndNarrowed(t *testing.T) {
	s, _ := serverWithBin(t)
	first := object(t, get(s, "/api/v1/audit?limit=1"), http.StatusOK)
	if at(t, first, "entries", 0, "on") != "dl_json" || at(t, first, "entries", 0, "by") != "asha" {
		t.Errorf("%v", first)
	}
	second := object(t, get(s, "/api/v1/audit?limit=1&cursor="+at(t, first, "next_cursor").(string)), http.StatusOK)
	if at(t, second, "entries", 0, "id") != "au_1" || at(t, second, "next_cursor") != nil {
		t.Errorf("%v", second)
	}
	page := get(s, "/audit?action=discard").Body.String()
	if !strings.Contains(page, "discarded: test data") || strings.Contains(page, "started with 37") || !strings.Contains(page, `href="/letters/dl_json"`) {
		t.Error("the page is not narrowed")
	}
}
