// Package webhook tells any receiver of incidents, signed as Standard Webhooks
// 1.0.0 (https://www.standardwebhooks.com) asks.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

// Notifier sends events to one address.
type Notifier struct {
	URL    func() (string, error) // asked for at each send: it may be a secret that changes
	Secret func() (string, error) // as whsec_… or as it is, one a line; asked for at each send
	Client *http.Client           // as alerts.NewClient makes it
}

// Notify sends one event. Any 2xx is its acceptance.
func (n *Notifier) Notify(ctx context.Context, e alerts.Event) error {
	address, err := n.URL()
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	secret, err := n.Secret()
	if err != nil {
		return fmt.Errorf("read the secret: %w", err)
	}
	body, err := json.Marshal(message(e))
	if err != nil {
		return fmt.Errorf("encode the event: %w", err)
	}
	header, err := Sign(secret, e.ID, time.Now(), body)
	if err != nil {
		return err
	}
	return alerts.Post(ctx, n.Client, address, header, body, secret)
}

// Sign makes the headers that prove a body: webhook-id (the same at every
// attempt), webhook-timestamp (of this attempt), webhook-signature: one by each
// secret, so that a receiver can be given a new one while the old one holds.
func Sign(secrets, id string, at time.Time, body []byte) (http.Header, error) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for secret := range strings.Lines(strings.TrimSpace(secrets) + "\n") {
		key, err := keyOf(secret)
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.", id, stamp) // a hash takes everything
		_, _ = mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header, nil
}

// keyOf is the key in a secret: base64 after whsec_, else its bytes.
func keyOf(secret string) ([]byte, error) {
	secret = strings.TrimSpace(secret)
	coded, isCoded := strings.CutPrefix(secret, "whsec_")
	if !isCoded {
		if secret == "" {
			return nil, errors.New("the webhook's secret is empty")
		}
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || len(key) == 0 {
		return nil, errors.New("the webhook's secret begins with whsec_, and what follows is not base64")
	}
	return key, nil
}

// body is what is sent: what happened, when, and to what.
type body struct {
	Type      string `json:"type"` // incident.opened, incident.updated, incident.acknowledged, incident.resolved
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

// data is the incident. What is not known is null. No key, header or body of a
// record is in it: only what sets a suspect apart, which is masked already.
type data struct {
	ID         string    `json:"id"`
	Status     string    `json:"status"` // firing, acknowledged, resolved
	Severity   string    `json:"severity"`
	Summary    string    `json:"summary"`
	Link       *string   `json:"link"`
	Number     int64     `json:"number,omitempty"`
	Source     string    `json:"source,omitempty"`
	Group      string    `json:"group,omitempty"`
	Queue      string    `json:"queue,omitempty"`
	Verdict    string    `json:"verdict,omitempty"`
	Scope      string    `json:"scope,omitempty"`
	Title      string    `json:"title,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Partitions []string  `json:"partitions,omitempty"` // the first 20, "and N more"
	Lines      int       `json:"partition_count"`
	Waiting    *int64    `json:"waiting"`
	Offset     *int64    `json:"offset"`
	Suspects   []suspect `json:"suspects,omitempty"`
	Peers      string    `json:"peers,omitempty"`
	Member     string    `json:"member,omitempty"`
	Owner      string    `json:"owner,omitempty"`
	Runbook    string    `json:"runbook,omitempty"`
	Links      []link    `json:"links,omitempty"` // outside, of the record at the head
	Since      *string   `json:"since"`
	OpenedAt   *string   `json:"opened_at"`
	TakenAt    *string   `json:"acknowledged_at"`
	TakenBy    *string   `json:"acknowledged_by"`
	ResolvedAt *string   `json:"resolved_at"`
	Resolution string    `json:"resolution,omitempty"`
	Late       bool      `json:"late,omitempty"`
}

type link struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type suspect struct {
	Offset int64   `json:"offset"`
	Apart  []apart `json:"apart"`
}

type apart struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Usual string `json:"usual"`
}

var types = map[alerts.EventKind]string{
	alerts.Trigger:     "incident.opened",
	alerts.Update:      "incident.updated",
	alerts.Acknowledge: "incident.acknowledged",
	alerts.Resolve:     "incident.resolved",
}

// longest is how many characters a text may have: the whole stays under the
// 20 KB that the standard advises.
const longest = 500

func message(e alerts.Event) body {
	in := e.Incident
	d := data{
		ID: in.ID, Status: "firing", Severity: severity(in), Summary: alerts.Cut(e.Summary, 2*longest), Link: some(e.Link),
		Lines: len(in.Lines), OpenedAt: instant(in.OpenedAt), ResolvedAt: instant(in.ResolvedAt), Since: instant(in.Evidence.Since), Late: e.Late,
	}
	if !in.AcknowledgedAt.IsZero() {
		d.Status, d.TakenAt, d.TakenBy = "acknowledged", instant(in.AcknowledgedAt), some(in.AcknowledgedBy)
	}
	if e.Kind == alerts.Resolve {
		d.Status = "resolved"
	}
	if !e.Minimal {
		d.describe(e)
	}
	return body{Type: types[e.Kind], Timestamp: e.At.UTC().Format(time.RFC3339), Data: d}
}

func (d *data) describe(e alerts.Event) {
	in, ev := e.Incident, e.Incident.Evidence
	d.Number, d.Source, d.Group, d.Queue = in.Number, cut(in.Source), cut(in.Group), cut(in.Queue)
	d.Verdict, d.Scope, d.Title, d.Reason = string(in.Verdict), string(in.Scope), cut(in.Title), cut(in.Reason)
	d.Partitions, d.Peers, d.Member = alerts.PartitionNames(in), cut(ev.Peers), cut(ev.Owner)
	d.Owner, d.Runbook, d.Resolution = cut(in.Owner), cut(in.Runbook), cut(in.Resolution)
	for _, at := range e.Links {
		d.Links = append(d.Links, link{cut(at.Name), at.URL})
	}
	if e.Waiting != sources.NotKnown {
		d.Waiting = &e.Waiting
	}
	switch {
	case ev.Head != nil:
		d.Offset = &ev.Head.Offset
	case ev.Line.Topic != "" && ev.Position >= 0:
		d.Offset = &ev.Position
	}
	for _, s := range ev.Suspects[:min(len(ev.Suspects), 3)] {
		one := suspect{Offset: s.Offset, Apart: []apart{}}
		for _, a := range s.Apart[:min(len(s.Apart), 3)] {
			one.Apart = append(one.Apart, apart{cut(a.Field), cut(a.Value), cut(a.Usual)})
		}
		d.Suspects = append(d.Suspects, one)
	}
}

// severity is the incident's, and warning for one that pages nobody.
func severity(in alerts.Incident) string {
	switch {
	case !in.Pages:
		return "warning"
	case in.Severity == "":
		return "critical"
	}
	return in.Severity
}

func cut(s string) string { return alerts.Cut(s, longest) }

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// instant is a time as RFC 3339 in UTC, null for none.
func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return some(t.UTC().Format(time.RFC3339))
}
