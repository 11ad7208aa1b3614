package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
)

func TestDryRunPlansAndStartsNothing(t *testing.T) {
	w := story()
	o := object(t, ask(w.server(t), "POST", "/api/v1/redrives", `{"filter":{"queue":"orders.dlq","status":["open","expired"]},"dry_run":true,"to":"orders","rate_per_second":5}`), http.StatusOK)
	if at(t, o, "plan") != "pl_1" || at(t, o, "letters", 0, "target", "partition") != 3.0 || at(t, o, "letters", 1, "target") != nil || at(t, o, "letters", 1, "refused") != "no_target" || at(t, o, "receivers", 0, "lag") != nil || at(t, o, "letters", 0, "refused") != nil {
		t.Errorf("%v", o)
	}
	if len(w.asked) != 1 || w.asked[0].Filter == nil || !slices.Equal(w.asked[0].Filter.Queues, []string{"orders.dlq"}) || len(w.asked[0].Filter.Status) != 2 || w.asked[0].To != "orders" {
		t.Errorf("asked for %+v", w.asked)
	}
}

func TestStartAnswersWithTheJob(t *testing.T) {
	w := story()
	o := object(t, ask(w.server(t), "POST", "/api/v1/redrives", `{"plan":"pl_1","confirm":["returned_before"],"canary":false,"edit":null}`), http.StatusAccepted)
	if at(t, o, "id") != "rd_1" || at(t, o, "items", 0, "letter") != "dl_json" {
		t.Errorf("%v", o)
	}
	if w.asked[0].Plan != "pl_1" || !slices.Equal(w.asked[0].Confirm, []string{"returned_before"}) || w.asked[0].By == "" {
		t.Errorf("asked for %+v", w.asked[0])
	}
}

func TestPlanCanBeReadAgain(t *testing.T) {
	s := story().server(t)
	if o := object(t, get(s, "/api/v1/redrives/plans/pl_1"), http.StatusOK); at(t, o, "total") != 2.0 {
		t.Errorf("%v", o)
	}
	first := object(t, get(s, "/api/v1/redrives/plans/pl_1/letters?limit=1"), http.StatusOK)
	second := object(t, get(s, "/api/v1/redrives/plans/pl_1/letters?limit=1&cursor="+at(t, first, "next_cursor").(string)), http.StatusOK)
	if at(t, second, "letters", 0, "id") != "a/b%" || at(t, second, "next_cursor") != nil {
		t.Errorf("%v", second)
	}
}

func TestIdempotencyKey(t *testing.T) {
	w := story()
	now := thursday
	c := w.config()
	c.Now = func() time.Time { return now }
	s := newServer(t, c)
	const body = `{"ids":["dl_json"]}`
	first := ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", "k-1")
	w.err = &review.ConflictError{IDs: []string{"dl_json"}} // as it would be now
	again := ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", "k-1")
	if again.Code != http.StatusAccepted || again.Body.String() != first.Body.String() || len(w.asked) != 1 {
		t.Errorf("again: %d %s, the desk was asked %d times", again.Code, again.Body, len(w.asked))
	}
	refused(t, ask(s, "POST", "/api/v1/redrives", `{"ids":["dl_null"]}`, "Idempotency-Key", "k-1"), http.StatusUnprocessableEntity)
	refused(t, ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", "k-2"), http.StatusConflict)
	refused(t, ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", ""), http.StatusBadRequest)
	refused(t, ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", strings.Repeat("k", 256)), http.StatusBadRequest)
	now = now.Add(24 * time.Hour)
	refused(t, ask(s, "POST", "/api/v1/redrives", body, "Idempotency-Key", "k-1"), http.StatusConflict) // forgotten: it ran again
}

func TestIdempotencyKeyOfARequestThatRuns(t *testing.T) {
	w := story()
	w.block, w.entered = make(chan struct{}), make(chan struct{})
	s := w.server(t)
	var wg sync.WaitGroup
	wg.Go(func() { ask(s, "POST", "/api/v1/redrives", `{"ids":["dl_json"]}`, "Idempotency-Key", "k") })
	<-w.entered
	refused(t, ask(s, "POST", "/api/v1/redrives", `{"ids":["dl_json"]}`, "Idempotency-Key", "k"), http.StatusConflict)
	close(w.block)
	wg.Wait()
}

// TestIdempotencyKeyAfterACrash: a key that an earlier process left running is
// not stuck for a day.
func TestIdempotencyKeyAfterACrash(t *testing.T) {
	w := story()
	c := w.config()
	keys := newMemoryKeys()
	c.Keys = keys
	const body = `{"ids":["dl_json"]}`
	sum := sha(body)
	if _, err := keys.Claim(t.Context(), localUser, "/api/v1/redrives", "k", sum, thursday); err != nil {
		t.Fatal(err)
	}
	object(t, ask(newServer(t, c), "POST", "/api/v1/redrives", body, "Idempotency-Key", "k"), http.StatusAccepted)
}

func TestIdempotencyKeyIsFreeAfterOurOwnFault(t *testing.T) {
	w := story()
	w.err = http.ErrServerClosed
	s := w.server(t)
	refused(t, ask(s, "POST", "/api/v1/redrives", `{"ids":["dl_json"]}`, "Idempotency-Key", "k"), http.StatusInternalServerError)
	w.err = nil
	object(t, ask(s, "POST", "/api/v1/redrives", `{"ids":["dl_json"]}`, "Idempotency-Key", "k"), http.StatusAccepted)
}

// send posts a form as a page of ours does.
func send(s http.Handler, path string, values url.Values) *http.Response {
	return ask(s, "POST", path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin").Result()
}

func TestFormsSelectWhatIsTicked(t *testing.T) {
	for name, c := range map[string]struct {
		form url.Values
		want func(review.Selection) bool
	}{
		"a cause":     {url.Values{"cause": {"c-61"}}, func(s review.Selection) bool { return s.Cause == "c-61" }},
		"two causes":  {url.Values{"cause": {"c-61", "c-44"}}, func(s review.Selection) bool { return slices.Equal(s.Filter.Causes, []string{"c-61", "c-44"}) }},
		"letters":     {url.Values{"letter": {"dl_json", "a/b%", "dl_json"}}, func(s review.Selection) bool { return slices.Equal(s.IDs, []string{"dl_json", "a/b%"}) }},
		"a whole one": {url.Values{"whole": {"c-61"}, "letter": {"dl_json"}}, func(s review.Selection) bool { return s.Cause == "c-61" }},
		"the rest":    {url.Values{"plan": {"pl_1"}, "without": {"refused"}}, func(s review.Selection) bool { return s.Of == "pl_1" && s.Without == review.LeaveRefused }},
		"unwarned":    {url.Values{"plan": {"pl_1"}, "without": {"returned_before"}}, func(s review.Selection) bool { return s.Of == "pl_1" && s.Without == "returned_before" }},
		"once more":   {url.Values{"plan": {"pl_1"}, "again": {"yes"}}, func(s review.Selection) bool { return s.Of == "pl_1" && s.Without == "" }},
	} {
		w := story()
		a := send(w.server(t), "/redrives/plans", c.form)
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/redrives/plans/pl_1" {
			t.Fatalf("%s: %d to %q", name, a.StatusCode, a.Header.Get("Location"))
		}
		if len(w.asked) != 1 || !c.want(w.asked[0].Selection) {
			t.Errorf("%s: asked for %+v", name, w.asked)
		}
	}
	if a := send(story().server(t), "/redrives/plans", url.Values{}); a.StatusCode != http.StatusBadRequest {
		t.Errorf("nothing selected: %d", a.StatusCode)
	}
}

// TestC107DoubleClickEndsAtOneJob: the second press, a reload and a proxy's
// second try are led to the job that the first one started.
func TestC107DoubleClickEndsAtOneJob(t *testing.T) {
	w := story()
	s := w.server(t)
	first := send(s, "/redrives", url.Values{"plan": {"pl_1"}, "confirm": {"returned_before"}})
	w.err = &review.ConflictError{Redrive: "rd_1"}
	second := send(s, "/redrives", url.Values{"plan": {"pl_1"}, "confirm": {"returned_before"}})
	for i, a := range []*http.Response{first, second} {
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/redrives/rd_1" {
			t.Errorf("press %d: %d to %q", i+1, a.StatusCode, a.Header.Get("Location"))
		}
	}
}

// TestC105PlanIsFrozen: the page starts the plan that it showed, and nothing
// that it selects anew.
func TestC105PlanIsFrozen(t *testing.T) {
	w := story()
	send(w.server(t), "/redrives", url.Values{"plan": {"pl_1"}, "cause": {"c-61"}, "letter": {"dl_null"}})
	if r := w.asked[0]; r.Plan != "pl_1" || r.IDs != nil || r.Cause != "" || r.Filter != nil {
		t.Errorf("asked for %+v", r)
	}
}

func TestPlanPageSaysWhyItDidNotStart(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{&review.PlanChangedError{Difference: []string{"group audit came"}}, http.StatusConflict, "group audit came"},
		{&review.NeedsConfirmationError{Warnings: []review.Warning{{Code: "returned_before"}}}, http.StatusUnprocessableEntity, "confirm"},
		{&review.RefusedError{Letters: []review.Refusal{{LetterID: "a/b%", Refused: "no_target"}}}, http.StatusUnprocessableEntity, "cannot be sent"},
	} {
		w := story()
		w.err = c.err
		a := ask(w.server(t), "POST", "/redrives", "plan=pl_1", "Content-Type", "application/x-www-form-urlencoded")
		if a.Code != c.status || !strings.Contains(a.Body.String(), c.says) {
			t.Errorf("%v: %d without %q", c.err, a.Code, c.says)
		}
	}
}

func TestFormsOfOtherKindsAreRefused(t *testing.T) {
	w := story()
	s := w.server(t)
	for _, kind := range []string{"multipart/form-data; boundary=x", "text/plain", "application/json"} {
		if a := ask(s, "POST", "/redrives", "plan=pl_1", "Content-Type", kind); a.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", kind, a.Code)
		}
	}
	if a := ask(s, "POST", "/redrives?plan=pl_1", "", "Content-Type", "application/x-www-form-urlencoded"); a.Code != http.StatusBadRequest {
		t.Errorf("a plan in the query: %d", a.Code)
	}
	if a := ask(s, "POST", "/redrives/plans", "letter="+strings.Repeat("x", mostBody), "Content-Type", "application/x-www-form-urlencoded"); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge form: %d", a.Code)
	}
	if len(w.asked) != 0 {
		t.Errorf("the desk was asked: %+v", w.asked)
	}
}

// TestJobOutlivesItsLetters: what was decided long ago is no longer kept.
func TestJobOutlivesItsLetters(t *testing.T) {
	w := story()
	w.letters = w.letters[:1]
	if a := get(w.server(t), "/redrives/rd_1"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "it_2") && !strings.Contains(a.Body.String(), "a/b%") {
		t.Errorf("%d", a.Code)
	}
}

// TestC108ThePageSaysWhoHasThemAndOffersTheOthers: 42 of your 50 are taken.
func TestC108ThePageSaysWhoHasThemAndOffersTheOthers(t *testing.T) {
	w := story()
	w.planErr = &review.ConflictError{
		IDs: []string{"dl_1", "dl_2"}, Total: 3, Free: []string{"dl_3"},
		Holds: []review.Hold{{Redrive: "rd_1", By: "asha", Status: review.Redriving, Count: 2, IDs: []string{"dl_1", "dl_2"}}},
	}
	a := send(w.server(t), "/redrives/plans", url.Values{"letter": {"dl_1", "dl_2", "dl_3"}})
	page, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusConflict {
		t.Fatalf("%d, %v", a.StatusCode, err)
	}
	for _, want := range []string{"2 of your 3 letters are taken", "in redrive rd_1 by asha", `name="letter" value="dl_3"`, "Plan the other 1"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	o := object(t, ask(w.server(t), "POST", "/api/v1/redrives", `{"ids":["dl_1"],"dry_run":true}`), http.StatusConflict)
	if at(t, o, "free", 0) != "dl_3" {
		t.Errorf("%v", o)
	}
}

// TestABrokerThatIsDownIsNobodysFault: it is said, and asking again may do.
func TestABrokerThatIsDownIsNobodysFault(t *testing.T) {
	w := story()
	w.planErr = fmt.Errorf("%w: ask payments about orders: connection refused", review.ErrUnavailable)
	code, message := refused(t, ask(w.server(t), "POST", "/api/v1/redrives", `{"ids":["dl_json"],"dry_run":true}`), http.StatusServiceUnavailable)
	if code != codeUnavailable || !strings.Contains(message, "connection refused") {
		t.Errorf("%s: %s", code, message)
	}
}
