package web

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func escape(s string) string { return url.QueryEscape(s) }

// address finds what a page refers to.
var refers = regexp.MustCompile(`\s(?:href|src|action|formaction)="([^"]*)"`)

// TestC110EverythingStaysUnderTheBasePath: with a proxy that strips the prefix,
// and with one that does not, pages, files, forms, redirects and the event
// stream are where the pages say that they are.
func TestC110EverythingStaysUnderTheBasePath(t *testing.T) {
	c := story().config()
	c.BaseURL = "https://ops.example.com/ops/dlq/"
	for name, prefix := range map[string]string{"stripped": "", "not stripped": "/ops/dlq"} {
		s := newServer(t, c)
		for _, path := range allPages {
			a := get(s, prefix+path)
			if a.Code != http.StatusOK {
				t.Fatalf("%s, %s: %d", name, path, a.Code)
			}
			for _, found := range refers.FindAllStringSubmatch(a.Body.String(), -1) {
				if to := found[1]; !strings.HasPrefix(to, "/ops/dlq/") && !strings.HasPrefix(to, "#") {
					t.Errorf("%s, %s leads to %q", name, path, to)
				}
			}
		}
		for _, path := range []string{"/api/v1/lag", "/api/v1/openapi.json", "/healthz", "/metrics"} {
			if a := get(s, prefix+path); a.Code != http.StatusOK {
				t.Errorf("%s, %s: %d", name, path, a.Code)
			}
		}
		if a := ask(s, "POST", prefix+"/redrives", "plan=pl_1", "Content-Type", "application/x-www-form-urlencoded"); a.Header().Get("Location") != "/ops/dlq/redrives/rd_1" {
			t.Errorf("%s: sent to %q", name, a.Header().Get("Location"))
		}
	}
}

func TestC110BasePathWithoutItsSlash(t *testing.T) {
	c := story().config()
	c.BaseURL = "https://ops.example.com/ops/dlq"
	s := newServer(t, c)
	if a := get(s, "/ops/dlq?q=x"); a.Code != http.StatusPermanentRedirect || a.Header().Get("Location") != "/ops/dlq/?q=x" {
		t.Errorf("%d to %q", a.Code, a.Header().Get("Location"))
	}
	if a := get(s, "/ops/dlqx"); a.Code != http.StatusNotFound {
		t.Errorf("a path that only begins alike: %d", a.Code)
	}
}

// TestIDsWithSlashesAreOneSegment: ids and groups are foreign names.
func TestIDsWithSlashesAreOneSegment(t *testing.T) {
	c := story().config()
	c.BaseURL = "https://ops.example.com/ops"
	s := newServer(t, c)
	for _, path := range []string{"/letters/a%2Fb%25", "/ops/letters/a%2Fb%25", "/ops/api/v1/dead-letters/a%2Fb%25"} {
		if a := get(s, path); a.Code != http.StatusOK {
			t.Errorf("%s: %d", path, a.Code)
		}
	}
	if page := get(s, "/redrives/plans/pl_1").Body.String(); !strings.Contains(page, "/ops/letters/a%2Fb%25") {
		t.Error("the plan's page does not link to its letter")
	}
}

// TestMountsAreBehindTheSameGate: what another package serves has the same
// headers, sees no base path, and takes nothing from other sites.
func TestMountsAreBehindTheSameGate(t *testing.T) {
	c := story().config()
	c.BaseURL = "http://localhost/ops"
	var seen []string
	c.Mounts = []Mount{{Path: "/demo", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path)
		io.WriteString(w, "demo")
	})}}
	s := newServer(t, c)
	if a := get(s, "/ops/demo"); a.Body.String() != "demo" || a.Header().Get("Content-Security-Policy") != policy {
		t.Errorf("%q %q", a.Body, a.Header())
	}
	get(s, "/demo/bell")
	ask(s, "POST", "/ops/demo", "do=deploy")
	if a := ask(s, "POST", "/demo", "do=deploy", "Origin", "https://evil.example"); a.Code != http.StatusForbidden {
		t.Errorf("a foreign write: %d", a.Code)
	}
	if got := strings.Join(seen, ", "); got != "GET /demo, GET /demo/bell, POST /demo" {
		t.Errorf("it saw %s", got)
	}
}
