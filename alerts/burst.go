package alerts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultWithin is how far a burst rule looks back where it does not say.
const DefaultWithin = 10 * time.Minute

// BurstRule says which arrivals in which dead-letter queues are an incident: a
// consumer that gives up correctly turns a bad deploy into no lag, no stall and
// ten thousand letters. Patterns are globs; "" matches everything.
type BurstRule struct {
	Source, Queue string
	MoreThan      int // letters within that time; 0: however many
	Within        time.Duration
	NewCause      bool // also a cause that was never seen before
	Page          Paging
}

// BurstRules are the configured ones. The first that matches a queue wins.
type BurstRules []BurstRule

// For is the rule of a queue, with every default filled in; false when it has
// none, and then it opens no incident.
func (rules BurstRules) For(q DeadLetterQueue) (BurstRule, bool) {
	for _, r := range rules {
		if matches(r.Source, q.Source) && matches(r.Queue, q.Name) {
			r.Within = cmp.Or(r.Within, DefaultWithin)
			r.Page = cmp.Or(r.Page, PageOn)
			return r, r.Page != PageOff
		}
	}
	return BurstRule{}, false
}

// DeadLetterQueue names a dead-letter queue.
type DeadLetterQueue struct{ Source, Name string }

// Arrivals is what came into a dead-letter queue lately. Letters that were
// there already when the queue was first looked at did not arrive lately, unless
// they died lately.
type Arrivals struct {
	Count  int       // within the time of the rule
	OverAt time.Time // when last more had come within it than the rule allows; zero: not lately
	Causes []NewCause
}

// NewCause is a cause that no letter had before.
type NewCause struct {
	ID, Title string
	At        time.Time // when its first letter arrived
}

// Next is the incident of a queue after what arrived by now, and whether that
// changed it; open is the one that stands, nil when none does. It resolves when
// for the time of the rule no more came than it allows, and no new cause.
func (r BurstRule) Next(q DeadLetterQueue, a Arrivals, open *Incident, now time.Time) (*Incident, bool) {
	over := !a.OverAt.IsZero() && now.Sub(a.OverAt) < r.Within
	switch {
	case open == nil && !over && len(a.Causes) == 0:
		return nil, false
	case open == nil:
		in := &Incident{ID: newID(), Source: q.Source, Queue: q.Name, Verdict: DeadLetterBurst, OpenedAt: now, Pages: r.Page == PageOn, Severity: "critical"}
		if !in.Pages {
			in.Severity = "warning"
		}
		r.tell(in, q, a, over, now)
		return in, true
	case !over && len(a.Causes) == 0:
		in := clone(open)
		in.ResolvedAt, in.UpdatedAt = now, now
		in.Resolution = fmt.Sprintf("for %s no more letters arrived than the rule allows", about(r.Within))
		if r.NewCause {
			in.Resolution += ", and none of a new cause"
		}
		return in, true
	}
	in := clone(open)
	r.tell(in, q, a, over, now)
	return in, in.Title != open.Title
}

// tell names what arrived. The words of an incident that stands change when
// there is more to say, and never back.
func (r BurstRule) tell(in *Incident, q DeadLetterQueue, a Arrivals, over bool, now time.Time) {
	classes := classesOf(a.Causes)
	burst := fmt.Sprintf("more than %s within %s", several(int64(r.MoreThan), "letter"), about(r.Within))
	said := strings.Contains(in.Title, burst)
	if (!over || said) && !slices.ContainsFunc(classes, func(c string) bool { return !strings.Contains(in.Title, c) }) {
		return
	}
	var titles, reasons []string
	if over || said {
		titles = append(titles, burst)
		reasons = append(reasons, fmt.Sprintf("%s arrived within %s, and the rule allows %s", several(int64(a.Count), "letter"), about(r.Within), count(int64(r.MoreThan))))
	}
	if len(classes) > 0 {
		titles = append(titles, "a cause never seen before: "+list(classes))
		reasons = append(reasons, "never seen before: "+list(classes))
	}
	in.Title = "Dead letters in " + q.Name + ": " + strings.Join(titles, ", and ")
	in.Reason, in.UpdatedAt = strings.Join(reasons, "; "), now
}

// classesOf names new causes by what may leave for a pager: a class, and not the
// message, which may have something of the record in it.
func classesOf(causes []NewCause) (names []string) {
	for _, c := range causes {
		name, _, _ := strings.Cut(c.Title, ":")
		if name = Cut(strings.TrimSpace(name), 80); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
