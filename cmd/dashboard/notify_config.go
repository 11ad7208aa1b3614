package main

import (
	"fmt"
	"time"
)

type notifierConfig struct {
	Name      string           `yaml:"name"`
	PagerDuty *pagerDutyConfig `yaml:"pagerduty"`
	Webhook   *webhookConfig   `yaml:"webhook"`
	Slack     *slackConfig     `yaml:"slack"`
	After     span             `yaml:"after"`
}

type pagerDutyConfig struct {
	RoutingKey    secret `yaml:"routing_key"`
	URL           string `yaml:"url"`
	WebhookSecret secret `yaml:"webhook_secret"`
}

type webhookConfig struct {
	URL    string `yaml:"url"`
	Secret secret `yaml:"secret"`
}

type slackConfig struct {
	URL secret `yaml:"url"`
}

type heartbeatConfig struct {
	URL   secret `yaml:"url"`
	Every span   `yaml:"every"`
}

// beatEvery is how often the heart beats where the file does not say.
const beatEvery = time.Minute

func (c *config) validateNotify(wrong *mistakes) {
	seen := map[string]bool{}
	for i, n := range c.Notify {
		path := fmt.Sprintf("notify[%d]", i)
		switch {
		case n.Name == "":
			wrong.add(path+".name", 0, "is missing")
		case seen[n.Name]:
			wrong.add(path+".name", 0, "%q is the name of another notifier already", n.Name)
		}
		seen[n.Name] = true
		n.validate(path, wrong)
	}
}

func (n notifierConfig) validate(path string, wrong *mistakes) {
	kinds := 0
	if n.PagerDuty != nil {
		kinds++
		n.PagerDuty.validate(path+".pagerduty", wrong)
	}
	if n.Webhook != nil {
		kinds++
		n.Webhook.validate(path+".webhook", wrong)
	}
	if n.Slack != nil {
		kinds++
		n.Slack.URL.validateAddress(path+".slack.url", wrong)
	}
	if kinds != 1 {
		wrong.add(path, 0, "must have one block of pagerduty, webhook and slack")
	}
}

func (p *pagerDutyConfig) validate(path string, wrong *mistakes) {
	if !p.RoutingKey.set {
		wrong.add(path+".routing_key_file", 0, "is missing: the integration key of an Events API v2 service")
	}
	if p.URL != "" {
		validateURL(path+".url", p.URL, wrong)
	}
}

func (w *webhookConfig) validate(path string, wrong *mistakes) {
	validateURL(path+".url", w.URL, wrong)
	if !w.Secret.set {
		wrong.add(path+".secret_file", 0, "is missing: every webhook is signed")
	}
}

func (h *heartbeatConfig) validate(wrong *mistakes) {
	if h == nil {
		return
	}
	h.URL.validateAddress("heartbeat.url", wrong)
	if h.Every == 0 {
		h.Every = span(beatEvery)
	}
	if time.Duration(h.Every) < time.Second {
		wrong.add("heartbeat.every", 0, "must be at least 1s")
	}
}

// validateAddress tells what is wrong with an address that is a secret, and does
// not tell the address.
func (s secret) validateAddress(path string, wrong *mistakes) {
	if !s.set {
		wrong.add(path, 0, "is missing: an http or https address, here or in the file that %s_file names", path)
		return
	}
	if text, err := s.read(); err == nil { // a file that cannot be read is told already
		validateURL(path, text, wrong)
	}
}
