package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// passMost is how many shipments one transaction goes through: a few thousand
// letters, so that others who write wait for a moment only.
const passMost = 10

// Awaited lists the queues of some sources that have letters nobody is known to
// have passed.
func (s *Store) Awaited(ctx context.Context, names []string) ([]review.Awaited, error) {
	in, args := inList("source", names)
	var all []review.Awaited
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var a review.Awaited
		err := r.Scan(&a.Source, &a.Queue)
		all = append(all, a)
		return err
	}, `SELECT DISTINCT source, target_queue FROM shipments WHERE state = 'settled' AND NOT followed AND `+in, args...)
	if err != nil {
		return nil, fmt.Errorf("list the queues whose readers are waited for: %w", err)
	}
	return all, nil
}

// Pass notes what the readers of a queue have passed: those letters are
// consumed.
func (s *Store) Pass(ctx context.Context, at review.Awaited, passed sources.Passed) (review.Followed, error) {
	var p *passing
	sent, err := s.unread(ctx, at, passed)
	if err != nil || len(sent) == 0 {
		return review.Followed{}, err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		p = &passing{tx: tx, now: time.Now(), below: passed.Below, topic: passed.TopicID}
		for _, sh := range sent {
			if err := p.shipment(ctx, sh); err != nil {
				return err
			}
		}
		return p.reword(ctx)
	})
	if err != nil {
		return review.Followed{}, fmt.Errorf("note what the readers of %s in %s have passed: %w", at.Queue, at.Source, err)
	}
	p.done.More = p.closed == passMost
	return p.done, nil
}

// dispatched is a shipment that arrived and is followed.
type dispatched struct {
	number, redrive, first int64
	job, topic             string
	partition              int32
	items                  []string // ids
}

// unread are the next shipments to a queue of which readers have passed
// something: of each partition the oldest, which they come to first.
func (s *Store) unread(ctx context.Context, at review.Awaited, passed sources.Passed) ([]dispatched, error) {
	var all []dispatched
	for partition, below := range passed.Below {
		list, err := s.unreadOn(ctx, at, partition)
		if err != nil {
			return nil, fmt.Errorf("find what was sent to %s in %s: %w", at.Queue, at.Source, err)
		}
		for _, d := range list {
			reached, err := s.reached(ctx, d, below)
			if err != nil {
				return nil, err
			}
			if reached || passed.TopicID != d.topic {
				all = append(all, d)
			}
		}
		if len(all) >= passMost {
			return all[:passMost], nil
		}
	}
	return all, nil
}

func (s *Store) unreadOn(ctx context.Context, at review.Awaited, partition int32) ([]dispatched, error) {
	var list []dispatched
	return list, each(ctx, s.read, func(r *sql.Rows) error {
		d := dispatched{partition: partition}
		var items bytesOrNull
		err := r.Scan(&d.number, &d.redrive, &d.job, &d.first, &d.topic, &items)
		if err == nil {
			d.items, err = decodeNames(items)
		}
		list = append(list, d)
		return err
	}, `SELECT s.number, s.redrive, r.id, i.number, s.target_topic_id, s.items FROM shipments s JOIN redrives r ON r.number = s.redrive
		JOIN items i ON i.id = r.id || '-1'
		WHERE s.source = ? AND s.target_queue = ? AND s.state = 'settled' AND NOT s.followed AND s.target_partition = ? ORDER BY s.number LIMIT ?`,
		at.Source, at.Queue, partition, passMost)
}

// reached tells whether readers have come to the first letter of a shipment that
// is waited for, or whether there is none.
func (s *Store) reached(ctx context.Context, d dispatched, below int64) (bool, error) {
	of, err := d.waitedFor(nil)
	if err != nil {
		return false, err
	}
	var first *int64
	err = s.read.QueryRowContext(ctx, `SELECT MIN(receipt_offset) FROM items WHERE `+of).Scan(&first)
	return first == nil || *first < below, err
}

// waitedFor is a condition for the items of a shipment that nobody is known to
// have passed.
func (d dispatched) waitedFor(tx *sql.Tx) (string, error) {
	b := &booking{tx: tx, number: d.redrive, id: d.job, first: d.first}
	list, err := b.items(d.items)
	return b.of(list) + ` AND state = 'confirmed' AND receipt_offset >= 0`, err
}

// passing is one Pass.
type passing struct {
	tx       *sql.Tx
	now      time.Time
	below    map[int32]int64
	topic    string // as the readers know it
	closed   int    // shipments of which nothing is waited for any more
	redrives []int64
	done     review.Followed
}

// shipment makes those letters of a shipment consumed that readers have passed.
// A shipment to a topic that was deleted since is followed no more.
func (p *passing) shipment(ctx context.Context, d dispatched) error {
	of, err := d.waitedFor(p.tx)
	if err != nil {
		return err
	}
	if d.topic != p.topic {
		return p.close(ctx, d.number)
	}
	if err := p.consume(ctx, d, of+fmt.Sprintf(` AND receipt_offset < %d`, p.below[d.partition])); err != nil {
		return err
	}
	var left int
	if err := p.tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM items WHERE `+of).Scan(&left); err != nil || left > 0 {
		return err
	}
	return p.close(ctx, d.number)
}

func (p *passing) consume(ctx context.Context, d dispatched, which string) error {
	letters, err := column[string](ctx, p.tx, `SELECT id FROM letters WHERE number IN (SELECT letter FROM items WHERE `+which+`)`)
	if err != nil || len(letters) == 0 {
		return err
	}
	_, err = p.tx.ExecContext(ctx, `UPDATE letters SET outcome = 'consumed' WHERE outcome = '' AND number IN (SELECT letter FROM items WHERE `+which+`)`)
	if err != nil {
		return err
	}
	if _, err := moveItems(ctx, p.tx, review.ItemConsumed, which); err != nil {
		return err
	}
	p.done.Letters = append(p.done.Letters, letters...)
	if !slices.Contains(p.redrives, d.redrive) {
		p.redrives, p.done.Redrives = append(p.redrives, d.redrive), append(p.done.Redrives, d.job)
	}
	return nil
}

func (p *passing) close(ctx context.Context, shipment int64) error {
	p.closed++
	_, err := p.tx.ExecContext(ctx, `UPDATE shipments SET followed = TRUE WHERE number = ?`, shipment)
	return err
}

// reword writes the verdicts of the redrives anew. Letters that were passed just
// now may still come back for a while.
func (p *passing) reword(ctx context.Context) error {
	for _, n := range p.redrives {
		if err := followLonger(ctx, p.tx, n, p.now); err != nil {
			return err
		}
	}
	return nil
}

// followLonger waits once more, for as long as letters of a redrive take to come
// back, and writes its verdict, when it has ended.
func followLonger(ctx context.Context, tx *sql.Tx, redrive int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE redrives SET follow_until = ? + return_us, followed = FALSE WHERE number = ? AND ended_at <> 0`, micros(now), redrive)
	if err != nil {
		return err
	}
	return reword(ctx, tx, redrive)
}

// CloseVerdicts makes the verdicts final of redrives whose letters have had the
// time to come back.
func (s *Store) CloseVerdicts(ctx context.Context, now time.Time) (review.Followed, error) {
	const due = ` WHERE NOT followed AND follow_until BETWEEN 1 AND ?`
	var done review.Followed
	numbers, err := column[int64](ctx, s.read, `SELECT number FROM redrives`+due, micros(now))
	if err != nil || len(numbers) == 0 {
		return done, err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		for _, n := range numbers {
			if _, err := tx.ExecContext(ctx, `UPDATE redrives SET followed = TRUE WHERE number = ?`, n); err != nil {
				return err
			}
			if err := reword(ctx, tx, n); err != nil {
				return err
			}
		}
		done.Redrives, err = column[string](ctx, tx, `SELECT id FROM redrives WHERE `+numberList("number", numbers))
		return err
	})
	if err != nil {
		return review.Followed{}, fmt.Errorf("make verdicts of redrives final: %w", err)
	}
	return done, nil
}
