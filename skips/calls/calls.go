// Package calls stops and starts the workers of groups by signed HTTP calls to
// whoever may do that: Unwedge itself needs no right on the cluster.
package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/alerts/webhook"
	"github.com/unwedge/unwedge/sources"
)

// Consumer says where the workers of some groups are stopped and started.
type Consumer struct {
	Group  string                 // a pattern
	Stop   string                 // address
	Start  string                 // address
	Secret func() (string, error) // as whsec_… or as it is; asked for at each call
}

// Workers are the consumers of each source; the first that matches a group is
// its.
type Workers struct {
	Consumers map[string][]Consumer // by source
	Client    *http.Client          // as alerts.NewClient makes it
}

// Stoppable tells whether a consumer is configured for a group.
func (w *Workers) Stoppable(p sources.Partition) bool {
	_, there := w.of(p)
	return there
}

func (w *Workers) of(p sources.Partition) (Consumer, bool) {
	for _, c := range w.Consumers[p.Source] {
		if sources.Glob(c.Group, p.Group) {
			return c, true
		}
	}
	return Consumer{}, false
}

// Stop asks for the workers of a group to be stopped. Any 2xx is the word that
// they will be.
func (w *Workers) Stop(ctx context.Context, p sources.Partition, id string) error {
	c, there := w.of(p)
	if !there {
		return fmt.Errorf("stop group %s: consumers of source %s names no way to", p.Group, p.Source)
	}
	return w.call(ctx, c, c.Stop, "workers.stop", p, id)
}

// Start asks for them to be started again, as many as there were.
func (w *Workers) Start(ctx context.Context, p sources.Partition, id string) error {
	c, there := w.of(p)
	if !there {
		return fmt.Errorf("start group %s: consumers of source %s names no way to", p.Group, p.Source)
	}
	return w.call(ctx, c, c.Start, "workers.start", p, id)
}

// call is signed as Standard Webhooks 1.0.0 asks. Its webhook-id is the same at
// every attempt: by it a receiver knows a call that it has carried out.
func (w *Workers) call(ctx context.Context, c Consumer, address, what string, p sources.Partition, id string) error {
	type data struct {
		Source    string `json:"source"`
		Group     string `json:"group"`
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Skip      string `json:"skip"`
	}
	now := time.Now()
	body, err := json.Marshal(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      data   `json:"data"`
	}{what, now.UTC().Format(time.RFC3339), data{p.Source, p.Group, p.Topic, p.Number, id}})
	if err != nil {
		return fmt.Errorf("encode the call: %w", err)
	}
	secret, err := c.Secret()
	if err != nil {
		return fmt.Errorf("read the secret of consumers: %w", err)
	}
	header, err := webhook.Sign(secret, id+"-"+what, now, body)
	if err != nil {
		return err
	}
	return alerts.Post(ctx, w.Client, address, header, body, secret)
}
