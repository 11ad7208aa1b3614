package alerts

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// holding is a line that a transaction holds from a second on, up to another
// one, with what the broker tells of it.
func holding(from, to int, by *sources.Transaction) model {
	stab := stuck(busy, from, to)
	return model{until: 4 * hour, lines: []modelLine{{stab: stab, pos: stab}, {}}, edit: func(t int, g *sources.Group) {
		if t >= from && t < to {
			g.Lines[0].Transaction = by
		}
	}}
}

// TestATransactionPastItsTimeOutPages, names its producer, and resolves when it
// has ended; before its time-out it is nobody's night.
func TestATransactionPastItsTimeOutPages(t *testing.T) {
	m := holding(600, 3*hour, &sources.Transaction{ProducerID: 9, ID: "settle-7", Timeout: 15 * time.Minute})
	n := m.run(t)
	n.check(t, []want{{1200, 0, OpenTransaction, PartitionScope}, {2 * hour, 0, OpenTransaction, PartitionScope}})
	opened := n.opened()
	if len(opened) != 1 || len(n.resolved()) != 1 || n.resolved()[0] < 3*hour {
		t.Fatalf("opened %v, resolved at %v", opened, n.resolved())
	}
	in := opened[0]
	if at := in.OpenedAt.Unix(); at < 600+900 || at > 600+900+90 {
		t.Errorf("opened at %d", at)
	}
	if !in.Pages || !strings.Contains(in.Title, "settle-7") || !strings.Contains(in.Reason, "producer 9") || !strings.Contains(in.Reason, "past its own time-out of 15 min") {
		t.Errorf("%s: %s", in.Title, in.Reason)
	}
}

// TestATransactionWhoseTimeOutIsNotKnownPagesNobody.
func TestATransactionWhoseTimeOutIsNotKnownPagesNobody(t *testing.T) {
	for _, by := range []*sources.Transaction{nil, {ProducerID: 9}} {
		m := holding(600, 3*hour, by)
		if n := m.run(t); len(n.opened()) != 0 {
			t.Errorf("%+v: %s", by, n.opened()[0].Reason)
		}
	}
}

// brokers answers who holds what, and counts how often it was asked.
type brokers struct {
	asked int
	by    sources.Transaction
	err   error
}

func (b *brokers) OpenTransactions(_ context.Context, partitions []sources.TopicPartition) (map[sources.TopicPartition]sources.Transaction, error) {
	b.asked++
	out := map[sources.TopicPartition]sources.Transaction{}
	for _, tp := range partitions {
		if b.err == nil {
			out[tp] = b.by
		}
	}
	return out, b.err
}

// TestATransactionIsAskedForOnce; what is not known once a minute.
func TestATransactionIsAskedForOnce(t *testing.T) {
	lines := []sources.Lag{{Partition: sources.Partition{Topic: "a"}, StableEnd: 7, End: 9}}
	b := &brokers{err: errors.New("not authorised")}
	var known transactions
	for second := range 180 {
		now := time.Unix(int64(second), 0)
		if second == 60 {
			b.err, b.by = nil, sources.Transaction{ProducerID: 3, Timeout: time.Minute}
		}
		known, _ = known.look(t.Context(), b, lines, now)
	}
	if known.fill(lines); b.asked != 2 || lines[0].Transaction == nil || lines[0].Transaction.ProducerID != 3 {
		t.Errorf("asked %d times, told %+v", b.asked, lines[0].Transaction)
	}
}
