package web

import (
	"time"

	"github.com/unwedge/unwedge/review"
)

type planJSON struct {
	Plan      string         `json:"plan"`
	CreatedAt *time.Time     `json:"created_at"`
	Total     int            `json:"total"`
	Redrive   *string        `json:"redrive"` // id of the redrive that it has started
	Letters   []plannedJSON  `json:"letters"`
	Receivers []receiverJSON `json:"receivers"`
	Warnings  []warningJSON  `json:"warnings"`
	Newer     int            `json:"newer"`     // letters that came since and would be selected too: they stay
	NotKnown  []string       `json:"not_known"` // what could not be found out, a sentence each
	optionsJSON
}

// optionsJSON is how letters are sent, besides which.
type optionsJSON struct {
	To             *string  `json:"to"` // null: each letter's own way back
	Edited         bool     `json:"edited"`
	KeepTimestamps bool     `json:"keep_timestamps"`
	RatePerSecond  *float64 `json:"rate_per_second"` // null: as fast as the target takes them
	Canary         bool     `json:"canary"`
	StopAbove      float64  `json:"stop_above"` // share of letters that came back at which it pauses itself
}

type plannedJSON struct {
	ID       string            `json:"id"`
	Target   *plannedTarget    `json:"target"`
	Why      *string           `json:"why"`
	Headers  headerChangesJSON `json:"headers"`
	Warnings []string          `json:"warnings"`
	Refused  *string           `json:"refused"`
	Because  *string           `json:"because"` // why it is refused, in words
}

type plannedTarget struct {
	Queue     string `json:"queue"`
	Partition *int32 `json:"partition"`
}

type headerChangesJSON struct {
	Kept    []string `json:"kept"`
	Dropped []string `json:"dropped"`
	Added   []string `json:"added"`
}

type receiverJSON struct {
	Queue string  `json:"queue"`
	Group string  `json:"group"`
	State *string `json:"state"`
	Lag   *int64  `json:"lag"`
}

type plannedPageJSON struct {
	Letters    []plannedJSON `json:"letters"`
	NextCursor *string       `json:"next_cursor"`
	Total      int64         `json:"total"`
}

type jobsJSON struct {
	Redrives   []jobJSON `json:"redrives"`
	NextCursor *string   `json:"next_cursor"`
	Total      int64     `json:"total"`
}

type jobJSON struct {
	ID         string     `json:"id"`
	State      string     `json:"state"`
	Reason     *string    `json:"reason"`
	By         *string    `json:"by"`
	CreatedAt  *time.Time `json:"created_at"`
	EndedAt    *time.Time `json:"ended_at"`
	Total      int        `json:"total"`
	Counts     countsJSON `json:"counts"`
	Verdict    *string    `json:"verdict"`
	Trouble    *string    `json:"trouble"`    // why it does not get on just now
	Cancelling bool       `json:"cancelling"` // nothing more is sent; it ends when what is out is settled
	Incident   *string    `json:"incident"`   // at a record that it sent
	// ReturnsIn is how long its letters take to come back, if they do; FollowUntil
	// until when those are waited for: the verdict is final then.
	ReturnsIn   *float64   `json:"returns_in_seconds"`
	FollowUntil *time.Time `json:"follow_until"`
	optionsJSON
}

// wholeJobJSON is a job with its first thousand items.
type wholeJobJSON struct {
	jobJSON
	Items []itemJSON `json:"items"`
}

type countsJSON struct {
	Planned   int `json:"planned"`
	Sending   int `json:"sending"`
	Sent      int `json:"sent"`
	Confirmed int `json:"confirmed"`
	Consumed  int `json:"consumed"`
	Returned  int `json:"returned"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
	Cancelled int `json:"cancelled"`
}

type itemsJSON struct {
	Items      []itemJSON `json:"items"`
	NextCursor *string    `json:"next_cursor"`
	Total      int64      `json:"total"`
}

type itemJSON struct {
	ID       string         `json:"id"`
	Letter   string         `json:"letter"`
	State    string         `json:"state"`
	Target   itemTargetJSON `json:"target"`
	CameBack *string        `json:"came_back"` // id of the letter that it came back as
	Error    *string        `json:"error"`
}

// itemTargetJSON is where a letter lies now: an offset on Kafka, a message id
// on SQS, and neither before it was sent.
type itemTargetJSON struct {
	Queue     string  `json:"queue"`
	Partition *int32  `json:"partition"`
	Offset    *int64  `json:"offset"`
	MessageID *string `json:"message_id"`
}

func planOf(p review.Plan) planJSON {
	out := planJSON{
		Plan:      p.ID,
		CreatedAt: instant(p.CreatedAt),
		Total:     p.Total,
		Redrive:   known(p.Redrive),
		Letters:   plannedOf(p.Letters),
		Receivers: make([]receiverJSON, 0, len(p.Receivers)),
		Warnings:  warningsOf(p.Warnings),
		Newer:     p.Newer,
		NotKnown:  list(p.NotKnown),

		optionsJSON: optionsOf(p.Options),
	}
	for _, r := range p.Receivers {
		out.Receivers = append(out.Receivers, receiverJSON{Queue: r.Queue, Group: r.Group, State: known(r.State), Lag: number(r.Lag)})
	}
	return out
}

func plannedOf(letters []review.Planned) []plannedJSON {
	out := make([]plannedJSON, 0, len(letters))
	for _, l := range letters {
		p := plannedJSON{
			ID:       l.LetterID,
			Why:      known(l.Why),
			Headers:  headerChangesJSON{Kept: list(l.Kept), Dropped: list(l.Dropped), Added: list(l.Added)},
			Warnings: list(l.Warnings),
			Refused:  known(l.Refused),
			Because:  known(l.Because),
		}
		if l.Target != nil {
			p.Target = &plannedTarget{Queue: l.Target.Queue, Partition: l.Target.Partition}
		}
		out = append(out, p)
	}
	return out
}

func jobOf(j review.Redrive) jobJSON {
	return jobJSON{
		ID:        j.ID,
		State:     string(j.State),
		Reason:    known(j.Reason),
		By:        known(j.By),
		CreatedAt: instant(j.CreatedAt),
		EndedAt:   instant(j.EndedAt),
		Total:     j.Total,
		Counts:    countsOf(j.Counts),
		Verdict:   known(j.Verdict),
		Trouble:   known(j.Trouble),

		Cancelling: j.Cancelling, Incident: known(j.Incident), ReturnsIn: seconds(j.ReturnsIn), FollowUntil: instant(j.FollowUntil), optionsJSON: optionsOf(j.Options),
	}
}

func optionsOf(o review.Options) optionsJSON {
	out := optionsJSON{
		To: known(o.To), Edited: o.Edit != nil, KeepTimestamps: o.KeepTimestamps, Canary: o.Canary, StopAbove: o.StopAbove,
	}
	if o.RatePerSecond > 0 {
		out.RatePerSecond = &o.RatePerSecond
	}
	if out.StopAbove == 0 {
		out.StopAbove = review.DefaultStopAbove
	}
	return out
}

func countsOf(n map[review.ItemState]int) countsJSON {
	return countsJSON{
		Planned:   n[review.Planning],
		Sending:   n[review.Sending],
		Sent:      n[review.Sent],
		Confirmed: n[review.Confirmed],
		Consumed:  n[review.ItemConsumed],
		Returned:  n[review.ItemReturned],
		Failed:    n[review.ItemFailed],
		Unknown:   n[review.ItemUnknown],
		Cancelled: n[review.ItemCancelled],
	}
}

func itemsOf(items []review.Item) []itemJSON {
	out := make([]itemJSON, 0, len(items))
	for _, i := range items {
		out = append(out, itemOf(i))
	}
	return out
}

func itemOf(i review.Item) itemJSON {
	return itemJSON{ID: i.ID, Letter: i.LetterID, State: string(i.State), Target: itemTargetOf(i), CameBack: known(i.CameBack), Error: known(i.Error)}
}

func itemTargetOf(i review.Item) itemTargetJSON {
	out := itemTargetJSON{Queue: i.Target.Queue, Partition: i.Target.Partition, MessageID: known(i.Receipt.MessageID)}
	if arrived(i) && i.Receipt.MessageID == "" {
		out.Partition, out.Offset = &i.Receipt.Partition, number(i.Receipt.Offset)
	}
	return out
}

// arrived tells whether the receipt of an item says where it lies now.
func arrived(i review.Item) bool {
	switch i.State {
	case review.Sent, review.Confirmed, review.ItemConsumed, review.ItemReturned:
		return i.Receipt.MessageID != "" || i.Receipt.Offset >= 0
	}
	return false
}
