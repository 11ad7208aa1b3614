package convention

import (
	"math"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// found is the origin of one hop.
type found struct {
	queue                   string
	partition, offset       int64
	hasPartition, hasOffset bool
	group                   string
	stamp                   time.Time
}

// origin is what was found as the API shows it.
func (f found) origin() sources.Origin {
	o := sources.Origin{Queue: f.queue, Group: f.group, Timestamp: f.stamp}
	if f.hasPartition && f.partition >= 0 && f.partition <= math.MaxInt32 {
		n := int32(f.partition)
		o.Partition = &n
	}
	if f.hasOffset && f.offset >= 0 {
		n := f.offset
		o.Offset = &n
	}
	return o
}

// hops are the times that a letter was given up on by this convention, newest
// first. There is always one.
//
// A framework writes the headers of a hop together, so that a name that is seen
// again begins another hop. Taking the last of each name would be wrong: a hop
// without a cause must not show the cause of an older one.
func (v *view) hops(c *convention) []hop {
	if c.repeat == replaced {
		return []hop{nil}
	}
	names := c.hopNames()
	var out []hop
	current := hop{}
	for i, h := range v.l.Headers {
		if !names[h.Name] {
			continue
		}
		if _, again := current[h.Name]; again {
			out = append(out, current)
			current = hop{}
			if len(out) >= maxHops && c.repeat != appended {
				break
			}
		}
		current[h.Name] = i
	}
	out = append(out, current)
	if c.repeat == appended {
		newestFirst(out)
	}
	if c.repeat == kept {
		return out[:1]
	}
	return out[:min(len(out), maxHops)]
}

// maxHops bounds how far back the hops of a letter are told.
const maxHops = 50

func newestFirst(hops []hop) {
	for i, j := 0, len(hops)-1; i < j; i, j = i+1, j-1 {
		hops[i], hops[j] = hops[j], hops[i]
	}
}

// hopNames are the headers that a hop has once. Spring replaces the exception's
// and appends the origin's: of the former the last counts (see reasonHop).
func (c *convention) hopNames() map[string]bool {
	out := map[string]bool{}
	parts := []fields{c.queue, c.partition, c.offset, c.stamp, c.group}
	if !c.reasonOnce {
		parts = append(parts, c.class, c.root, c.message, c.stack, c.code, c.attempts, c.failedAt)
	}
	for _, part := range parts {
		for _, f := range part {
			if f.in == inHeader && !f.whole {
				out[f.name] = true
			}
		}
	}
	return out
}

// reasonHop is where the reason of the newest hop stands.
func (c *convention) reasonHop(newest hop) hop {
	if c.reasonOnce {
		return nil
	}
	return newest
}

// where reads the origin of a hop.
func (v *view) where(c *convention, h hop) found {
	f := found{
		queue: v.name(c, c.queue, h),
		group: v.text(c, c.group, h, maxName),
		stamp: v.instant(c, c.stamp, h),
	}
	f.partition, f.hasPartition = v.number(c, c.partition, h, math.MaxInt32)
	f.offset, f.hasOffset = v.number(c, c.offset, h, math.MaxInt64)
	if c.originOf != nil {
		c.originOf(v, &f)
		f.queue, _ = queueName(f.queue)
	}
	if f.group == "" && c.groupOf != nil {
		f.group = c.groupOf(v, f.queue)
	}
	return f
}

func (v *view) name(c *convention, f fields, h hop) string {
	name, _ := queueName(v.text(c, f, h, maxName+1))
	return name
}

func (v *view) text(c *convention, f fields, h hop, most int) string {
	raw, at, ok := v.raw(c, f, h)
	if !ok || raw == nil {
		return ""
	}
	return text(raw, at.as, most)
}

// number reads a number that is at least 0, and at most so much.
func (v *view) number(c *convention, f fields, h hop, most int64) (int64, bool) {
	raw, at, ok := v.raw(c, f, h)
	if !ok {
		return 0, false
	}
	n, ok := number(raw, at.as)
	n += int64(at.plus)
	return n, ok && n >= 0 && n <= most
}

func (v *view) instant(c *convention, f fields, h hop) time.Time {
	raw, at, ok := v.raw(c, f, h)
	if !ok {
		return time.Time{}
	}
	return instant(raw, at.as)
}
