package alerts

import (
	"fmt"
	"time"
)

// blindFor is how long a source or a group may go unread, at least, before that
// is an incident of its own: whatever stalls meanwhile pages nobody.
const blindFor = 10 * time.Minute

// unread is since when a source or a group could not be read, and the incident
// about that. It is no part of the incident about its lines, which goes on
// standing: not to know resolves nothing.
type unread struct {
	Since    time.Time `json:",omitzero"` // the first of the failed readings; zero: the last one worked
	Incident *Incident `json:",omitempty"`
}

// next takes in a reading: err is why it failed, nil when it worked. It gives
// the incident that this opened or resolved, nil when none did. named has the
// names of the source, and of the group when it is about one.
func (u *unread) next(err error, named Incident, rule Rule, now time.Time) *Incident {
	if err == nil {
		u.Since = time.Time{}
		return u.over(now)
	}
	if u.Since.IsZero() {
		u.Since = now
	}
	if u.Incident != nil || rule.Page == PageOff || now.Sub(u.Since) < max(rule.StallAfter, blindFor) {
		return nil
	}
	if _, active := rule.Active.Since(now); !active {
		return nil
	}
	in := named
	in.ID, in.Verdict, in.Scope, in.OpenedAt, in.UpdatedAt = newID(), Unknown, GroupScope, now, now
	in.Pages, in.Severity, in.Owner, in.Runbook, in.Notify = rule.Page == PageOn, rule.Severity, rule.Owner, rule.Runbook, rule.Notify
	if !in.Pages {
		in.Severity = "warning"
	}
	in.Title = "Source " + in.Source + " cannot be read: none of its groups is watched"
	if in.Group != "" {
		in.Title = "Group " + in.Group + " cannot be read: it is not watched"
	}
	in.Reason = fmt.Sprintf("not read since %s (%s): %v", clock(u.Since), about(now.Sub(u.Since)), err)
	in.Evidence.Since = u.Since
	u.Incident = &in
	return clone(u.Incident)
}

// over resolves the incident once it can be read again.
func (u *unread) over(now time.Time) *Incident {
	if u.Incident == nil {
		return nil
	}
	done := u.Incident
	done.ResolvedAt, done.UpdatedAt, done.Resolution = now, now, "it is read again"
	u.Incident = nil
	return done
}
