package alerts

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestEvidenceIsReadAgainAfterARestart: what could not be read before the
// restart is read after it, and what was read is not lost by it.
func TestEvidenceIsReadAgainAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T, m *memory, p *pager, c *cluster) {
		run := start(m, p, c)
		pass(10 * time.Minute)
		refuse := func(context.Context) error { return errors.New("not authorised") }
		c.change(func() { c.records = refuse })
		c.wedge(3)
		pass(20 * time.Minute) // longer than it is tried for
		run.kill()
		if e := m.all()[0].Evidence; e.Head != nil {
			t.Fatalf("it was read: %+v", e.Head)
		}
		c.change(func() { c.records = nil })
		run = start(m, p, c)
		pass(time.Minute)
		run.kill()
		at := c.stuck[3]
		if e := m.all()[0].Evidence; e.Head == nil || e.Head.Offset != at || len(e.Suspects) == 0 || e.Missing != "" {
			t.Errorf("after the restart the evidence is %+v", e)
		}
		c.change(func() { c.records = refuse })
		defer start(m, p, c).kill()
		pass(time.Minute)
		if e := m.all()[0].Evidence; e.Head == nil || e.Head.Offset != at || len(e.Suspects) == 0 {
			t.Errorf("a second restart lost it: %+v", e)
		}
		if got := kinds(p); len(got) != 1 {
			t.Errorf("told %v", got)
		}
	})
}

// TestNothingReadsOnAfterEvidenceWasGathered: a reader that is slow to give up
// is waited for.
func TestNothingReadsOnAfterEvidenceWasGathered(t *testing.T) {
	bubble(t, func(t *testing.T, _ *memory, _ *pager, c *cluster) {
		var reading atomic.Int32
		c.change(func() {
			c.records = func(ctx context.Context) error {
				reading.Add(1)
				defer reading.Add(-1)
				<-ctx.Done()
				time.Sleep(time.Second)
				return ctx.Err()
			}
		})
		scenes := make([]scene, 3*readsAtOnce)
		for i := range scenes {
			scenes[i].line.Verdict, scenes[i].line.End = HeadOfLineStall, 1000
		}
		for _, e := range gather(t.Context(), c, scenes) {
			if e.Missing != "the records were not read in time" {
				t.Errorf("%+v", e)
			}
		}
		if n := reading.Load(); n > 0 {
			t.Errorf("%d readers go on", n)
		}
	})
}
