package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	. "github.com/unwedge/unwedge/views/viewstest"
)

// startDemo runs the demo as the README's first command does, and gives its
// address.
func startDemo(t *testing.T) string {
	t.Helper()
	address := freeAddress(t)
	run(t, address, "demo", "--listen", address)
	return "http://" + address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().String()
}

// run runs a command of the program until the test ends, and waits until it is
// ready at an address.
func run(t *testing.T, address string, args ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var out bytes.Buffer
	ended := make(chan int, 1)
	p := program{getenv: os.LookupEnv, stdout: &out, stderr: &out}
	go func() { ended <- p.run(ctx, args) }()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != exitOK || t.Failed() {
			t.Errorf("%s ended with %d: %s", args[0], code, out.String())
		}
	})
	eventually(t, 20*time.Second, args[0]+" is ready", func() bool {
		answer, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// eventually waits on a condition.
func eventually(t *testing.T, within time.Duration, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		if is() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
		<-time.After(200 * time.Millisecond)
	}
}

func get(t *testing.T, address string, into any) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatalf("%s: %d %v", address, answer.StatusCode, err)
	}
}

type incident struct {
	ID, Group, Verdict string
	ResolvedAt         *string `json:"resolved_at"`
	Deliveries         []struct{ Event string }
}

// wedged is the incident of the story's group.
func wedged(t *testing.T, demo string) incident {
	var all struct{ Incidents []incident }
	get(t, demo+"/api/v1/incidents?group=payment-retry-consumer-group", &all)
	if len(all.Incidents) == 0 {
		return incident{}
	}
	return all.Incidents[len(all.Incidents)-1]
}

// TestTheStory is what a visitor of the demo sees and does: the page at night,
// the fix, the resolve, the redrive, what came of it, all in a browser.
func TestTheStory(t *testing.T) {
	ctx := Browser(t)
	demo := startDemo(t)
	begun := time.Now()

	Do(t, ctx, Window(1440))
	eventually(t, 20*time.Second, "the review queue is populated", func() bool {
		Do(t, ctx, Open(demo+"/review"))
		return JS[int](t, ctx, `document.querySelectorAll('input[name=cause]').length`) >= 5
	})
	eventually(t, time.Minute, "the pager rings for a head-of-line stall", func() bool {
		one := wedged(t, demo)
		return one.Verdict == "head_of_line_stall" && len(one.Deliveries) == 1
	})
	t.Logf("paged after %s", time.Since(begun).Round(time.Second))
	Do(t, ctx, Open(demo+"/"))
	for _, word := range []string{"payment.retry.requests", "INRR", "wedged"} {
		if !strings.Contains(JS[string](t, ctx, `document.querySelector('#main').innerText`), word) {
			t.Errorf("the page Now does not say %q", word)
		}
	}
	lookAtEveryPage(t, ctx, demo)

	press(t, ctx, demo, "deploy")
	eventually(t, time.Minute, "the incident resolves", func() bool { return wedged(t, demo).ResolvedAt != nil })
	redriveTheCause(t, ctx, demo)
	stopAndStart(t, ctx, demo)
}

// press presses a switch of the demo's page.
func press(t *testing.T, ctx context.Context, demo, what string) {
	t.Helper()
	Do(t, ctx, Open(demo+"/demo"))
	Submit(t, ctx, chromedp.Click(fmt.Sprintf(`button[name=do][value=%s]`, what)))
}

// redriveTheCause sends the letters with the malformed currency back; with the
// fix deployed their consumer takes them.
func redriveTheCause(t *testing.T, ctx context.Context, demo string) {
	var causes struct {
		Causes []struct {
			ID, Title string
			Count     int
		}
	}
	get(t, demo+"/api/v1/causes", &causes)
	for _, c := range causes.Causes {
		if !strings.Contains(c.Title, "InvalidCurrencyException") {
			continue
		}
		Do(t, ctx, Open(demo+"/review"), chromedp.Click(fmt.Sprintf(`input[name=cause][value=%q]`, c.ID)))
		Submit(t, ctx, chromedp.Click(`.actions .button-main`))
		for _, box := range JS[[]string](t, ctx, `[...document.querySelectorAll('input[name=confirm]')].map(e => e.value)`) {
			Do(t, ctx, chromedp.Click(fmt.Sprintf(`input[name=confirm][value=%q]`, box)))
		}
		// The page offers to go by canaries, which wait for what comes of each step.
		Do(t, ctx, chromedp.Click(`input[name=canary][value=no]`))
		Submit(t, ctx, chromedp.Click(`form[action$="/redrives"] button.button-main`))
		eventually(t, 30*time.Second, "the redrive ends", func() bool {
			var job struct {
				State  string
				Total  int
				Counts map[string]int
			}
			path := JS[string](t, ctx, `location.pathname`)
			get(t, demo+"/api/v1"+path, &job)
			return job.State == "done" && job.Counts["confirmed"]+job.Counts["consumed"] == job.Total && job.Total == c.Count
		})
		return
	}
	t.Errorf("no cause has the malformed currency: %+v", causes.Causes)
}

// stopAndStart stops the workers: what the pages show follows from what the
// workers do, and is not scripted.
func stopAndStart(t *testing.T, ctx context.Context, demo string) {
	press(t, ctx, demo, "stop")
	eventually(t, time.Minute, "the groups are seen to be stopped", func() bool {
		var lag struct {
			Groups []struct{ Group, Verdict string }
		}
		get(t, demo+"/api/v1/lag?group=payment-retry-consumer-group", &lag)
		return len(lag.Groups) == 1 && lag.Groups[0].Verdict == "stopped"
	})
	press(t, ctx, demo, "start")
}

// lookAtEveryPage has axe look at every page of the running demo, in both
// themes and on a phone, and takes pictures where UNWEDGE_SHOTS names a
// directory for them.
func lookAtEveryPage(t *testing.T, ctx context.Context, demo string) {
	axe := Axe(t)
	pages := map[string]string{
		"now": "/", "lag": "/lag", "review": "/review", "redrives": "/redrives", "incidents": "/incidents", "queues": "/queues", "demo": "/demo",
		"discards": "/discards", "audit": "/audit", "silences": "/silences", "notifiers": "/notifiers", "skips": "/skips",
		"incident": "/incidents/" + wedged(t, demo).ID, "missing": "/letters/nothing",
	}
	var found struct {
		DeadLetters []struct{ ID, Cause string } `json:"dead_letters"`
	}
	get(t, demo+"/api/v1/dead-letters?limit=1", &found)
	for _, l := range found.DeadLetters {
		pages["letter"], pages["cause"] = "/letters/"+l.ID, "/causes/"+l.Cause
		pages["edit"], pages["edit-many"] = "/letters/"+l.ID+"/edit", "/causes/"+l.Cause+"/edit"
		pages["plan"] = postForm(t, demo, "/redrives/plans", url.Values{"letter": {l.ID}})
		pages["discard"] = postForm(t, demo, "/discards", url.Values{"letter": {l.ID}})
	}
	for _, look := range []struct {
		name, theme string
		width       int64
	}{{"light", "light", 1440}, {"dark", "dark", 1440}, {"phone", "light", 390}} {
		for name, path := range pages {
			t.Run(name+" "+look.name, func(t *testing.T) {
				Do(t, ctx, Window(look.width), Scheme(look.theme), Open(demo+path))
				Accessible(t, ctx, axe)
				if dir := os.Getenv("UNWEDGE_SHOTS"); dir != "" {
					Shot(t, ctx, filepath.Join(dir, "demo-"+name+"-"+look.name+".png"))
				}
			})
		}
	}
}

// postForm sends a form as a page without script does, and gives the path that
// it leads to.
func postForm(t *testing.T, demo, path string, form url.Values) string {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, demo+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("POST %s: %s", path, answer.Status)
	}
	return answer.Header.Get("Location")
}
