package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/store"
)

// BenchmarkReviewPage serves pages over 100,000 letters in 40 causes, through
// HTTP and with everything that stands around a page, and reports the 99th
// percentile.
func BenchmarkReviewPage(b *testing.B) {
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "unwedge.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	var cause, letter string
	for from := 0; from < 100_000; from += 1000 {
		look := arrivals(from, 1000)
		if _, err := db.Take(b.Context(), look); err != nil {
			b.Fatal(err)
		}
		cause, letter = look.Causes[0].ID, look.Letters[0].ID
	}
	c := defaults()
	h, err := c.furnish(db, nil, slog.New(slog.DiscardHandler), scenery{})
	if err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{
		"now": "/", "review": "/review", "cause": "/causes/" + cause, "letter": "/letters/" + letter, "search": "/review?q=pay_000007", "api": "/api/v1/dead-letters?limit=100",
	} {
		b.Run(name, func(b *testing.B) { serveMany(b, h.server, path) })
	}
}

// arrivals is a look that brought n letters of about a kilobyte.
func arrivals(from, n int) review.Look {
	look := review.Look{Source: "payments", Queue: "payment.events.dlq", At: time.Now(), Cursor: fmt.Append(nil, from+n), Scanned: true}
	named := map[string]bool{}
	for i := from; i < from+n; i++ {
		d := sources.DeadLetter{
			Source: look.Source, Queue: look.Queue, Place: sources.Place{TopicID: "t", Partition: int32(i % 6), Offset: int64(i / 6)},
			Key: fmt.Appendf(nil, "pay_%06d", i), Body: fmt.Appendf(nil, `{"payment_id":"pay_%06d","currency":"INRR","amount_minor":%d,"note":%q}`, i, i*7, filler),
			Headers: []sources.Header{{Name: "traceparent", Value: []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")}},
			DeadAt:  look.At.Add(time.Duration(i-100_000) * time.Second), Reason: sources.Reason{Class: fmt.Sprintf("com.acme.Failure%d", i%40), Message: "it failed"},
		}
		id, title, why := review.Fingerprint(d)
		if !named[id] {
			named[id] = true
			look.Causes = append(look.Causes, review.Cause{ID: id, Title: title, Why: why})
		}
		look.Letters = append(look.Letters, review.Letter{
			ID: review.LetterID(d), DeadLetter: d, CauseID: id, Status: review.Open, FoundAt: look.At, BodyKept: true, Size: int64(len(d.Body)),
		})
	}
	return look
}

var filler = func() string {
	var text []byte
	for i := range 110 {
		text = fmt.Appendf(text, "w%d ", i*i)
	}
	return string(text)
}()

func serveMany(b *testing.B, server http.Handler, path string) {
	var took []time.Duration
	for b.Loop() {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://127.0.0.1:8080"+path, nil)
		w := httptest.NewRecorder()
		start := time.Now()
		server.ServeHTTP(w, r)
		took = append(took, time.Since(start))
		if w.Code != http.StatusOK {
			text, _ := io.ReadAll(w.Body)
			b.Fatalf("%s: %d %.300s", path, w.Code, text)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}
