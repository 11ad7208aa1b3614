package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/review"
)

// pollMost is how many records a consumer takes at once by default: the one that
// blocks is among as many after the position.
const pollMost = 500

// saveHead notes where the head record of a stall lies, once that is known.
func saveHead(ctx context.Context, tx *sql.Tx, incident int64, e alerts.Evidence) error {
	offset := e.Position
	if e.Head != nil {
		offset = e.Head.Offset
	}
	if e.Line.Topic == "" || offset < 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE incidents SET head_topic = ?, head_partition = ?, head_offset = ? WHERE number = ?`,
		e.Line.Topic, e.Line.Number, offset, incident)
	return err
}

// WedgedBefore says of letters, by id, at the head of which stalls they stood, a
// sentence each: the record that a letter was made of, and the record that it
// was sent as in the life before.
func (s *Store) WedgedBefore(ctx context.Context, ids []string) (map[string][]string, error) {
	wedged := map[string][]string{}
	var incidents int
	if err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM incidents WHERE head_offset >= 0 LIMIT 1) AS some`).Scan(&incidents); err != nil || incidents == 0 {
		return wedged, err
	}
	in, args := inList("l.id", ids)
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var letter, id, group, topic string
		var partition, offset, opened int64
		err := r.Scan(&letter, &id, &group, &topic, &partition, &offset, &opened)
		text := fmt.Sprintf("%s stood still at partition %d offset %d of %s from %s on (incident %s)",
			group, partition, offset, topic, instant(opened).Format("2006-01-02 15:04:05 UTC"), id)
		if !slices.Contains(wedged[letter], text) {
			wedged[letter] = append(wedged[letter], text)
		}
		return err
	}, `SELECT l.id, n.id, n.group_name, n.head_topic, n.head_partition, n.head_offset, n.opened_at FROM letters l JOIN queues q ON q.number = l.queue
		JOIN incidents n ON n.head_topic = l.origin_queue AND n.head_partition = l.origin_partition AND n.head_offset = l.origin_offset AND n.source = q.source
		WHERE n.head_offset >= 0 AND `+in+`
		UNION ALL
		SELECT l.id, n.id, n.group_name, n.head_topic, n.head_partition, n.head_offset, n.opened_at FROM letters l
		JOIN letters before ON before.id = l.returned_from JOIN items i ON i.letter = before.number AND i.came_back_as = l.id
		JOIN incidents n ON n.head_topic = i.target_queue AND n.head_partition = i.receipt_partition AND n.head_offset = i.receipt_offset AND n.source = i.source
		WHERE n.head_offset >= 0 AND `+in, append(args, args...)...)
	if err != nil {
		return nil, fmt.Errorf("find the stalls that letters stood at the head of: %w", err)
	}
	return wedged, nil
}

// stall is an open incident at records that a redrive sent.
type stall struct {
	incident, topic, job string
	partition            int32
	redrive              int64
}

// LinkStalls pauses redrives that sent a record at which a group stands still
// now, and notes at which incident. Each is linked once.
func (s *Store) LinkStalls(ctx context.Context, now time.Time) (review.Followed, error) {
	var done review.Followed
	found, err := s.newStalls(ctx)
	if err != nil || len(found) == 0 {
		return done, err
	}
	err = s.in(ctx, func(tx *sql.Tx) error {
		for _, f := range found {
			if slices.Contains(done.Redrives, f.job) {
				continue
			}
			if err := link(ctx, tx, f, now); err != nil {
				return err
			}
			done.Redrives = append(done.Redrives, f.job)
		}
		return nil
	})
	if err != nil {
		return review.Followed{}, fmt.Errorf("link stalls to redrives: %w", err)
	}
	return done, nil
}

// newStalls are the open stalls at records of redrives that are not linked to
// any yet and are still followed.
func (s *Store) newStalls(ctx context.Context) ([]stall, error) {
	var all []stall
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var f stall
		err := r.Scan(&f.incident, &f.topic, &f.partition, &f.redrive, &f.job)
		all = append(all, f)
		return err
	}, `SELECT DISTINCT n.id, n.head_topic, n.head_partition, r.number, r.id FROM incidents n
		JOIN items i ON i.target_queue = n.head_topic AND i.receipt_partition = n.head_partition
			AND i.receipt_offset >= n.head_offset AND i.receipt_offset < n.head_offset + ? AND i.source = n.source
		JOIN redrives r ON r.number = i.redrive
		WHERE n.resolved_at = 0 AND n.head_offset >= 0 AND n.verdict IN ('head_of_line_stall', 'group_stall')
		AND i.receipt_offset >= 0 AND i.state IN ('sent', 'confirmed') AND r.incident = '' AND `+sameTopic, pollMost)
	if err != nil {
		return nil, fmt.Errorf("look for stalls at redriven records: %w", err)
	}
	return all, nil
}

func link(ctx context.Context, tx *sql.Tx, f stall, now time.Time) error {
	if _, err := tx.ExecContext(ctx, `UPDATE redrives SET incident = ? WHERE number = ?`, f.incident, f.redrive); err != nil {
		return err
	}
	why := fmt.Sprintf("partition %d of %s stands still at a letter that this redrive sent", f.partition, f.topic)
	result, err := tx.ExecContext(ctx, `UPDATE redrives SET state = ?, reason = ?
		WHERE number = ? AND state IN ('running', 'waiting') AND NOT cancelling AND ended_at = 0`, string(review.JobPaused), why, f.redrive)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err // it is over, or stands still anyway
	}
	return writeAudit(ctx, tx, now, auditEntry{"", "redrive", f.job, "paused: " + why})
}
