package review

import (
	"context"
	"slices"
	"testing"

	"github.com/unwedge/unwedge/sources"
)

// street is a drawer with more queues, and groups that read them.
type street struct {
	*drawer
	queues  []sources.Queue
	readers map[string][]string
}

func (s street) Queues(context.Context) (list []Queue, err error) {
	for _, q := range s.queues {
		q.Source = "payments"
		list = append(list, Queue{Queue: q})
	}
	return list, nil
}

func (s street) Receivers(_ context.Context, queue string) (list []sources.Receiver, err error) {
	for _, g := range s.readers[queue] {
		list = append(list, sources.Receiver{Queue: queue, Group: g})
	}
	return list, nil
}

// TestWhereTheLettersOfAPlanCouldGo: where they came from, a queue that only the
// group reads that failed, the other retry queues, and what else is allowed.
func TestWhereTheLettersOfAPlanCouldGo(t *testing.T) {
	one := lateLetter(0)
	one.Origin.Group = "billing"
	feeds := []string{"orders"}
	s := street{
		drawer: &drawer{letters: []Letter{one}},
		queues: []sources.Queue{
			{Name: "archive", Kind: sources.WorkQueue},
			{Name: "orders", Kind: sources.WorkQueue},
			{Name: "orders.dlq", Kind: sources.DeadLetterQueue},
			{Name: "orders.retry-5s", Kind: sources.RetryQueue, FeedsFrom: feeds},
			{Name: "orders__billing__retry", Kind: sources.RetryQueue, FeedsFrom: feeds},
			{Name: "secret", Kind: sources.WorkQueue},
			{Name: "payroll.retry", Kind: sources.RetryQueue, FeedsFrom: []string{"payroll"}},
		},
		readers: map[string][]string{"orders": {"billing", "email"}, "orders.retry-5s": {"billing", "email"}, "orders__billing__retry": {"billing"}},
	}
	d := s.desk()
	d.Letters = s
	rules := Rules{To: sources.Patterns{Include: []string{"*"}, Exclude: []string{"secret"}}}
	d.Outlets = map[string]Outlet{"payments": {Sender: s, Receivers: s, Rules: rules}}
	got, err := d.Choices(t.Context(), Plan{ID: "pl_1", Total: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []Choice{
		{"orders", "the way back of its letters: only its headers say so"},
		{"orders__billing__retry", "only billing reads it, which failed: no other group receives them"},
		{"orders.retry-5s", "a retry queue of orders"},
		{"archive", "redrive_to allows it"},
		{"payroll.retry", "redrive_to allows it"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
