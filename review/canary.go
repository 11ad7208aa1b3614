package review

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/payload"
)

const (
	// canaryLimit is how long canaries may go unconsumed before the redrive pauses
	// itself: longer than a rolling restart of the readers takes, short enough
	// that somebody who started it is still there.
	canaryLimit = 15 * time.Minute
	// usualReturn is how long canaries are watched for coming back where nothing
	// is known of how long that takes.
	usualReturn = 10 * time.Second
	// sampleLeast is how many letters must have been sent before the share of
	// those that came back stops a redrive.
	sampleLeast = 100
	// allCareful is the size up to which a single canary that fails is too many.
	allCareful = 5
)

// canaries are how many letters go in each stage before the rest.
var canaries = []int{1, 5, 50}

// Caution is how far a redrive may go: its stage of canaries, and from where on
// letters that came back are counted. It is kept in the store, so that a redrive
// stands after a restart exactly where it stood.
type Caution struct {
	// Wary is a redrive with a letter that wedged its group before: one canary goes
	// first, asked for or not.
	Wary    bool
	Stage   int       // of canaries, from 0; their number when they have passed
	Began   Sums      // what had become of its letters when the stage began
	Resumed Sums      // and when a person last let it go on
	Waiting time.Time // since when it waits for its canaries; zero: it does not
	Quiet   time.Time // since when all of them have been consumed; zero: they have not
}

// WaryOf tells whether a plan with these warnings is started with a canary of
// one even when nobody asked for it, and which letter that is.
func WaryOf(warnings []Warning) (letter string, wary bool) {
	for _, w := range warnings {
		if w.Code == "wedged_before" && len(w.LetterIDs) > 0 {
			return w.LetterIDs[0], true
		}
	}
	return "", false
}

// Sums are how many letters of a redrive met which fate. Letters that are
// planned or cancelled are in none.
type Sums struct {
	Tried    int // begun, or refused before that
	Arrived  int // accepted by the target, whatever became of them then
	Returned int
	Failed   int
	Unknown  int
}

// SumsOf adds up the counts of a redrive.
func SumsOf(counts map[ItemState]int) Sums {
	s := Sums{
		Arrived:  counts[Sent] + counts[Confirmed] + counts[ItemConsumed] + counts[ItemReturned],
		Returned: counts[ItemReturned], Failed: counts[ItemFailed], Unknown: counts[ItemUnknown],
	}
	s.Tried = counts[Sending] + s.Arrived + s.Failed + s.Unknown
	return s
}

func (s Sums) since(before Sums) Sums {
	return Sums{s.Tried - before.Tried, s.Arrived - before.Arrived, s.Returned - before.Returned, s.Failed - before.Failed, s.Unknown - before.Unknown}
}

func (s Sums) bad() int { return s.Returned + s.Failed + s.Unknown }

// LetOn is the caution of a redrive that a person lets go on: what came back or
// failed before is known and counts no more. A stage that stopped it begins
// anew, with other letters; one that did not goes on where it stood.
func (c Caution) LetOn(now Sums) Caution {
	if now.since(c.Began).bad() > 0 {
		c.Began = now
	}
	c.Resumed, c.Waiting, c.Quiet = now, time.Time{}, time.Time{}
	return c
}

// Pending are letters of a redrive on one target whose end is not known yet.
type Pending struct {
	Source, Queue string // the target
	Out           int    // not settled at their source
	Unread        int    // settled, and nobody is known to have passed them
}

// outlook is what is known of a redrive when it is decided how far it may go.
type outlook struct {
	Sums
	planned int // letters that are not begun
	pending []Pending
	// readable tells of which source it can be told who reads its queues.
	readable func(source string) bool
	// readers names who reads a queue.
	readers func(source, queue string) []string
	usual   time.Duration // how long a letter takes to come back
	now     time.Time
}

// course is what a redrive does next.
type course struct {
	Caution
	most  int    // letters that may be begun; 0: it waits
	waits string // for what, in words
	halts string // why it pauses, in words; "" when it does not
}

// sizes are the stages of canaries of a redrive.
func (c Caution) sizes(p Pace) []int {
	switch {
	case p.Canary:
		return canaries
	case c.Wary:
		return canaries[:1]
	}
	return nil
}

// careful tells whether a redrive still has canaries to send or to wait for.
func (c Caution) careful(p Pace) bool { return c.Stage < len(c.sizes(p)) }

// next decides how far a redrive with canaries may go.
func (c Caution) next(p Pace, o outlook) course {
	if !c.careful(p) || o.planned == 0 {
		return course{Caution: c, most: loadMost}
	}
	size := c.sizes(p)[c.Stage]
	here := o.since(c.Began)
	if why := tooManyCanaries(size, here, p); why != "" {
		return course{Caution: c, halts: why}
	}
	if left := size - here.Tried; left > 0 {
		c.Waiting, c.Quiet = time.Time{}, time.Time{}
		return course{Caution: c, most: left}
	}
	return c.watch(p, o, size)
}

// watch waits until all canaries of a stage are consumed, and then for as long
// as a letter takes to come back.
func (c Caution) watch(p Pace, o outlook, size int) course {
	if c.Waiting.IsZero() {
		c.Waiting = o.now
	}
	if waits, unread := o.waitsFor(size); waits != "" {
		c.Quiet = time.Time{}
		if unread != "" && o.now.Sub(c.Waiting) >= canaryLimit {
			return course{Caution: c, halts: fmt.Sprintf("its %s not consumed within %s: nobody moves on %s", were(size), short(canaryLimit), unread)}
		}
		return course{Caution: c, waits: waits}
	}
	if c.Quiet.IsZero() {
		c.Quiet = o.now
	}
	if o.now.Sub(c.Quiet) < o.usual {
		return course{Caution: c, waits: fmt.Sprintf("%s: %s %s whether %s", counted(size), one(size, "waits", "wait"), short(o.usual), one(size, "it comes back", "they come back"))}
	}
	c.Stage, c.Began, c.Waiting, c.Quiet = c.Stage+1, o.Sums, time.Time{}, time.Time{}
	return c.next(p, o)
}

// waitsFor says what canaries wait for before the time in which they may come
// back begins, and which queue it is that nobody moves on; "" for nothing.
func (o outlook) waitsFor(size int) (waits, unread string) {
	them := one(size, "it", "them")
	for _, q := range o.pending {
		if q.Out > 0 {
			return fmt.Sprintf("%s: %s until %s settled", counted(size), one(size, "waits", "wait"), one(size, "it is", "they are")), ""
		}
	}
	for _, q := range o.pending {
		if q.Unread == 0 || !o.readable(q.Source) {
			continue
		}
		names := o.readers(q.Source, q.Queue)
		if len(names) == 0 {
			return fmt.Sprintf("%s: %s until somebody reads %s", counted(size), one(size, "waits", "wait"), q.Queue), q.Queue
		}
		return fmt.Sprintf("%s: %s until %s %s passed %s", counted(size), one(size, "waits", "wait"), listed(names), one(len(names), "has", "have"), them), q.Queue
	}
	return "", ""
}

// tooManyCanaries says why the canaries of a stage stop the redrive; "" when
// they do not.
func tooManyCanaries(size int, s Sums, p Pace) string {
	most := 0.0
	if size > allCareful {
		most = p.stopAbove() * float64(size)
	}
	if float64(s.bad()) <= most {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{s.Returned, "came back"}, {s.Failed, "failed"}, {s.Unknown, "may or may not have arrived"}} {
		switch {
		case part.n > 0 && size == 1:
			parts = append(parts, "its canary "+part.what)
		case part.n > 0:
			parts = append(parts, fmt.Sprintf("%d of %d canaries %s", part.n, size, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// tooMany says why a redrive stops by itself: the share of letters that came
// back; "" when it is none to stop for.
func (c Caution) tooMany(s Sums, p Pace) string {
	s = s.since(c.Resumed)
	if s.Arrived < sampleLeast || float64(s.Returned) <= p.stopAbove()*float64(s.Arrived) {
		return ""
	}
	return fmt.Sprintf("%s of %s came back", payload.Count(int64(s.Returned)), payload.Count(int64(s.Arrived)))
}

func (p Pace) stopAbove() float64 {
	if p.StopAbove == 0 {
		return DefaultStopAbove
	}
	return p.StopAbove
}

func one(n int, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}

func counted(size int) string {
	return fmt.Sprintf("%d %s", size, one(size, "canary", "canaries"))
}

func were(size int) string {
	if size == 1 {
		return "canary was"
	}
	return fmt.Sprintf("%d canaries were", size)
}

// listed is "a, b and c" of the first few names.
func listed(names []string) string {
	const most = 3
	names = slices.Sorted(slices.Values(names))
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// short is a duration without the units of which it has none: "15m", "1m30s".
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}
