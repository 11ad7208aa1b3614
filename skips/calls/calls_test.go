package calls

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

var line = sources.Partition{Source: "payments", Group: "payment-retry", Topic: "payment.retry", Number: 3}

func workers(address, secret string) *Workers {
	return &Workers{Client: alerts.NewClient(), Consumers: map[string][]Consumer{"payments": {
		{Group: "nightly-*", Stop: "http://127.0.0.1:1", Start: "http://127.0.0.1:1"},
		{Group: "payment-*", Stop: address + "/stop", Start: address + "/start", Secret: func() (string, error) { return secret, nil }},
	}}}
}

func TestTheCallSaysWhatIsToBeDoneAndIsTheSameAtEveryAttempt(t *testing.T) {
	var ids, bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		_, _ = bufio.NewReader(r.Body).WriteTo(&b)
		ids, bodies = append(ids, r.URL.Path+" "+r.Header.Get("webhook-id")), append(bodies, b.String())
	}))
	defer s.Close()
	w := workers(s.URL, "top-secret")
	for range 2 {
		if err := w.Stop(t.Context(), line, "sk_1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Start(t.Context(), line, "sk_1"); err != nil {
		t.Fatal(err)
	}
	if ids[0] != "/stop sk_1-workers.stop" || ids[1] != ids[0] || ids[2] != "/start sk_1-workers.start" {
		t.Errorf("%v", ids)
	}
	for _, want := range []string{`"type":"workers.stop"`, `"group":"payment-retry"`, `"partition":3`, `"skip":"sk_1"`} {
		if !strings.Contains(bodies[0], want) {
			t.Errorf("%s is not in %s", want, bodies[0])
		}
	}
}

func TestAGroupThatNoConsumerNamesCannotBeStopped(t *testing.T) {
	w := workers("http://127.0.0.1:1", "s")
	other := line
	other.Group = "orders"
	if w.Stoppable(other) || !w.Stoppable(line) {
		t.Error("who can be stopped is not who is named")
	}
	if err := w.Stop(t.Context(), other, "sk_1"); err == nil || !strings.Contains(err.Error(), "orders") {
		t.Errorf("%v", err)
	}
}

// TestTheReceiverOfDeploy: what stands in deploy/consumers takes our calls, each
// once, and no others.
func TestTheReceiverOfDeploy(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	dir := t.TempDir()
	secret, did := filepath.Join(dir, "secret"), filepath.Join(dir, "did")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "../../deploy/consumers/receiver.py", "--listen", "127.0.0.1:0", "--secret-file", secret, "--stop", "echo stopped >> "+did, "--start", "false")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + strings.TrimSpace(strings.TrimPrefix(first, "listening on "))
	w := workers(address, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	for range 2 {
		if err := w.Stop(t.Context(), line, "sk_1"); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(did); string(text) != "stopped\n" {
		t.Errorf("two calls with one id did %q", text)
	}
	if err := w.Start(t.Context(), line, "sk_1"); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("a command that fails is answered with %v", err)
	}
	if err := workers(address, "another").Stop(t.Context(), line, "sk_2"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a call that others signed is answered with %v", err)
	}
}
