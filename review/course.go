package review

import (
	"context"
	"time"

	"github.com/unwedge/unwedge/internal/failpoint"
)

// namedFor is for how long it is known who reads a queue.
const namedFor = 10 * time.Second

// naming is who reads a queue.
type naming struct {
	groups []string
	at     time.Time
}

// leave is how many letters of a redrive may be begun now: 0 while it waits for
// its canaries, or when it stops by itself.
func (w *Worker) leave(ctx context.Context, j *job, s Standing) (int, error) {
	counts, err := w.Fates.Counts(ctx, j.id)
	if err != nil {
		return 0, err
	}
	sums := SumsOf(counts)
	if why := s.tooMany(sums, s.Pace); why != "" && counts[Planning] > 0 {
		return 0, w.steer(ctx, j, s, course{Caution: s.Caution, halts: why})
	}
	if !s.careful(s.Pace) {
		return j.loadSize(sums), nil
	}
	o := outlook{Sums: sums, planned: counts[Planning], usual: w.usual(ctx, j), now: time.Now()}
	if o.pending, err = w.Fates.Pending(ctx, j.id); err != nil {
		return 0, err
	}
	o.readable = func(source string) bool { return w.Readers[source] != nil }
	o.readers = func(source, queue string) []string { return w.readers(ctx, j, source, queue) }
	c := s.next(s.Pace, o)
	return c.most, w.steer(ctx, j, s, c)
}

// steer writes what was decided about a redrive. When somebody ordered something
// meanwhile that holds instead, and the next step sees it.
func (w *Worker) steer(ctx context.Context, j *job, was Standing, c course) error {
	now := was
	now.Caution, now.State, now.Reason = c.Caution, JobRunning, ""
	switch {
	case c.halts != "":
		now.State, now.Reason = JobPaused, c.halts
	case c.waits != "":
		now.State, now.Reason = JobWaiting, c.waits
	}
	if now == was {
		return nil
	}
	failpoint.Hit("redrive-steering")
	done, err := w.Course.Steer(ctx, j.id, was, now)
	failpoint.Hit("redrive-steered")
	if err != nil || !done {
		return err
	}
	if c.halts != "" {
		w.Log.Warn("a redrive paused itself", "redrive", j.id, "reason", c.halts)
	}
	w.changed(j.id)
	return nil
}

func (w *Worker) usual(ctx context.Context, j *job) time.Duration {
	if w.Returns == nil {
		return usualReturn
	}
	d, err := w.Returns.UsualReturn(ctx, j.id)
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("how long letters take to come back could not be read", "redrive", j.id, "error", err)
	}
	if err != nil || d <= 0 {
		return usualReturn
	}
	return d
}

// readers names the groups that read a queue. That the source cannot say just
// now is no reason to think that nobody does.
func (w *Worker) readers(ctx context.Context, j *job, source, queue string) []string {
	n := j.named[source+" "+queue]
	if time.Since(n.at) < namedFor {
		return n.groups
	}
	list, err := w.Readers[source].Receivers(ctx, queue)
	n = naming{at: time.Now()}
	for _, r := range list {
		n.groups = append(n.groups, r.Group)
	}
	if err != nil {
		n.groups = []string{"its readers"}
	}
	j.named[source+" "+queue] = n
	return n.groups
}
