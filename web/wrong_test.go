package web

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/review"
)

// TestWrongRequests is the table of what is refused, and that the answer names
// what is wrong.
func TestWrongRequests(t *testing.T) {
	s := story().server(t)
	for _, c := range []struct {
		method, target, body string
		status               int
		code, says           string
	}{
		{"GET", "/api", "", 404, codeNotFound, ""},
		{"GET", "/api/v1/nothing", "", 404, codeNotFound, ""},
		{"GET", "/api/v2/lag", "", 404, codeNotFound, ""},
		{"GET", "/api/v1/dead-letters/nothing", "", 404, codeNotFound, `"nothing"`},
		{"GET", "/api/v1/dead-letters/%00", "", 404, codeNotFound, `"\x00"`},
		{"GET", "/api/v1/dead-letters/..%2f..%2fetc", "", 404, codeNotFound, "../../etc"},
		{"GET", "/api/v1/dead-letters/a/b%25", "", 404, codeNotFound, ""},
		{"GET", "/api/v1/redrives/nothing", "", 404, codeNotFound, `redrive "nothing"`},
		{"GET", "/api/v1/redrives/nothing/items", "", 404, codeNotFound, `redrive "nothing"`},
		{"GET", "/api/v1/redrives/plans/nothing", "", 404, codeNotFound, `plan "nothing"`},
		{"GET", "/api/v1/redrives/plans/nothing/letters", "", 404, codeNotFound, `plan "nothing"`},
		{"GET", "/api/v1/incidents/nothing", "", 404, codeNotFound, `incident "nothing"`},
		{"GET", "/api/v1/dead-letters?limit=0", "", 400, codeInvalid, "limit"},
		{"GET", "/api/v1/dead-letters?q=" + strings.Repeat("a+", 60), "", 400, codeInvalid, "q has more than 32 words"},
		{"GET", "/api/v1/causes?q=" + strings.Repeat("a+", 60), "", 400, codeInvalid, "q has more than 32 words"},
		{"GET", "/api/v1/dead-letters?limit=501", "", 400, codeInvalid, "500"},
		{"GET", "/api/v1/dead-letters?limit=abc", "", 400, codeInvalid, `"abc"`},
		{"GET", "/api/v1/dead-letters?limit=1e2", "", 400, codeInvalid, "limit"},
		{"GET", "/api/v1/dead-letters?limit=-1", "", 400, codeInvalid, "limit"},
		{"GET", "/api/v1/dead-letters?limit=999999999999999999999", "", 400, codeInvalid, "limit"},
		{"GET", "/api/v1/dead-letters?limit=5&limit=6", "", 400, codeInvalid, "only once"},
		{"GET", "/api/v1/dead-letters?q=a&q=b", "", 400, codeInvalid, "q may"},
		{"GET", "/api/v1/dead-letters?cursor=nonsense", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/causes?cursor=nonsense", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/lag?cursor=nonsense", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/queues?cursor=WyJhIl0", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/incidents?cursor=nonsense", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/redrives?cursor=nonsense", "", 400, codeInvalid, "cursor"},
		{"GET", "/api/v1/dead-letters?status=nonsense", "", 400, codeInvalid, `"nonsense"`},
		{"GET", "/api/v1/dead-letters?status=open&status=OPEN", "", 400, codeInvalid, `"OPEN"`},
		{"GET", "/api/v1/lag?verdict=fine", "", 400, codeInvalid, `"fine"`},
		{"GET", "/api/v1/incidents?status=acknowledged", "", 400, codeInvalid, "acknowledged"},
		{"GET", "/api/v1/redrives/rd_1/items?state=nonsense", "", 400, codeInvalid, "nonsense"},
		{"GET", "/api/v1/lag?colour=blue&size=9", "", 400, codeInvalid, `"colour"; unknown parameter "size"`},
		{"GET", "/api/v1/dead-letters/dl_json?colour=blue", "", 400, codeInvalid, "colour"},
		{"GET", "/api/v1/events?colour=blue", "", 400, codeInvalid, "colour"},
		{"GET", "/api/v1/lag?group=%zz", "", 400, codeInvalid, "query"},
		{"GET", "/api/v1/lag?a;b", "", 400, codeInvalid, "query"},
		{"GET", "/api/v1/dead-letters?q=" + strings.Repeat("x", 1025), "", 400, codeInvalid, "1024"},
		{"POST", "/api/v1/redrives", "", 400, codeInvalid, "JSON object"},
		{"POST", "/api/v1/redrives", "{", 400, codeInvalid, "too early"},
		{"POST", "/api/v1/redrives", "{}", 400, codeInvalid, "ids, cause, filter and plan"},
		{"POST", "/api/v1/redrives", "null", 400, codeInvalid, "JSON object"},
		{"POST", "/api/v1/redrives", "[]", 400, codeInvalid, "JSON object"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"]}x`, 400, codeInvalid, "follows"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"]} {}`, 400, codeInvalid, "follows"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"ids":["dl_null"]}`, 400, codeInvalid, `"ids" is given twice`},
		{"POST", "/api/v1/redrives", `{"ids":[],"colour":1}`, 400, codeInvalid, `"colour"`},
		{"POST", "/api/v1/redrives", `{"IDS":["dl_json"]}`, 400, codeInvalid, `"IDS"`},
		{"POST", "/api/v1/redrives", `{"ids":[]}`, 400, codeInvalid, "ids is empty"},
		{"POST", "/api/v1/redrives", `{"ids":[""]}`, 400, codeInvalid, "empty id"},
		{"POST", "/api/v1/redrives", `{"ids":"dl_json"}`, 400, codeInvalid, `"ids"`},
		{"POST", "/api/v1/redrives", `{"ids":[1]}`, 400, codeInvalid, "ids"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"cause":"c-61"}`, 400, codeInvalid, "exactly one"},
		{"POST", "/api/v1/redrives", `{"plan":"pl_1","to":"x"}`, 400, codeInvalid, "to, edit and keep_timestamps cannot"},
		{"POST", "/api/v1/redrives", `{"filter":{"colour":"x"}}`, 400, codeInvalid, "colour"},
		{"POST", "/api/v1/redrives", `{"filter":{"status":"nonsense"}}`, 400, codeInvalid, "filter.status"},
		{"POST", "/api/v1/redrives", `{"filter":{"queue":1}}`, 400, codeInvalid, ""},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"rate_per_second":0}`, 400, codeInvalid, "rate_per_second"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"rate_per_second":1e999}`, 400, codeInvalid, ""},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"canary":"yes"}`, 400, codeInvalid, "canary"},
		{"POST", "/api/v1/redrives", `{"filter":{"queue":"a","queue":"b"},"dry_run":true}`, 400, codeInvalid, "given twice"},
		{"POST", "/api/v1/redrives", `{"filter":{"QUEUE":"a"},"dry_run":true}`, 400, codeInvalid, "QUEUE"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"confirm":["bogus"]}`, 400, codeInvalid, "confirm"},
		{"POST", "/api/v1/redrives", `{"ids":["dl_json"],"stop_above":1.5}`, 400, codeInvalid, "stop_above"},
		{"POST", "/api/v1/redrives", `{"plan":"pl_1","keep_timestamps":true}`, 400, codeInvalid, "keep_timestamps"},
		{"POST", "/api/v1/redrives/rd_1/pause", `{"now":true}`, 400, codeInvalid, "now"},
		{"POST", "/api/v1/redrives/rd_1/rate", `{"rate_per_second":0}`, 400, codeInvalid, "rate_per_second"},
		{"POST", "/api/v1/redrives/rd_9/pause", ``, 404, codeNotFound, "rd_9"},
		{"POST", "/api/v1/redrives/items/it_1/settle", `{"as":"maybe"}`, 400, codeInvalid, "none of sent, not_sent"},
		{"POST", "/api/v1/redrives/items/it_9/settle", `{"as":"sent"}`, 404, codeNotFound, "it_9"},
		{"POST", "/api/v1/redrives?dry_run=true", `{"ids":["dl_json"]}`, 400, codeInvalid, "dry_run"},
		{"POST", "/api/v1/redrives", "{\"ids\":[\"\xff\"]}", 400, codeInvalid, "UTF-8"},
		{"POST", "/api/v1/redrives", `{"ids":["` + strings.Repeat("x", mostBody) + `"]}`, 413, codeTooLarge, "1048576"},
		{"DELETE", "/api/v1/lag", "", 405, codeMethodNotAllowed, ""},
		{"POST", "/api/v1/lag", "", 405, codeMethodNotAllowed, ""},
		{"PUT", "/api/v1/redrives", "{}", 405, codeMethodNotAllowed, ""},
		{"POST", "/api/v1/snoozes", "{}", 404, codeNotFound, ""},
		{"GET", "/api/v1/audit?who=asha", "", 400, codeInvalid, "who"},
	} {
		a := ask(s, c.method, c.target, c.body, "Content-Type", "application/json")
		code, message := refused(t, a, c.status)
		if code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%s %.80s %.80s: %s, %q; want %s, %q", c.method, c.target, c.body, code, message, c.code, c.says)
		}
		if c.status == 405 && a.Header().Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.target)
		}
	}
}

// TestC112APIAnswersInJSON: whoever asks, and however, is told in JSON.
func TestC112APIAnswersInJSON(t *testing.T) {
	s := story().server(t)
	refused(t, ask(s, "GET", "/api/v1/nothing", "", "Accept", "text/html"), http.StatusNotFound)
	if a := ask(s, "GET", "/nothing", "", "Accept", "application/json"); !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") || a.Code != http.StatusNotFound {
		t.Errorf("a page that is not there: %d %s", a.Code, a.Header().Get("Content-Type"))
	}
}

// TestOurOwnFaultsAreToldInFew: the reader learns where to look, and nothing of
// what is inside.
func TestOurOwnFaultsAreToldInFew(t *testing.T) {
	for name, break_ := range map[string]func(*world){
		"an error": func(w *world) { w.broken = errors.New("secret: disk full at /var/lib") },
		"a panic":  func(w *world) { w.letters = nil; w.board.Groups[0].Lines = nil },
	} {
		w := story()
		break_(w)
		c := w.config()
		log := &lines{}
		c.Log = log.logger()
		if name == "a panic" {
			c.Letters = nil
		}
		s := newServer(t, c)
		code, message := refused(t, get(s, "/api/v1/dead-letters"), http.StatusInternalServerError)
		if code != codeInternal || strings.Contains(message, "secret") || strings.Contains(message, "goroutine") {
			t.Errorf("%s: %s %q", name, code, message)
		}
		if log.count("a request failed") != 1 {
			t.Errorf("%s: logged %d times: %s", name, log.count("a request failed"), log)
		}
	}
}

func TestPageOfAFailureIsAPage(t *testing.T) {
	w := story()
	w.broken = errors.New("disk full")
	a := get(w.server(t), "/review")
	if a.Code != http.StatusInternalServerError || !strings.Contains(a.Body.String(), "<h1") || strings.Contains(a.Body.String(), "disk full") {
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
}

// TestRefusalsOfTheDesk: each kind of refusal has its status and its code, and
// names what stands in the way.
func TestRefusalsOfTheDesk(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
		has    func(o map[string]any) any
		want   any
	}{
		{review.ErrNotFound, 404, codeNotFound, nil, nil},
		{review.ErrInvalid, 400, codeInvalid, nil, nil},
		{&review.ConflictError{IDs: []string{"dl_json"}}, 409, codeConflict, nil, nil},
		{&review.ConflictError{Redrive: "rd_1"}, 409, codeConflict, func(o map[string]any) any { return o["redrive"] }, "rd_1"},
		{&review.PlanChangedError{Difference: []string{"a group came"}}, 409, codePlanChanged, func(o map[string]any) any { return at(t, o, "difference", 0) }, "a group came"},
		{&review.RefusedError{Letters: []review.Refusal{{LetterID: "dl_json", Refused: "no_target"}}}, 422, codeRefused, func(o map[string]any) any { return at(t, o, "letters", 0, "refused") }, "no_target"},
		{&review.NeedsConfirmationError{Warnings: []review.Warning{{Code: "already_done", MustConfirm: true}}}, 422, codeUnconfirmed, func(o map[string]any) any { return at(t, o, "warnings", 0, "code") }, "already_done"},
	} {
		w := story()
		w.err = c.err
		a := ask(w.server(t), "POST", "/api/v1/redrives", `{"ids":["dl_json"]}`)
		if code, _ := refused(t, a, c.status); code != c.code {
			t.Errorf("%v: %s, want %s", c.err, code, c.code)
		}
		if c.has != nil && c.has(object(t, a, c.status)) != c.want {
			t.Errorf("%v: %s", c.err, a.Body)
		}
	}
}
