package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// Working lists the redrives that are to be worked on: those that may send, and
// those of which something is out although they are paused.
func (s *Store) Working(ctx context.Context) ([]string, error) {
	list, err := column[string](ctx, s.read, `SELECT id FROM redrives r WHERE ended_at = 0 AND (state IN ('running', 'waiting')
		OR EXISTS (SELECT 1 FROM shipments s WHERE s.redrive = r.number AND s.state <> 'settled')) ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("list the redrives at work: %w", err)
	}
	return list, nil
}

// InFlight gives at most so many shipments of a redrive that are not settled:
// those that may be out before those that are to be settled, oldest first.
func (s *Store) InFlight(ctx context.Context, redrive string, most int) ([]review.Dispatch, error) {
	out := []review.Dispatch{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		d, err := scanDispatch(r)
		out = append(out, d)
		return err
	}, `SELECT s.number, s.source, s.state, s.target_queue, s.target_partition, s.target_topic_id, s.items, s.data, s.repeat_until, s.stays, s.traceable
		FROM shipments s JOIN redrives r ON r.number = s.redrive WHERE r.id = ? AND s.state <> 'settled'
		ORDER BY CASE s.state WHEN 'sending' THEN 0 ELSE 1 END, s.number LIMIT ?`, redrive, most)
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
	err := r.Scan(&d.Number, &d.Source, &d.State, &d.Target.Queue, &d.Target.Partition, &d.Target.TopicID, &items, &data, &until, &d.Stays, &d.Traceable)
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

// parcels makes parcels, one after the other.
type parcels struct {
	options review.Options
	names   []byte // as they are stored; letters of a cause have the same as a rule
	headers review.HeaderPlan
}

// make makes the bytes that go of a letter as it lies in the store, and of what
// its plan decided. The same comes of it however often it is made.
func (m *parcels) make(p planned) (sources.Parcel, error) {
	l, o := p.letter, m.options
	if m.names == nil || !bytes.Equal(m.names, p.names) {
		headers, err := decodeHeaderPlan(p.names)
		if err != nil {
			return sources.Parcel{}, fmt.Errorf("item %s: its header names: %w", p.item, err)
		}
		m.names, m.headers = p.names, headers
	}
	sent, err := review.AsPlanned(l.DeadLetter, o.Edit, m.headers, review.Lineage{Item: p.item, Letter: l.ID})
	if err != nil {
		return sources.Parcel{}, fmt.Errorf("edit letter %s: %w", l.ID, err)
	}
	parcel := sources.Parcel{
		Item: p.item, Place: l.Place, Queue: l.Queue, Target: p.target, Key: sent.Key, Body: sent.Body, System: l.System, Headers: sent.Headers,
	}
	// SQS has it no more: what goes is our copy, and nothing is to be taken off.
	parcel.StoredCopy = l.Status == review.Expired && l.Place.MessageID != ""
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
