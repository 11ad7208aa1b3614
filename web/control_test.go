package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/review"
)

func TestOrdersReachTheRedriveAndAnswerWithIt(t *testing.T) {
	w := story()
	s := w.server(t)
	for _, one := range []struct{ path, body, want string }{
		{"/api/v1/redrives/rd_1/pause", "", "local: pause rd_1"},
		{"/api/v1/redrives/rd_1/resume", "{}", "local: resume rd_1"},
		{"/api/v1/redrives/rd_1/cancel", "{}", "local: cancel rd_1"},
		{"/api/v1/redrives/rd_1/rate", `{"rate_per_second":2.5}`, "local: 2.5 a second rd_1"},
		{"/api/v1/redrives/rd_1/rate", `{"rate_per_second":null}`, "local: 0 a second rd_1"},
		{"/api/v1/redrives/items/it_1/settle", `{"as":"not_sent"}`, "local: not_sent it_1"},
	} {
		object(t, ask(s, "POST", one.path, one.body), http.StatusOK)
		if got := w.orders[len(w.orders)-1]; got != one.want {
			t.Errorf("POST %s %s: %q, want %q", one.path, one.body, got, one.want)
		}
	}
}

func TestOrdersOfThePageWorkWithoutScript(t *testing.T) {
	w := story()
	s := w.server(t)
	for _, one := range []struct {
		path string
		form url.Values
		want string
	}{
		{"/redrives/rd_1", url.Values{"do": {"pause"}}, "local: pause rd_1"},
		{"/redrives/rd_1", url.Values{"do": {"rate"}, "rate": {"12"}}, "local: 12 a second rd_1"},
		{"/redrives/rd_1", url.Values{"do": {"rate"}, "rate": {""}}, "local: 0 a second rd_1"},
		{"/redrives/items/it_1/settle", url.Values{"as": {"sent"}}, "local: sent it_1"},
	} {
		a := send(s, one.path, one.form)
		if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/redrives/rd_") || w.orders[len(w.orders)-1] != one.want {
			t.Errorf("%s %v: %d to %q, %v", one.path, one.form, a.StatusCode, a.Header.Get("Location"), w.orders)
		}
	}
	if a := send(s, "/redrives/rd_1", url.Values{"do": {"explode"}}); a.StatusCode != http.StatusBadRequest {
		t.Errorf("an order that is none: %d", a.StatusCode)
	}
}

// TestAPlanStartsAtThePaceOfItsPage: the page has the canary on, the API off.
func TestAPlanStartsAtThePaceOfItsPage(t *testing.T) {
	w := story()
	s := w.server(t)
	send(s, "/redrives", url.Values{"plan": {"pl_1"}, "canary": {"yes"}, "rate": {"5"}})
	object(t, ask(s, "POST", "/api/v1/redrives", `{"plan":"pl_1","rate_per_second":7}`), http.StatusAccepted)
	want := []review.Pace{{RatePerSecond: 5, Canary: true}, {RatePerSecond: 7}}
	if len(w.asked) != 2 || *w.asked[0].OtherPace != want[0] || *w.asked[1].OtherPace != want[1] {
		t.Errorf("asked for %+v", w.asked)
	}
}

// TestAnotherTargetIsShownBeforeItIsStarted: what is pressed is what was shown.
func TestAnotherTargetIsShownBeforeItIsStarted(t *testing.T) {
	w := story()
	a := send(w.server(t), "/redrives", url.Values{"plan": {"pl_1"}, "canary": {"yes"}, "to": {"orders.retry"}})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/redrives/plans/pl_1" {
		t.Fatalf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if len(w.asked) != 1 || w.asked[0].Plan != "" || w.asked[0].To != "orders.retry" || w.asked[0].Of != "pl_1" {
		t.Errorf("asked for %+v, want a plan of the same letters for orders.retry", w.asked)
	}
}
