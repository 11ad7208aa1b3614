package web

import (
	"net/http"
	"net/url"
	"strings"
)

// underBase serves a handler below a base path, whether the proxy in front
// strips it or not. The handler sees paths without it, always with RawPath
// set: the router then splits the path as it was sent, and an id with a slash
// in it stays one segment.
func underBase(base string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if base != "" && path == base {
			redirect(w, r, base+"/")
			return
		}
		if rest, found := strings.CutPrefix(path, base+"/"); found {
			path = "/" + rest
		}
		plain, err := url.PathUnescape(path)
		if err != nil {
			plain = path
		}
		stripped := *r.URL
		stripped.Path, stripped.RawPath = plain, path
		inner := *r
		inner.URL = &stripped
		next.ServeHTTP(w, &inner)
	})
}

// redirect sends the reader to a path of this host, with the query kept. The
// address is relative: host and scheme stay those that the reader used.
func redirect(w http.ResponseWriter, r *http.Request, path string) {
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusPermanentRedirect)
}
