package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, set := values[name]
		return v, set
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const smallest = `
sources:
  - {name: payments, kafka: {brokers: ["127.0.0.1:9092"]}}
`

func TestTheSmallestConfigurationHasTheDefaults(t *testing.T) {
	c, wrong := loadConfig(write(t, "c.yaml", smallest), env(nil))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if c.Listen != "127.0.0.1:8080" || c.Store != "unwedge.db" || time.Duration(c.Alerts.PollEvery) != 15*time.Second || time.Duration(c.Alerts.StallAfter) != 4*time.Minute {
		t.Errorf("%+v", c)
	}
	if w := c.weekly(); w.Day != time.Monday || w.At != 9*time.Hour {
		t.Errorf("the review is on %s at %s", w.Day, w.At)
	}
}

// TestEveryMistakeIsNamed: each line of the table is a mistake and what is said
// of it; all of them at once are all told.
func TestEveryMistakeIsNamed(t *testing.T) {
	secretFile := write(t, "secret", "s3cret\n")
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"an unknown key":               {smallest + "colour: blue\n", []string{"line 4", "colour", "unknown key"}},
		"an unknown key deep down":     {strings.Replace(smallest, "brokers", "broker", 1), []string{"sources[0].kafka.broker"}},
		"a key given twice":            {smallest + "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", []string{"listen"}},
		"a length of time":             {smallest + "alerts: {poll_every: fast}\n", []string{"alerts.poll_every", "fast"}},
		"a negative length of time":    {smallest + "alerts: {stall_after: -4m}\n", []string{"alerts.stall_after"}},
		"a poll in no time":            {smallest + "alerts: {poll_every: 1ms}\n", []string{"alerts.poll_every", "100ms"}},
		"a day":                        {smallest + "review: {day: someday, at: \"25:00\"}\n", []string{"review.day", "someday", "review.at", "25:00"}},
		"a zone":                       {smallest + "time_zone: Middle/Earth\n", []string{"time_zone"}},
		"an open address":              {smallest + "listen: 0.0.0.0:8080\n", []string{"listen", "access control"}},
		"an address of every machine":  {smallest + "listen: \":8080\"\n", []string{"listen"}},
		"no address":                   {smallest + "listen: here\n", []string{"listen"}},
		"a base address":               {smallest + "base_url: ops.example.com/dlq\n", []string{"base_url"}},
		"no source":                    {"listen: 127.0.0.1:8080\n", []string{"sources"}},
		"two of a name":                {smallest + "  - {name: payments, sqs: {region: eu-north-1}}\n", []string{"sources[1].name"}},
		"both kinds in one":            {"sources: [{name: x, kafka: {brokers: [\"a:1\"]}, sqs: {region: r}}]\n", []string{"sources[0]"}},
		"brokers without a port":       {"sources: [{name: x, kafka: {brokers: [localhost]}}]\n", []string{"sources[0].kafka.brokers"}},
		"a mechanism that comes later": {"sources: [{name: x, kafka: {brokers: [\"a:1\"], sasl: {mechanism: OAUTHBEARER, username: u, password: p}}}]\n", []string{"sources[0].kafka.sasl.mechanism", "yet"}},
		"how far back":                 {"sources: [{name: x, kafka: {brokers: [\"a:1\"], dead_letters: {include: [\"*.dlq\"], from: yesterday}}}]\n", []string{"dead_letters.from", "yesterday"}},
		"finished work by what":        {"sources: [{name: x, kafka: {brokers: [\"a:1\"], done: [{for: \"*\", topic: settled, by: value}]}}]\n", []string{"sources[0].kafka.done[0].by", "value", "json:/path"}},
		"finished work, half":          {"sources: [{name: x, kafka: {brokers: [\"a:1\"], done: [{by: key}, {for: a, topic: b}]}}]\n", []string{"done[0].for", "done[0].topic", "done[1].by: is missing"}},
		"no region":                    {"sources: [{name: x, sqs: {}}]\n", []string{"sources[0].sqs.region"}},
		"an unset variable":            {smallest + "base_url: ${NOWHERE}\n", []string{"base_url", "NOWHERE"}},
		"a secret file that is gone":   {smallest + "notify: [{name: a, pagerduty: {routing_key_file: /nowhere/key}}]\n", []string{"notify[0].pagerduty.routing_key_file"}},
		"a pager without a key":        {smallest + "notify: [{name: a, pagerduty: {url: \"http://127.0.0.1:1\"}}]\n", []string{"notify[0].pagerduty.routing_key_file"}},
		"a webhook without a secret":   {smallest + "notify: [{name: a, webhook: {url: \"http://127.0.0.1:1\"}}]\n", []string{"notify[0].webhook.secret_file"}},
		"a channel without an address": {smallest + "notify: [{name: a, slack: {}}, {name: b, slack: {url: SECRETLY}}]\n", []string{"notify[0].slack.url", "notify[1].slack.url: must be an http"}},
		"two kinds in one notifier":    {smallest + "notify: [{name: a, slack: {url: \"http://a\"}, webhook: {url: \"http://a\", secret: x}}]\n", []string{"notify[0]: must have one block"}},
		"a heart without an address":   {smallest + "heartbeat: {every: 1ms}\n", []string{"heartbeat.url", "heartbeat.every"}},
		"a repeat in no time":          {smallest + "alerts: {repeat_after: 0s}\n", []string{"alerts.repeat_after"}},
		"hours that are none":          {smallest + "alerts: {rules: [{active: Mon}, {behind_after: -1m}]}\n", []string{"alerts.rules[0].active", "alerts.rules[1].behind_after"}},
		"a burst of nothing":           {smallest + "alerts: {dead_letters: [{}, {more_than: -1, within: 1ms, page: maybe}]}\n", []string{"alerts.dead_letters[0]: asks for nothing", "alerts.dead_letters[1].more_than", "alerts.dead_letters[1].within", "alerts.dead_letters[1].page"}},
		"a rule for nobody":            {smallest + "alerts: {rules: [{notify: [nobody], severity: bad, page: maybe}]}\n", []string{"alerts.rules[0].notify", "alerts.rules[0].severity", "alerts.rules[0].page"}},
		"Postgres":                     {smallest + "store: postgres://localhost/x\n", []string{"store", "not yet"}},
		"no YAML":                      {"listen: [", []string{"line"}},
		"a second document":            {smallest + "---\nlisten: 0.0.0.0:80\n", []string{"second document"}},
		"a list for a mapping":         {"review: [monday]\n" + smallest, []string{"review"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, wrong := loadConfig(write(t, "c.yaml", strings.ReplaceAll(c.text, "SECRET", secretFile)), env(nil))
			text := fmt.Sprint(wrong)
			for _, word := range c.says {
				if !strings.Contains(text, word) {
					t.Errorf("does not name %q: %s", word, text)
				}
			}
		})
	}
}

// TestLaterKeysAreRefusedByName: a key of a later version is not taken in
// silence.
func TestLaterKeysAreRefusedByName(t *testing.T) {
	for key, text := range map[string]string{
		"keep": "keep: {decided: 180d}", "redrive": "redrive: {approval_above: 1000}",
		"auth": "auth: {users_file: users.yaml}", "audit": "audit: {webhook: {url: \"http://a\"}}", "tls": "tls: {cert_file: a}", "trusted_proxies": "trusted_proxies: [10.0.0.0/8]",
	} {
		_, wrong := loadConfig(write(t, "c.yaml", smallest+text+"\n"), env(nil))
		if text := fmt.Sprint(wrong); !strings.Contains(text, key) || !strings.Contains(text, "not yet") {
			t.Errorf("%s: %s", key, text)
		}
	}
}

// TestASchemaRegistryIsAnAddressAndASecret that can be in a file.
func TestASchemaRegistryIsAnAddressAndASecret(t *testing.T) {
	for text, says := range map[string]string{
		`{url: "http://a/apis/ccompat/v7"}`:                       "",
		`{url: "http://a", user: u, password: p}`:                 "",
		`{url: "http://a", user: u, password_file: "/etc/hosts"}`: "",
		`{url: "a:8081"}`:                "schema_registry.url",
		`{url: "http://a", password: p}`: "schema_registry.user",
		`{address: "http://a"}`:          "address",
	} {
		_, wrong := loadConfig(write(t, "c.yaml", "sources: [{name: x, kafka: {brokers: [\"a:1\"], schema_registry: "+text+"}}]\n"), env(nil))
		if got := fmt.Sprint(wrong); (len(wrong) == 0) != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%s: %v", text, wrong)
		}
	}
}

func TestValuesCanBeVariables(t *testing.T) {
	text := "listen: ${WHERE}\nalerts: {stall_after: \"${STALL}\", rules: [{group: \"${NOT_WHOLE}-x\", page: false}]}\n" + smallest
	c, wrong := loadConfig(write(t, "c.yaml", text), env(map[string]string{"WHERE": "127.0.0.1:9", "STALL": "2h"}))
	if len(wrong) > 0 || c.Listen != "127.0.0.1:9" || time.Duration(c.Alerts.StallAfter) != 2*time.Hour {
		t.Errorf("%v %+v", wrong, c)
	}
	if r := c.rules().List[0]; r.Group != "${NOT_WHOLE}-x" || r.Page != "false" {
		t.Errorf("%+v", r)
	}
}

// TestSecretsAreNeverPrinted also has a rotated secret take effect without a
// restart.
func TestSecretsAreNeverPrinted(t *testing.T) {
	file := write(t, "key", "first\n")
	text := smallest + "notify: [{name: a, pagerduty: {routing_key_file: " + file + "}}, {name: b, webhook: {url: \"http://127.0.0.1:1\", secret: inline-secret}}]\n"
	c, wrong := loadConfig(write(t, "c.yaml", text), env(nil))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if printed := fmt.Sprintf(format, c.Notify[1].Webhook.Secret); strings.Contains(printed, "inline-secret") {
			t.Errorf("%s prints %s", format, printed)
		}
	}
	key := c.Notify[0].PagerDuty.RoutingKey
	if got, err := key.read(); got != "first" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := key.read(); got != "second" || err != nil {
		t.Errorf("after a rotation: %q, %v", got, err)
	}
}

// TestWhereFinishedWorkIsWrittenDown: each way of telling two records the same.
func TestWhereFinishedWorkIsWrittenDown(t *testing.T) {
	text := `sources: [{name: x, kafka: {brokers: ["a:1"], done: [{for: "payment.*", topic: payment.settled, by: key},
  {for: a, topic: b, by: "header:x"}, {for: c, topic: d, by: "json:/payment/id"}]}}]`
	c, wrong := loadConfig(write(t, "c.yaml", text), env(nil))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	want := []sources.Finished{
		{For: "payment.*", Topic: "payment.settled", By: sources.Field{In: sources.InKey}},
		{For: "a", Topic: "b", By: sources.Field{In: sources.InHeader, Name: "x"}},
		{For: "c", Topic: "d", By: sources.Field{In: sources.InJSON, Name: "/payment/id"}},
	}
	if got := c.Sources[0].Kafka.finished(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	list, err := c.buildSources()
	if err != nil {
		t.Fatal(err)
	}
	defer closeSources(list)
	if got := list[0].rules.Done; !slices.Equal(got, want) {
		t.Errorf("the desk is told of %+v", got)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitMistake, "Usage"},
		{[]string{"help"}, exitOK, "replay"},
		{[]string{"fly"}, exitMistake, `no command "fly"`},
		{[]string{"version"}, exitOK, "unwedge"},
		{[]string{"serve"}, exitMistake, "--config"},
		{[]string{"serve", "--config", "/nowhere.yaml"}, exitMistake, "/nowhere.yaml"},
		{[]string{"serve", "--colour"}, exitMistake, "colour"},
		{[]string{"check", "--config", "/nowhere.yaml"}, exitMistake, "/nowhere.yaml"},
		{[]string{"replay"}, exitMistake, "at least one file"},
		{[]string{"replay", "/nowhere.jsonl"}, exitFailed, "/nowhere.jsonl"},
		{[]string{"demo", "--listen", "0.0.0.0:80"}, exitMistake, "--listen"},
	} {
		var out bytes.Buffer
		p := program{getenv: env(nil), stdout: &out, stderr: &out}
		if code := p.run(t.Context(), c.args); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, code, c.code, c.says, out.String())
		}
	}
}

func TestFlagsCanBeVariables(t *testing.T) {
	var out bytes.Buffer
	p := program{getenv: env(map[string]string{"UNWEDGE_LISTEN": "0.0.0.0:80"}), stdout: &out, stderr: &out}
	if code := p.run(t.Context(), []string{"demo"}); code != exitMistake || !strings.Contains(out.String(), "0.0.0.0:80") {
		t.Errorf("UNWEDGE_LISTEN was not read: exit %d, %s", code, out.String())
	}
}

// TestTheDocumentedConfigurationIsTaken keeps docs/configuration.md right: all
// its keys are known, and the files it names are the only mistakes.
func TestTheDocumentedConfigurationIsTaken(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	_, wrong := loadConfig(write(t, "c.yaml", text), env(nil))
	for _, err := range wrong {
		if !strings.Contains(err.Error(), "no such file") {
			t.Error(err)
		}
	}
}
