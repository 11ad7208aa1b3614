package web

import (
	"net/http"
	"strings"
	"testing"
)

const redriveOne = `{"ids":["dl_json"]}`

// TestForeignWritesAreRefused: a page of another site can make a browser send
// a request, and nothing comes of it.
func TestForeignWritesAreRefused(t *testing.T) {
	for _, foreign := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "http://127.0.0.1:9999"},
		{"Origin", "https://127.0.0.1:8080"}, // another scheme is another origin
		{"Origin", "null"},
		{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"},
		{"Origin", "://"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "http://127.0.0.1:8080"},
	} {
		w := story()
		s := w.server(t)
		for _, path := range []string{"/api/v1/redrives", "/redrives", "/redrives/plans", "/nothing"} {
			a := ask(s, "POST", path, redriveOne, append([]string{"Content-Type", "text/plain"}, foreign...)...)
			if a.Code != http.StatusForbidden {
				t.Errorf("%v to %s: %d", foreign, path, a.Code)
			}
		}
		refused(t, ask(s, "POST", "/api/v1/redrives", redriveOne, foreign...), http.StatusForbidden)
		if len(w.asked) != 0 {
			t.Errorf("%v: the desk was asked", foreign)
		}
	}
}

func TestOwnWritesAreTaken(t *testing.T) {
	c := story().config()
	c.BaseURL = "https://ops.example.com/dlq"
	s := newServer(t, c)
	for _, own := range [][]string{
		{},
		{"Origin", "http://127.0.0.1:8080"},
		{"Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none"},
		{"Origin", "https://ops.example.com"}, // a proxy that rewrites Host
		{"Host", "ops.example.com", "Origin", "https://ops.example.com", "Sec-Fetch-Site", "same-origin"},
	} {
		if a := ask(s, "POST", "/api/v1/redrives", redriveOne, own...); a.Code != http.StatusAccepted {
			t.Errorf("%v: %d %s", own, a.Code, a.Body)
		}
	}
}

// TestReadingFromElsewhereIsNoCrime: links from a pager or a chat lead here.
func TestReadingFromElsewhereIsNoCrime(t *testing.T) {
	if a := ask(story().server(t), "GET", "/", "", "Sec-Fetch-Site", "cross-site"); a.Code != http.StatusOK {
		t.Errorf("%d", a.Code)
	}
}

// TestC114UnknownHostIsRefused: under DNS rebinding a foreign page is the same
// origin as a loopback address, but for the name.
func TestC114UnknownHostIsRefused(t *testing.T) {
	s := story().server(t)
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "127.0.0.1": 200, "127.3.4.5:1": 200, "localhost": 200, "LOCALHOST:8080": 200, "localhost.:8080": 200,
		"dev.localhost:8080": 200, "[::1]:8080": 200, "[::1]": 200,
		"evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "0.0.0.0:8080": 403,
		"10.0.0.1": 403, "notlocalhost": 403, "": 403,
	} {
		for _, path := range []string{"/", "/api/v1/lag", "/healthz"} {
			if a := ask(s, "GET", path, "", "Host", host); a.Code != want {
				t.Errorf("%s at %q: %d, want %d", path, host, a.Code, want)
			}
		}
	}
	refused(t, ask(s, "GET", "/api/v1/lag", "", "Host", "evil.example"), http.StatusForbidden)
}

// TestC114NothingIsEvaluated: what is searched for is words and nothing else.
func TestC114NothingIsEvaluated(t *testing.T) {
	w := story()
	s := w.server(t)
	for _, text := range []string{"{{7*7}}", "${7*7}", "(a+)+$", "new File('/etc/passwd').text", "../../etc/passwd"} {
		ask(s, "GET", "/api/v1/dead-letters?q="+escape(text), "")
		if got := w.filters[len(w.filters)-1].Text; got != text {
			t.Errorf("%q reached the store as %q", text, got)
		}
		if page := get(s, "/review?q="+escape(text)).Body.String(); strings.Contains(page, `value="49"`) {
			t.Errorf("%q was evaluated", text)
		}
	}
}

// TestC117HostWithAnUnderscore: the name in base_url is served as it is, and
// redirects keep it.
func TestC117HostWithAnUnderscore(t *testing.T) {
	for base, host := range map[string]string{
		"https://my_app.apps.example.com/ops": "my_app.apps.example.com",
		"http://[2001:db8::1]:8443/ops":       "[2001:db8::1]:8443",
	} {
		c := story().config()
		c.BaseURL = base
		s := newServer(t, c)
		if a := ask(s, "GET", "/ops/lag", "", "Host", host); a.Code != http.StatusOK {
			t.Errorf("%s: %d", host, a.Code)
		}
		if a := ask(s, "GET", "/ops", "", "Host", host); a.Header().Get("Location") != "/ops/" {
			t.Errorf("%s: redirected to %q", host, a.Header().Get("Location"))
		}
	}
}

func TestBaseURLMustBeOne(t *testing.T) {
	for _, base := range []string{"ops.example.com/dlq", "ftp://ops.example.com", "https://", "http://[::1", "javascript:alert(1)"} {
		c := story().config()
		c.BaseURL = base
		if _, err := New(c); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
}

func TestMethodsThatNobodyNeeds(t *testing.T) {
	w := story()
	s := w.server(t)
	for _, method := range []string{"TRACE", "PUT", "PATCH", "DELETE"} {
		if a := ask(s, method, "/redrives", ""); a.Code != http.StatusMethodNotAllowed || a.Header().Get("Allow") == "" {
			t.Errorf("%s: %d, Allow %q", method, a.Code, a.Header().Get("Allow"))
		}
	}
	ask(s, "GET", "/redrives?_method=POST&plan=pl_1", "")
	ask(s, "GET", "/redrives", "", "X-HTTP-Method-Override", "POST")
	if len(w.asked) != 0 {
		t.Error("a method was overridden")
	}
}
