package web

import (
	"time"

	"github.com/unwedge/unwedge/skips"
)

type skipsJSON struct {
	Skips      []skipJSON `json:"skips"`
	NextCursor *string    `json:"next_cursor"`
}

type skipJSON struct {
	ID        *string      `json:"id"`    // null in a dry run
	State     *string      `json:"state"` // null in a dry run
	Source    string       `json:"source"`
	Group     string       `json:"group"`
	Topic     string       `json:"topic"`
	Partition int32        `json:"partition"`
	From      int64        `json:"from"`
	To        int64        `json:"to"`
	Stop      bool         `json:"stop"`
	Parked    []parkedJSON `json:"parked"`
	WaitsFor  *string      `json:"waits_for"`
	ArmedAt   *time.Time   `json:"armed_at"`
	ExpiresAt *time.Time   `json:"expires_at"`
	EndedAt   *time.Time   `json:"ended_at"`
	By        *string      `json:"by"`
	Outcome   *string      `json:"outcome"`
	Error     *string      `json:"error"`
}

type parkedJSON struct {
	Offset    int64   `json:"offset"`
	Queue     *string `json:"queue"`
	Partition *int32  `json:"partition"` // where the copy lies; null while there is none
	AtOffset  *int64  `json:"at_offset"`
}

func skipOf(s skips.Skip) skipJSON {
	out := skipJSON{
		ID: known(s.ID), State: known(string(s.State)), Source: s.Line.Source, Group: s.Line.Group, Topic: s.Line.Topic, Partition: s.Line.Number,
		From: s.From, To: s.To, Stop: s.Stop, Parked: make([]parkedJSON, 0, len(s.Parked)), WaitsFor: known(s.WaitsFor),
		ExpiresAt: instant(s.ExpiresAt), EndedAt: instant(s.EndedAt), By: known(s.By), Outcome: known(string(s.Outcome)), Error: known(s.Error),
	}
	if s.ID != "" {
		out.ArmedAt = instant(s.ArmedAt)
	}
	for _, p := range s.Parked {
		one := parkedJSON{Offset: p.Record.Offset, Queue: known(s.Queue)}
		if p.Copied() {
			one.Partition, one.AtOffset = &p.Partition, &p.AtOffset
		}
		out.Parked = append(out.Parked, one)
	}
	return out
}
