package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/unwedge/unwedge/review"
)

// livesMost is how many lives before a letter are followed back.
const livesMost = 50

// Lives are the redrives of a letter and of those that it was before, the oldest
// first.
func (s *Store) Lives(ctx context.Context, letter string) ([]review.Life, error) {
	lives := []review.Life{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		l, err := scanLife(r)
		lives = append(lives, l)
		return err
	}, `WITH RECURSIVE chain (number, earlier, step) AS (
			SELECT number, returned_from, 0 FROM letters WHERE id = ?
			UNION ALL
			SELECT b.number, b.returned_from, c.step + 1 FROM chain c JOIN letters b ON b.id = c.earlier WHERE c.earlier <> '' AND c.step < ?)
		SELECT i.id, r.id, l.id, i.state, i.target_queue, i.target_partition, i.target_topic_id, i.receipt_partition, i.receipt_offset, i.receipt_message,
			i.came_back_as, i.error, r.asked_by, r.created_at, COALESCE(s.sent_at, 0), COALESCE(back.found_at, 0)
		FROM chain c JOIN items i ON i.letter = c.number JOIN redrives r ON r.number = i.redrive JOIN letters l ON l.number = i.letter
		LEFT JOIN shipments s ON s.number = i.shipment LEFT JOIN letters back ON back.id = i.came_back_as
		ORDER BY c.step DESC, i.number`, letter, livesMost)
	if err != nil {
		return nil, fmt.Errorf("read the lives of letter %s: %w", letter, err)
	}
	return lives, nil
}

// RedrivesAt are the redrives that sent the record at which an incident stands,
// or one of the next.
func (s *Store) RedrivesAt(ctx context.Context, incident string) ([]string, error) {
	ids, err := column[string](ctx, s.read, `SELECT id FROM redrives WHERE incident = ? ORDER BY number`, incident)
	if err != nil {
		return nil, fmt.Errorf("find the redrives at incident %s: %w", incident, err)
	}
	return ids, nil
}

func scanLife(r *sql.Rows) (review.Life, error) {
	var l review.Life
	var started, sent, returned int64
	err := r.Scan(&l.ID, &l.Redrive, &l.LetterID, &l.State, &l.Target.Queue, &l.Target.Partition, &l.Target.TopicID,
		&l.Receipt.Partition, &l.Receipt.Offset, &l.Receipt.MessageID, &l.CameBack, &l.Error, &l.By, &started, &sent, &returned)
	l.Receipt.Item, l.StartedAt, l.SentAt, l.ReturnedAt = l.ID, instant(started), instant(sent), instant(returned)
	return l, err
}
