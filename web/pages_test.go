package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/static"
)

const incident142 = "/incidents/01991f2e-0000-7000-8000-000000000142"

// allPages are the addresses of every page over the story.
var allPages = []string{
	"/", "/lag", "/lag?group=payment-retry-consumer-group", "/review", "/review?q=pay", "/causes/c-61", "/causes/c-44?status=all",
	"/letters/dl_json", "/letters/dl_null", "/letters/dl_empty", "/letters/dl_binary", "/letters/dl_evil", "/letters/dl_forgotten", "/letters/a%2Fb%25",
	"/redrives", "/redrives/rd_1", "/redrives/rd_1?state=planned", "/redrives/plans/pl_1", "/incidents", "/incidents?status=open", incident142, "/queues",
}

var (
	inlineScript = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]`)
	inlineHook   = regexp.MustCompile(`(?i)<[a-z][a-z0-9-]*(?:\s+[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?)*?\s+on[a-z]+\s*=`)
	inlineStyle  = regexp.MustCompile(`(?i)<[a-z][a-z0-9-]*(?:\s+[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?)*?\s+style\s*=`)
	foreignLoad  = regexp.MustCompile(`(?i)<(?:script|img|iframe|link)[^>]+(?:src|href)\s*=\s*["']?(?:https?:)?//`)
)

func TestEveryPageIsAPage(t *testing.T) {
	s := story().server(t)
	for _, path := range allPages {
		a := get(s, path)
		body := a.Body.String()
		if a.Code != http.StatusOK || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, a.Code, a.Header().Get("Content-Type"))
		}
		if !strings.Contains(body, "<title>") || !strings.Contains(body, "<h1") {
			t.Errorf("%s has no title or heading", path)
		}
		for what, bad := range map[string]*regexp.Regexp{"a script": inlineScript, "a hook": inlineHook, "a style": inlineStyle, "something from elsewhere": foreignLoad} {
			if found := bad.FindString(body); found != "" {
				t.Errorf("%s has %s: %.100s", path, what, found)
			}
		}
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	s := story().server(t)
	for _, path := range append([]string{"/nothing", "/api/v1/lag", "/api/v1/nothing", "/healthz", "/metrics"}, allPages...) {
		h := get(s, path).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestForeignTextIsOnlyText(t *testing.T) {
	s := story().server(t)
	for _, path := range allPages {
		if body := get(s, path).Body.String(); strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") {
			t.Errorf("%s has markup of a letter in it", path)
		}
	}
	if body := get(s, "/letters/dl_evil").Body.String(); !strings.Contains(body, "alert(1)") {
		t.Error("the letter's page does not show its body")
	}
	if body := get(s, "/nothing/"+escape(evil)).Body.String(); strings.Contains(body, "<img src=x") {
		t.Error("the error page has markup of the address in it")
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	s := story().server(t)
	for _, path := range append([]string{"/healthz", "/metrics", "/api/v1/lag", "/api/v1/events", "/api/v1/dead-letters/dl_json/value", static.Path("unwedge.js")}, allPages...) {
		a := ask(s, "HEAD", path, "")
		if a.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, a.Code)
		}
	}
}

// TestNowTellsTheStory: which line, since when, how much waits, what stands at
// the head; in the zone of the configuration.
func TestNowTellsTheStory(t *testing.T) {
	body := text(get(story().server(t), "/").Body.String())
	for _, says := range []string{"payment.retry.requests is wedged at or after offset 118,204", "02:36 IST", "12,412", `"INRR"`, "The other five move", "oncall", "Nothing"} {
		if says == "Nothing" {
			if strings.Contains(body, "Nothing is wedged") {
				t.Error("it says that nothing is wedged")
			}
			continue
		}
		if !strings.Contains(body, says) {
			t.Errorf("it does not say %q", says)
		}
	}
}

func TestNowNamesASourceThatIsDown(t *testing.T) {
	w := story()
	w.board.Sources[0].Err = "dial tcp: connection refused"
	body := text(get(w.server(t), "/").Body.String())
	if !strings.Contains(body, "payments") || !strings.Contains(body, "connection refused") {
		t.Error("the page does not name the source that cannot be read, and why")
	}
}

func TestEmptyWorldHasEveryPage(t *testing.T) {
	s := (&world{}).server(t)
	for _, path := range []string{"/", "/lag", "/review", "/review?q=x", "/redrives", "/incidents", "/queues"} {
		if a := get(s, path); a.Code != http.StatusOK {
			t.Errorf("%s: %d %.200s", path, a.Code, a.Body)
		}
	}
}

// TestC97TimesAreInOneNamedZone: without script in time_zone, exactly in UTC on
// hover, and never in the browser's guess.
func TestC97TimesAreInOneNamedZone(t *testing.T) {
	body := get(story().server(t), incident142).Body.String()
	if !strings.Contains(body, `datetime="2026-09-09T21:06:12Z"`) || !strings.Contains(body, "IST") {
		t.Error("no instant in UTC beside the zone's own")
	}
}

// TestC96MidnightIsZeroHours: 00:15 is never 24:15.
func TestC96MidnightIsZeroHours(t *testing.T) {
	w := story()
	c := w.config()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	c.TimeZone = zone
	w.letters[0].DeadAt = time.UnixMilli(1672647300792).UTC()
	body := text(get(newServer(t, c), "/letters/dl_json").Body.String())
	if !strings.Contains(body, "00:15") || strings.Contains(body, "24:15") {
		t.Error("midnight is not 00:15")
	}
}

// TestC101PagesHoldStill: the next page goes on after the last row, and each
// page has an address that shows its rows again.
func TestC101PagesHoldStill(t *testing.T) {
	w := story()
	for n := range 120 {
		l := w.letters[0]
		l.ID = "dl_more_" + string(rune('a'+n/26)) + string(rune('a'+n%26))
		w.letters = append(w.letters, l)
	}
	s := w.server(t)
	rows := regexp.MustCompile(`name="letter" value="([^"]+)"`)
	next := regexp.MustCompile(`href="(/causes/c-61\?cursor=[^"]+)"`)
	seen, path := map[string]int{}, "/causes/c-61"
	for range 10 {
		body := get(s, path).Body.String()
		if again := get(s, path).Body.String(); again != body {
			t.Fatal("the same address shows other rows")
		}
		for _, r := range rows.FindAllStringSubmatch(body, -1) {
			seen[r[1]]++
		}
		found := next.FindStringSubmatch(body)
		if found == nil {
			break
		}
		path = strings.ReplaceAll(found[1], "&amp;", "&")
	}
	if len(seen) != len(w.letters) {
		t.Errorf("%d rows of %d", len(seen), len(w.letters))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was listed %d times", id, n)
		}
	}
}

// TestC109FiltersAreInTheAddress: every filter of a list is kept by its links
// and its form.
func TestC109FiltersAreInTheAddress(t *testing.T) {
	w := story()
	s := w.server(t)
	body := get(s, "/review?source=payments&queue=orders.dlq&q=pay&status=all").Body.String()
	if f := w.filters[len(w.filters)-1]; !sameFilter(f, review.Filter{Sources: []string{"payments"}, Queues: []string{"orders.dlq"}, Text: "pay", Status: statuses}) {
		t.Errorf("filter %+v", f)
	}
	for _, kept := range []string{`value="pay"`, "badge=back&amp;q=pay&amp;queue=orders.dlq&amp;source=payments&amp;status=all"} {
		if !strings.Contains(body, kept) {
			t.Errorf("the page does not keep %s", kept)
		}
	}
	if lag := get(s, "/lag?group=a%2Fb%25&verdict=unknown").Body.String(); !strings.Contains(lag, `value="a/b%"`) || !strings.Contains(lag, "group=a%2Fb%25&amp;verdict=ok") {
		t.Error("the page Lag does not keep its filters")
	}
}

func TestWrongFiltersOfPagesAreTold(t *testing.T) {
	s := story().server(t)
	for _, path := range []string{"/lag?verdict=fine", "/review?status=nonsense", "/review?cursor=nonsense", "/incidents?status=x", "/redrives?cursor=x", "/queues?cursor=x", "/redrives/rd_1?state=x", "/letters/dl_json?body=half"} {
		if a := get(s, path); a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), "<h1") {
			t.Errorf("%s: %d", path, a.Code)
		}
	}
	if a := get(s, "/lag?utm_source=mail"); a.Code != http.StatusOK {
		t.Errorf("a parameter that a mail program added: %d", a.Code)
	}
}

// TestC118OneBadSourceHidesNoOther: the pages have what could be read, and say
// of each source how it is.
func TestC118OneBadSourceHidesNoOther(t *testing.T) {
	w := story()
	w.board.Sources = append(w.board.Sources, alerts.SourceRead{Source: "ledger", Err: "SASL: authentication failed"})
	body := text(get(w.server(t), "/lag").Body.String())
	for _, says := range []string{"payment-retry-consumer-group", "ledger", "authentication failed"} {
		if !strings.Contains(body, says) {
			t.Errorf("the page Lag does not say %q", says)
		}
	}
}

func TestQueuesPageSaysWhatIsNotKnown(t *testing.T) {
	body := text(get(story().server(t), "/queues").Body.String())
	for _, says := range []string{"orders.dlq", "jobs-dlq", "AccessDenied", "It keeps letters for 4 days."} {
		if !strings.Contains(body, says) {
			t.Errorf("it does not say %q", says)
		}
	}
}

func TestLetterPageShowsWireOrderAndMeaning(t *testing.T) {
	body := text(get(story().server(t), "/letters/dl_json").Body.String())
	for _, says := range []string{"9007199254740993", "1E400", "partition 3", "404,269", "00 00 00 03", "spring-retryable", "null", "dropped", "kept"} {
		if !strings.Contains(body, says) {
			t.Errorf("it does not say %q", says)
		}
	}
}

func TestStaticFilesAreKeptByTheirHash(t *testing.T) {
	s := story().server(t)
	a := get(s, static.Path("base.css"))
	if a.Code != http.StatusOK || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/css") || !strings.Contains(a.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%d %v", a.Code, a.Header())
	}
	if old := get(s, "/static/older/base.css"); old.Code != http.StatusOK || old.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("of another version: %d %q", old.Code, old.Header().Get("Cache-Control"))
	}
	for _, path := range []string{"/static/x/nothing.css", "/static/x/..%2fserver.go", "/static/x/", "/static", "/static/x/static.go"} {
		if a := get(s, path); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Code)
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// text is what a reader sees of a page, with its spaces made even.
func text(page string) string {
	page = regexp.MustCompile(`<wbr/?>`).ReplaceAllString(page, "")
	page = tags.ReplaceAllString(page, " ")
	page = strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(page)
	page = strings.Join(strings.Fields(page), " ")
	return strings.NewReplacer(" .", ".", " ,", ",").Replace(page)
}
