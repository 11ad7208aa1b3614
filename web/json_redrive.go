package web

import (
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

type planJSON struct {
	Plan      string         `json:"plan"`
	CreatedAt *time.Time     `json:"created_at"`
	Total     int            `json:"total"`
	Redrive   *string        `json:"redrive"` // id of the redrive that it has started
	Letters   []plannedJSON  `json:"letters"`
	Receivers []receiverJSON `json:"receivers"`
	Warnings  []warningJSON  `json:"warnings"`
}

type plannedJSON struct {
	ID       string            `json:"id"`
	Target   *plannedTarget    `json:"target"`
	Why      *string           `json:"why"`
	Headers  headerChangesJSON `json:"headers"`
	Warnings []string          `json:"warnings"`
	Refused  *string           `json:"refused"`
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
	ID            string     `json:"id"`
	State         string     `json:"state"`
	Reason        *string    `json:"reason"`
	By            *string    `json:"by"`
	CreatedAt     *time.Time `json:"created_at"`
	EndedAt       *time.Time `json:"ended_at"`
	Total         int        `json:"total"`
	RatePerSecond *float64   `json:"rate_per_second"`
	Counts        countsJSON `json:"counts"`
	Verdict       *string    `json:"verdict"`
	Trouble       *string    `json:"trouble"` // why it does not get on just now
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
		}
		if l.Target != nil {
			p.Target = &plannedTarget{Queue: l.Target.Queue, Partition: l.Target.Partition}
		}
		out = append(out, p)
	}
	return out
}

func jobOf(j review.Redrive) jobJSON {
	out := jobJSON{
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
	}
	if j.RatePerSecond > 0 {
		out.RatePerSecond = &j.RatePerSecond
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
		out = append(out, itemJSON{ID: i.ID, Letter: i.LetterID, State: string(i.State), Target: itemTargetOf(i), CameBack: known(i.CameBack), Error: known(i.Error)})
	}
	return out
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
		return i.Receipt != (sources.Receipt{})
	}
	return false
}
