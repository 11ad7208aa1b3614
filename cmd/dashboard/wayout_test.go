package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	. "github.com/unwedge/unwedge/views/viewstest"
)

// TestTheWayOut is the night as it should be: the page arrives, one button stops
// the workers, parks the record, moves the position and starts them again; they
// drain the partition, the incident resolves, and the record is a letter in the
// review queue. All in a browser.
func TestTheWayOut(t *testing.T) {
	ctx := Browser(t)
	demo := startDemo(t)
	axe := Axe(t)
	Do(t, ctx, Window(1440))
	eventually(t, time.Minute, "the pager rings for a head-of-line stall", func() bool {
		one := wedged(t, demo)
		return one.Verdict == "head_of_line_stall" && len(one.Deliveries) == 1
	})
	text := func() string { return JS[string](t, ctx, `document.querySelector('#main').innerText`) }

	Do(t, ctx, Open(demo+"/incidents/"+wedged(t, demo).ID))
	Submit(t, ctx, chromedp.Click(`a[href*="/skips/new"]`))
	for _, want := range []string{"INRR", "payment.events.dlq", "3 members", "Nothing has been written"} {
		if !strings.Contains(text(), want) {
			t.Errorf("the plan does not say %q", want)
		}
	}
	Accessible(t, ctx, axe)
	Submit(t, ctx, chromedp.Click(`form[action$="/skips"] button.button-main`))
	Accessible(t, ctx, axe)
	eventually(t, 30*time.Second, "the page itself says that the partition moves", func() bool {
		return strings.Contains(text(), "the partition moves")
	})
	eventually(t, time.Minute, "the incident resolves", func() bool { return wedged(t, demo).ResolvedAt != nil })
	eventually(t, 20*time.Second, "the record is a letter in the review queue, once", func() bool {
		var found struct {
			DeadLetters []struct {
				Convention string
				Origin     struct {
					Queue     string
					Partition int
				}
			} `json:"dead_letters"`
		}
		get(t, demo+"/api/v1/dead-letters?limit=500&queue="+url.QueryEscape("payment.events.dlq"), &found)
		n := 0
		for _, l := range found.DeadLetters {
			if l.Origin.Queue == "payment.retry.requests" && l.Convention == "unwedge-parked" {
				n++
			}
		}
		return n == 1
	})
	if n := JS[int](t, ctx, fmt.Sprintf(`(async () => (await (await fetch(%q)).json()).groups[0].lag)()`, demo+"/api/v1/lag?group=payment-retry-consumer-group")); n > 50 {
		t.Errorf("%d records still wait", n)
	}
}
