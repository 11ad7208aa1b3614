package store

import (
	"bytes"
	"context"
	"database/sql"

	"github.com/unwedge/unwedge/review"
)

const (
	// contentMost is how many letters may be waited for at most for new ones to be
	// held against them by their bytes.
	contentMost = 20_000
	// contentLeast is the size of a body that says something: many records are
	// empty, or a word.
	contentLeast = 16
)

// byContent finds letters with the key and the body of exactly one letter that
// was sent from this queue and is still waited for. It is the weakest sign, for
// consumers that write a dead letter without its headers, and is asked only
// while there is something to wait for.
func (t *taking) byContent(ctx context.Context) error {
	var open []review.Letter
	sizes := map[int64]bool{}
	for _, l := range t.look.Letters {
		if _, known := t.lives[l.ID]; !known && len(l.Body) >= contentLeast && l.Origin.Offset == nil {
			open = append(open, l)
			sizes[int64(len(l.Body))] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	waited, err := t.waitedFor(ctx)
	if err != nil || len(waited) == 0 {
		return err
	}
	var all []int64
	for n := range sizes {
		all = append(all, n)
	}
	sent, err := t.sentOf(ctx, waited, all)
	if err != nil {
		return err
	}
	for _, l := range open {
		if from, only := onlyOne(sent, l); only {
			t.live(l.ID, from)
		}
	}
	return nil
}

// waitedFor are the redrives whose letters may still come back, unless they are
// too many to look through.
func (t *taking) waitedFor(ctx context.Context) ([]int64, error) {
	var list []int64
	total := 0
	err := each(ctx, t.tx, func(r *sql.Rows) error {
		var n int64
		var letters int
		err := r.Scan(&n, &letters)
		list, total = append(list, n), total+letters
		return err
	}, `SELECT number, total FROM redrives WHERE ended_at = 0 OR NOT followed AND follow_until >= ?`, micros(t.look.At))
	if total > contentMost {
		return nil, err
	}
	return list, err
}

// sentLetter is a letter that was sent as it was.
type sentLetter struct {
	life
	key, body []byte
}

// sentOf are the letters of this queue that redrives have sent, unedited, of
// some sizes.
func (t *taking) sentOf(ctx context.Context, redrives, sizes []int64) (list []sentLetter, err error) {
	return list, each(ctx, t.tx, func(r *sql.Rows) error {
		var s sentLetter
		var key, original, body bytesOrNull
		err := r.Scan(&s.item, &s.letter, &s.returns, &key, &original, &body)
		s.key, s.body = key, body
		if original != nil {
			s.key = original
		}
		list = append(list, s)
		return err
	}, `SELECT i.id, l.id, l.returns + 1, p.key, p.original_key, p.body FROM items i JOIN redrives r ON r.number = i.redrive
		JOIN letters l ON l.number = i.letter JOIN payloads p ON p.letter = l.number
		WHERE l.queue = ? AND i.came_back_as = '' AND i.state IN ('confirmed', 'consumed', 'sent') AND r.edited = FALSE
		AND `+numberList("i.redrive", redrives)+` AND `+numberList("l.body_size", sizes), t.queue)
}

// onlyOne is the life of the only sent letter with the bytes of another one.
func onlyOne(sent []sentLetter, l review.Letter) (from life, only bool) {
	found := 0
	for _, s := range sent {
		if bytes.Equal(s.body, l.Body[:min(len(l.Body), len(s.body))]) && bytes.Equal(s.key, l.RedriveKey()) {
			from = s.life
			found++
		}
	}
	return from, found == 1
}
