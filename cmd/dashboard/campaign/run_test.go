package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// run is one dead-letter queue with its letters, and one installation of the
// program that is killed again and again while it redrives them.
type run struct {
	t    testing.TB
	ctx  context.Context
	rnd  *rand.Rand
	seed uint64
	broker
	*program
	tally *tally
	// most is how many kills this run takes; the rest of its letters go in
	// peace.
	most int
	// rough says that the broker is ill meanwhile.
	rough bool

	letters    []*letter
	byID       map[string]*letter
	open       []*letter       // in no redrive that we know of
	discarded  map[string]bool // letters that are discarded: they are never sent
	asked      []*letter       // in a start whose outcome is not looked at yet
	known      map[string]bool // redrives whose letters are not open
	freed      map[string]bool // redrives whose cancelled letters are open again
	expired    map[string]bool // letters that the program thought the broker has forgotten
	flagged    map[string]bool // letters that the ledger ever called unknown
	counts     counts
	violations []string
}

// counts are what a run adds to the table.
type counts struct {
	runs, letters, kills, arrived, lost, duplicated, changed, flagged, resent int
	bytes                                                                     int64
	audited, pausedByCrashes, both, violations                                int
}

func (r *run) violate(format string, args ...any) {
	r.counts.violations++
	r.violations = append(r.violations, fmt.Sprintf("%s, seed %d: ", r.queue(), r.seed)+fmt.Sprintf(format, args...))
}

// newRun makes a run of n letters, all of them listed by the program.
func newRun(t testing.TB, binary string, b broker, tally *tally, seed uint64, n, most int) (*run, error) {
	r := &run{
		t: t, ctx: t.Context(), rnd: rand.New(rand.NewPCG(seed, 4)), seed: seed, broker: b, program: install(t, binary, b.source()), tally: tally, most: most,
		byID: map[string]*letter{}, known: map[string]bool{}, freed: map[string]bool{}, expired: map[string]bool{}, flagged: map[string]bool{},
	}
	var err error
	if r.letters, err = b.fill(r.ctx, r.rnd, n); err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if err := r.list(n); err != nil {
		return nil, err
	}
	r.open = slices.Clone(r.letters)
	r.counts.runs, r.counts.letters = 1, n
	if err := r.plan(); err != nil {
		return nil, err
	}
	return r, r.stop() // it lets go of what it has looked at
}

// begin starts a life that is to answer, and to live.
func (r *run) begin() error {
	if err := r.start("", 0); err != nil {
		return err
	}
	up, err := r.ready(r.ctx)
	if err == nil && !up {
		err = fmt.Errorf("the program ended before it answered:\n%s", r.lastLog(20))
	}
	return err
}

// list waits until the program lists every letter, and learns its ids.
func (r *run) list(n int) error {
	err := eventually(r.ctx, 3*time.Minute, func() error {
		got, err := r.total(r.ctx, r.queue())
		if err == nil && got != n {
			err = fmt.Errorf("%d of %d letters are listed", got, n)
		}
		return err
	})
	if err != nil {
		return err
	}
	all, err := r.api.letters(r.ctx, r.queue(), "all")
	if err != nil {
		return err
	}
	byPlace := map[string]*letter{}
	for _, l := range r.letters {
		byPlace[l.where] = l
	}
	for _, l := range all {
		ours := byPlace[l.where()]
		if ours == nil {
			return fmt.Errorf("letter %s at %s is none of ours", l.ID, l.where())
		}
		ours.id, ours.cause = l.ID, l.Cause
		r.byID[l.ID] = ours
	}
	return nil
}

// plan asks once what would be done with every letter, and so learns what must
// arrive.
func (r *run) plan() error {
	var plan struct {
		Plan  string
		Total int
	}
	if _, err := r.post(r.ctx, "/api/v1/redrives", map[string]any{"filter": map[string]any{"queue": r.queue()}, "dry_run": true}, &plan); err != nil {
		return err
	}
	all, err := pages[planned](r.ctx, r.api, "/api/v1/redrives/plans/"+plan.Plan+"/letters", "letters", nil)
	if err != nil {
		return err
	}
	if len(all) != len(r.letters) || plan.Total != len(all) {
		return fmt.Errorf("the plan has %d of %d letters", len(all), len(r.letters))
	}
	for _, p := range all {
		if p.Refused != "" {
			return fmt.Errorf("letter %s is refused: %s", p.ID, p.Refused)
		}
		if err := r.byID[p.ID].expect(p.Headers.Dropped); err != nil {
			return err
		}
	}
	return nil
}

func eventually(ctx context.Context, within time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		}
	}
}

// storm kills the program until the run has had its kills, or all letters are
// on their way.
func (r *run) storm() error {
	for r.counts.kills < r.most {
		point, more := r.tally.next(r.rnd)
		if !more {
			return nil
		}
		idle, err := r.life(point)
		if err != nil || idle {
			return err
		}
	}
	return nil
}

const (
	// patience is how long a life may take to reach its failpoint.
	patience = 6 * time.Second
	// mostStarts is how many redrives one life starts, so that letters are left
	// for the others.
	mostStarts = 3
)

// life is one life of the program: it ends at a point, or at a random time. It
// tells whether there is nothing left to be done.
func (r *run) life(point string) (idle bool, err error) {
	armed, limit := "", time.Duration(r.rnd.Int64N(int64(1200*time.Millisecond)))
	if point != "" {
		armed, limit = fmt.Sprintf("%s=%d", point, r.hits()), patience
	}
	if err := r.start(armed, shortHold); err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	did := make(chan error, 1)
	go func() {
		up, err := r.ready(ctx)
		if err == nil && up {
			idle, err = r.provoke(ctx, point)
		}
		did <- err
	}()
	select {
	case <-r.ended:
		err = <-did // what the program left unanswered, it does not answer any more
	case err = <-did:
	case <-time.After(limit):
		r.program.kill()
		err = <-did
	}
	if err != nil && isLost(err) && r.dying() {
		err = nil
	}
	r.program.kill()
	return idle, errors.Join(err, r.count(point, idle))
}

// hits is at which time that its point is reached the program is killed.
func (r *run) hits() int {
	if r.rnd.IntN(3) > 0 {
		return 1
	}
	return 2 + r.rnd.IntN(3)
}

// count counts how a life ended.
func (r *run) count(point string, idle bool) error {
	itself, err := r.killedItself()
	switch {
	case err != nil:
		return err
	case itself:
		r.counts.kills++
		r.tally.killed(point)
	case !idle:
		r.counts.kills++
		r.tally.killed("")
		if point != "" {
			r.tally.missed(point)
		}
	}
	return nil
}

// dying waits a moment for a program that broke off an answer.
func (r *run) dying() bool {
	select {
	case <-r.ended:
		return true
	case <-time.After(time.Second):
		return false
	}
}

// isLost tells an answer that never came from one that says no.
func isLost(err error) bool {
	no := (*refusal)(nil)
	return !errors.As(err, &no)
}

// urge is what people do more of, so that a point is reached.
type urge struct{ start, order, settle, canary, discard bool }

func urgeOf(point string) urge {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(point, part) })
	}
	return urge{
		start:   has("redrive-start", "redrive-finish"),
		order:   has("control", "pause", "resume", "cancel", "rate"),
		settle:  has("redrive-decide", "settle", "removal"), // what is settled as sent is taken off its queue
		canary:  has("steer", "canary"),
		discard: has("discard"),
	}
}

// provoke does what people do until the program is gone, so that the point is
// reached: it starts redrives, orders pauses, and lets the program work. It
// tells whether nothing is left to be done.
func (r *run) provoke(ctx context.Context, point string) (idle bool, err error) {
	u := urgeOf(point)
	for began := 0; !r.over(); {
		jobs, err := r.learn(ctx)
		if err != nil {
			return false, err
		}
		working := 0
		for _, j := range jobs {
			if !j.ended() {
				working += j.out()
			}
		}
		if len(r.open) == 0 && working == 0 {
			return true, nil
		}
		for range 1 + r.rnd.IntN(3) {
			if len(r.open) == 0 || began == mostStarts || working > 0 && !u.start && !u.order && !u.canary {
				break
			}
			n, err := r.startSome(ctx, u)
			if err != nil {
				return false, err
			}
			working += n
			began++
		}
		if err := errors.Join(r.meddle(ctx, jobs, u), r.settleSome(ctx, jobs, u), r.discardSome(ctx, u)); err != nil {
			return false, err
		}
		select {
		case <-r.ended:
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false, nil
}

// settleSome decides what is unknown, where that is to be reached.
func (r *run) settleSome(ctx context.Context, jobs []job, u urge) error {
	if !u.settle || !slices.ContainsFunc(jobs, func(j job) bool { return j.Counts["unknown"] > 0 }) {
		return nil
	}
	_, err := r.decide(ctx)
	return err
}

// discardSome discards a few letters, and as a rule undoes it.
func (r *run) discardSome(ctx context.Context, u urge) error {
	if !u.discard || len(r.open) == 0 {
		return nil
	}
	some := slices.Clone(r.open[:min(len(r.open), 1+r.rnd.IntN(3))])
	r.open = slices.Clone(r.open[len(some):])
	var discard struct{ ID string }
	_, err := r.post(ctx, "/api/v1/discards", map[string]any{"ids": idsOf(some), "reason": "to see what becomes of it"}, &discard)
	if err != nil || r.rnd.IntN(4) == 0 {
		return r.notNow(err)
	}
	if _, err = r.post(ctx, "/api/v1/discards/"+discard.ID+"/undo", struct{}{}, nil); err == nil {
		r.open = append(r.open, some...)
	}
	return r.notNow(err)
}

// learn looks at the redrives: what a start whose answer was lost has taken,
// what was cancelled and is open again, and what waits for a person after
// three crashes.
func (r *run) learn(ctx context.Context) ([]job, error) {
	jobs, err := r.jobs(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.lookForExpired(ctx), r.lookForDiscarded(ctx)); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if !r.known[j.ID] {
			if err := r.take(ctx, j.ID); err != nil {
				return nil, err
			}
		}
	}
	r.open = append(r.open, r.asked...) // of starts that never were
	r.asked = nil
	for _, j := range jobs {
		if j.ended() && !r.freed[j.ID] && j.Counts["cancelled"]+j.Counts["failed"] > 0 {
			if err := r.free(ctx, j.ID); err != nil {
				return nil, err
			}
		}
		if err := r.help(ctx, j); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// lookForExpired finds letters that the program thinks the broker has
// forgotten. Nobody but the program takes letters off the queue, and those that
// it takes are not expired.
func (r *run) lookForExpired(ctx context.Context) error {
	all, err := r.api.letters(ctx, r.queue(), "expired")
	for _, l := range all {
		if !r.expired[l.ID] {
			r.expired[l.ID] = true
			r.violate("letter %s (%s) is said to be expired, and nobody took it (life %d)", l.ID, l.where(), r.lives)
		}
	}
	return err
}

// lookForDiscarded learns what discards have become of which nobody heard.
func (r *run) lookForDiscarded(ctx context.Context) error {
	all, err := r.api.letters(ctx, r.queue(), "discarded")
	r.discarded = map[string]bool{}
	for _, l := range all {
		r.discarded[l.ID] = true
	}
	is := func(l *letter) bool { return r.discarded[l.id] }
	r.open, r.asked = slices.DeleteFunc(r.open, is), slices.DeleteFunc(r.asked, is)
	return err
}

func (r *run) take(ctx context.Context, job string) error {
	items, err := r.items(ctx, job)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, i := range items {
		taken[i.Letter] = true
	}
	r.open = slices.DeleteFunc(r.open, func(l *letter) bool { return taken[l.id] })
	r.asked = slices.DeleteFunc(r.asked, func(l *letter) bool { return taken[l.id] })
	r.known[job] = true
	return nil
}

func (r *run) free(ctx context.Context, job string) error {
	items, err := r.items(ctx, job, "cancelled", "failed")
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.State == "failed" {
			r.t.Logf("%s: %s failed: %s", r.queue(), i.ID, i.Error)
		}
		if l := r.byID[i.Letter]; l != nil && !slices.Contains(r.open, l) {
			r.open = append(r.open, l)
		}
	}
	r.freed[job] = true
	return nil
}

// help resumes a paused redrive, which must say why it is paused, and cancels
// one that waits for its canaries: nobody reads the target.
func (r *run) help(ctx context.Context, j job) error {
	switch j.State {
	case "waiting":
		return r.notNow(r.order(ctx, j.ID, "cancel"))
	case "paused":
		if j.Reason == "" {
			r.violate("redrive %s is paused and does not say why", j.ID)
		}
		if strings.Contains(j.Reason, "times in a row") || strings.Contains(j.Reason, "crash") {
			r.counts.pausedByCrashes++
		}
		return r.notNow(r.order(ctx, j.ID, "resume"))
	}
	return nil
}

// meddle pauses, resumes and cancels at random.
func (r *run) meddle(ctx context.Context, jobs []job, u urge) error {
	for _, j := range jobs {
		if j.ended() || !u.order && r.rnd.IntN(20) > 0 {
			continue
		}
		what := []string{[]string{"pause", "resume", "cancel"}[r.rnd.IntN(3)]}
		if u.order {
			what = []string{"pause", "resume", "cancel"}
		}
		for _, one := range what {
			if err := r.notNow(r.order(ctx, j.ID, one)); err != nil {
				return err
			}
		}
	}
	return nil
}

// startSome starts a redrive of some of the letters that are open: one that
// was planned first, or two people at once with the same plan or the same
// letters, of whom only one may succeed. Where orders are to be given it goes
// slowly, so that they come in time.
func (r *run) startSome(ctx context.Context, u urge) (int, error) {
	some := r.choose()
	body := map[string]any{"ids": idsOf(some), "confirm": confirmed}
	if r.rnd.IntN(4) == 0 {
		body["rate_per_second"] = 50 + r.rnd.IntN(2000)
	}
	if u.order {
		body["rate_per_second"] = 5
	}
	if u.canary {
		body["canary"] = true
	}
	if r.rnd.IntN(3) == 0 {
		var plan struct{ Plan string }
		body["dry_run"] = true
		if _, err := r.post(ctx, "/api/v1/redrives", body, &plan); err != nil {
			return 0, r.notNow(err)
		}
		body = map[string]any{"plan": plan.Plan, "confirm": confirmed}
	}
	if r.rnd.IntN(4) == 0 {
		return len(some), r.startTwice(ctx, body)
	}
	var started job
	_, err := r.post(ctx, "/api/v1/redrives", body, &started)
	if err == nil && u.order {
		err = r.meddle(ctx, []job{started}, u)
	}
	return len(some), r.notNow(err)
}

// confirmed are warnings that are accepted: what a killed life of the program
// holds looks as if others were reading the dead-letter queue.
var confirmed = []string{"source_read_by_others"}

// notNow forgives a conflict: a start whose answer was lost has taken the
// letters, or a redrive has ended meanwhile. The next look at the redrives
// tells. In a rough run a plan may also be refused, or wait for its broker.
func (r *run) notNow(err error) error {
	no := (*refusal)(nil)
	if !errors.As(err, &no) {
		return err
	}
	if no.status == http.StatusConflict || strings.Contains(no.text, "stored_copy") || r.rough && (no.status == http.StatusUnprocessableEntity || no.status == http.StatusServiceUnavailable) {
		return nil
	}
	return err
}

// startTwice is two tabs: both send the same at the same time.
func (r *run) startTwice(ctx context.Context, body map[string]any) error {
	status, errs := [2]int{}, make(chan error, 2)
	for i := range status {
		go func() {
			var err error
			status[i], err = r.post(ctx, "/api/v1/redrives", body, nil)
			errs <- r.notNow(err)
		}()
	}
	err := errors.Join(<-errs, <-errs)
	if status[0] == http.StatusAccepted && status[1] == http.StatusAccepted {
		r.counts.both++
		r.violate("two tabs started the same letters twice")
	}
	return err
}

func idsOf(letters []*letter) []string {
	ids := make([]string, len(letters))
	for i, l := range letters {
		ids[i] = l.id
	}
	return ids
}

// choose takes some of the open letters: now and then many, and as a rule so
// few that they last for the kills to come. Letters of a FIFO group stay
// together, because only within a redrive their order is kept.
func (r *run) choose() []*letter {
	n := 1 + r.rnd.IntN(1+len(r.open)/max(1, r.most-r.counts.kills))
	if r.rnd.IntN(8) == 0 {
		n *= 6
	}
	n = min(n, len(r.open))
	if !r.promises().ordered {
		r.rnd.Shuffle(len(r.open), func(i, j int) { r.open[i], r.open[j] = r.open[j], r.open[i] })
	} else {
		slices.SortFunc(r.open, func(a, b *letter) int { return a.number - b.number })
		for n < len(r.open) && r.open[n].group == r.open[n-1].group {
			n++
		}
	}
	some := slices.Clone(r.open[:n])
	r.open = slices.Clone(r.open[n:])
	r.asked = append(r.asked, some...)
	return some
}
