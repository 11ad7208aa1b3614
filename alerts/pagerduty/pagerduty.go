// Package pagerduty tells PagerDuty of incidents through its Events API v2
// (https://developer.pagerduty.com/docs/events-api-v2/overview/). An incident's
// id is its dedup key: an event that is sent twice is one alert.
package pagerduty

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// The addresses of the two service regions. An account lives in one of them.
const (
	US = "https://events.pagerduty.com/v2/enqueue"
	EU = "https://events.eu.pagerduty.com/v2/enqueue"
)

// What the API takes. A longer summary is answered with 400 and the page is
// lost (prometheus/alertmanager#1700), a larger body as well (#2178).
const (
	summaryCharacters = 1024
	bodyBytes         = 512_000
	nameCharacters    = 255 // of the other fields; not documented, so a cautious guess
	valueCharacters   = 500 // of each text in the details
	suspects          = 5
)

// Notifier sends events to one integration.
type Notifier struct {
	URL    string                 // of the enqueue endpoint; "" is US
	Key    func() (string, error) // the routing keys, one a line, asked for at each send, because their file may change
	Client *http.Client           // as alerts.NewClient makes it

	keys keyring
}

// Notify sends one event. PagerDuty answers 202 when it has taken it, which is
// not yet an incident.
func (n *Notifier) Notify(ctx context.Context, e alerts.Event) error {
	key, current, err := n.keyFor(e)
	if err != nil {
		return err
	}
	body, err := encode(message(key, e))
	if err != nil {
		return err
	}
	address := n.URL
	if address == "" {
		address = US
	}
	return mendable(alerts.Post(ctx, n.Client, address, nil, body, key), current)
}

// event is the body of a request. Acknowledge and resolve carry the payload
// too: the rules of an orchestration route by it, and drop what they cannot
// route (prometheus/alertmanager#1440).
type event struct {
	RoutingKey string   `json:"routing_key"`
	Action     string   `json:"event_action"`
	DedupKey   string   `json:"dedup_key"`
	Payload    *payload `json:"payload,omitempty"`
	Links      []link   `json:"links,omitempty"`
	Client     string   `json:"client,omitempty"`
	ClientURL  string   `json:"client_url,omitempty"`
}

type payload struct {
	Summary   string   `json:"summary"`
	Source    string   `json:"source"`
	Severity  string   `json:"severity"`
	Timestamp string   `json:"timestamp,omitempty"`
	Component string   `json:"component,omitempty"`
	Group     string   `json:"group,omitempty"`
	Class     string   `json:"class,omitempty"`
	Details   *details `json:"custom_details,omitempty"`
}

type link struct {
	Href string `json:"href"`
	Text string `json:"text,omitempty"`
}

// encode is the event as bytes that are not too many: the details go first, the
// page never.
func encode(e event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err == nil && len(body) > bodyBytes && e.Payload != nil {
		e.Payload.Details = nil
		body, err = json.Marshal(e)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the event: %w", err)
	}
	return body, nil
}

func message(key string, e alerts.Event) event {
	in := e.Incident
	out := event{
		RoutingKey: key, Action: string(e.Kind), DedupKey: in.ID,
		Payload: &payload{
			Summary:  alerts.Cut(e.Summary, summaryCharacters),
			Source:   alerts.Cut(nonEmpty(in.Source, "unwedge"), nameCharacters),
			Severity: severity(in.Severity),
		},
	}
	if e.Minimal {
		return out
	}
	out.Payload.Timestamp = e.At.UTC().Format(time.RFC3339)
	out.Payload.Component = alerts.Cut(component(in), nameCharacters)
	out.Payload.Group = alerts.Cut(in.Group, nameCharacters)
	out.Payload.Class = string(in.Verdict)
	out.Payload.Details = detailsOf(e)
	out.Client, out.ClientURL = "Unwedge", e.Link
	if e.Link != "" {
		out.Links = append(out.Links, link{Href: e.Link, Text: "The incident in Unwedge"})
	}
	if in.Runbook != "" {
		out.Links = append(out.Links, link{Href: in.Runbook, Text: "Runbook"})
	}
	for _, at := range e.Links {
		out.Links = append(out.Links, link{Href: at.URL, Text: alerts.Cut(at.Name, nameCharacters)})
	}
	return out
}

// component is what is at fault: the topic, or the queue of a dead-letter
// incident.
func component(in alerts.Incident) string {
	if in.Queue != "" || len(in.Lines) == 0 {
		return in.Queue
	}
	return in.Lines[0].Topic
}

// severity is one that the API knows; anything else is answered with 400
// (prometheus/alertmanager#1809), so it becomes the gravest.
func severity(s string) string {
	if s = strings.ToLower(s); slices.Contains([]string{"critical", "error", "warning", "info"}, s) {
		return s
	}
	return "critical"
}

func nonEmpty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
