package alerts

import (
	"context"
	"slices"
	"time"
)

// askAgain is how long an event waits that may be wanted later: a second channel
// is not told of what somebody looks after, until that is no longer so.
const askAgain = time.Minute

// hold is why an event does not go out now.
type hold struct {
	until    time.Time // when to look again; zero: it goes out
	why      string
	silenced bool
	needless bool // it is not to go out at all
}

// held tells whether an event is not sent now, and writes that down. It is asked
// right before each attempt, never once and for all (prometheus/alertmanager
// issue 4108). Who was told of a beginning is told of the end.
func (s *Sender) held(ctx context.Context, p Pending) bool {
	if p.Event == Resolve || p.Event != Trigger && p.Attempts > 0 {
		return false
	}
	in, err := s.Outbox.Incident(ctx, p.Incident)
	if err != nil {
		s.Log.Error("an incident cannot be read; its event goes out", "incident", p.Incident, "event", p.Event, "err", err)
		return false
	}
	now := time.Now()
	h := s.hold(ctx, in, p, now)
	switch {
	case h.needless:
		s.settle(ctx, p, Result{At: now, Muted: true, Err: h.why})
	case !h.until.IsZero():
		s.settle(ctx, p, Result{Held: true, Silenced: h.silenced, NextAt: h.until, Err: h.why})
	default:
		return false
	}
	return true
}

// hold decides whether an event goes out.
func (s *Sender) hold(ctx context.Context, in Incident, p Pending, now time.Time) hold {
	if p.Event != Trigger {
		return outdated(in, p)
	}
	over := !in.ResolvedAt.IsZero()
	silence := s.silence(ctx, in, now)
	if p.Attempts > 0 {
		return silence.ofTried(p, over)
	}
	all := []hold{silence, s.To.second(in, p, now)}
	if p.repeats() {
		all = append(all, repeated(in, s.RepeatAfter, now))
	}
	if i := slices.IndexFunc(all, func(one hold) bool { return one.needless }); i >= 0 {
		return all[i]
	}
	h := slices.MaxFunc(all, func(a, b hold) int { return a.until.Compare(b.until) })
	// Of what was over while its page was held back nobody is told.
	if over && (p.Held || p.repeats() || !h.until.IsZero()) {
		return hold{needless: true, why: "it was over before it was to be told"}
	}
	return h
}

// ofTried is a silence over a page of which an attempt was made that may have got
// out: it is not tried again, and when the incident is over by then only that is
// told.
func (h hold) ofTried(p Pending, over bool) hold {
	if over && (!h.until.IsZero() || p.Held && !p.Tried.After(p.Since)) {
		return hold{needless: true, why: "it was over in a silence; should it have got out, its end is told"}
	}
	return h
}

// outdated is an event that tells of something which is no longer so.
func outdated(in Incident, p Pending) hold {
	switch {
	case p.Event == Acknowledge && in.AcknowledgedAt.IsZero():
		return hold{needless: true, why: "nobody looks after it any more"}
	case p.Event == Update && !in.ResolvedAt.IsZero():
		return hold{needless: true, why: "it is over, and that is told"}
	}
	return hold{}
}

// silence holds a page back while somebody wants quiet.
func (s *Sender) silence(ctx context.Context, in Incident, now time.Time) hold {
	if s.Mutes == nil {
		return hold{}
	}
	until, err := s.Mutes.Muted(ctx, in.ID, now)
	if err != nil {
		s.Log.Error("whether a page is silenced cannot be read; it goes out", "incident", in.ID, "err", err)
	}
	if err != nil || until.IsZero() {
		return hold{}
	}
	return hold{until: until, silenced: true, why: "held back until " + until.UTC().Format(time.RFC3339) + " by a silence, or a skip that is armed"}
}

// second holds the page of a second channel back: until those before it had their
// time, and as long as one of them took it and somebody acknowledged.
func (r Recipient) second(in Incident, p Pending, now time.Time) hold {
	if r.After <= 0 || p.repeats() {
		return hold{}
	}
	if turn := p.Since.Add(r.After); now.Before(turn) {
		return hold{until: turn, why: "told only when nobody is reached by " + turn.UTC().Format(time.RFC3339)}
	}
	taken := slices.ContainsFunc(in.Deliveries, func(d Delivery) bool {
		return d.Event == string(Trigger) && !d.AcceptedAt.IsZero() && slices.Contains(r.Before, d.Notifier)
	})
	if taken && !in.AcknowledgedAt.IsZero() {
		return hold{until: now.Add(askAgain), why: "not told, because " + in.AcknowledgedBy + " acknowledged"}
	}
	return hold{}
}

// repeated holds a page again back until the incident has stood for so long since
// it was closed by hand.
func repeated(in Incident, after time.Duration, now time.Time) hold {
	if in.ClosedAt.IsZero() {
		return hold{needless: true, why: "it was opened again in the pager"}
	}
	if turn := in.ClosedAt.Add(after); now.Before(turn) {
		return hold{until: turn, why: "closed by hand; pages again if it still stands at " + turn.UTC().Format(time.RFC3339)}
	}
	return hold{}
}
