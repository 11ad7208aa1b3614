package alerts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// attemptFor bounds one attempt (Standard Webhooks 1.0.0 advises 15 to 30 s).
	attemptFor = 15 * time.Second
	// lanes is how many incidents one notifier is told of at the same time: a
	// receiver that hangs on some does not hold up the others.
	lanes = 8
	// lookAgain is how long the sender sleeps at most: should a wake-up get
	// lost, the page is late by this and not lost.
	lookAgain = 10 * time.Second
	// storeAgain is how long it waits after the store failed.
	storeAgain = time.Second
	// finishFor is how long attempts under way may take when the sender stops.
	finishFor = 5 * time.Second
	// longestAsk bounds what a receiver may ask for with Retry-After.
	longestAsk = 15 * time.Minute
	// overdue is how old an undelivered event may be before the sender is not
	// ready, and the heart does not beat.
	overdue = 5 * time.Minute
	// patience is how often a body is sent whole to a receiver that has trouble
	// with it, and takes others.
	patience = 4
)

// backoff is the wait after the first, second, … failed attempt; the last one
// for all that follow. It is short at first because somebody sleeps through it.
var backoff = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second,
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
}

// Sender drains the lanes of one notifier, without end: an event leaves the
// outbox when it was accepted, or refused for good, and for no other reason.
// An incident that opened and ended while its notifier was down is told late,
// trigger and resolve, and says so: a page is never lost, and a resolve alone
// would tell nobody of it.
type Sender struct {
	To      Recipient
	Outbox  Outbox
	Wording Wording
	Mutes   Mutes // nil: there are no silences
	// RepeatAfter is how long an incident stands after somebody closed it in the
	// pager before it pages again.
	RepeatAfter time.Duration
	Log         *slog.Logger
	// Counted is called once an attempt with how it ended: accepted, failed or
	// gave_up. It may be nil.
	Counted func(notifier string, event EventKind, outcome string)
	// Changed is called with the ids of incidents whose deliveries changed. It
	// may be nil.
	Changed func(kind string, ids ...string)

	wake chan struct{}
	mu   sync.Mutex
	busy map[string]bool // incidents that are being told of
	// lastTook is when the receiver last took something.
	lastTook time.Time
	done     sync.WaitGroup
}

// NewSender is a sender that tells one recipient what the outbox has for it.
func NewSender(to Recipient, outbox Outbox, wording Wording, log *slog.Logger) *Sender {
	return &Sender{
		To: to, Outbox: outbox, Wording: wording, Log: log.With("notifier", to.Name),
		wake: make(chan struct{}, 1), busy: map[string]bool{},
	}
}

// Wake has the sender look at the outbox now. It never blocks.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends. Attempts that are under way then have a few seconds
// to be finished and written down.
func (s *Sender) Run(ctx context.Context) error {
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	for ctx.Err() == nil {
		s.rest(ctx, s.dispatch(ctx, attempts))
	}
	stop := time.AfterFunc(finishFor, cancel)
	defer stop.Stop()
	s.done.Wait()
	return nil
}

func (s *Sender) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-timer.C:
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// dispatch begins what is due, and returns how long to rest.
func (s *Sender) dispatch(ctx, attempts context.Context) time.Duration {
	now := time.Now()
	due, next, err := s.Outbox.Due(ctx, s.To.Name, now, 2*lanes)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Error("the outbox cannot be read; trying again", "err", err)
		}
		return storeAgain
	}
	for _, p := range due {
		if s.take(p.Incident) {
			s.done.Go(func() {
				defer s.Wake()
				defer s.free(p.Incident)
				s.attempt(attempts, p)
			})
		}
	}
	if next.IsZero() {
		return lookAgain
	}
	return min(max(next.Sub(now), 0), lookAgain)
}

// take claims the lane of an incident, when one is free.
func (s *Sender) take(incident string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[incident] || len(s.busy) >= lanes {
		return false
	}
	s.busy[incident] = true
	return true
}

func (s *Sender) free(incident string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, incident)
}

// attempt sends one event once, and writes down what came of it.
func (s *Sender) attempt(ctx context.Context, p Pending) {
	if s.held(ctx, p) {
		return
	}
	p.Key = s.key(p)
	in, there, err := s.Outbox.Attempt(ctx, p, time.Now())
	if err != nil {
		s.Log.Error("an attempt cannot be written down, so it is not made; trying again", "incident", p.Incident, "event", p.Event, "err", err)
		pause(ctx, storeAgain)
		return
	}
	if !there {
		return
	}
	p.Attempts++
	r := s.judge(p, s.notify(ctx, s.Wording.next(in, p)), time.Now())
	s.tell(p, r)
	s.settle(ctx, p, r)
}

// key is the fingerprint of the key that an event goes with: a page with the one
// that is configured now, everything else with that of its page.
func (s *Sender) key(p Pending) string {
	keyed, ok := s.To.Notifier.(Keyed)
	if !ok || p.Event != Trigger {
		return p.Key
	}
	print, err := keyed.Fingerprint()
	if err != nil {
		return p.Key // the attempt says what is wrong with it
	}
	return print
}

func (s *Sender) notify(ctx context.Context, e Event) error {
	ctx, cancel := context.WithTimeout(ctx, attemptFor)
	defer cancel()
	return s.To.Notify(ctx, e)
}

// judge decides how to go on after an attempt.
func (s *Sender) judge(p Pending, err error, now time.Time) Result {
	r := Result{At: now, Minimal: p.Minimal}
	switch {
	case err == nil:
		r.Accepted = true
		s.took(now)
		return r
	case errors.Is(err, ErrPermanent) && p.Minimal:
		r.GaveUp = true
	case errors.Is(err, ErrPermanent):
		r.Minimal = true
		r.NextAt = now
	default:
		r.NextAt = now.Add(wait(p.Attempts, err))
		r.Minimal = r.Minimal || s.poisoned(p, err)
	}
	r.Err = err.Error()
	return r
}

// took notes that the receiver takes events.
func (s *Sender) took(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTook = now
}

// poisoned tells whether a receiver that has trouble has it with this body: it
// failed again and again, and since the attempt before another one was taken. On
// 23 April 2021 PagerDuty answered bodies that it did not like with 500 for an
// hour, in place of 400.
func (s *Sender) poisoned(p Pending, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Is(err, ErrServer) && p.Attempts >= patience && s.lastTook.After(p.Tried)
}

// wait is how long to wait after a failed attempt: a little less than the
// schedule says, at random, so that many do not come back at once; but never
// less than the receiver asked for.
func wait(attempts int, err error) time.Duration {
	step := backoff[min(max(attempts-1, 0), len(backoff)-1)]
	d := step*3/4 + rand.N(step/4)
	var asked *RetryAfter
	if errors.As(err, &asked) {
		d = max(d, min(asked.After, longestAsk))
	}
	return d
}

// tell logs and counts an attempt.
func (s *Sender) tell(p Pending, r Result) {
	log := s.Log.With("incident", p.Incident, "event", p.Event, "attempt", p.Attempts)
	outcome := "failed"
	switch {
	case r.Accepted:
		outcome = "accepted"
		log.Info("told")
	case r.GaveUp:
		outcome = "gave_up"
		log.Error("refused for good, and so was the least of it: nobody is told of this here", "err", r.Err)
	default:
		log.Warn("not told yet", "err", r.Err, "again_at", r.NextAt)
	}
	if s.Counted != nil {
		s.Counted(p.Notifier, p.Event, outcome)
	}
}

// settle writes a result down, and again until the store takes it: a page that
// was accepted must not be sent over and over because a disk is full.
func (s *Sender) settle(ctx context.Context, p Pending, r Result) {
	for {
		err := s.Outbox.Settle(context.WithoutCancel(ctx), p, r)
		if err == nil {
			break
		}
		s.Log.Error("the result of an attempt cannot be written down; trying again", "incident", p.Incident, "event", p.Event, "accepted", r.Accepted, "err", err)
		if pause(ctx, storeAgain); ctx.Err() != nil {
			return
		}
	}
	if s.Changed != nil {
		s.Changed("incident", p.Incident)
	}
}

// Ready is nil while pages get out: nothing that this notifier should have been
// told has waited for more than five minutes.
func (s *Sender) Ready(ctx context.Context, now time.Time) error {
	waiting, err := s.Outbox.Undelivered(ctx)
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	for _, b := range waiting {
		if b.Notifier == s.To.Name && now.Sub(b.Oldest) > overdue {
			return fmt.Errorf("notifier %s: %d events not delivered, the oldest since %s: %s", b.Notifier, b.Events, b.Oldest.UTC().Format(time.RFC3339), b.Err)
		}
	}
	return nil
}
