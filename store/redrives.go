package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/review"
)

// StartRedrive makes a finished plan a redrive: the job, a row of the ledger for
// each letter, the letters' status and the audit, in one transaction. Errors:
// review.ErrNotFound, *review.ConflictError.
func (s *Store) StartRedrive(ctx context.Context, r review.Redrive, plan string) error {
	options, err := encodeOptions(r.Options)
	if err != nil {
		return err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		if err := mayStart(ctx, tx, plan); err != nil {
			return err
		}
		number, err := numbers(ctx, tx, "redrives", 1)
		if err != nil {
			return err
		}
		first, caution, err := cautionOf(ctx, tx, r, plan)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO redrives (number, id, plan, state, reason, asked_by, created_at, ended_at, total, rate, options, caution, verdict, trouble)
			VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, '', '')`, number, r.ID, plan, string(r.State), r.Reason, r.By, micros(r.CreatedAt), r.Total, r.RatePerSecond, options, caution)
		if err != nil {
			return err
		}
		if err := fillLedger(ctx, tx, number, r, plan, first); err != nil {
			return err
		}
		if err := move(ctx, tx, review.Redriving, `number IN (SELECT letter FROM items WHERE redrive = ?)`, number); err != nil {
			return err
		}
		if err := expect(ctx, tx, number, r); err != nil {
			return err
		}
		return writeAudit(ctx, tx, r.CreatedAt, auditEntry{r.By, "redrive", r.ID, fmt.Sprintf("started with %d letters%s", r.Total, because(r.Reason))})
	})
	if err != nil {
		return fmt.Errorf("start redrive %s: %w", r.ID, err)
	}
	return nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// mayStart is an error unless the plan can become a redrive: once, and only
// while all of its letters can be had.
func mayStart(ctx context.Context, tx *sql.Tx, plan string) error {
	var finished bool
	err := tx.QueryRowContext(ctx, `SELECT finished FROM plans WHERE id = ?`, plan).Scan(&finished)
	if err == nil && !finished {
		err = sql.ErrNoRows
	}
	if err != nil {
		return noRows(err, "plan", plan)
	}
	var started string
	err = tx.QueryRowContext(ctx, `SELECT id FROM redrives WHERE plan = ?`, plan).Scan(&started)
	if err == nil {
		return &review.ConflictError{Redrive: started}
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	taken, err := column[string](ctx, tx, `SELECT l.id FROM plan_order p JOIN letters l ON l.number = p.letter
		WHERE p.plan = ? AND l.status NOT IN ('open', 'snoozed', 'expired') ORDER BY p.place`, plan)
	if err == nil && len(taken) > 0 {
		err = &review.ConflictError{IDs: taken}
	}
	return err
}

// fillLedger writes a planned item for each letter of the plan, in its order but
// for one letter that goes first; -1: none.
func fillLedger(ctx context.Context, tx *sql.Tx, redrive int64, r review.Redrive, plan string, ahead int64) error {
	first, err := numbers(ctx, tx, "items", r.Total)
	if err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO items (number, id, redrive, letter, source, state, status_before, target_queue, target_partition, target_topic_id,
			names, receipt_partition, receipt_offset, receipt_message, came_back_as, error, holds)
		SELECT ? + p.rank, ? || '-' || (p.rank + 1), ?, l.number, q.source, 'planned', l.status, p.target_queue, p.target_partition, p.target_topic_id,
			p.names, 0, -1, '', '', '', l.number
		FROM (SELECT d.*, o.letter AS number, CASE WHEN o.place = ? THEN 0 WHEN o.place < ? THEN o.place + 1 ELSE o.place END AS rank
				FROM plan_order o JOIN plan_letters d ON d.plan = o.plan AND d.place = o.place WHERE o.plan = ?) AS p
			JOIN letters l ON l.number = p.number JOIN queues q ON q.number = l.queue`, first, r.ID, redrive, ahead, ahead, plan)
	if err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n != int64(r.Total) {
		err = fmt.Errorf("write the ledger: %d letters of %d", n, r.Total)
	}
	if err != nil {
		return err
	}
	return itemCounts{{redrive, review.Planning}: n}.save(ctx, tx)
}

const selectRedrives = `SELECT number, id, state, reason, asked_by, created_at, ended_at, total, options, rate, verdict, trouble, cancelling,
	incident, return_us, return_why, follow_until, followed FROM redrives `

func readRedrives(ctx context.Context, q querier, where string, args ...any) ([]review.Redrive, []int64, error) {
	list, numbers := []review.Redrive{}, []int64{}
	err := each(ctx, q, func(rows *sql.Rows) error {
		r := review.Redrive{Counts: map[review.ItemState]int{}}
		var n, created, ended, usual, until int64
		var options string
		var rate float64
		err := rows.Scan(&n, &r.ID, &r.State, &r.Reason, &r.By, &created, &ended, &r.Total, &options, &rate, &r.Verdict, &r.Trouble, &r.Cancelling,
			&r.Incident, &usual, &r.ReturnsWhy, &until, &r.Followed)
		if err == nil {
			err = json.Unmarshal([]byte(options), &r.Options)
		}
		r.RatePerSecond, r.ReturnsIn, r.FollowUntil = rate, time.Duration(usual)*time.Microsecond, instant(until)
		r.CreatedAt, r.EndedAt = instant(created), instant(ended)
		list, numbers = append(list, r), append(numbers, n)
		return err
	}, selectRedrives+where, args...)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range numbers {
		if list[i].Counts, err = countItems(ctx, q, n); err != nil {
			return nil, nil, err
		}
	}
	return list, numbers, nil
}

// Redrives lists redrives, newest first. Errors: review.ErrBadCursor.
func (s *Store) Redrives(ctx context.Context, limit int, cursor string) (review.Redrives, error) {
	after, err := readCursor("redrives", cursor, 1)
	if err != nil {
		return review.Redrives{}, err
	}
	before := int64(1) << 62
	if after != nil {
		before = after[0]
	}
	var page review.Redrives
	var numbers []int64
	page.Redrives, numbers, err = readRedrives(ctx, s.read, `WHERE number < ? ORDER BY number DESC LIMIT ?`, before, limit+1)
	if err != nil {
		return page, fmt.Errorf("list redrives: %w", err)
	}
	if len(numbers) > limit {
		page.Redrives = page.Redrives[:limit]
		page.Next = makeCursor("redrives", numbers[limit-1])
	}
	err = s.read.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'redrives'`).Scan(&page.Total)
	return page, err
}

// Redrive is one redrive. Errors: review.ErrNotFound.
func (s *Store) Redrive(ctx context.Context, id string) (review.Redrive, error) {
	list, _, err := readRedrives(ctx, s.read, `WHERE id = ?`, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: redrive %s", review.ErrNotFound, id)
	}
	if err != nil {
		return review.Redrive{}, err
	}
	return list[0], nil
}

// Items lists the letters of a redrive in the order in which they are sent: all,
// or those in some states. Errors: review.ErrNotFound, review.ErrBadCursor.
func (s *Store) Items(ctx context.Context, redrive string, states []review.ItemState, limit int, cursor string) (review.Items, error) {
	page := review.Items{Items: []review.Item{}}
	after, err := readCursor("items", cursor, 1)
	if err != nil {
		return page, err
	}
	last := int64(0)
	if after != nil {
		last = after[0]
	}
	number, err := redriveNumber(ctx, s.read, redrive)
	if err != nil {
		return page, err
	}
	where, args := `i.redrive = ?`, []any{number}
	if len(states) > 0 {
		in, more := inList("i.state", states)
		where, args = where+" AND "+in, append(args, more...)
	}
	counts, err := countItems(ctx, s.read, number)
	if err != nil {
		return page, fmt.Errorf("count the letters of redrive %s: %w", redrive, err)
	}
	for state, n := range counts {
		if len(states) == 0 || slices.Contains(states, state) {
			page.Total += int64(n)
		}
	}
	var numbers []int64
	page.Items, numbers, err = readItems(ctx, s.read, where+` AND i.number > ? ORDER BY i.number LIMIT ?`, append(args, last, limit+1)...)
	if err != nil {
		return page, fmt.Errorf("list the letters of redrive %s: %w", redrive, err)
	}
	if len(numbers) > limit {
		page.Items = page.Items[:limit]
		page.Next = makeCursor("items", numbers[limit-1])
	}
	return page, nil
}

func redriveNumber(ctx context.Context, q querier, id string) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT number FROM redrives WHERE id = ?`, id).Scan(&n)
	return n, noRows(err, "redrive", id)
}

func readItems(ctx context.Context, q querier, where string, args ...any) ([]review.Item, []int64, error) {
	list, numbers := []review.Item{}, []int64{}
	err := each(ctx, q, func(r *sql.Rows) error {
		var i review.Item
		var n int64
		var line int32
		err := r.Scan(&n, &i.ID, &i.Redrive, &i.LetterID, &i.State, &i.Target.Queue, &i.Target.Partition, &i.Target.TopicID,
			&line, &i.Receipt.Offset, &i.Receipt.MessageID, &i.CameBack, &i.Error)
		i.Receipt.Item, i.Receipt.Partition = i.ID, line
		list, numbers = append(list, i), append(numbers, n)
		return err
	}, `SELECT i.number, i.id, r.id, l.id, i.state, i.target_queue, i.target_partition, i.target_topic_id,
		i.receipt_partition, i.receipt_offset, i.receipt_message, i.came_back_as, i.error
		FROM items i JOIN redrives r ON r.number = i.redrive JOIN letters l ON l.number = i.letter WHERE `+where, args...)
	return list, numbers, err
}

// LetterRedrives lists the redrives that a letter was in, the latest first: its
// part of each.
func (s *Store) LetterRedrives(ctx context.Context, letter string) ([]review.Item, error) {
	list, _, err := readItems(ctx, s.read, `l.id = ? ORDER BY i.number DESC`, letter)
	if err != nil {
		return nil, fmt.Errorf("list the redrives of letter %s: %w", letter, err)
	}
	return list, nil
}
