package web

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unwedge/unwedge/review"
)

// slowDesk makes a plan for three minutes, or until nobody waits for it.
type slowDesk struct{ *world }

func (d slowDesk) Plan(ctx context.Context, r review.Request) (review.Plan, error) {
	select {
	case <-time.After(3 * time.Minute):
		return d.world.Plan(ctx, r)
	case <-ctx.Done():
		return review.Plan{}, ctx.Err()
	}
}

// TestAPlanOfAMillionLettersMayTakeMinutes: neither the budget of other requests
// nor the time-outs of the connection cut it off.
func TestAPlanOfAMillionLettersMayTakeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := story()
		config := w.config()
		config.Desk = slowDesk{w}
		s, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		p, stop := served(t, s)
		ours, theirs := net.Pipe()
		p.conns <- theirs
		body := `{"ids":["dl_json"],"dry_run":true}`
		_, err = fmt.Fprintf(ours, "POST /api/v1/redrives HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(ours), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Errorf("status %d", answer.StatusCode)
		}
		ours.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
