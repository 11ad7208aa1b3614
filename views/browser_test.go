package views

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/unwedge/unwedge/static"
	vt "github.com/unwedge/unwedge/views/viewstest"
)

// policy is the Content-Security-Policy of every page (contract.md): what the
// pages do here they do under it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// site serves the fixtures, the static files and a stream of events that the
// test writes.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	pages  map[string]string
	posts  []string
	events chan string
	over   chan struct{}
}

func newSite(t *testing.T) *site {
	s := &site{pages: map[string]string{}, events: make(chan string, 8), over: make(chan struct{})}
	for _, f := range fixtures() {
		s.pages["/"+f.name] = render(t, f.page)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /static/0123456789ab/", http.StripPrefix("/static/0123456789ab/", http.FileServerFS(static.Files)))
	mux.HandleFunc("GET /api/v1/events", s.stream)
	mux.HandleFunc("POST /", s.take)
	mux.HandleFunc("GET /", s.page)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { close(s.over); s.Close() }) // streams end first: Close waits for them
	return s
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(page))
}

func (s *site) put(path, page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page
}

func (s *site) take(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	s.posts = append(s.posts, r.URL.Path+"?"+r.Form.Encode())
	s.mu.Unlock()
	http.Redirect(w, r, "/plan", http.StatusSeeOther)
}

func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.over:
			return
		case kind := <-s.events:
			fmt.Fprintf(w, "event: %s\ndata: {}\n\n", kind)
			_ = out.Flush()
		}
	}
}

func TestAxeFindsNothing(t *testing.T) {
	ctx, s, axe := vt.Browser(t), newSite(t), vt.Axe(t)
	for _, look := range []struct {
		width int64
		theme string
	}{{1440, "light"}, {1440, "dark"}, {390, "dark"}} {
		for _, f := range fixtures() {
			t.Run(fmt.Sprintf("%s %s %d", f.name, look.theme, look.width), func(t *testing.T) {
				vt.Do(t, ctx, vt.Window(look.width), vt.Scheme(look.theme), vt.Open(s.URL+"/"+f.name))
				vt.Accessible(t, ctx, axe)
			})
		}
	}
}

// TestScreenshots takes pictures to look at, where UNWEDGE_SHOTS names a
// directory for them.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("UNWEDGE_SHOTS")
	if dir == "" {
		t.Skip("UNWEDGE_SHOTS names no directory")
	}
	ctx, s := vt.Browser(t), newSite(t)
	for _, f := range fixtures() {
		for _, shot := range []struct {
			name, theme string
			width       int64
		}{{"light", "light", 1440}, {"dark", "dark", 1440}, {"phone", "dark", 390}} {
			vt.Do(t, ctx, vt.InZone("Asia/Kolkata"), vt.Window(shot.width), vt.Scheme(shot.theme), vt.Open(s.URL+"/"+f.name))
			vt.Shot(t, ctx, filepath.Join(dir, f.name+"-"+shot.name+".png"))
		}
	}
}

func TestC96MidnightIsQuarterPastZero(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	p := letterPage()
	p.WrittenAt = time.UnixMilli(1672647300792)
	s.put("/letter", render(t, p))
	vt.Do(t, ctx, vt.InZone("America/Los_Angeles"), vt.Open(s.URL+"/letter"))
	got := vt.JS[string](t, ctx, `document.querySelector('time[datetime="2023-01-02T08:15:00.792Z"]').textContent`)
	if got != "2023-01-02 00:15:00.792 -08:00" {
		t.Errorf("in Los Angeles it is %q", got)
	}
	if title := vt.JS[string](t, ctx, `document.querySelector('time[datetime="2023-01-02T08:15:00.792Z"]').title`); !strings.Contains(title, "08:15:00.792Z") {
		t.Errorf("on hover: %q", title)
	}
}

func TestC97TimesAreInTheZoneOfTheBrowser(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.InZone("Europe/Paris"), vt.Open(s.URL+"/incidents"))
	if got := vt.JS[string](t, ctx, `document.querySelector('td[data-label=Opened] time').textContent`); got != "Wed 9 Sep 23:16" && got != "23:16" {
		t.Errorf("opened at %q in Paris", got)
	}
	for _, label := range strings.Split(vt.JS[string](t, ctx, `[...document.querySelectorAll('[data-zone-label]')].map(e => e.textContent).join()`), ",") {
		if label != "UTC+02:00" && label != "CEST" {
			t.Errorf("the head of the table says %q", label)
		}
	}
	if got := vt.JS[string](t, ctx, `document.querySelector('[data-zone-long]').textContent`); !strings.Contains(got, "UTC+02:00") {
		t.Errorf("the foot says %q", got)
	}
}

func TestWithoutScriptThePageSaysEverything(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.Send(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), vt.Open(s.URL+"/cause"))
	vt.Do(t, ctx, chromedp.Click(`input[value="l-0"]`), chromedp.Click(`input[value="l-2"]`))
	vt.Submit(t, ctx, chromedp.Click(`.actions .button-main`))
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.posts, " "); got != "/redrives/plans?letter=l-0&letter=l-2" {
		t.Errorf("without script the form sends %q", got)
	}
}

func TestIconsLoadUnderThePolicy(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.Open(s.URL+"/now"))
	if got := vt.JS[float64](t, ctx, `document.querySelector('.wordmark use').getBBox().width`); got == 0 {
		t.Error("the mark is not drawn: the sprite was not loaded")
	}
}

func TestTheKeyboardWalksSelectsAndRedrives(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.Open(s.URL+"/review"))
	vt.Do(t, ctx, chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	if got := vt.JS[string](t, ctx, `document.querySelector('[data-tally]').textContent`); got != ", 27 letters" {
		t.Errorf("two causes selected by key are %q", got)
	}
	if !vt.JS[bool](t, ctx, `document.querySelector('[data-all]').indeterminate`) {
		t.Error("the box for all does not say that some are selected")
	}
	vt.Submit(t, ctx, chromedp.KeyEvent("r"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.posts, " "); got != "/redrives/plans?cause=c-61&cause=c-58" {
		t.Errorf("r sends %q", got)
	}
}

// TestLiveUpdatesKeepWhatTheReaderDid: selection, focus and open details stay,
// numbers change, new rows are told of and not pushed in (C101).
func TestLiveUpdatesKeepWhatTheReaderDid(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.Open(s.URL+"/review"), chromedp.Click(`input[value="c-58"]`), chromedp.KeyEvent("j"))
	focus := vt.JS[string](t, ctx, `document.activeElement.textContent`)
	p := reviewPage()
	fresh := p.Causes[0]
	fresh.ID, fresh.Title = "c-99", "Something new"
	p.Causes = append([]CauseRow{fresh}, p.Causes...)
	p.Causes[2].Count = 9
	p.OpenLetters = 38
	s.put("/review", render(t, p))
	s.events <- "letters"
	waitFor(t, ctx, `document.querySelector('tr[data-key="c-58"] .count').textContent === "9"`)
	for what, script := range map[string]string{
		"the selection":   `document.querySelector('input[value="c-58"]').checked`,
		"the new row":     `document.querySelector('tr[data-key="c-99"]') === null`,
		"what is told":    `!document.querySelector('[data-arrived]').hidden && document.querySelector('[data-arrived]').textContent.includes("1 new cause")`,
		"the tally":       `document.querySelector('[data-tally]').textContent === ", 8 letters" || document.querySelector('[data-tally]').textContent === ", 9 letters"`,
		"the badge":       `document.querySelector('#rail').textContent.includes("38")`,
		"the focused row": `document.activeElement.textContent === ` + quoted(focus),
	} {
		if !vt.JS[bool](t, ctx, script) {
			t.Errorf("after an update: %s is not as it should be: %s", what, vt.JS[string](t, ctx, `document.querySelector('form.queue').innerText`))
		}
	}
}

func TestOpenDetailsAndTabsStayThroughAnUpdate(t *testing.T) {
	ctx, s := vt.Browser(t), newSite(t)
	vt.Do(t, ctx, vt.Open(s.URL+"/lag"), chromedp.Click(`[data-key="payments/nightly-recon"] summary`))
	p := lagPage()
	p.Groups[1].Lag = 90_000
	p.Groups[0], p.Groups[1] = p.Groups[1], p.Groups[0] // sorted anew
	s.put("/lag", render(t, p))
	s.events <- "lag"
	waitFor(t, ctx, `document.querySelector('[data-key="payments/nightly-recon"]').textContent.includes("90,000")`)
	if got := vt.JS[string](t, ctx, `[...document.querySelectorAll('.group[open]')].map(e => e.dataset.key).join()`); got != "payments/nightly-recon,payments/payment-retry-consumer-group" {
		t.Errorf("open after an update: %s", got)
	}
}

// waitFor waits until something is so on the page.
func waitFor(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	vt.JS[bool](t, ctx, `new Promise((done, fail) => {
		const look = () => { if (`+script+`) { done(true); watch.disconnect(); } };
		const watch = new MutationObserver(look);
		watch.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
		setTimeout(() => fail("not in 20 s"), 20000);
		look();
	})`)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	return cmp.Or(string(b), fmt.Sprint(err))
}
