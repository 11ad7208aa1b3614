package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// The kinds of events, as browsers listen for them.
const (
	LagEvent      = "lag"      // ids: "source/group" of groups whose reading changed
	LettersEvent  = "letters"  // ids of letters that came or changed
	RedriveEvent  = "redrive"  // ids of redrives
	IncidentEvent = "incident" // ids of incidents
)

// Bounds of the event stream.
const (
	mostStreams  = 256
	streamBuffer = 32 // events that a browser may be behind
	mostEventIDs = 500
	heartbeat    = 15 * time.Second
	writeWithin  = 10 * time.Second
)

// Events passes on what changed to every browser that listens. It keeps
// nothing: a browser that was away loads what it shows afresh.
type Events struct {
	mu      sync.Mutex
	streams map[chan []byte]struct{}
	closed  bool
}

// NewEvents makes a hub.
func NewEvents() *Events { return &Events{streams: map[chan []byte]struct{}{}} }

// Publish tells everyone who listens that things of a kind changed. It never
// waits: a browser that is too far behind is dropped, comes back by itself and
// loads what it shows afresh. Of more than 500 ids the first 500 are told.
func (e *Events) Publish(kind string, ids ...string) {
	message := encodeEvent(kind, ids)
	e.mu.Lock()
	defer e.mu.Unlock()
	for stream := range e.streams {
		select {
		case stream <- message:
		default:
			e.drop(stream)
		}
	}
}

func encodeEvent(kind string, ids []string) []byte {
	if len(ids) > mostEventIDs {
		ids = ids[:mostEventIDs]
	}
	data, _ := json.Marshal(map[string][]string{"ids": list(ids)}) // strings always marshal
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data)
}

// Close ends every stream; none is opened after it.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for stream := range e.streams {
		e.drop(stream)
	}
}

func (e *Events) drop(stream chan []byte) {
	delete(e.streams, stream)
	close(stream)
}

// listen opens a stream; it is closed when the listener is dropped.
func (e *Events) listen() (chan []byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, unavailable("the dashboard is stopping")
	case len(e.streams) >= mostStreams:
		return nil, unavailable("%d browsers listen already", mostStreams)
	}
	stream := make(chan []byte, streamBuffer)
	e.streams[stream] = struct{}{}
	return stream, nil
}

func (e *Events) leave(stream chan []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, listening := e.streams[stream]; listening {
		e.drop(stream)
	}
}

// showEvents streams what changes for as long as the browser listens.
func (s *Server) showEvents(c echo.Context) error {
	if err := noParameters(c); err != nil {
		return err
	}
	c.Response().Header().Set("Content-Type", "text/event-stream")
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	stream, err := s.Events.listen()
	if err != nil {
		return err
	}
	defer s.Events.leave(stream)
	c.Response().Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	s.stream(c, stream)
	return nil
}

// stream writes until the browser goes away, falls too far behind or the
// server stops. The time limits of the server hold for answers that end: this
// one has a limit for each write.
func (s *Server) stream(c echo.Context, events <-chan []byte) {
	control := http.NewResponseController(c.Response())
	_ = control.SetReadDeadline(time.Time{}) // a passed one would cancel the request
	write := func(message []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeWithin))
		_, err := c.Response().Write(message)
		return err == nil && control.Flush() == nil
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	message, open := []byte("retry: 2000\n: listening\n\n"), true
	for open && write(message) {
		select {
		case <-c.Request().Context().Done():
			return
		case <-ticker.C:
			message = []byte(": alive\n\n")
		case message, open = <-events:
		}
	}
}
