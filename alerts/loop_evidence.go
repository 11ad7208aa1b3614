package alerts

import (
	"context"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// evidenceTries is how often the records of an incident are asked for.
const evidenceTries = 5

// toldOf is where a line stood when the evidence of its incident was gathered.
type toldOf struct {
	line     sources.Partition
	position int64
	missing  bool
	tries    int
}

// standing decides whether records are read for a group's incident: when it
// opens or changes, when its line stands elsewhere by now, again when they could
// not be read, and once after a restart.
func (l *loop) standing(r *result, group string, view GroupView, s Step) {
	in := l.watches[group].Incident
	if in == nil {
		delete(l.told, group)
		return
	}
	i := slices.IndexFunc(view.Lines, func(v LineView) bool { return v.Partition == in.Evidence.Line })
	if i < 0 {
		return
	}
	sc := scene{incident: *clone(in), line: view.Lines[i]}
	r.owner(sc)
	if l.src.Records == nil || !suspectable(sc.line.Verdict) {
		return
	}
	was := l.told[group] // nothing after a restart: then it is read afresh
	here := toldOf{line: sc.line.Partition, position: sc.line.Position}
	switch {
	case s.Opened != nil || s.Updated != nil:
	case was.line == here.line && was.position == here.position && (!was.missing || was.tries >= evidenceTries):
		return
	}
	r.scenes = append(r.scenes, sc)
}

// owner names the owner of the line as people know it, in what is written of
// the incident anyway.
func (r *result) owner(s scene) {
	for i := range r.turn.Incidents {
		if c := &r.turn.Incidents[i]; c.ID == s.incident.ID && c.Evidence {
			c.Incident.Evidence = s.evidence()
		}
	}
}

// gatherAll gathers the evidence that is wanted, and puts it into the turn.
func (l *loop) gatherAll(ctx context.Context, r *result) {
	if len(r.scenes) == 0 {
		return
	}
	for i, e := range gather(ctx, l.src.Records, r.scenes) {
		in, line := r.scenes[i].incident, r.scenes[i].line
		was := l.told[in.Group]
		if was.line != line.Partition || was.position != line.Position {
			was.tries = 0
		}
		l.told[in.Group] = toldOf{line: line.Partition, position: line.Position, missing: e.Missing != "", tries: was.tries + 1}
		if e.Missing != "" {
			l.log.Warn("evidence is missing", "incident", in.ID, "group", in.Group, "err", e.Missing)
		}
		r.attach(in, e)
	}
}

// attach gives an incident its evidence.
func (r *result) attach(in Incident, e Evidence) {
	i := slices.IndexFunc(r.turn.Incidents, func(c Change) bool { return c.ID == in.ID })
	if i < 0 {
		r.turn.Incidents = append(r.turn.Incidents, Change{Incident: in})
		r.incident = append(r.incident, in.ID)
		i = len(r.turn.Incidents) - 1
	}
	c := &r.turn.Incidents[i]
	c.Incident.Evidence, c.Evidence = e, true
}
