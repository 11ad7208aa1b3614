package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// policy is the Content-Security-Policy of every page: whatever a letter
// contains, nothing of it runs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders writes the headers that every answer has. The Referrer-Policy is
// same-origin and not no-referrer: under that one browsers send "Origin: null"
// with the forms of our own pages.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// gate refuses requests by where they come from.
type gate struct {
	origin *url.URL // of base_url; nil when there is none
	fetch  *http.CrossOriginProtection
}

func newGate(base *url.URL) (gate, error) {
	g := gate{fetch: http.NewCrossOriginProtection()}
	if base == nil || base.Host == "" {
		return g, nil
	}
	g.origin = &url.URL{Scheme: base.Scheme, Host: base.Host}
	return g, g.fetch.AddTrustedOrigin(g.origin.String())
}

// check refuses a Host that is not ours (DNS rebinding makes a foreign page
// the same origin as a loopback address) and every writing request that
// another site's page made.
func (g gate) check(r *http.Request) error {
	if !g.knowsHost(r.Host) {
		return forbidden("this address is not served under the name " + quoted(r.Host) + "; set base_url to the name that people use")
	}
	if isSafe(r.Method) || isSigned(r.URL.Path) {
		return nil
	}
	if g.fetch.Check(r) != nil || g.isForeign(r) {
		return forbidden("a request that changes something must come from the dashboard's own pages")
	}
	return nil
}

// isSigned tells whether messages to a path prove themselves by a signature, so
// that it does not matter from whose page they seem to come.
func isSigned(path string) bool { return strings.HasPrefix(path, pagerDutyPath) }

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// isForeign is stricter than http.CrossOriginProtection, which trusts
// Sec-Fetch-Site alone when there is one, and a trusted origin whatever
// Sec-Fetch-Site says.
func (g gate) isForeign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !isSelf(u, r) && !g.isOurs(u) {
			return origin != "null" || r.Header.Get("Sec-Fetch-Site") == ""
		}
	}
	return false
}

// isSelf tells whether an origin is the address that the request was sent to.
// This server speaks plain http; https before it is that of base_url.
func isSelf(origin *url.URL, r *http.Request) bool {
	return origin.Scheme == "http" && strings.EqualFold(origin.Host, r.Host)
}

func (g gate) isOurs(origin *url.URL) bool {
	return g.origin != nil && strings.EqualFold(g.origin.Scheme, origin.Scheme) && strings.EqualFold(g.origin.Host, origin.Host)
}

// knowsHost tells whether a request was sent to a name of the loopback
// interface or to the host of base_url.
func (g gate) knowsHost(hostport string) bool {
	host := strings.TrimSuffix(strings.ToLower(hostOf(hostport)), ".")
	if g.origin != nil && host == strings.ToLower(g.origin.Hostname()) {
		return true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// hostOf is the host of a Host header, without its port.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}
