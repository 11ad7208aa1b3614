// Package slack tells a Slack channel of incidents through an incoming webhook
// (https://api.slack.com/messaging/webhooks). Slack knows no dedup key and takes
// nothing back: what is sent twice, after a crash, is there twice. So each message
// ends with the id of its event.
package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/alerts"
)

// textCharacters is how long a message is at most. Slack takes 40,000, and folds
// what is longer than a few screens.
const textCharacters = 3000

// Notifier sends messages to one channel.
type Notifier struct {
	URL    func() (string, error) // the whole credential, asked for at each send, because its file may change
	Client *http.Client           // as alerts.NewClient makes it
}

// Notify sends one message. Slack answers 200 and "ok" when it has taken it.
func (n *Notifier) Notify(ctx context.Context, e alerts.Event) error {
	address, err := n.URL()
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	address = strings.TrimSpace(address)
	body, err := json.Marshal(message{Text: text(e)})
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	answer, err := alerts.Ask(ctx, n.Client, address, nil, body, secretOf(address))
	return judge(answer, err)
}

// secretOf is the part of the address that gives it away, should an answer quote
// it without the host.
func secretOf(address string) string {
	if _, path, found := strings.Cut(address, "/services/"); found {
		return path
	}
	return ""
}

// message is the body of a request. Nothing of it is looked up by Slack: what a
// topic's name points to is not to be shown in the channel.
type message struct {
	Text        string `json:"text"`
	UnfurlLinks bool   `json:"unfurl_links"`
	UnfurlMedia bool   `json:"unfurl_media"`
}

// signs begin a message, so that a channel can be read at a glance.
var signs = map[alerts.EventKind]string{
	alerts.Trigger:     ":rotating_light: ",
	alerts.Update:      ":arrows_counterclockwise: ",
	alerts.Acknowledge: ":eyes: ",
	alerts.Resolve:     ":white_check_mark: ",
}

func text(e alerts.Event) string {
	in := e.Incident
	lines := []string{signs[e.Kind] + "*" + escape(heading(e)) + "* " + escape(e.Summary)}
	if !e.Minimal {
		if e.Link != "" {
			lines = append(lines, "<"+escape(e.Link)+"|The incident in Unwedge>")
		}
		if in.Runbook != "" && e.Kind != alerts.Resolve {
			lines = append(lines, "Runbook: "+escape(in.Runbook))
		}
		for _, at := range e.Links {
			lines = append(lines, "<"+escape(at.URL)+"|"+escape(at.Name)+">")
		}
	}
	foot := "_" + escape(e.ID) + "_"
	return cut(strings.Join(lines, "\n"), textCharacters-len(foot)-1) + "\n" + foot
}

// heading says what kind of message it is, to whom.
func heading(e alerts.Event) string {
	in := e.Incident
	word := map[alerts.EventKind]string{alerts.Update: "Changed", alerts.Acknowledge: "Taken", alerts.Resolve: "Resolved"}[e.Kind]
	if word == "" {
		word = severity(in)
	}
	if in.Owner != "" {
		word += ", " + in.Owner
	}
	return word + ":"
}

func severity(in alerts.Incident) string {
	if !in.Pages || in.Severity == "" {
		return "warning"
	}
	return in.Severity
}

// escape keeps the text of others a text: <!channel> in the name of a topic rings
// nobody, and <http://evil|our dashboard> is no link
// (https://api.slack.com/reference/surfaces/formatting#escaping).
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// cut shortens a text that is escaped already, and leaves no half of an escape
// behind.
func cut(s string, most int) string {
	short := alerts.Cut(s, most)
	if short == s {
		return s
	}
	short = strings.TrimSuffix(short, "…")
	if at := strings.LastIndexAny(short, "&;"); at >= 0 && short[at] == '&' {
		short = short[:at]
	}
	return short + "…"
}

// answer is what Slack's newer interfaces, and what imitates them, say in JSON.
type answer struct {
	OK         *bool   `json:"ok"`
	Success    *bool   `json:"success"`
	Error      string  `json:"error"`
	RetryAfter float64 `json:"retry_after"` // seconds
}

// bad are the errors that say that this text will never be taken.
var bad = []string{"invalid_payload", "no_text", "too_many_attachments", "invalid_blocks", "invalid_blocks_format", "msg_too_long"}

// judge says what an answer means. A channel that is archived, a token that is
// revoked and a service that is gone can be mended while a message waits; only a
// text that is refused is refused for good. 200 is no acceptance yet: a sign-in
// page answers 200 too, and so does "ok": false (prometheus/alertmanager#3121).
func judge(body string, err error) error {
	var a answer
	isJSON := json.Unmarshal([]byte(body), &a) == nil
	if err == nil {
		err = taken(body, a, isJSON)
	}
	if err == nil || errors.Is(err, alerts.ErrPermanent) {
		return err
	}
	var asked *alerts.RetryAfter
	if a.RetryAfter > 0 && !errors.As(err, &asked) {
		return &alerts.RetryAfter{After: time.Duration(a.RetryAfter * float64(time.Second)), Err: err}
	}
	return err
}

// taken tells whether a 200 is an acceptance.
func taken(body string, a answer, isJSON bool) error {
	word := strings.TrimSpace(body)
	switch {
	case word == "" || word == "ok":
		return nil
	case isJSON && (a.OK != nil && *a.OK || a.OK == nil && a.Success != nil && *a.Success):
		return nil
	case slices.Contains(bad, a.Error) || slices.Contains(bad, word):
		return fmt.Errorf("%w: answered 200: %s", alerts.ErrPermanent, word)
	}
	return fmt.Errorf("answered 200, and not ok: %s", alerts.Cut(word, 200))
}
