package alerts

import "time"

// Toll is what an incident costs, as far as readings tell: between two of them
// the number of records that wait is taken to change evenly.
type Toll struct {
	Since   time.Time // the earliest that one of its lines stood, on our clock; zero: none of them did
	StoodAt time.Time // the last reading at which one did

	Worst   int64     // the most records that waited in its lines at once
	WorstAt time.Time // zero: what waits was never known
	Last    int64     // how many waited at the last reading that knew
	LastAt  time.Time

	RecordSeconds float64 // how many waited, added up over the time that they did
}

// Known tells whether it was ever known how many records wait.
func (t Toll) Known() bool { return !t.LastAt.IsZero() }

// Blocked is how long the incident's lines stood.
func (t Toll) Blocked() time.Duration {
	if t.Since.IsZero() {
		return 0
	}
	return t.StoodAt.Sub(t.Since)
}

// RecordMinutes is how many records waited, times the minutes that they did.
func (t Toll) RecordMinutes() float64 { return t.RecordSeconds / 60 }

// stands notes that lines stand at a reading, and since when.
func (t *Toll) stands(since, now time.Time) {
	if t.Since.IsZero() || since.Before(t.Since) {
		t.Since = since
	}
	t.StoodAt = now
}

// wait takes in how many records wait at a reading.
func (t *Toll) wait(records int64, now time.Time) {
	from := t.LastAt
	if from.IsZero() {
		from = t.Since
	}
	if took := now.Sub(from); took > 0 && !from.IsZero() {
		t.RecordSeconds += float64(t.Last+records) / 2 * took.Seconds()
	}
	t.Last, t.LastAt = records, now
	if records > t.Worst || t.WorstAt.IsZero() {
		t.Worst, t.WorstAt = records, now
	}
}

// count adds a reading to what the incident costs.
func (w *GroupWatch) count(ill []trouble, lines []line, js []Judgement, now time.Time) {
	toll := &w.Incident.Toll
	for _, t := range ill {
		since := t.said.Since
		if since.IsZero() {
			since = now
		}
		toll.stands(since, now)
	}
	waits, known := int64(0), false
	for i, l := range lines {
		if w.Stood[keyOf(l.Partition)] != nil && js[i].Lag >= 0 && !l.unread() {
			waits, known = waits+js[i].Lag, true
		}
	}
	if known {
		toll.wait(waits, now)
	}
}
