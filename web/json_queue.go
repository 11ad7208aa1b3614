package web

import (
	"time"

	"github.com/unwedge/unwedge/review"
)

type queuesJSON struct {
	Queues     []queueJSON `json:"queues"`
	NextCursor *string     `json:"next_cursor"`
}

type queueJSON struct {
	Source           string     `json:"source"`
	Name             string     `json:"name"`
	Kind             string     `json:"kind"`
	Count            *int64     `json:"count"`
	CountIsExact     bool       `json:"count_is_exact"`
	OldestAt         *time.Time `json:"oldest_at"`
	RetentionSeconds *int64     `json:"retention_seconds"` // null: not known, or for ever
	KeepsForEver     bool       `json:"keeps_for_ever"`
	FeedsFrom        []string   `json:"feeds_from"`
	RedriveTo        *string    `json:"redrive_to"`
	ReadAt           *time.Time `json:"read_at"`
	ScannedAt        *time.Time `json:"scanned_at"`
	Older            int64      `json:"older"` // letters before the configured start: counted, not read
	Note             *string    `json:"note"`
	Redriving        *string    `json:"redriving"`
	Error            *string    `json:"error"`
}

type findingsJSON struct {
	Findings   []findingJSON `json:"findings"`
	NextCursor *string       `json:"next_cursor"`
}

type findingJSON struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	Source   string         `json:"source"`
	Queue    string         `json:"queue"`
	Message  string         `json:"message"`
	Advice   string         `json:"advice"`
	Evidence map[string]any `json:"evidence"`
	Since    *time.Time     `json:"since"`
}

type causesJSON struct {
	Causes     []causeJSON `json:"causes"`
	NextCursor *string     `json:"next_cursor"`
	Total      int64       `json:"total"`
}

type causeJSON struct {
	ID           string     `json:"id"`
	Title        string     `json:"title"`
	Why          string     `json:"why"`
	Count        int        `json:"count"`
	New          int        `json:"new"`
	Returned     int        `json:"returned"`
	FirstSeen    *time.Time `json:"first_seen"`
	LastSeen     *time.Time `json:"last_seen"`
	Oldest       *time.Time `json:"oldest"`
	ExpiresFirst *time.Time `json:"expires_first"`
	Expiring     int        `json:"expiring"` // before the next review
	Sources      []string   `json:"sources"`
	Origins      []string   `json:"origins"`
	Queues       []string   `json:"queues"`
	Weeks        [4]int     `json:"weeks"` // arrivals, oldest first
}

func queueOf(q review.Queue) queueJSON {
	out := queueJSON{
		Source:       q.Source,
		Name:         q.Name,
		Kind:         string(q.Kind),
		Count:        number(q.Count),
		CountIsExact: q.CountIsExact,
		OldestAt:     instant(q.OldestAt),
		KeepsForEver: q.Retention < 0,
		FeedsFrom:    list(q.FeedsFrom),
		RedriveTo:    known(q.RedriveTo),
		ReadAt:       instant(q.ReadAt),
		ScannedAt:    instant(q.ScannedAt),
		Older:        q.Older,
		Note:         known(q.Note),
		Redriving:    known(q.Redriving),
	}
	if q.Retention > 0 {
		out.RetentionSeconds = number(int64(q.Retention / time.Second))
	}
	if q.Err != nil {
		out.Error = known(q.Err.Error())
	}
	return out
}

func findingOf(f review.Finding) findingJSON {
	out := findingJSON{ID: f.ID, Kind: f.Kind, Source: f.Source, Queue: f.Queue, Message: f.Message, Advice: f.Advice, Evidence: f.Evidence, Since: instant(f.Since)}
	if out.Evidence == nil {
		out.Evidence = map[string]any{}
	}
	return out
}

func causeOf(c review.Cause) causeJSON {
	return causeJSON{
		ID:           c.ID,
		Title:        c.Title,
		Why:          c.Why,
		Count:        c.Count,
		New:          c.New,
		Returned:     c.Returned,
		FirstSeen:    instant(c.FirstSeen),
		LastSeen:     instant(c.LastSeen),
		Oldest:       instant(c.Oldest),
		ExpiresFirst: instant(c.ExpiresFirst),
		Expiring:     c.Expiring,
		Sources:      list(c.Sources),
		Origins:      list(c.Origins),
		Queues:       list(c.Queues),
		Weeks:        c.Weeks,
	}
}
