package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/sources"
)

// errBehindUnknown is why a letter of a message group is not sent whose turn
// comes behind one that may not have arrived: it would overtake it.
type errBehindUnknown struct{ item string }

func (e errBehindUnknown) Error() string {
	return fmt.Sprintf("not sent: nobody can tell whether an earlier letter of its message group arrived: settle item %s first", e.item)
}

// unsure are, of what the parcels of a redrive keep their place in, the first
// items of which nobody can tell whether they arrived.
func (s *Store) unsure(ctx context.Context, redrive string) (map[string]planned, error) {
	first := map[string]planned{}
	err := each(ctx, s.read, func(r *sql.Rows) error {
		var p planned
		var parcel sources.Parcel
		var system bytesOrNull
		if err := r.Scan(&p.number, &p.item, &parcel.Queue, &system); err != nil {
			return err
		}
		var err error
		if parcel.System, err = decodeMap(system); err != nil {
			return fmt.Errorf("item %s: its system attributes: %w", p.item, err)
		}
		name := parcel.Order()
		if _, known := first[name]; !known && name != "" {
			first[name] = p
		}
		return nil
	}, `SELECT i.number, i.id, q.name, p.system
		FROM items i JOIN letters l ON l.number = i.letter JOIN queues q ON q.number = l.queue LEFT JOIN payloads p ON p.letter = l.number
		WHERE i.redrive = (SELECT number FROM redrives WHERE id = ?) AND i.state = 'unknown' AND q.name LIKE '%.fifo' ORDER BY i.number`, redrive)
	return first, err
}

// leaveUnsure takes out of a load what stands behind a letter of its message
// group of which nobody can tell whether it arrived.
func (s *Store) leaveUnsure(ctx context.Context, load *review.Load, redrive string, items []planned) error {
	if !slices.ContainsFunc(load.Parcels, func(p sources.Parcel) bool { return p.Order() != "" }) {
		return nil
	}
	first, err := s.unsure(ctx, redrive)
	if err != nil || len(first) == 0 {
		return err
	}
	numbers := map[string]int64{}
	for _, p := range items {
		numbers[p.item] = p.number
	}
	load.Parcels = slices.DeleteFunc(load.Parcels, func(p sources.Parcel) bool {
		before, is := first[p.Order()]
		if !is || before.number > numbers[p.Item] {
			return false
		}
		load.Lost[p.Item] = errBehindUnknown{before.item}
		return true
	})
	return nil
}
