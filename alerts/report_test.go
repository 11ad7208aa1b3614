package alerts

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

var update = flag.Bool("update", false, "write the golden files anew")

func reported() Report {
	at := func(clock string) time.Time {
		t, err := time.Parse(time.DateTime, "2026-03-02 "+clock)
		if err != nil {
			panic(err)
		}
		return t
	}
	kolkata := time.FixedZone("IST", 5*3600+1800)
	p := sources.Partition{Source: "payments", Group: "payment-retry-consumer-group", Topic: "payment.retry.requests", Number: 3}
	return Report{
		Incident: Incident{
			ID: "0195-7", Source: p.Source, Group: p.Group, Verdict: HeadOfLineStall, Scope: PartitionScope, Lines: []sources.Partition{p},
			Severity: "critical", Owner: "payments", Pages: true, Title: "Partition 3 of payment.retry.requests is wedged.",
			Reason: "offset 118,204 has been at the head for 10m", OpenedAt: at("21:16:00"), AcknowledgedAt: at("21:20:00"), AcknowledgedBy: "asha|<b>",
			ResolvedAt: at("22:55:00"), Resolution: "the line passed where it stood and moved on for 4m",
			Evidence: Evidence{
				Head: &sources.Record{Topic: p.Topic, Partition: 3, Offset: 118204, Timestamp: at("21:06:00"), Key: []byte("pay_SECRET"), Body: []byte(`{"card":"SECRET"}`)},
				Line: p, Position: 118204, Since: at("21:06:00"), Sample: 500, Peers: "the other 5 partitions move",
				Suspects: []Suspect{{Offset: 118204, Apart: []Apart{{"currency", `"INRR"`, `"INR" in 334 of 500`}, {"memo", "string of 40 characters", "absent in 500 records"}}}},
			},
			Toll:       Toll{Since: at("21:06:00"), StoodAt: at("22:45:00"), Worst: 12400, WorstAt: at("22:45:00"), Last: 0, LastAt: at("22:55:00"), RecordSeconds: 36828000},
			Deliveries: []Delivery{{Notifier: "oncall", Event: "trigger", AcceptedAt: at("21:16:01"), Attempts: 1}, {Notifier: "hook", Event: "trigger", Attempts: 7, Err: "answered 500: `oops`"}},
		},
		Deeds: []Deed{{at("22:44:00"), "asha", "skip", "sk_1", "parked 1 record"}, {at("22:50:00"), "ben", "redrive", "rd_1", "started with 1 letter"}},
		Link:  "https://ops.example.com/dlq/incidents/0195-7", Zone: kolkata, Now: at("23:00:00"),
	}
}

func TestTheReportOfANight(t *testing.T) {
	got := reported().Markdown()
	const file = "testdata/report.md"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("the report is not as in %s (%v):\n%s", file, err, got)
	}
	if strings.Contains(got, "SECRET") {
		t.Error("it tells what a page would not")
	}
}

func TestTheReportOfAnIncidentThatIsOpen(t *testing.T) {
	r := reported()
	r.Zone = time.UTC
	r.Incident.ResolvedAt, r.Incident.Resolution = time.Time{}, ""
	got := r.Markdown()
	for _, want := range []string{"**114 minutes**", "it still stands", "now 0", "| Resolved | not yet |", "| UTC | What happened |"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

func TestForeignTextIsNoMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"a|b":                  `a\|b`,
		"two\nlines\x1b[31m":   `two lines \[31m`,
		"<script>*x*</script>": `\<script\>\*x\*\</script\>`,
		"[here](http://x)":     `\[here\](http://x)`,
		"\u202etxt.exe":        "txt.exe",
		"rd_1 and _this_":      `rd_1 and \_this_`,
		"bad\xffbyte":          "bad\uFFFDbyte",
		"`code` & &lt;":        "\\`code\\` \\& \\&lt;",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestTheTollOfAStall: 99 minutes of blocked records are told as such.
func TestTheTollOfAStall(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		pass(10 * time.Minute)
		stood := time.Now()
		c.wedge(3)
		pass(50 * time.Minute)
		open := m.all()[0].Toll
		if got := open.Blocked(); got < 49*time.Minute || got > 51*time.Minute || open.Last != open.Worst {
			t.Errorf("while it is open: %+v, blocked for %s", open, got)
		}
		run.kill()
		run = start(m, p, c) // a restart forgets nothing of it
		defer run.kill()
		pass(49 * time.Minute)
		worst := c.moves() - c.stuck[3]
		c.free()
		pass(10 * time.Minute)
		in := m.all()[0]
		if in.ResolvedAt.IsZero() {
			t.Fatalf("not resolved: %+v", in)
		}
		toll := in.Toll
		if got := toll.Blocked(); got < 98*time.Minute || got > 100*time.Minute || toll.Since.Sub(stood).Abs() > time.Minute {
			t.Errorf("blocked for %s since %s, want 99m since %s", got, toll.Since, stood)
		}
		if toll.Worst < worst*9/10 || toll.Worst > worst*11/10 || toll.Last > worst/10 {
			t.Errorf("%d waited at the worst and %d at the end, want %d", toll.Worst, toll.Last, worst)
		}
		// The lag grew evenly from 0: half of the worst, for 99 minutes.
		if got, want := toll.RecordMinutes(), float64(worst)/2*99; got < want*0.9 || got > want*1.1 {
			t.Errorf("%.0f record-minutes, want about %.0f", got, want)
		}
	})
}
