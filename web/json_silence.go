package web

import (
	"time"

	"github.com/unwedge/unwedge/alerts"
)

type silencesJSON struct {
	Silences   []silenceJSON `json:"silences"`
	NextCursor *string       `json:"next_cursor"`
}

type silenceJSON struct {
	ID     string     `json:"id"`
	Source string     `json:"source"`
	Group  string     `json:"group"`
	Topic  string     `json:"topic"`
	From   *time.Time `json:"from"`
	Until  *time.Time `json:"until"`
	Reason *string    `json:"reason"`
	By     *string    `json:"by"`
	SetAt  *time.Time `json:"set_at"`
}

func silenceOf(s alerts.Silence) silenceJSON {
	return silenceJSON{
		ID: s.ID, Source: s.Source, Group: s.Group, Topic: s.Topic, From: instant(s.From), Until: instant(s.Until),
		Reason: known(s.Reason), By: known(s.By), SetAt: instant(s.SetAt),
	}
}
