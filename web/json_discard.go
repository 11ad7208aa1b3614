package web

import (
	"time"

	"github.com/unwedge/unwedge/review"
)

type discardJSON struct {
	ID        string            `json:"id"`
	State     string            `json:"state"`
	Reason    *string           `json:"reason"`
	By        *string           `json:"by"`
	CreatedAt *time.Time        `json:"created_at"`
	Total     int               `json:"total"`
	Counts    discardCountsJSON `json:"counts"`
	UndoUntil *time.Time        `json:"undo_until"`
	UndoneAt  *time.Time        `json:"undone_at"`
	UndoneBy  *string           `json:"undone_by"`
	Items     []discardItemJSON `json:"items"` // the first thousand
}

type discardCountsJSON struct {
	Discarded int `json:"discarded"`
	Failed    int `json:"failed"`
	Undone    int `json:"undone"`
}

type discardItemJSON struct {
	ID     string  `json:"id"`
	Letter string  `json:"letter"`
	State  string  `json:"state"`
	Error  *string `json:"error"`
}

func discardOf(d review.Discard, items []review.DiscardItem) discardJSON {
	out := discardJSON{
		ID: d.ID, State: string(d.State), Reason: known(d.Reason), By: known(d.By), CreatedAt: instant(d.CreatedAt), Total: d.Total,
		Counts:    discardCountsJSON{Discarded: d.Counts[review.ItemDiscarded], Failed: d.Counts[review.DiscardFailed], Undone: d.Counts[review.DiscardItemBack]},
		UndoUntil: instant(d.UndoUntil), UndoneAt: instant(d.UndoneAt), UndoneBy: known(d.UndoneBy), Items: make([]discardItemJSON, 0, len(items)),
	}
	for _, i := range items {
		out.Items = append(out.Items, discardItemJSON{ID: i.ID, Letter: i.LetterID, State: string(i.State), Error: known(i.Error)})
	}
	return out
}
