package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// transactionAgain is after how long a transaction of which something is not known is
// asked about again.
const transactionAgain = time.Minute

// TransactionReader tells of partitions whose stable end stands which
// transaction holds it. One that is missing in the answer is not known.
type TransactionReader interface {
	OpenTransactions(ctx context.Context, partitions []sources.TopicPartition) (map[sources.TopicPartition]sources.Transaction, error)
}

// transactions remembers what was told of the stable ends that stand.
type transactions map[sources.TopicPartition]heldBy

type heldBy struct {
	by        *sources.Transaction // nil: not known
	stableEnd int64
	askedAt   time.Time
}

// held are the lines of a reading whose stable end has stood for half of the
// time after which that is said: what holds it is known when it is.
func (w *GroupWatch) held(g sources.Group, rules Rules, now time.Time) (out []sources.Lag) {
	for _, l := range g.Lines {
		p := w.Lines[keyOf(l.Partition)]
		if p != nil && l.Err == nil && l.StableEnd < l.End && l.StableEnd == p.Hanging.At &&
			p.Hanging.Watch.elapsed(now) >= rules.For(g.Source, g.Name, l.Topic).StallAfter/2 {
			out = append(out, l)
		}
	}
	return out
}

// look asks about those lines whose transaction is not known, and forgets what
// no line asks for any more.
func (t transactions) look(ctx context.Context, reader TransactionReader, lines []sources.Lag, now time.Time) (transactions, error) {
	next := transactions{}
	var ask []sources.TopicPartition
	for _, l := range lines {
		tp := sources.TopicPartition{Topic: l.Topic, Partition: l.Number}
		known, there := t[tp]
		switch {
		case !there || known.stableEnd != l.StableEnd:
			known = heldBy{stableEnd: l.StableEnd, askedAt: now}
			ask = append(ask, tp)
		case (known.by == nil || known.by.Timeout == 0) && now.Sub(known.askedAt) >= transactionAgain:
			known.askedAt = now
			ask = append(ask, tp)
		}
		next[tp] = known
	}
	if len(ask) == 0 || reader == nil {
		return next, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	found, err := reader.OpenTransactions(ctx, ask)
	for tp, is := range found {
		known := next[tp]
		known.by = &is
		next[tp] = known
	}
	return next, err
}

// fill notes in lines which transaction holds them.
func (t transactions) fill(lines []sources.Lag) {
	for i, l := range lines {
		known, there := t[sources.TopicPartition{Topic: l.Topic, Partition: l.Number}]
		if there && known.stableEnd == l.StableEnd {
			lines[i].Transaction = known.by
		}
	}
}

// hold asks which transactions hold the stable ends that stand.
func (l *loop) hold(ctx context.Context, groups []sources.Group) {
	var lines []sources.Lag
	now := l.w.Clock()
	for _, g := range groups {
		lines = append(lines, l.watch(g.Name).held(g, l.w.rules, now)...)
	}
	var err error
	if l.held, err = l.held.look(ctx, l.src.Transactions, lines, now); err != nil && ctx.Err() == nil {
		l.log.Debug("what holds a stable end cannot be asked for", "err", err)
	}
}

// overdue tells whether the transaction that holds the line has been open for
// longer than its own time-out, by our own clock: then its coordinator should
// have aborted it, and nothing ends it by itself. Where nothing tells its
// time-out it is the producer's business.
func (l line) overdue(now time.Time) bool {
	h := l.p.Hanging
	return h.By != nil && h.By.Timeout > 0 && h.Watch.elapsed(now) > h.By.Timeout
}

// holder names who holds the line, as far as the broker tells.
func (l line) holder(now time.Time) string {
	by := l.p.Hanging.By
	if by == nil {
		return ""
	}
	s := fmt.Sprintf("; it is of producer %d", by.ProducerID)
	if by.ID != "" {
		s = "; it is of " + by.ID + fmt.Sprintf(" (producer %d)", by.ProducerID)
	}
	switch {
	case by.Timeout == 0:
		return s + ", and its time-out is not known"
	case l.overdue(now):
		return s + ", past its own time-out of " + about(by.Timeout)
	}
	return s + ", and has a time-out of " + about(by.Timeout)
}
