package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/review"
)

// maxStreams is how many index ranges are merged for one page of letters.
const maxStreams = 64

// Letters lists letters, newest first. Of a body over 64 KiB the list has only
// the beginning. Errors: review.ErrBadCursor.
func (s *Store) Letters(ctx context.Context, f review.Filter, limit int, cursor string) (review.Letters, error) {
	page, err := s.letters(ctx, f, limit, cursor)
	if err != nil {
		return review.Letters{}, fmt.Errorf("list letters: %w", err)
	}
	return page, nil
}

func (s *Store) letters(ctx context.Context, f review.Filter, limit int, cursor string) (review.Letters, error) {
	after, err := readCursor("letters", cursor, 2)
	if err != nil {
		return review.Letters{}, err
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return review.Letters{}, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	c, err := s.choose(ctx, tx, f)
	if err != nil {
		return review.Letters{}, err
	}
	var page review.Letters
	keys, total, err := c.keys(ctx, tx, after, limit+1)
	if err != nil {
		return page, err
	}
	page.Total = total
	if len(keys) > limit {
		keys = keys[:limit]
		page.Next = makeCursor("letters", keys[limit-1].at, keys[limit-1].number)
	}
	list := make([]int64, len(keys))
	for i, k := range keys {
		list[i] = k.number
	}
	page.Letters, err = readLetters(ctx, tx, numberList("l.number", list)+` ORDER BY l.listed_at DESC, l.number DESC`)
	return page, err
}

// letterKey is where a letter stands in lists.
type letterKey struct{ at, number int64 }

// keys are those of one page, and how many letters the whole list has.
func (c choice) keys(ctx context.Context, q querier, after []int64, limit int) ([]letterKey, int64, error) {
	if c.text != "" {
		return c.foundKeys(ctx, q, after, limit)
	}
	total, err := c.total(ctx, q)
	if err != nil || total == 0 {
		return nil, 0, err
	}
	query, args := c.page(after, limit)
	keys, err := listKeys(ctx, q, query, args)
	return keys, total, err
}

// foundKeys looks for a text once, for the total and for the page.
func (c choice) foundKeys(ctx context.Context, q querier, after []int64, limit int) ([]letterKey, int64, error) {
	in, args := c.whereLetters()
	older := "1 = 1"
	if after != nil {
		older, args = "(listed_at, number) < (?, ?)", append(args, after[0], after[1])
	}
	var keys []letterKey
	var total int64
	err := each(ctx, q, func(r *sql.Rows) error {
		var k letterKey
		var at, number *int64
		err := r.Scan(&total, &at, &number)
		if number != nil {
			k.at, k.number = *at, *number
			keys = append(keys, k)
		}
		return err
	}, `WITH found AS MATERIALIZED (SELECT listed_at, number FROM letters WHERE `+in+`)
		SELECT whole.n, page.listed_at, page.number FROM (SELECT COUNT(*) AS n FROM found) AS whole
		LEFT JOIN (SELECT listed_at, number FROM found WHERE `+older+` ORDER BY listed_at DESC, number DESC LIMIT ?) AS page ON 1 = 1
		ORDER BY page.listed_at DESC, page.number DESC`, append(args, limit)...)
	return keys, total, err
}

func listKeys(ctx context.Context, q querier, query string, args []any) ([]letterKey, error) {
	var keys []letterKey
	err := each(ctx, q, func(r *sql.Rows) error {
		var k letterKey
		err := r.Scan(&k.at, &k.number)
		keys = append(keys, k)
		return err
	}, query, args...)
	return keys, err
}

// page is a query for the keys of one page. Each status, of each cause or queue
// that was chosen, is a range of an index in the order of the list; the page is
// the head of all of them merged.
func (c choice) page(after []int64, limit int) (string, []any) {
	dimension, values := "", []int64{0}
	switch {
	case len(c.causes) > 0 && len(c.causes)*len(c.statuses) <= maxStreams:
		dimension, values = "cause", c.causes
	case len(c.queues) > 0 && len(c.queues)*len(c.statuses) <= maxStreams:
		dimension, values = "queue", c.queues
	}
	var parts []string
	var all []any
	for _, status := range c.statuses {
		for _, v := range values {
			one := c
			one.statuses = []string{status}
			switch dimension {
			case "cause":
				one.causes = []int64{v}
			case "queue":
				one.queues = []int64{v}
			}
			in, args := one.whereStands()
			query, args := one.stream(in, args, after, limit)
			parts, all = append(parts, "SELECT * FROM ("+query+")"), append(all, args...)
		}
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY 1 DESC, 2 DESC LIMIT ?", append(all, limit)
}

func (c choice) stream(in string, args []any, after []int64, limit int) (string, []any) {
	if after != nil {
		in += ` AND (listed_at, number) < (?, ?)`
		args = append(args, after[0], after[1])
	}
	return `SELECT listed_at, number FROM letters WHERE ` + in + ` ORDER BY listed_at DESC, number DESC LIMIT ?`, append(args, limit)
}

// Letter is one letter with the whole of its body. Errors: review.ErrNotFound.
func (s *Store) Letter(ctx context.Context, id string) (review.Letter, error) {
	list, err := s.LettersByID(ctx, []string{id})
	if err != nil {
		return review.Letter{}, err
	}
	return list[0], nil
}

// LettersByID gives letters with the whole of their bodies, in the order of the
// ids. Errors: review.ErrNotFound with the first id that is not there.
func (s *Store) LettersByID(ctx context.Context, ids []string) ([]review.Letter, error) {
	in, args := inList("l.id", ids)
	list, err := readLetters(ctx, s.read, in, args...)
	if err != nil {
		return nil, fmt.Errorf("read letters: %w", err)
	}
	byID := map[string]review.Letter{}
	for _, l := range list {
		byID[l.ID] = l
	}
	ordered := make([]review.Letter, 0, len(ids))
	for _, id := range ids {
		l, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("%w: dead letter %s", review.ErrNotFound, id)
		}
		if l.Cut {
			if err := s.wholeBody(ctx, &l); err != nil {
				return nil, err
			}
		}
		ordered = append(ordered, l)
	}
	return ordered, nil
}

func (s *Store) wholeBody(ctx context.Context, l *review.Letter) error {
	var body bytesOrNull
	err := s.read.QueryRowContext(ctx, `SELECT b.body FROM large_bodies b JOIN letters l ON l.number = b.letter WHERE l.id = ?`, l.ID).Scan(&body)
	if err != nil {
		return fmt.Errorf("read the body of letter %s: %w", l.ID, err)
	}
	l.Body, l.Cut = body, false
	return nil
}

// readLetters reads letters with what stands beside them.
func readLetters(ctx context.Context, q querier, where string, args ...any) ([]review.Letter, error) {
	list := []review.Letter{}
	err := each(ctx, q, func(r *sql.Rows) error {
		l, err := scanLetter(r)
		list = append(list, l)
		return err
	}, selectLetters+` WHERE `+where, args...)
	return list, err
}

const selectLetters = `SELECT l.id, q.source, q.name, c.id, l.status, l.found_at, l.outcome, l.returned_from, l.returns,
	l.topic_id, l.line, l.place, l.message_id, l.recorded_at, l.dead_at, l.failed_at, l.expires_at, l.expiry_is,
	l.origin_queue, l.origin_partition, l.origin_offset, l.origin_group, l.origin_at,
	l.reason_class, l.reason_root, l.reason_message, l.reason_code,
	l.attempts, l.looks, l.convention, l.redrive_to, l.not_original, l.body_size,
	p.letter, p.key, p.original_key, p.body, p.headers, p.system, p.error_headers, p.inferred, COALESCE(p.earlier, ''), COALESCE(p.stack, '')
	FROM letters l JOIN queues q ON q.number = l.queue JOIN causes c ON c.number = l.cause LEFT JOIN payloads p ON p.letter = l.number`

// scanLetter reads a row of selectLetters.
func scanLetter(r *sql.Rows) (review.Letter, error) {
	var l review.Letter
	var found, recorded, dead, failed, expires, origin int64
	var payload *int64
	var key, originalKey, body, headers, system, errorHeaders, inferred bytesOrNull
	var earlier string
	err := r.Scan(&l.ID, &l.Source, &l.Queue, &l.CauseID, &l.Status, &found, &l.Outcome, &l.ReturnedFrom, &l.Returns,
		&l.Place.TopicID, &l.Place.Partition, &l.Place.Offset, &l.Place.MessageID, &recorded, &dead, &failed, &expires, &l.ExpiryIs,
		&l.Origin.Queue, &l.Origin.Partition, &l.Origin.Offset, &l.Origin.Group, &origin,
		&l.Reason.Class, &l.Reason.RootClass, &l.Reason.Message, &l.Reason.Code,
		&l.Attempts, &l.Looks, &l.Convention, &l.RedriveTo, &l.NotTheOriginal, &l.Size,
		&payload, &key, &originalKey, &body, &headers, &system, &errorHeaders, &inferred, &earlier, &l.Reason.Stack)
	if err != nil {
		return l, err
	}
	l.FoundAt, l.Timestamp, l.DeadAt, l.FailedAt = instant(found), instant(recorded), instant(dead), instant(failed)
	l.ExpiresAt, l.Origin.Timestamp = instant(expires), instant(origin)
	l.BodyKept = payload != nil
	l.Key, l.OriginalKey, l.Body = key, originalKey, body
	l.Cut = l.BodyKept && l.Size > inlineBody
	if l.Headers, err = decodeHeaders(headers); err != nil {
		return l, fmt.Errorf("letter %s: its headers: %w", l.ID, err)
	}
	if l.System, err = decodeMap(system); err != nil {
		return l, fmt.Errorf("letter %s: its system attributes: %w", l.ID, err)
	}
	if l.ErrorHeaders, err = decodeNames(errorHeaders); err != nil {
		return l, fmt.Errorf("letter %s: its error headers: %w", l.ID, err)
	}
	if l.Inferred, err = decodeNames(inferred); err != nil {
		return l, fmt.Errorf("letter %s: what was inferred: %w", l.ID, err)
	}
	if earlier != "" {
		if err := json.Unmarshal([]byte(earlier), &l.Earlier); err != nil {
			return l, fmt.Errorf("letter %s: its earlier origins: %w", l.ID, err)
		}
	}
	return l, nil
}

// LetterCounts counts letters by queue and status.
func (s *Store) LetterCounts(ctx context.Context) ([]review.LetterCount, error) {
	var counts []review.LetterCount
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var c review.LetterCount
		err := r.Scan(&c.Source, &c.Queue, &c.Status, &c.Count)
		counts = append(counts, c)
		return err
	}, `SELECT q.source, q.name, t.status, SUM(t.letters) FROM tallies t JOIN queues q ON q.number = t.queue
		GROUP BY q.source, q.name, t.status ORDER BY q.source, q.name, t.status`)
	if err != nil {
		return nil, fmt.Errorf("count letters: %w", err)
	}
	return counts, nil
}
