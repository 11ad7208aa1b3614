package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/review"
)

// tally is a kind of letters: all of them look the same to a page that counts.
type tally struct {
	cause, queue                     int64
	status                           review.Status
	diedWeek, foundWeek, expiresWeek int64
}

// amount is how many letters there are of a kind, or how many more.
type amount struct{ letters, returned int64 }

// tallies are amounts by kind.
type tallies map[tally]amount

func (t tallies) add(k tally, a amount) {
	sum := t[k]
	t[k] = amount{sum.letters + a.letters, sum.returned + a.returned}
}

// save adds the amounts to those in the store.
func (t tallies) save(ctx context.Context, tx *sql.Tx) error {
	const columns = 8
	var values []any
	for k, a := range t {
		if a != (amount{}) {
			values = append(values, k.cause, k.queue, string(k.status), k.diedWeek, k.foundWeek, k.expiresWeek, a.letters, a.returned)
		}
	}
	_, err := insertRows(ctx, tx, `INSERT INTO tallies (cause, queue, status, died_week, found_week, expires_week, letters, returned)`, columns, values,
		`ON CONFLICT (cause, queue, status, died_week, found_week, expires_week)
		DO UPDATE SET letters = tallies.letters + excluded.letters, returned = tallies.returned + excluded.returned`)
	if err != nil {
		return fmt.Errorf("count letters: %w", err)
	}
	return nil
}

// move gives letters another status, and counts them anew. which is a condition
// on the table letters.
func move(ctx context.Context, tx *sql.Tx, to review.Status, which string, args ...any) error {
	moved := tallies{}
	err := each(ctx, tx, func(r *sql.Rows) error {
		var k tally
		var a amount
		err := r.Scan(&k.cause, &k.queue, &k.status, &k.diedWeek, &k.foundWeek, &k.expiresWeek, &a.letters, &a.returned)
		moved.add(k, amount{-a.letters, -a.returned})
		k.status = to
		moved.add(k, a)
		return err
	}, countLetters+` WHERE `+which+countBy, args...)
	if err != nil {
		return fmt.Errorf("count letters that become %s: %w", to, err)
	}
	if len(moved) == 0 {
		return nil
	}
	set, values := `status = ?`, []any{string(to)}
	for k := range moved {
		if shelf(k.status) != shelf(to) {
			set, values = `status = ?, shelf = ?`, []any{string(to), string(shelf(to))}
		}
	}
	if _, err = tx.ExecContext(ctx, `UPDATE letters SET `+set+` WHERE `+which, append(values, args...)...); err != nil {
		return fmt.Errorf("make letters %s: %w", to, err)
	}
	return moved.save(ctx, tx)
}

// shelf is where letters of a status stand in lists. Those that are being
// redriven and those that were share one, so that no index is written for what
// has been sent.
func shelf(s review.Status) review.Status {
	if s == review.Redriving {
		return review.Redriven
	}
	return s
}

// countLetters counts letters by kind, as tallies would.
const (
	countLetters = `SELECT cause, queue, status, died_week, found_week, expires_week, COUNT(*) AS letters,
		SUM(CASE WHEN returned_from <> '' THEN 1 ELSE 0 END) AS returned FROM letters`
	countBy = ` GROUP BY cause, queue, status, died_week, found_week, expires_week`
)

// SetReview says when the weekly review is. When that is another time than
// before, all letters are counted by the new weeks.
func (s *Store) SetReview(ctx context.Context, w review.Weekly) error {
	zone := "UTC"
	if w.Zone != nil {
		zone = w.Zone.String()
	}
	name := fmt.Sprintf("%s %s %s", w.Day, w.At, zone)
	err := s.in(ctx, func(tx *sql.Tx) error {
		var was string
		err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(value), '') FROM settings WHERE name = 'review'`).Scan(&was)
		if err != nil || was == name {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('review', ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name); err != nil {
			return err
		}
		return recount(ctx, tx, w)
	})
	if err != nil {
		return fmt.Errorf("set the time of the review: %w", err)
	}
	s.weekly.Store(&w)
	return nil
}

// recount puts all letters into the weeks of another review.
func recount(ctx context.Context, tx *sql.Tx, w review.Weekly) error {
	for week, at := range map[string]string{"died_week": "listed_at", "found_week": "found_at", "expires_week": "expires_at"} {
		if err := reweek(ctx, tx, w, at, week); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM tallies`); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO tallies (cause, queue, status, died_week, found_week, expires_week, letters, returned) `+countLetters+countBy)
	return err
}

// reweek sets a column of weeks by a column of times, one week that has letters
// after the other.
func reweek(ctx context.Context, tx *sql.Tx, w review.Weekly, at, week string) error {
	for from := int64(1); ; {
		var first int64
		err := tx.QueryRowContext(ctx, `SELECT COALESCE(MIN(`+at+`), 0) FROM letters WHERE `+at+` >= ?`, from).Scan(&first)
		if err != nil || first == 0 {
			return err
		}
		begin := w.Last(instant(first))
		from = micros(w.Next(begin))
		_, err = tx.ExecContext(ctx, `UPDATE letters SET `+week+` = ? WHERE `+at+` >= ? AND `+at+` < ?`, micros(begin), first, from)
		if err != nil {
			return err
		}
	}
}

// week is when the review week of an instant began; 0 of no instant.
func (s *Store) week(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return micros(s.weekly.Load().Last(t))
}

// readReview reads the time of the review that the letters are counted by. The
// zone may be unknown on this machine; SetReview sets it right.
func (s *Store) readReview(ctx context.Context) error {
	w := review.Weekly{Day: time.Monday, At: 9 * time.Hour, Zone: time.UTC}
	var text string
	err := s.write.QueryRowContext(ctx, `SELECT COALESCE(MAX(value), '') FROM settings WHERE name = 'review'`).Scan(&text)
	if err != nil {
		return err
	}
	var day, at, zone string
	if _, err := fmt.Sscan(text, &day, &at, &zone); err == nil {
		for d := range 7 {
			if time.Weekday(d).String() == day {
				w.Day = time.Weekday(d)
			}
		}
		if d, err := time.ParseDuration(at); err == nil {
			w.At = d
		}
		if z, err := time.LoadLocation(zone); err == nil {
			w.Zone = z
		}
	}
	s.weekly.Store(&w)
	return nil
}
