package main

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/skips/calls"
)

// workers are the calls that stop and start the workers of groups.
func (c *config) workers() *calls.Workers {
	w := &calls.Workers{Consumers: map[string][]calls.Consumer{}, Client: alerts.NewClient()}
	for _, s := range c.Sources {
		if s.Kafka == nil {
			continue
		}
		for _, one := range s.Kafka.Consumers {
			w.Consumers[s.Name] = append(w.Consumers[s.Name], calls.Consumer{Group: one.Group, Stop: one.Stop.URL, Start: one.Start.URL, Secret: one.Secret.read})
		}
	}
	return w
}

func (k *kafkaConfig) validateConsumers(path string, wrong *mistakes) {
	for i, one := range k.Consumers {
		at := fmt.Sprintf("%s.consumers[%d]", path, i)
		if one.Group == "" {
			wrong.add(at+".group", 0, "is missing: a pattern of groups")
		}
		validateURL(at+".stop.url", one.Stop.URL, wrong)
		validateURL(at+".start.url", one.Start.URL, wrong)
		if !one.Secret.set {
			wrong.add(at+".secret", 0, "is missing (or secret_file): the calls are signed with it")
		}
	}
}

// comeback pages of workers that a skip stopped and that do not come back.
type comeback struct{ alerts.Comeback }

func (c *comeback) Raise(ctx context.Context, s skips.Skip, at time.Time) error {
	return c.Comeback.Raise(ctx, s.AlarmID, s.Line, s.AlarmWhy, at)
}

func (c *comeback) Over(ctx context.Context, s skips.Skip, at time.Time) error {
	return c.Comeback.Over(ctx, s.AlarmID, s.Line, s.AlarmWhy, at)
}
