package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// loadBytes is how much one load of letters weighs at most, unless it is one
// letter.
const loadBytes = 16 << 20

// Working lists the redrives that are to be worked on.
func (s *Store) Working(ctx context.Context) ([]review.Redrive, error) {
	list, _, err := readRedrives(ctx, s.read, `WHERE ended_at = 0 AND state = 'running' ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("list the redrives at work: %w", err)
	}
	return list, nil
}

// InFlight gives the shipments of a redrive that are not settled, oldest first.
func (s *Store) InFlight(ctx context.Context, redrive string) ([]review.Dispatch, error) {
	out := []review.Dispatch{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		d, err := scanDispatch(r)
		out = append(out, d)
		return err
	}, `SELECT s.number, s.source, s.state, s.target_queue, s.target_partition, s.target_topic_id, s.items, s.data, s.repeat_until, s.stays
		FROM shipments s JOIN redrives r ON r.number = s.redrive WHERE r.id = ? AND s.state <> 'settled' ORDER BY s.number`, redrive)
	if err != nil {
		return nil, fmt.Errorf("read what redrive %s has sent: %w", redrive, err)
	}
	for i := range out {
		if out[i].State == review.Sent {
			if out[i].Receipts, err = s.receipts(ctx, out[i].Items); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func scanDispatch(r *sql.Rows) (review.Dispatch, error) {
	var d review.Dispatch
	var items, data bytesOrNull
	var until int64
	err := r.Scan(&d.Number, &d.Source, &d.State, &d.Target.Queue, &d.Target.Partition, &d.Target.TopicID, &items, &data, &until, &d.Stays)
	if err != nil {
		return d, err
	}
	d.Data, d.RepeatUntil = data, instant(until)
	d.Items, err = decodeNames(items)
	return d, err
}

// receipts are those of a shipment's items that were sent and are not settled.
func (s *Store) receipts(ctx context.Context, ids []string) ([]sources.Receipt, error) {
	in, args := inList("i.id", ids)
	items, _, err := readItems(ctx, s.read, in+` AND i.state = 'sent' ORDER BY i.number`, args...)
	var all []sources.Receipt
	for _, i := range items {
		all = append(all, i.Receipt)
	}
	return all, err
}

// NextLoad gives planned letters of a redrive in their order: those of one
// source, at most so many.
func (s *Store) NextLoad(ctx context.Context, redrive string, most int) (review.Load, error) {
	load, err := s.nextLoad(ctx, redrive, most)
	if err != nil {
		return load, fmt.Errorf("read what redrive %s sends next: %w", redrive, err)
	}
	return load, nil
}

// planned is an item that is to be sent.
type planned struct {
	item, source, letter string
	target               sources.Target
	names                []byte
}

func (s *Store) nextLoad(ctx context.Context, redrive string, most int) (review.Load, error) {
	load := review.Load{Lost: map[string]error{}}
	options, err := s.optionsOf(ctx, redrive)
	if err != nil {
		return load, err
	}
	items, err := s.plannedItems(ctx, redrive, most)
	if err != nil || len(items) == 0 {
		return load, err
	}
	load.Source = items[0].source
	ids := make([]string, len(items))
	for i, p := range items {
		ids[i] = p.letter
	}
	letters, err := s.LettersByID(ctx, ids)
	if err != nil {
		return load, err
	}
	for i, p := range items {
		if !letters[i].BodyKept {
			load.Lost[p.item] = fmt.Errorf("%w: the store has forgotten its body", sources.ErrGone)
			continue
		}
		parcel, err := makeParcel(p, letters[i], options)
		if errors.Is(err, errCut) {
			return load, err
		}
		if err != nil {
			load.Lost[p.item] = err
			continue
		}
		load.Parcels = append(load.Parcels, parcel)
	}
	return load, nil
}

// plannedItems are the next items of one source, as many as are not too heavy.
func (s *Store) plannedItems(ctx context.Context, redrive string, most int) ([]planned, error) {
	var items []planned
	weight, full := int64(0), false
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var p planned
		var size int64
		var names bytesOrNull
		err := r.Scan(&p.item, &p.source, &p.letter, &p.target.Queue, &p.target.Partition, &p.target.TopicID, &names, &size)
		p.names = names
		weight += size
		full = full || len(items) > 0 && (weight > loadBytes || p.source != items[0].source)
		if !full {
			items = append(items, p)
		}
		return err
	}, `SELECT i.id, i.source, l.id, i.target_queue, i.target_partition, i.target_topic_id, i.names, l.body_size
		FROM items i JOIN letters l ON l.number = i.letter
		WHERE i.redrive = (SELECT number FROM redrives WHERE id = ?) AND i.state = 'planned' ORDER BY i.number LIMIT ?`, redrive, most)
	return items, err
}

// makeParcel makes the bytes that go of a letter as it lies in the store, and of
// what its plan decided. The same comes of it however often it is made.
func makeParcel(p planned, l review.Letter, o review.Options) (sources.Parcel, error) {
	headers, err := decodeHeaderPlan(p.names)
	if err != nil {
		return sources.Parcel{}, fmt.Errorf("item %s: its header names: %w", p.item, err)
	}
	sent, err := review.AsPlanned(l.DeadLetter, o.Edit, headers, review.Lineage{Item: p.item, Letter: l.ID})
	if err != nil {
		return sources.Parcel{}, fmt.Errorf("edit letter %s: %w", l.ID, err)
	}
	parcel := sources.Parcel{
		Item: p.item, Place: l.Place, Queue: l.Queue, Target: p.target, Key: sent.Key, Body: sent.Body, System: l.System, Headers: sent.Headers,
	}
	if o.KeepTimestamps {
		parcel.Timestamp = review.OriginalTime(l.DeadLetter)
	}
	return parcel, nil
}

func decodeHeaderPlan(names []byte) (review.HeaderPlan, error) {
	var p review.HeaderPlan
	kinds, err := decodeList(names)
	if err != nil || len(kinds) != 3 {
		return p, errCut
	}
	for i, into := range []*[]string{&p.Kept, &p.Dropped, &p.Added} {
		if *into, err = decodeNames(kinds[i]); err != nil {
			return p, errCut
		}
	}
	return p, nil
}

// optionsOf are those of a redrive, its edit among them.
func (s *Store) optionsOf(ctx context.Context, redrive string) (review.Options, error) {
	var text string
	var o review.Options
	err := s.read.QueryRowContext(ctx, `SELECT options FROM redrives WHERE id = ?`, redrive).Scan(&text)
	if err != nil {
		return o, noRows(err, "redrive", redrive)
	}
	return o, json.Unmarshal([]byte(text), &o)
}
