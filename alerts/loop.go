package alerts

import (
	"context"
	"hash/maphash"
	"log/slog"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// goneShown is how long a group that vanished is still shown, with what
	// became of it. While an incident of it stands it stays.
	goneShown = time.Minute
	// goneKept is how long it is remembered, should it come back.
	goneKept = time.Hour
)

// loop watches one source. But for what is shown, only its own goroutine
// touches it.
type loop struct {
	w     *Watcher
	src   Watched
	log   *slog.Logger
	seed  maphash.Seed
	heads heads
	held  transactions
	// headsErr is the last error of looking at heads, so that it is logged once.
	headsErr string

	watches map[string]*GroupWatch // nil: to be loaded
	saved   map[string]uint64      // hash of what the store has of each
	knew    bool                   // a reading of the source worked, in this run or an earlier one
	unread  unread                 // the source as a whole
	many    *Incident              // the one that tells of many groups at once; nil: none stands
	told    map[string]toldOf      // what the evidence of standing incidents tells, by group

	// Shared, under Watcher.swap.
	started, finished time.Time
	shown             shown
}

// shown is a loop's part of the board.
type shown struct {
	read   SourceRead
	groups map[string]*GroupView
}

func newLoop(w *Watcher, src Watched) *loop {
	return &loop{
		w: w, src: src, log: w.log.With("source", src.Name), seed: maphash.MakeSeed(), heads: heads{},
		shown: shown{read: SourceRead{Source: src.Name}, groups: map[string]*GroupView{}},
	}
}

func (l *loop) run(ctx context.Context) {
	l.w.publish(func() { l.started = l.w.Clock() })
	tick := time.NewTicker(l.w.rules.PollEvery)
	defer tick.Stop()
	for {
		l.poll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// result is all that one reading led to.
type result struct {
	now      time.Time
	groups   map[string]*GroupView
	read     []sources.Group // as they were judged
	turn     Turn
	scenes   []scene // incidents whose evidence is to be gathered
	lag      []string
	incident []string
}

// poll reads the source once and draws every conclusion.
func (l *loop) poll(ctx context.Context) {
	if err := l.load(ctx); err != nil {
		l.failed(ctx, err)
		return
	}
	groups, readErr := l.read(ctx)
	if ctx.Err() != nil {
		return // we are stopping: that is no fault of the source
	}
	r := l.conclude(groups, readErr)
	l.gatherAll(ctx, r)
	if err := l.save(ctx, r); err != nil {
		l.failed(ctx, err)
		return
	}
	l.knew = l.knew || readErr == nil
	l.show(r, readErr)
	if l.w.History != nil {
		l.w.History.Record(context.WithoutCancel(ctx), r.read, r.now)
	}
}

// read reads the groups and looks at the heads of those lines that stand.
func (l *loop) read(ctx context.Context) ([]sources.Group, error) {
	ctx, cancel := context.WithTimeout(ctx, l.w.timeout())
	defer cancel()
	groups, err := l.src.Lag.Lag(ctx)
	if err != nil {
		return nil, err
	}
	var stand, undated []sources.Lag
	for _, g := range groups {
		stand = append(stand, l.watch(g.Name).Standing(g)...)
		undated = append(undated, l.undated(g)...)
	}
	var headsErr error
	l.heads, headsErr = l.heads.look(ctx, l.src.Heads, stand, undated)
	l.sayHeads(ctx, headsErr)
	l.hold(ctx, groups)
	for _, g := range groups {
		l.heads.fill(g.Lines)
		l.held.fill(g.Lines)
	}
	return groups, nil
}

// sayHeads logs that heads cannot be looked at, once for each time that it
// begins.
func (l *loop) sayHeads(ctx context.Context, err error) {
	switch {
	case err == nil:
		l.headsErr = ""
	case ctx.Err() == nil && err.Error() != l.headsErr:
		l.headsErr = err.Error()
		l.log.Warn("the heads of standing lines cannot be looked at", "err", err)
	}
}

// undated are the lines of a group of which only the first unread record itself
// can tell how old it is.
func (l *loop) undated(g sources.Group) []sources.Lag {
	var out []sources.Lag
	dated := map[sources.Partition]bool{}
	if before := l.shown.groups[g.Name]; before != nil {
		for _, line := range before.Lines {
			dated[line.Partition] = line.Judgement.Behind >= 0
		}
	}
	for _, line := range g.Lines {
		if line.Err == nil && line.PositionErr == nil && line.Position >= 0 && line.Position < line.StableEnd && !dated[line.Partition] {
			out = append(out, line)
		}
	}
	return out
}

// watch is what is remembered of a group.
func (l *loop) watch(group string) *GroupWatch {
	w := l.watches[group]
	if w == nil {
		w = &GroupWatch{Joined: l.knew}
		l.watches[group] = w
	}
	return w
}

// conclude judges each group. A source that could not be read is a failed
// reading of each of its groups: clocks stop, nothing opens, nothing resolves.
func (l *loop) conclude(groups []sources.Group, readErr error) *result {
	now := l.w.Clock()
	r := &result{
		now: now, groups: make(map[string]*GroupView, len(groups)),
		turn: Turn{Source: l.src.Name, At: now, Watches: map[string][]byte{}, Tolls: map[string]Toll{}},
	}
	here := make(map[string]bool, len(groups))
	for _, g := range groups {
		here[g.Name] = true
		l.step(r, g, l.watch(g.Name).Next(g, l.w.rules, now))
	}
	for name, w := range l.watches {
		if here[name] {
			continue
		}
		g := sources.Group{Source: l.src.Name, Name: name, Err: readErr, ReadAt: now}
		if readErr != nil {
			l.step(r, g, w.blind(g, now))
			continue
		}
		l.gone(r, g, w)
	}
	l.outage(r, readErr)
	l.together(r)
	return r
}

// gone is a group that the source no longer has.
func (l *loop) gone(r *result, g sources.Group, w *GroupWatch) {
	step := w.Gone(r.now, l.w.rules)
	since := r.now.Sub(w.GoneAt)
	if w.Incident == nil && since >= goneKept {
		delete(l.watches, g.Name)
		delete(l.saved, g.Name)
		r.turn.Forgotten = append(r.turn.Forgotten, g.Name)
		return
	}
	l.step(r, g, step)
	if w.Incident == nil && since >= goneShown {
		delete(r.groups, g.Name)
	}
}

// step takes over what a reading led to.
func (l *loop) step(r *result, g sources.Group, s Step) {
	view := viewer{now: r.now, every: l.w.rules.PollEvery, heads: l.heads, before: l.shown.groups[g.Name]}.group(g, s.Judgements)
	r.groups[g.Name] = &view
	r.read = append(r.read, g)
	for _, warning := range s.Warnings {
		l.log.Warn(warning, "group", g.Name)
	}
	if before := l.shown.groups[g.Name]; before == nil || !sameView(*before, view) {
		r.lag = append(r.lag, l.src.Name+"/"+g.Name)
	}
	if s.Unread != nil {
		l.write(r, s.Unread)
	}
	for _, in := range []*Incident{s.Opened, s.Updated, s.Resolved} {
		if in != nil {
			l.change(r, in, s)
		}
	}
	if in := l.watches[g.Name].Incident; in != nil {
		r.turn.Tolls[in.ID] = in.Toll
	}
	l.standing(r, g.Name, view, s)
}

// change has an incident written down, and its page.
func (l *loop) change(r *result, in *Incident, s Step) {
	c := Change{Incident: *in}
	if in != s.Resolved {
		c.Tell, c.Evidence = told(in, l.w.to), true
	}
	if in == s.Updated {
		c.Update = updated(l.w.to)
	}
	r.turn.Incidents = append(r.turn.Incidents, c)
	r.incident = append(r.incident, in.ID)
	l.log.Info(said(in, s), "incident", in.ID, "group", in.Group, "verdict", in.Verdict, "lines", len(in.Lines), "pages", in.Pages)
}

func said(in *Incident, s Step) string {
	switch in {
	case s.Opened:
		return "incident opened"
	case s.Resolved:
		return "incident resolved"
	}
	return "incident changed"
}

// say logs that the source cannot be read, and that it can be again, once each.
func (l *loop) say(err error) {
	before := l.shown.read.Err
	switch {
	case err != nil && err.Error() != before:
		l.log.Warn("the source cannot be read: nothing opens and nothing resolves", "err", err)
	case err == nil && before != "":
		l.log.Info("the source is read again")
	}
}

// show puts the reading on the board and tells who listens.
func (l *loop) show(r *result, readErr error) {
	l.say(readErr)
	l.w.publish(func() {
		l.finished = l.w.Clock()
		l.shown.groups = r.groups
		l.shown.read.Err = ""
		if readErr != nil {
			l.shown.read.Err = readErr.Error()
			return
		}
		l.shown.read.ReadAt = r.now
	})
	if len(r.turn.Incidents) > 0 {
		l.w.wake()
	}
	l.w.changed("lag", r.lag)
	l.w.changed("incident", r.incident)
}
