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
		from, err := t.onlyOne(ctx, sent, l)
		if err != nil {
			return err
		}
		if from != nil {
			t.live(l.ID, *from)
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
	number    int64 // of the letter
	size      int64 // of its whole body
}

// sentOf are the letters of this queue that redrives have sent, unedited, of
// some sizes.
func (t *taking) sentOf(ctx context.Context, redrives, sizes []int64) (list []sentLetter, err error) {
	return list, each(ctx, t.tx, func(r *sql.Rows) error {
		var s sentLetter
		var key, original, body bytesOrNull
		err := r.Scan(&s.item, &s.letter, &s.returns, &s.number, &s.size, &key, &original, &body)
		s.key, s.body = key, body
		if original != nil {
			s.key = original
		}
		list = append(list, s)
		return err
	}, `SELECT i.id, l.id, l.returns + 1, l.number, l.body_size, p.key, p.original_key, p.body FROM items i JOIN redrives r ON r.number = i.redrive
		JOIN letters l ON l.number = i.letter JOIN payloads p ON p.letter = l.number
		WHERE l.queue = ? AND i.came_back_as = '' AND i.state IN ('confirmed', 'consumed', 'sent') AND r.edited = FALSE
		AND `+numberList("i.redrive", redrives)+` AND `+numberList("l.body_size", sizes), t.queue)
}

// onlyOne is the life of the only sent letter with the bytes of another one; nil
// when there is none, or more than one.
func (t *taking) onlyOne(ctx context.Context, sent []sentLetter, l review.Letter) (*life, error) {
	var from *life
	for _, s := range sent {
		if s.size != int64(len(l.Body)) || !bytes.Equal(s.key, l.RedriveKey()) || !bytes.HasPrefix(l.Body, s.body) {
			continue
		}
		whole, err := t.wholeOf(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case !bytes.Equal(whole, l.Body):
		case from != nil:
			return nil, nil //nolint:nilnil // nobody can tell which
		default:
			from = &s.life
		}
	}
	return from, nil
}

// wholeOf is the whole body of a letter of which a list has the beginning.
func (t *taking) wholeOf(ctx context.Context, s sentLetter) ([]byte, error) {
	if s.size <= inlineBody {
		return s.body, nil
	}
	var whole bytesOrNull
	err := t.tx.QueryRowContext(ctx, `SELECT body FROM large_bodies WHERE letter = ?`, s.number).Scan(&whole)
	return whole, err
}
