package main

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

type alertsConfig struct {
	PollEvery   span          `yaml:"poll_every"`
	StallAfter  span          `yaml:"stall_after"`
	Rules       []ruleConfig  `yaml:"rules"`
	RepeatAfter span          `yaml:"repeat_after"`
	DeadLetters []burstConfig `yaml:"dead_letters"`
}

type ruleConfig struct {
	Source      string   `yaml:"source"`
	Group       string   `yaml:"group"`
	Topic       string   `yaml:"topic"`
	StallAfter  span     `yaml:"stall_after"`
	Page        string   `yaml:"page"`
	Severity    string   `yaml:"severity"`
	Owner       string   `yaml:"owner"`
	Runbook     string   `yaml:"runbook"`
	Notify      []string `yaml:"notify"`
	BehindAfter span     `yaml:"behind_after"`
	Active      string   `yaml:"active"`
}

// burstConfig says when letters that arrive in a queue are an incident.
type burstConfig struct {
	Source   string `yaml:"source"`
	Queue    string `yaml:"queue"`
	MoreThan int    `yaml:"more_than"`
	Within   span   `yaml:"within"`
	NewCause bool   `yaml:"new_cause"`
	Page     string `yaml:"page"`
}

func (b burstConfig) validate(path string, wrong *mistakes) {
	validatePage(path, b.Page, wrong)
	if b.MoreThan < 0 {
		wrong.add(path+".more_than", 0, "must not be less than nothing")
	}
	if b.Within != 0 && time.Duration(b.Within) < time.Second {
		wrong.add(path+".within", 0, "must be at least 1s")
	}
	if b.MoreThan == 0 && !b.NewCause && b.Page != "off" {
		wrong.add(path, 0, "asks for nothing: give more_than, or new_cause: true")
	}
}

func validatePage(path, page string, wrong *mistakes) {
	if !slices.Contains([]string{"", "true", "false", "off"}, page) {
		wrong.add(path+".page", 0, "%q is none of true, false, off", page)
	}
}

// bursts are the configured rules of dead-letter queues.
func (c *config) bursts() (rules alerts.BurstRules) {
	for _, one := range c.Alerts.DeadLetters {
		rules = append(rules, alerts.BurstRule{
			Source: one.Source, Queue: one.Queue, MoreThan: one.MoreThan, Within: time.Duration(one.Within), NewCause: one.NewCause, Page: alerts.Paging(one.Page),
		})
	}
	return rules
}

func (c *config) validateAlerts(wrong *mistakes) {
	if time.Duration(c.Alerts.PollEvery) < 100*time.Millisecond {
		wrong.add("alerts.poll_every", 0, "must be at least 100ms")
	}
	if time.Duration(c.Alerts.StallAfter) < time.Second {
		wrong.add("alerts.stall_after", 0, "must be at least 1s")
	}
	if time.Duration(c.Alerts.RepeatAfter) < time.Second {
		wrong.add("alerts.repeat_after", 0, "must be at least 1s")
	}
	for i, b := range c.Alerts.DeadLetters {
		b.validate(fmt.Sprintf("alerts.dead_letters[%d]", i), wrong)
	}
	for i, r := range c.Alerts.Rules {
		path := fmt.Sprintf("alerts.rules[%d]", i)
		validatePage(path, r.Page, wrong)
		if !slices.Contains([]string{"", "critical", "error", "warning", "info"}, r.Severity) {
			wrong.add(path+".severity", 0, "%q is none of critical, error, warning, info", r.Severity)
		}
		if _, err := alerts.ParseSchedule(r.Active, time.UTC); err != nil {
			wrong.add(path+".active", 0, "%w", err)
		}
		if r.BehindAfter < 0 {
			wrong.add(path+".behind_after", 0, "must not be less than nothing")
		}
		if r.Runbook != "" {
			validateURL(path+".runbook", r.Runbook, wrong)
		}
		for _, name := range r.Notify {
			if !slices.ContainsFunc(c.Notify, func(n notifierConfig) bool { return n.Name == name }) {
				wrong.add(path+".notify", 0, "%q is not the name of a notifier", name)
			}
		}
	}
}

// queueWatchers watch the work queues of those sources that have any.
func (c *config) queueWatchers(list []source, db alerts.WatchStore, to []alerts.Recipient, log *slog.Logger, changed func(ids ...string)) (all []*alerts.QueueWatcher) {
	for _, s := range list {
		if reader, ok := s.adapter.(alerts.BacklogReader); ok {
			all = append(all, &alerts.QueueWatcher{
				Source: s.Name(), Reader: reader, Rules: c.rules(), Store: db, To: to, Log: log, Clock: time.Now, Changed: changed,
			})
		}
	}
	return all
}
