package alerts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// memory is a store for tests: what package store does in SQL, in a map. It
// outlives the watchers and senders that use it, as a file outlives a process.
type memory struct {
	mu        sync.Mutex
	watches   map[[2]string][]byte // by source and group
	incidents map[string]*Incident
	rows      []*row
	silences  []Silence
	fail      error // every write fails with it
	turns     int
}

type row struct {
	Pending
	settled bool
	gaveUp  bool
	muted   bool
	silent  time.Time
	next    time.Time
	took    time.Time
	err     string
}

// letGo has a row that is held back looked at again.
func (r *row) letGo(now time.Time) {
	if r.silent.After(now) {
		r.silent = now
	}
	r.next = now
}

func newMemory() *memory {
	return &memory{watches: map[[2]string][]byte{}, incidents: map[string]*Incident{}}
}

var errFull = errors.New("disk full")

func (m *memory) Watches(_ context.Context, source string) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string][]byte{}
	for key, w := range m.watches {
		if key[0] == source {
			out[key[1]] = slices.Clone(w)
		}
	}
	return out, nil
}

func (m *memory) SourceIncidents(_ context.Context, source string) ([]Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Incident
	for _, in := range m.incidents {
		if in.Source == source && in.Group == "" && in.Queue == "" && in.ResolvedAt.IsZero() {
			out = append(out, *in)
		}
	}
	return out, nil
}

func (m *memory) Turn(_ context.Context, t Turn) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.turns++
	for g, w := range t.Watches {
		m.watches[[2]string{t.Source, g}] = w
	}
	for _, g := range t.Forgotten {
		delete(m.watches, [2]string{t.Source, g})
	}
	for _, c := range t.Incidents {
		m.change(c, t.At)
	}
	for id, toll := range t.Tolls {
		m.incidents[id].Toll = toll
	}
	return nil
}

func (m *memory) change(c Change, now time.Time) {
	in := c.Incident
	if old := m.incidents[in.ID]; old != nil {
		in.Number = old.Number
		if c.Evidence {
			in.Evidence = in.Evidence.Keeping(old.Evidence)
		} else {
			in.Evidence = old.Evidence
		}
	} else {
		in.Number = int64(len(m.incidents) + 1)
	}
	m.incidents[in.ID] = &in
	for _, n := range c.Tell {
		m.write(in.ID, n, Trigger, FirstStep, now)
	}
	for _, r := range m.rows {
		if r.Incident == in.ID && r.Held && !r.settled {
			r.letGo(now)
		}
	}
	for _, n := range c.Update {
		page := m.find(Pending{Incident: in.ID, Notifier: n, Step: FirstStep})
		waits := slices.ContainsFunc(m.rows, func(r *row) bool {
			return r.Incident == in.ID && r.Notifier == n && r.Event == Update && !r.settled
		})
		if page != nil && !page.took.IsZero() && !waits {
			m.later(in.ID, n, Update, now)
		}
	}
	if !in.ResolvedAt.IsZero() {
		for _, r := range slices.Clone(m.rows) {
			switch {
			case r.Incident != in.ID || r.settled && r.Step != FirstStep:
			case r.Step == FirstStep && !r.muted:
				m.write(in.ID, r.Notifier, Resolve, LastStep, now)
			case r.Attempts == 0 && (r.Event == Trigger || r.Event == Update):
				r.settled = true
			}
		}
	}
}

func (m *memory) write(incident, notifier string, kind EventKind, step int, now time.Time) {
	p := Pending{Incident: incident, Notifier: notifier, Event: kind, Step: step, Since: now}
	if m.find(p) == nil {
		m.rows = append(m.rows, &row{Pending: p, next: now})
	}
}

// later writes an event behind all but the end of a lane that has begun.
func (m *memory) later(incident, notifier string, kind EventKind, now time.Time) {
	step := 0
	for _, r := range m.rows {
		if r.Incident == incident && r.Notifier == notifier && r.Step < LastStep {
			step = max(step, r.Step)
		}
	}
	if step > 0 {
		m.write(incident, notifier, kind, step+1, now)
	}
}

func (m *memory) find(p Pending) *row {
	for _, r := range m.rows {
		if r.Incident == p.Incident && r.Notifier == p.Notifier && r.Step == p.Step {
			return r
		}
	}
	return nil
}

func (m *memory) Due(_ context.Context, notifier string, now time.Time, most int) ([]Pending, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []*row
	var next time.Time
	for _, r := range m.rows {
		blocked := slices.ContainsFunc(m.rows, func(b *row) bool {
			return b.Incident == r.Incident && b.Notifier == r.Notifier && b.Step < r.Step && !b.settled
		})
		switch {
		case r.settled || blocked || r.Notifier != notifier:
		case !r.next.After(now):
			due = append(due, r)
		case next.IsZero() || r.next.Before(next):
			next = r.next
		}
	}
	slices.SortStableFunc(due, func(a, b *row) int { return cmp.Compare(a.next.UnixNano(), b.next.UnixNano()) })
	var out []Pending
	for _, r := range due[:min(most, len(due))] {
		p := r.Pending
		p.Since = later(p.Since, r.silent)
		if page := m.find(Pending{Incident: p.Incident, Notifier: p.Notifier, Step: FirstStep}); p.Event != Trigger {
			p.Key = page.Key
		}
		out = append(out, p)
	}
	return out, next, nil
}

func (m *memory) Attempt(_ context.Context, p Pending, now time.Time) (Incident, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.find(p)
	if r == nil || r.settled {
		return Incident{}, false, nil
	}
	r.Attempts++
	r.Tried, r.Key = now, p.Key
	return *m.incidents[p.Incident], true, nil
}

func (m *memory) Incident(_ context.Context, id string) (Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := *m.incidents[id]
	for _, r := range m.rows {
		if r.Incident == id {
			in.Deliveries = append(in.Deliveries, Delivery{Notifier: r.Notifier, Event: string(r.Event), AcceptedAt: r.took, Attempts: r.Attempts, Err: r.err})
		}
	}
	return in, nil
}

func (m *memory) Settle(_ context.Context, p Pending, res Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	r := m.find(p)
	if res.Held {
		if r.Held, r.next = true, res.NextAt; res.Silenced {
			r.silent = res.NextAt
		}
		return nil
	}
	if res.Muted {
		for _, other := range m.rows {
			if other == r || p.Step == FirstStep && p.Attempts == 0 && other.Incident == p.Incident && other.Notifier == p.Notifier {
				other.muted, other.settled = !other.settled, true
			}
		}
		return nil
	}
	r.settled, r.gaveUp, r.Minimal, r.next, r.err = res.Accepted || res.GaveUp, res.GaveUp, res.Minimal, res.NextAt, res.Err
	if res.Accepted {
		r.took = res.At
		if p.repeats() {
			in := m.incidents[p.Incident]
			in.ClosedAt, in.AcknowledgedAt = time.Time{}, time.Time{}
		}
	}
	return nil
}

func (m *memory) Muted(_ context.Context, incident string, now time.Time) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return HeldUntil(*m.incidents[incident], m.silences, now), nil
}

// silence sets the silences that there are; what is held back is looked at again.
func (m *memory) silence(all ...Silence) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silences = all
	for _, r := range m.rows {
		if r.Held && !r.settled {
			r.letGo(time.Now())
		}
	}
}

func (m *memory) Undelivered(context.Context) ([]Backlog, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]*Backlog{}
	for _, r := range m.rows {
		if r.settled {
			continue
		}
		b := all[r.Notifier]
		if b == nil {
			b = &Backlog{Notifier: r.Notifier, Oldest: r.Since}
			all[r.Notifier] = b
		}
		b.Events++
		b.Err = cmp.Or(r.err, b.Err)
	}
	var out []Backlog
	for _, b := range all {
		out = append(out, *b)
	}
	return out, nil
}

func (m *memory) failWith(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// all are the incidents in the order of their numbers.
func (m *memory) all() []Incident {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Incident
	for _, in := range m.incidents {
		out = append(out, *in)
	}
	slices.SortFunc(out, func(a, b Incident) int { return cmp.Compare(a.Number, b.Number) })
	return out
}
