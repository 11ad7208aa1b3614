package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// wave is a number of letters of the same cause that arrived over some days.
type wave struct {
	dead, from     string // topics
	class, message string // %s of the message becomes an id
	frame          string
	count          int
	oldest, newest time.Duration // before now
}

var waves = []wave{
	{paymentsDead, paymentEvents, "com.acme.payments.InvalidCurrencyException", `unknown currency "INRR"`, "com.acme.payments.CurrencyTable.of(CurrencyTable.java:88)", 11, 3 * day, 2 * hour},
	{ledgerDead, ledgerPostings, "com.acme.ledger.LedgerAccountNotFound", "account %s is not in the ledger", "com.acme.ledger.LedgerWriter.post(LedgerWriter.java:132)", 9, 26 * day, day},
	{kycDead, "kyc.events", "com.acme.kyc.SchemaNotFoundException", "schema 99 not found", "com.acme.kyc.Reader.schema(Reader.java:27)", 7, 11 * day, 9 * day},
}

// seed writes the letters that the story begins with, at the times at which
// they would have arrived, and the commits of a group that is long gone.
func (t *topicWorld) seed(ctx context.Context, now time.Time) error {
	for _, w := range waves {
		for i := range w.count {
			at := now.Add(-w.oldest + time.Duration(i)*(w.oldest-w.newest)/time.Duration(max(w.count-1, 1)))
			if err := t.client.ProduceSync(ctx, w.letter(i, at)).FirstErr(); err != nil {
				return fmt.Errorf("write the letters to begin with: %w", err)
			}
		}
	}
	return t.abandon(ctx)
}

func (w wave) letter(i int, at time.Time) *kgo.Record {
	r := payment(w.from, int32(i%lines), badCurrency)
	if w.from == ledgerPostings {
		r = posting(int32(i % 4))
	}
	r.Offset, r.Timestamp = int64(90_000+137*i), at.Add(-time.Minute)
	message := w.message
	if w.from == ledgerPostings {
		message = fmt.Sprintf(w.message, r.Key)
	}
	headers := slices.Concat(r.Headers, origin(r), failure(w.class, message, w.frame))
	return &kgo.Record{
		Topic: w.dead, Partition: int32(i % 2), Key: r.Key, Value: r.Value, Timestamp: at,
		Headers: headers,
	}
}

// abandon leaves the commits of a group without members: it was stopped before
// anybody looked.
func (t *topicWorld) abandon(ctx context.Context) error {
	var offsets kadm.Offsets
	for line := range int32(4) {
		offsets.Add(kadm.Offset{Topic: ledgerPostings, Partition: line, At: 0})
	}
	return kadm.NewClient(t.client).CommitAllOffsets(ctx, "nightly-recon", offsets)
}
