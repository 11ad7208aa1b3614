// Package viewstest drives a headless Chromium through the pages, and has axe
// look at them.
package viewstest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/unwedge/unwedge/sources/sourcetest"
)

// Step is something that a browser does.
type Step = chromedp.Action[chromedp.Void]

// patience ends a browser that waits for what never comes.
const patience = 5 * time.Minute

// Browser starts a browser that ends with the test. Without Chromium the test
// is skipped, loudly.
func Browser(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		sourcetest.Missing(t, "Chromium", "no chromium in PATH (Debian: apt-get install chromium)")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, quit := chromedp.NewContext(allocated)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(func() { cancel(); quit(); stop() })
	sourcetest.Report(t, "Chromium", "ran")
	return ctx
}

// Do has the browser take steps, and ends the test when one fails.
func Do(t testing.TB, ctx context.Context, steps ...Step) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// JS evaluates a script in the page and gives its value.
func JS[T any](t testing.TB, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// Submit does a step that leads to another page, and waits for that.
func Submit(t testing.TB, ctx context.Context, step Step) {
	t.Helper()
	if _, err := chromedp.RunResponse(ctx, step); err != nil {
		t.Fatal(err)
	}
}

// Scheme is the colour scheme that the reader prefers: light or dark.
func Scheme(name string) Step {
	return Send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// Send is a command of the protocol as a step.
func Send[P any](c cdp.Command[P, cdp.Empty], params P) Step {
	return func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, c, params)
		return v, err
	}
}

// InZone puts the reader into a time zone.
func InZone(name string) Step {
	return Send(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
}

// Window is how wide the reader's window is, in pixels.
func Window(width int64) Step { return chromedp.EmulateViewport(width, 900) }

// Open opens an address and waits for the page.
func Open(address string) Step {
	return func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
		if v, err = chromedp.Navigate(address)(ctx, t); err == nil {
			v, err = chromedp.WaitReady("#main")(ctx, t)
		}
		return v, err
	}
}

// Shot writes a picture of the whole page as PNG.
func Shot(t testing.TB, ctx context.Context, path string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, png, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// finding is what axe says of a page.
type finding struct {
	ID    string
	Help  string
	Nodes []struct{ HTML, FailureSummary string }
}

// fewestPasses is how many of axe's rules a page of ours passes at least: fewer
// means that it did not look.
const fewestPasses = 10

// Axe reads the script that Accessible runs. Without it the test is skipped,
// loudly.
func Axe(t testing.TB) string {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv("UNWEDGE_AXE"))
	if err != nil {
		sourcetest.Missing(t, "axe-core", "UNWEDGE_AXE names no axe.min.js (npm install axe-core@4.14.1)")
	}
	sourcetest.Report(t, "axe-core", "ran")
	return string(axe)
}

// Accessible fails the test with everything that axe finds on the page, and
// when the page is wider than the window.
func Accessible(t testing.TB, ctx context.Context, axe string) {
	t.Helper()
	JS[chromedp.Void](t, ctx, axe)
	said := JS[string](t, ctx, `axe.run().then(r => JSON.stringify({passes: r.passes.length, violations: r.violations}))`)
	var found struct {
		Passes     int
		Violations []finding
	}
	if err := json.Unmarshal([]byte(said), &found); err != nil || found.Passes < fewestPasses {
		t.Fatalf("axe passed %d rules: %v", found.Passes, err)
	}
	for _, x := range found.Violations {
		t.Errorf("%s: %s: %d times, first %.300s %.400s", x.ID, x.Help, len(x.Nodes), x.Nodes[0].HTML, x.Nodes[0].FailureSummary)
	}
	if wide := JS[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		t.Errorf("the page is %d px wider than the window", wide)
	}
}
