package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/review"
)

// chunkBytes is how much the bodies of one read of a plan's letters weigh at
// most, unless it is one letter.
const chunkBytes = 16 << 20

// errEnough ends a read whose rows are as many as may be in memory.
var errEnough = errors.New("enough")

// LettersOfPlan gives letters of a plan from a place in its order on, at most so
// many, fewer where they are heavy. Without bodies, letters have the size of
// their body only: a plan of a million letters reads keys and headers, and not
// gigabytes. Of what a list shows, reason, cause and earlier hops are left out.
// Errors: review.ErrNotFound for a letter that the store keeps no longer.
func (s *Store) LettersOfPlan(ctx context.Context, plan string, from, most int, bodies bool) ([]review.Letter, error) {
	columns := `NULL`
	if bodies {
		columns = `COALESCE((SELECT b.body FROM large_bodies b WHERE b.letter = l.number), p.body)`
	}
	list := make([]review.Letter, 0, most)
	weight := int64(0)
	err := each(ctx, s.read, func(r *sql.Rows) error {
		l, place, err := scanOutline(r)
		switch {
		case err != nil:
			return err
		case place != from+len(list):
			return fmt.Errorf("%w: letter at place %d of plan %s", review.ErrNotFound, from+len(list), plan)
		}
		if weight += max(0, l.Size); bodies && weight > chunkBytes && len(list) > 0 {
			return errEnough
		}
		list = append(list, l)
		return nil
	}, selectOutlines+columns+fromOutlines, plan, from, from+most)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("read the letters of plan %s: %w", plan, err)
	}
	return list, nil
}

const selectOutlines = `SELECT pl.place, l.id, q.source, q.name, l.status, l.found_at, l.returns,
	l.topic_id, l.line, l.place, l.message_id, l.recorded_at, l.dead_at, l.failed_at, l.expires_at,
	l.origin_queue, l.origin_partition, l.origin_offset, l.origin_group, l.origin_at,
	l.convention, l.redrive_to, l.not_original, l.body_size,
	p.letter, p.key, p.original_key, p.headers, p.system, p.error_headers, `

const fromOutlines = ` FROM plan_order pl JOIN letters l ON l.number = pl.letter JOIN queues q ON q.number = l.queue LEFT JOIN payloads p ON p.letter = l.number
	WHERE pl.plan = ? AND pl.place >= ? AND pl.place < ? ORDER BY pl.place`

// scanOutline reads a row of selectOutlines.
func scanOutline(r *sql.Rows) (l review.Letter, place int, err error) {
	var found, recorded, dead, failed, expires, origin int64
	var payload *int64
	var key, originalKey, headers, system, errorHeaders, body bytesOrNull
	err = r.Scan(&place, &l.ID, &l.Source, &l.Queue, &l.Status, &found, &l.Returns,
		&l.Place.TopicID, &l.Place.Partition, &l.Place.Offset, &l.Place.MessageID, &recorded, &dead, &failed, &expires,
		&l.Origin.Queue, &l.Origin.Partition, &l.Origin.Offset, &l.Origin.Group, &origin,
		&l.Convention, &l.RedriveTo, &l.NotTheOriginal, &l.Size,
		&payload, &key, &originalKey, &headers, &system, &errorHeaders, &body)
	if err != nil {
		return l, place, err
	}
	l.FoundAt, l.Timestamp, l.DeadAt, l.FailedAt = instant(found), instant(recorded), instant(dead), instant(failed)
	l.ExpiresAt, l.Origin.Timestamp = instant(expires), instant(origin)
	l.BodyKept = payload != nil
	l.Key, l.OriginalKey, l.Body = key, originalKey, body
	if l.Headers, err = decodeHeaders(headers); err == nil {
		if l.System, err = decodeMap(system); err == nil {
			l.ErrorHeaders, err = decodeNames(errorHeaders)
		}
	}
	if err != nil {
		err = fmt.Errorf("letter %s: its headers: %w", l.ID, err)
	}
	return l, place, err
}

// KeysBeside gives see the keys and places of letters of a queue that are open
// and not in a plan, the latest first, at most so many.
func (s *Store) KeysBeside(ctx context.Context, plan, source, queue string, most int, see func(review.Letter)) error {
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var l review.Letter
		var found, dead int64
		var key, originalKey bytesOrNull
		err := r.Scan(&l.ID, &found, &dead, &l.Place.TopicID, &l.Place.Partition, &l.Place.Offset, &key, &originalKey)
		if l.FoundAt, l.DeadAt, l.Key, l.OriginalKey = instant(found), instant(dead), key, originalKey; err == nil {
			see(l)
		}
		return err
	}, `SELECT l.id, l.found_at, l.dead_at, l.topic_id, l.line, l.place, p.key, p.original_key FROM letters l JOIN payloads p ON p.letter = l.number
		WHERE l.queue = (SELECT number FROM queues WHERE source = ? AND name = ?) AND l.shelf IN ('open', 'snoozed')
		AND l.number NOT IN (SELECT letter FROM plan_order WHERE plan = ?) ORDER BY l.number DESC LIMIT ?`, source, queue, plan, most)
	if err != nil {
		return fmt.Errorf("read the keys of the other letters of %s: %w", queue, err)
	}
	return nil
}

// HoldsOf tells what keeps letters from being redriven: the redrive that has
// them, else what was decided of them. One that can be had is in none.
func (s *Store) HoldsOf(ctx context.Context, ids []string) ([]review.Hold, error) {
	var all []review.Hold
	for chunk := range slices.Chunk(ids, 500) {
		in, args := inList("l.id", chunk)
		err := each(ctx, s.read, func(r *sql.Rows) error {
			var id string
			var h review.Hold
			if err := r.Scan(&id, &h.Status, &h.Redrive, &h.By); err != nil {
				return err
			}
			at := slices.IndexFunc(all, func(o review.Hold) bool { return o.Redrive == h.Redrive && o.Status == h.Status })
			if at < 0 {
				all, at = append(all, h), len(all)
			}
			if all[at].Count++; len(all[at].IDs) < planShown {
				all[at].IDs = append(all[at].IDs, id)
			}
			return nil
		}, `SELECT l.id, l.status, COALESCE(r.id, ''), COALESCE(r.asked_by, '') FROM letters l
			LEFT JOIN items i ON i.holds = l.number LEFT JOIN redrives r ON r.number = i.redrive
			WHERE l.status NOT IN ('open', 'snoozed', 'expired') AND `+in, args...)
		if err != nil {
			return nil, fmt.Errorf("find out who has letters: %w", err)
		}
	}
	return all, nil
}
