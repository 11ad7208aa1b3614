package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// loadBytes is how much one load of letters weighs at most, unless it is one
// letter.
const loadBytes = 8 << 20

// NextLoad gives planned letters of a redrive in their order, behind a place in
// it: those of one source, at most so many.
func (s *Store) NextLoad(ctx context.Context, redrive string, after int64, most int) (review.Load, error) {
	load := review.Load{Lost: map[string]error{}}
	options, err := s.optionsOf(ctx, redrive)
	if err == nil {
		err = s.load(ctx, &load, redrive, after, most, options)
	}
	if err != nil {
		return load, fmt.Errorf("read what redrive %s sends next: %w", redrive, err)
	}
	return load, nil
}

func (s *Store) load(ctx context.Context, load *review.Load, redrive string, after int64, most int, o review.Options) error {
	items, err := s.plannedItems(ctx, redrive, after, most)
	if err != nil || len(items) == 0 {
		return err
	}
	maker := parcels{options: o}
	load.Source, load.Last = items[0].letter.Source, items[len(items)-1].number
	for _, p := range items {
		if !p.letter.BodyKept {
			load.Lost[p.item] = fmt.Errorf("%w: the store has forgotten its body", sources.ErrGone)
			continue
		}
		if p.letter.Cut {
			if err := s.wholeBody(ctx, &p.letter); err != nil {
				return err
			}
		}
		parcel, err := maker.make(p)
		if errors.Is(err, errCut) {
			return err
		}
		if err != nil {
			load.Lost[p.item] = err
			continue
		}
		load.Parcels = append(load.Parcels, parcel)
	}
	return s.leaveUnsure(ctx, load, redrive, items)
}

// planned is an item that is to be sent, and of its letter what goes with it or
// tells how it goes.
type planned struct {
	number int64
	item   string
	target sources.Target
	names  []byte
	letter review.Letter // its status is that before the redrive
}

// plannedItems are the next items of one source, as many as are not too heavy.
func (s *Store) plannedItems(ctx context.Context, redrive string, after int64, most int) ([]planned, error) {
	var items []planned
	weight, full := int64(0), false
	err := each(ctx, s.read, func(r *sql.Rows) error {
		if full {
			return nil
		}
		p, err := scanPlannedItem(r)
		if weight += p.letter.Size; len(items) > 0 && (weight > loadBytes || p.letter.Source != items[0].letter.Source) {
			full = true
			return err
		}
		items = append(items, p)
		return err
	}, `SELECT i.number, i.id, i.target_queue, i.target_partition, i.target_topic_id, i.names,
		i.status_before, l.id, q.source, q.name, l.topic_id, l.line, l.place, l.message_id, l.recorded_at, l.origin_queue, l.origin_at, l.body_size,
		p.letter, p.key, p.original_key, p.body, p.headers, p.system
		FROM items i JOIN letters l ON l.number = i.letter JOIN queues q ON q.number = l.queue LEFT JOIN payloads p ON p.letter = l.number
		WHERE i.redrive = (SELECT number FROM redrives WHERE id = ?) AND i.state = 'planned' AND i.number > ? ORDER BY i.number LIMIT ?`, redrive, after, most)
	return items, err
}

func scanPlannedItem(r *sql.Rows) (planned, error) {
	var p planned
	var recorded, origin int64
	var payload *int64
	var names, key, originalKey, body, headers, system bytesOrNull
	l := &p.letter
	err := r.Scan(&p.number, &p.item, &p.target.Queue, &p.target.Partition, &p.target.TopicID, &names,
		&l.Status, &l.ID, &l.Source, &l.Queue, &l.Place.TopicID, &l.Place.Partition, &l.Place.Offset, &l.Place.MessageID, &recorded, &l.Origin.Queue, &origin, &l.Size,
		&payload, &key, &originalKey, &body, &headers, &system)
	if err != nil {
		return p, err
	}
	p.names, l.BodyKept = names, payload != nil
	l.Cut = l.BodyKept && l.Size > inlineBody
	l.Timestamp, l.Origin.Timestamp = instant(recorded), instant(origin)
	l.Key, l.OriginalKey, l.Body = key, originalKey, body
	if l.Headers, err = decodeHeaders(headers); err != nil {
		return p, fmt.Errorf("letter %s: its headers: %w", l.ID, err)
	}
	if l.System, err = decodeMap(system); err != nil {
		return p, fmt.Errorf("letter %s: its system attributes: %w", l.ID, err)
	}
	return p, nil
}
