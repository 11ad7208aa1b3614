package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/review"
)

// errMovedOn ends a transaction that came too late.
var errMovedOn = errors.New("it stands otherwise by now")

const selectStanding = `SELECT state, cancelling, reason, crashes, rate, caution FROM redrives WHERE id = ?`

// Standing is how a redrive stands. Errors: review.ErrNotFound.
func (s *Store) Standing(ctx context.Context, redrive string) (review.Standing, error) {
	return standing(ctx, s.read, redrive)
}

func standing(ctx context.Context, q querier, redrive string) (review.Standing, error) {
	var st review.Standing
	var caution string
	var kept careful
	err := q.QueryRowContext(ctx, selectStanding, redrive).Scan(&st.State, &st.Cancelling, &st.Reason, &st.Crashes, &st.RatePerSecond, &caution)
	if err != nil {
		return st, noRows(err, "redrive", redrive)
	}
	if err := json.Unmarshal([]byte(caution), &kept); err != nil {
		return st, fmt.Errorf("read how redrive %s stands: %w", redrive, err)
	}
	st.Caution, st.Canary, st.StopAbove = kept.Caution, kept.Canary, kept.StopAbove
	return st, nil
}

// careful is what the column caution has. Canary and StopAbove are among the
// options too, which may be large and are not read at every step.
type careful struct {
	review.Caution
	Canary    bool
	StopAbove float64
}

func encodeCaution(c review.Caution, p review.Pace) (string, error) {
	text, err := json.Marshal(careful{c, p.Canary, p.StopAbove})
	if err != nil {
		return "", fmt.Errorf("write how careful a redrive is: %w", err)
	}
	return string(text), nil
}

// Steer writes how a redrive stands now, unless it stands otherwise by now than
// it did: somebody ordered something.
func (s *Store) Steer(ctx context.Context, redrive string, was, now review.Standing) (bool, error) {
	err := s.in(ctx, func(tx *sql.Tx) error {
		found, err := standing(ctx, tx, redrive)
		if err != nil {
			return err
		}
		if found.State != was.State || found.Cancelling != was.Cancelling || !sameCaution(found.Caution, was.Caution) {
			return errMovedOn
		}
		now.Pace, now.Crashes = found.Pace, found.Crashes // somebody may have set another rate meanwhile
		if err := writeStanding(ctx, tx, redrive, now); err != nil || now.State != review.JobPaused {
			return err
		}
		return writeAudit(ctx, tx, time.Now(), auditEntry{systemUser, "redrive", redrive, "paused: " + now.Reason})
	})
	if errors.Is(err, errMovedOn) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write how redrive %s stands: %w", redrive, err)
	}
	return true, nil
}

// writeStanding writes all of a standing that the course of a redrive changes.
func writeStanding(ctx context.Context, tx *sql.Tx, redrive string, now review.Standing) error {
	caution, err := encodeCaution(now.Caution, now.Pace)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE redrives SET state = ?, cancelling = ?, reason = ?, crashes = ?, rate = ?, caution = ? WHERE id = ?`,
		string(now.State), now.Cancelling, now.Reason, now.Crashes, now.RatePerSecond, caution, redrive)
	return err
}

// sameCaution compares times as instants.
func sameCaution(a, b review.Caution) bool {
	if !a.Waiting.Equal(b.Waiting) || !a.Quiet.Equal(b.Quiet) {
		return false
	}
	a.Waiting, a.Quiet, b.Waiting, b.Quiet = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return a == b
}

// Counts are the letters of a redrive by state. Errors: review.ErrNotFound.
func (s *Store) Counts(ctx context.Context, redrive string) (map[review.ItemState]int, error) {
	n, err := redriveNumber(ctx, s.read, redrive)
	if err != nil {
		return nil, err
	}
	return countItems(ctx, s.read, n)
}

// Pending are the letters of a redrive that are out, or that nobody is known to
// have passed, by target. Those that a person decided to have arrived are in
// none: nobody knows where they lie. They are looked for in the order in which
// letters go, so that a million planned ones are not gone through.
func (s *Store) Pending(ctx context.Context, redrive string) ([]review.Pending, error) {
	n, err := redriveNumber(ctx, s.read, redrive)
	if err != nil {
		return nil, err
	}
	var all []review.Pending
	err = each(ctx, s.read, func(r *sql.Rows) error {
		var p review.Pending
		err := r.Scan(&p.Source, &p.Queue, &p.Out, &p.Unread)
		all = append(all, p)
		return err
	}, `SELECT source, target_queue, SUM(CASE WHEN state IN ('sending', 'sent') THEN 1 ELSE 0 END), SUM(CASE WHEN state = 'confirmed' THEN 1 ELSE 0 END)
		FROM (SELECT source, target_queue, state, receipt_offset, receipt_message FROM items WHERE redrive = ? AND state <> 'planned' ORDER BY number
			LIMIT (SELECT COALESCE(SUM(items), 0) FROM item_counts WHERE redrive = ? AND state <> 'planned')) AS tried
		WHERE state IN ('sending', 'sent') OR state = 'confirmed' AND (receipt_offset >= 0 OR receipt_message <> '')
		GROUP BY source, target_queue ORDER BY source, target_queue`, n, n)
	if err != nil {
		return nil, fmt.Errorf("count the letters of redrive %s that are out: %w", redrive, err)
	}
	return all, nil
}

// CountCrashes counts a crash for each redrive that a run worked on when it
// died, and gives those that are paused because there were too many in a row.
func (s *Store) CountCrashes(ctx context.Context) ([]string, error) {
	var stopped []string
	err := s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE redrives SET crashes = crashes + 1 WHERE at_work AND state = 'running' AND NOT cancelling`)
		if err != nil {
			return err
		}
		stopped, err = column[string](ctx, tx, `SELECT id FROM redrives WHERE at_work AND state = 'running' AND NOT cancelling AND crashes >= ?`, review.CrashesMost)
		if err != nil {
			return err
		}
		why := fmt.Sprintf("the program ended unclean %d times in a row while this redrive was at work", review.CrashesMost)
		for _, id := range stopped {
			if _, err := tx.ExecContext(ctx, `UPDATE redrives SET state = 'paused', reason = ? WHERE id = ?`, why, id); err != nil {
				return err
			}
			if err := writeAudit(ctx, tx, time.Now(), auditEntry{systemUser, "redrive", id, "paused: " + why}); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE redrives SET at_work = FALSE WHERE at_work`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the crashes of redrives: %w", err)
	}
	return stopped, nil
}

// BeginShift marks that this run works on a redrive.
func (s *Store) BeginShift(ctx context.Context, redrive string) error {
	return s.mark(ctx, `UPDATE redrives SET at_work = TRUE WHERE id = ?`, redrive)
}

// EndShift takes the mark away: the run rests, or ends well.
func (s *Store) EndShift(ctx context.Context, redrive string) error {
	return s.mark(ctx, `UPDATE redrives SET at_work = FALSE WHERE id = ? AND at_work`, redrive)
}

// ForgetCrashes says that a run worked long enough on a redrive that the crashes
// of those before it count no more.
func (s *Store) ForgetCrashes(ctx context.Context, redrive string) error {
	return s.mark(ctx, `UPDATE redrives SET crashes = 0 WHERE id = ?`, redrive)
}

func (s *Store) mark(ctx context.Context, update, redrive string) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, update, redrive)
		return err
	})
}

// SetTrouble writes why a redrive does not get on.
func (s *Store) SetTrouble(ctx context.Context, redrive, text string) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE redrives SET trouble = ? WHERE id = ? AND trouble <> ?`, text, redrive, text)
		return err
	})
}

// cautionOf is with how much caution a plan is started, and the place of the
// letter that goes first, -1 for none: one of those that wedged their group
// before, which is the canary that tells something.
func cautionOf(ctx context.Context, tx *sql.Tx, r review.Redrive, plan string) (ahead int64, caution string, err error) {
	var text string
	if err := tx.QueryRowContext(ctx, `SELECT warnings FROM plans WHERE id = ?`, plan).Scan(&text); err != nil {
		return -1, "", noRows(err, "plan", plan)
	}
	var warnings []review.Warning
	if err := json.Unmarshal([]byte(text), &warnings); err != nil {
		return -1, "", err
	}
	letter, wary := review.WaryOf(warnings)
	caution, err = encodeCaution(review.Caution{Wary: wary}, r.Pace)
	if err != nil || letter == "" {
		return -1, caution, err
	}
	err = tx.QueryRowContext(ctx, `SELECT place FROM plan_letters WHERE plan = ? AND letter = ?`, plan, letter).Scan(&ahead)
	return ahead, caution, noRows(err, "dead letter", letter)
}
