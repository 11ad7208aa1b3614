package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/unwedge/unwedge/review"
)

// an order changes how a redrive stands, and says what the audit says of it.
type giveOrder func(b *booking, now *review.Standing) (outcome string, err error)

// order gives an order to a redrive, in one transaction with the audit.
func (s *Store) order(ctx context.Context, redrive, by string, give giveOrder) (review.Redrive, error) {
	err := s.book(ctx, redrive, func(b *booking) error {
		now, err := standing(ctx, b.tx, redrive)
		if err != nil {
			return err
		}
		outcome, err := give(b, &now)
		if err != nil {
			return err
		}
		b.audit = append(b.audit, auditEntry{by, "redrive", redrive, outcome})
		return writeStanding(ctx, b.tx, redrive, now)
	})
	if err != nil {
		return review.Redrive{}, err
	}
	return s.Redrive(ctx, redrive)
}

// over tells whether a redrive has ended.
func over(s review.JobState) bool {
	return s == review.JobDone || s == review.JobFailed || s == review.JobCancelled
}

// wrongState says why an order to a redrive came too late or too early.
func wrongState(redrive string, now review.Standing) error {
	e := &review.StateError{Subject: "redrive " + redrive, State: string(now.State)}
	switch {
	case now.Cancelling:
		e.State, e.Allowed = "being cancelled", "it ends when what is under way is settled"
	case now.State == review.JobPaused:
		e.Allowed = "it can be resumed or cancelled"
	case now.State == review.JobRunning || now.State == review.JobWaiting:
		e.Allowed = "it can be paused or cancelled"
	default:
		e.Allowed = "it is over"
	}
	return e
}

// maySend tells whether a redrive that stands so may begin shipments.
func maySend(now review.Standing) bool {
	return (now.State == review.JobRunning || now.State == review.JobWaiting) && !now.Cancelling
}

// mayBegin is review.ErrHalted unless the redrive may begin shipments. It is
// asked in the transaction that begins them, so that none is begun once an
// order to stop has returned.
func (b *booking) mayBegin(ctx context.Context) error {
	now, err := standing(ctx, b.tx, b.id)
	if err == nil && !maySend(now) {
		err = review.ErrHalted
	}
	return err
}

// PauseRedrive lets nothing new be begun. Errors: review.ErrNotFound,
// *review.StateError.
func (s *Store) PauseRedrive(ctx context.Context, redrive, by string) (review.Redrive, error) {
	return s.order(ctx, redrive, by, func(_ *booking, now *review.Standing) (string, error) {
		if !maySend(*now) {
			return "", wrongState(redrive, *now)
		}
		now.State, now.Reason = review.JobPaused, "paused"+named(by)
		return "paused", nil
	})
}

func named(by string) string {
	if by == "" {
		return ""
	}
	return " by " + by
}

// ResumeRedrive lets a paused redrive go on. Errors: review.ErrNotFound,
// *review.StateError.
func (s *Store) ResumeRedrive(ctx context.Context, redrive, by string) (review.Redrive, error) {
	return s.order(ctx, redrive, by, func(b *booking, now *review.Standing) (string, error) {
		if now.State != review.JobPaused || now.Cancelling {
			return "", wrongState(redrive, *now)
		}
		counts, err := countItems(ctx, b.tx, b.number)
		if err != nil {
			return "", err
		}
		was := now.Reason
		now.State, now.Reason, now.Crashes = review.JobRunning, "", 0
		now.Caution = now.LetOn(review.SumsOf(counts))
		return "resumed; it was paused because of: " + was, nil
	})
}

// CancelRedrive cancels all that is planned, whose letters are what they were.
// When nothing is out the redrive ends at once, else when all is settled.
// Errors: review.ErrNotFound, *review.StateError.
func (s *Store) CancelRedrive(ctx context.Context, redrive, by string) (review.Redrive, error) {
	return s.order(ctx, redrive, by, func(b *booking, now *review.Standing) (string, error) {
		if now.Cancelling || !maySend(*now) && now.State != review.JobPaused {
			return "", wrongState(redrive, *now)
		}
		n, err := b.cancelPlanned(ctx)
		if err != nil {
			return "", err
		}
		now.State, now.Cancelling, now.Reason = review.JobRunning, true, "cancelled"+named(by)
		outcome := fmt.Sprintf("cancelled: %d letters were not sent", n)
		counts, err := countItems(ctx, b.tx, b.number)
		if err != nil || counts[review.Sending]+counts[review.Sent] > 0 {
			return outcome, err
		}
		now.State, now.Cancelling = review.JobCancelled, false
		return outcome, b.end(ctx, review.JobCancelled, now.Reason)
	})
}

// cancelPlanned cancels what is planned, and tells how many letters that was.
func (b *booking) cancelPlanned(ctx context.Context) (int64, error) {
	const which = `redrive = ? AND state = 'planned'`
	before, err := column[string](ctx, b.tx, `SELECT DISTINCT status_before FROM items WHERE `+which, b.number)
	if err != nil {
		return 0, err
	}
	for _, status := range before {
		err := move(ctx, b.tx, review.Status(status), `number IN (SELECT letter FROM items WHERE status_before = ? AND `+which+`)`, status, b.number)
		if err != nil {
			return 0, err
		}
	}
	return moveItems(ctx, b.tx, review.ItemCancelled, which, b.number)
}

// end ends a redrive: from then on its letters are followed.
func (b *booking) end(ctx context.Context, state review.JobState, reason string) error {
	_, err := b.tx.ExecContext(ctx, `UPDATE redrives SET state = ?, reason = ?, cancelling = FALSE, at_work = FALSE, trouble = '', ended_at = ?, follow_until = ? + return_us
		WHERE number = ? AND ended_at = 0`, string(state), reason, micros(b.now), micros(b.now), b.number)
	if err != nil {
		return err
	}
	_, err = judgeRedrive(ctx, b.tx, b.number)
	return err
}

// endState is how a redrive ends, and why: done when something was sent, else it
// has failed, whatever nobody can tell of.
func endState(now review.Standing, came outcome) (review.JobState, string) {
	switch {
	case now.Cancelling:
		return review.JobCancelled, now.Reason
	case review.SumsOf(came.counts).Arrived > 0:
		return review.JobDone, ""
	case came.counts[review.ItemUnknown] > 0:
		return review.JobFailed, "of none of its letters is it known that it arrived"
	}
	return review.JobFailed, "none of its letters was sent" + because(came.why)
}

// SetRedriveRate sets how many letters go in a second; 0: no limit. Errors:
// review.ErrNotFound, *review.StateError.
func (s *Store) SetRedriveRate(ctx context.Context, redrive string, perSecond float64, by string) (review.Redrive, error) {
	return s.order(ctx, redrive, by, func(_ *booking, now *review.Standing) (string, error) {
		if now.Cancelling || !maySend(*now) && now.State != review.JobPaused {
			return "", wrongState(redrive, *now)
		}
		now.RatePerSecond = perSecond
		if perSecond == 0 {
			return "rate: no limit", nil
		}
		return "rate: " + strconv.FormatFloat(perSecond, 'g', -1, 64) + " letters a second", nil
	})
}

// SettleItem decides an item of which nobody could tell whether it arrived.
// Errors: review.ErrNotFound, *review.StateError.
func (s *Store) SettleItem(ctx context.Context, item string, as review.SettledAs, by string) (review.Item, error) {
	var redrive string
	err := s.read.QueryRowContext(ctx, `SELECT r.id FROM items i JOIN redrives r ON r.number = i.redrive WHERE i.id = ?`, item).Scan(&redrive)
	if err != nil {
		return review.Item{}, noRows(err, "redrive item", item)
	}
	err = s.book(ctx, redrive, func(b *booking) error {
		b.by = by
		n, err := b.item(item)
		if err != nil {
			return err
		}
		if err := b.mustBeUnknown(ctx, n, item); err != nil {
			return err
		}
		if as == review.SettledSent {
			err = b.decideSent(ctx, n)
		} else {
			err = b.decideNotSent(ctx, n)
		}
		if err != nil {
			return err
		}
		return b.restate(ctx)
	})
	if err != nil {
		return review.Item{}, err
	}
	list, _, err := readItems(ctx, s.read, `i.id = ?`, item)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: redrive item %s", review.ErrNotFound, item)
	}
	if err != nil {
		return review.Item{}, err
	}
	return list[0], nil
}

func (b *booking) mustBeUnknown(ctx context.Context, number int64, id string) error {
	var state review.ItemState
	if err := b.tx.QueryRowContext(ctx, `SELECT state FROM items WHERE number = ?`, number).Scan(&state); err != nil {
		return noRows(err, "redrive item", id)
	}
	if state == review.ItemUnknown {
		return nil
	}
	return &review.StateError{Subject: "redrive item " + id, State: string(state), Allowed: "only an unknown one is to be decided"}
}

// decideSent takes a person's word that a letter arrived: it is redriven, and
// when it lies on SQS it is to be taken off its queue.
func (b *booking) decideSent(ctx context.Context, number int64) error {
	which := fmt.Sprintf("number = %d", number)
	if _, err := moveItems(ctx, b.tx, review.Confirmed, which); err != nil {
		return err
	}
	if _, err := b.tx.ExecContext(ctx, `UPDATE items SET error = '' WHERE `+which); err != nil {
		return err
	}
	if err := move(ctx, b.tx, review.Redriven, `number = (SELECT letter FROM items WHERE `+which+`)`); err != nil {
		return err
	}
	if err := removeNow(ctx, b.tx, b.now, `number = (SELECT letter FROM items WHERE `+which+`)`); err != nil {
		return err
	}
	return b.auditItems(ctx, []int64{number}, `?`, "decided: it was sent")
}

// decideNotSent takes a person's word that a letter did not arrive: it is what
// it was, and can be redriven again.
func (b *booking) decideNotSent(ctx context.Context, number int64) error {
	const why = "decided: it was not sent"
	which := fmt.Sprintf("number = %d", number)
	var before review.Status
	if err := b.tx.QueryRowContext(ctx, `SELECT status_before FROM items WHERE `+which).Scan(&before); err != nil {
		return err
	}
	if _, err := moveItems(ctx, b.tx, review.ItemFailed, which); err != nil {
		return err
	}
	if _, err := b.tx.ExecContext(ctx, `UPDATE items SET error = ? WHERE `+which, why); err != nil {
		return err
	}
	if err := move(ctx, b.tx, before, `number = (SELECT letter FROM items WHERE `+which+`)`); err != nil {
		return err
	}
	return b.auditItems(ctx, []int64{number}, `?`, why)
}

// restate says anew how a redrive ended, if it has: one that was done may have
// sent nothing after all.
func (b *booking) restate(ctx context.Context) error {
	now, err := standing(ctx, b.tx, b.id)
	if err != nil || !over(now.State) {
		return err
	}
	came, err := judgeRedrive(ctx, b.tx, b.number)
	if err != nil || now.State == review.JobCancelled {
		return err
	}
	now.State, now.Reason = endState(now, came)
	return writeStanding(ctx, b.tx, b.id, now)
}
