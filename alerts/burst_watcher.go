package alerts

import (
	"context"
	"log/slog"
	"time"
)

// burstsEvery is how often queues are looked at where nobody says that letters
// came; letters that stopped coming say nothing.
const burstsEvery = 5 * time.Second

// Letterbox counts what arrives in dead-letter queues, and keeps their
// incidents.
type Letterbox interface {
	DeadLetterQueues(ctx context.Context) ([]DeadLetterQueue, error)
	// LettersArrived is what came into a queue lately, as its rule asks.
	LettersArrived(ctx context.Context, q DeadLetterQueue, r BurstRule, now time.Time) (Arrivals, error)
	// Bursts are the open incidents of queues. What stands is nowhere else, so
	// that a restart neither forgets nor doubles one.
	Bursts(ctx context.Context) ([]Incident, error)
	Turn(ctx context.Context, t Turn) error
}

// BurstWatcher opens and resolves the incidents of dead-letter queues.
type BurstWatcher struct {
	Rules BurstRules
	Box   Letterbox
	To    []Recipient
	Log   *slog.Logger
	Clock func() time.Time // our own
	// Changed is called with the ids of incidents that opened, changed or
	// resolved, after they were written down.
	Changed func(ids ...string)

	wake chan struct{}
}

// NewBurstWatcher watches dead-letter queues by rules.
func NewBurstWatcher(rules BurstRules, box Letterbox, to []Recipient, log *slog.Logger) *BurstWatcher {
	return &BurstWatcher{Rules: rules, Box: box, To: to, Log: log, Clock: time.Now, Changed: func(...string) {}, wake: make(chan struct{}, 1)}
}

// Wake has the queues looked at now.
func (b *BurstWatcher) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends.
func (b *BurstWatcher) Run(ctx context.Context) error {
	if len(b.Rules) == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(burstsEvery)
	defer tick.Stop()
	for {
		if err := b.Look(ctx); err != nil && ctx.Err() == nil {
			b.Log.Error("the dead-letter queues could not be watched for bursts; they are looked at again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-b.wake:
		}
	}
}

// Look looks at every queue once and writes down what follows.
func (b *BurstWatcher) Look(ctx context.Context) error {
	queues, err := b.Box.DeadLetterQueues(ctx)
	if err != nil {
		return err
	}
	standing, err := b.Box.Bursts(ctx)
	if err != nil {
		return err
	}
	open := make(map[DeadLetterQueue]*Incident, len(standing))
	for i, in := range standing {
		open[DeadLetterQueue{in.Source, in.Queue}] = &standing[i]
	}
	for _, q := range queues {
		if err := b.look(ctx, q, open[q]); err != nil {
			return err
		}
	}
	return nil
}

func (b *BurstWatcher) look(ctx context.Context, q DeadLetterQueue, open *Incident) error {
	rule, asked := b.Rules.For(q)
	if !asked && open == nil {
		return nil
	}
	now := b.Clock().Round(0).UTC()
	arrived, err := Arrivals{}, error(nil)
	if asked { // a rule that is gone resolves what it had opened
		arrived, err = b.Box.LettersArrived(ctx, q, rule, now)
	}
	if err != nil {
		return err
	}
	in, changed := rule.Next(q, arrived, open, now)
	if !changed {
		return nil
	}
	c := Change{Incident: *in}
	if in.ResolvedAt.IsZero() {
		c.Tell = told(in, b.To)
	}
	if err := b.Box.Turn(context.WithoutCancel(ctx), Turn{Source: q.Source, At: now, Incidents: []Change{c}}); err != nil {
		return err
	}
	b.Log.Info("a burst of dead letters", "incident", in.ID, "queue", q.Name, "open", in.ResolvedAt.IsZero(), "pages", in.Pages)
	b.Changed(in.ID)
	return nil
}
