package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Page is one event that the pager received.
type Page struct {
	At       time.Time
	Event    string // trigger, acknowledge, resolve
	DedupKey string
	Summary  string
	Severity string
	Body     string // the JSON as received
}

// Pager answers as PagerDuty's Events API v2 does and wakes nobody.
type Pager struct {
	server *http.Server

	mu       sync.Mutex
	received []Page
}

// mostPages bounds what a demo that is left running remembers.
const mostPages = 200

func startPager() (p *Pager, address string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	p = &Pager{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/enqueue", p.enqueue)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	return p, "http://" + listener.Addr().String() + "/v2/enqueue", nil
}

// NewRoutingKey makes a key of the form that PagerDuty's have.
func NewRoutingKey() string { return "demo" + rand.Text()[:24] + "demo" }

func (p *Pager) enqueue(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 512_000))
	var event struct {
		Action   string `json:"event_action"`
		DedupKey string `json:"dedup_key"`
		Payload  struct{ Summary, Severity string }
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err == nil && (event.Action == "" || event.DedupKey == "") {
		err = errors.New("event_action and dedup_key are needed")
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "invalid event", "message": "Event object is invalid", "errors": []string{err.Error()}})
		return
	}
	p.remember(Page{time.Now(), event.Action, event.DedupKey, event.Payload.Summary, event.Payload.Severity, string(body)})
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "success", "message": "Event processed", "dedup_key": event.DedupKey})
}

func (p *Pager) remember(page Page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, page)
	if len(p.received) > mostPages {
		p.received = p.received[len(p.received)-mostPages:]
	}
}

// Received is what came in so far, oldest first.
func (p *Pager) Received() []Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Page(nil), p.received...)
}

func (p *Pager) close() error { return p.server.Close() }
