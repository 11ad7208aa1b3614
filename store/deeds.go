package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/alerts"
)

// Deeds is what was done about an incident, oldest first: to itself, by skips of
// its group while it stood, by redrives that sent its records, and to the letters
// that were made of the record at its head or of one of the next. cut says that there are more than most.
func (s *Store) Deeds(ctx context.Context, incident string, most int) (deeds []alerts.Deed, cut bool, err error) {
	subjects, err := s.subjects(ctx, incident)
	if err != nil {
		return nil, false, fmt.Errorf("find what incident %s is about: %w", incident, err)
	}
	for some := range slices.Chunk(subjects, 500) {
		in, args := inList("subject", some)
		err = each(ctx, s.read, func(r *sql.Rows) error {
			var d alerts.Deed
			var at int64
			err := r.Scan(&at, &d.By, &d.Action, &d.On, &d.Outcome)
			d.At = instant(at)
			deeds = append(deeds, d)
			return err
		}, `SELECT at, who, action, subject, outcome FROM audit WHERE `+in+` ORDER BY number LIMIT ?`, append(args, most+1)...)
		if err != nil {
			return nil, false, fmt.Errorf("read what was done about incident %s: %w", incident, err)
		}
	}
	slices.SortStableFunc(deeds, func(a, b alerts.Deed) int { return a.At.Compare(b.At) })
	return deeds[:min(len(deeds), most)], len(deeds) > most, nil
}

// atHead selects the letters of an incident: those made of the record at its
// head or of one of the next, in a queue of its source.
const atHead = ` FROM incidents n JOIN letters l ON l.origin_queue = n.head_topic AND l.origin_partition = n.head_partition
	AND l.origin_offset >= n.head_offset AND l.origin_offset < n.head_offset + ? JOIN queues q ON q.number = l.queue AND q.source = n.source`

// subjects are the ids by which the audit knows what an incident is about.
func (s *Store) subjects(ctx context.Context, incident string) ([]string, error) {
	return column[string](ctx, s.read, `SELECT ?
		UNION SELECT id FROM redrives WHERE incident = ?
		UNION SELECT s.id FROM incidents n JOIN skips s ON s.source = n.source AND s.group_name = n.group_name
			AND (s.ended_at = 0 OR s.ended_at >= n.opened_at) AND (n.resolved_at = 0 OR s.armed_at <= n.resolved_at) WHERE n.id = ?
		UNION SELECT l.id`+atHead+` WHERE n.id = ? AND n.head_offset >= 0
		UNION SELECT d.id`+atHead+` JOIN discard_items i ON i.letter = l.number JOIN discards d ON d.number = i.discard WHERE n.id = ? AND n.head_offset >= 0
		UNION SELECT r.id`+atHead+` JOIN items i ON i.letter = l.number JOIN redrives r ON r.number = i.redrive WHERE n.id = ? AND n.head_offset >= 0`,
		incident, incident, incident, pollMost, incident, pollMost, incident, pollMost, incident)
}
