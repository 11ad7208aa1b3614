package convention

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/unwedge/unwedge/sources"
)

// NameRule is the convention of a letter of which only the name of its queue
// tells where it came from.
const NameRule = "name-rule"

// Mapped is the convention of a letter that a configured mapping read.
const Mapped = "mapping"

// The entries of sources.DeadLetter.Inferred.
const (
	inferredOrigin   = "origin"
	inferredAttempts = "attempts"
)

// Recogniser reads the conventions of letters. It may be used by several
// goroutines.
type Recogniser struct {
	mappings []mapping
	queues   func() []string

	mu    sync.Mutex
	names []string // as of the house
	house *house
}

// New makes a recogniser. The mappings were validated; those that are wrong are
// left out. queues lists the names of all queues of the source that are known
// now, so that a name rule names only queues that are there; nil: none is known.
// A list that it returned is not to be changed afterwards.
func New(mappings []Mapping, queues func() []string) *Recogniser {
	r := &Recogniser{queues: queues, house: newHouse(nil)}
	for _, m := range mappings {
		if compiled, errs := m.compile(); len(errs) == 0 {
			r.mappings = append(r.mappings, compiled)
		}
	}
	return r
}

// Recognise fills in what a letter tells of its past: origin, reason, attempts,
// times, the way back, and which of its headers a redrive drops.
//
// What its adapter has filled in before is a starting point. On SQS Attempts
// may hold the receives at the source, which the adapter can tell better than
// the message: without our own looks, and at most the source's maxReceiveCount.
// Origin.Queue may hold the only queue whose policy names this dead-letter
// queue. Both stay where no convention knows better.
func (r *Recogniser) Recognise(l *sources.DeadLetter) {
	v := open(l)
	rec := newRecord(v)
	h := r.known()
	matches := v.matches()
	for _, c := range matches {
		rec.drop(c)
	}
	rec.read(matches)
	rec.native()
	r.applyMappings(rec)
	rec.infer(h)
	rec.wayBack(h)
	rec.write()
}

// OriginByName is the queue that a dead-letter or retry queue belongs to by its
// name, when it is there; "" when the name tells nothing.
func (r *Recogniser) OriginByName(queue string) string { return r.known().origin(queue) }

// known is the house of now. It is built again only when the names changed.
func (r *Recogniser) known() *house {
	if r.queues == nil {
		return r.house
	}
	names := r.queues()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !sameList(names, r.names) && !slices.Equal(names, r.names) {
		r.house = newHouse(names)
	}
	r.names = names
	return r.house
}

// sameList tells whether two slices are one and the same.
func sameList(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// matches are the conventions of a letter, the one with the newest hop first.
// SQS's own is not among them: it goes together with any other.
func (v *view) matches() []*convention {
	want := onKafka
	if v.isSQS() {
		want = onSQS
	}
	var out []*convention
	for _, c := range table {
		if c.on&want == 0 || c == nativeRedrive || c.alone && len(out) > 0 {
			continue
		}
		if c.fits(v) && !relative(out, c) {
			out = append(out, c)
		}
	}
	if len(out) > 1 {
		v.newestLeads(out)
	}
	return out
}

// families share header names: of each the most specific one that fits counts.
var families = [][]string{
	{"kafka-streams-dlq", "bakdata-streams-headers"},
	{"nestjs-kafka-dlt-text", "spring-kafka-dlpr"},
	{"uber-kafka-client", "uber-uforwarder"},
	{"eventbridge-scheduler-dlq", "eventbridge-target-dlq", "eventbridge-custom-bus-dlq", "lambda-async-dlq"},
	{"lambda-esm-stream", "lambda-esm-kafka", "lambda-destination"},
}

func relative(of []*convention, c *convention) bool {
	for _, family := range families {
		if !slices.Contains(family, c.id) {
			continue
		}
		for _, other := range of {
			if slices.Contains(family, other.id) {
				return true
			}
		}
	}
	return false
}

// newestLeads puts the convention with the newest hop first: the one whose
// origin is a dead-letter or retry queue, where only one's is; else the one
// whose headers stand last. Shapes of contents say nothing of a hop and come
// last.
func (v *view) newestLeads(all []*convention) {
	rank, last := map[*convention]int{}, map[*convention]int{}
	for _, c := range all {
		switch newest := v.hops(c)[0]; {
		case c.body == aContentShape:
			rank[c] = 2
		case KindOf(v.where(c, newest).queue) == sources.WorkQueue:
			rank[c] = 1
		}
		last[c] = v.lastOf(c)
	}
	slices.SortStableFunc(all, func(a, b *convention) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(last[b], last[a]))
	})
}

// lastOf is the place of the last header that a convention wrote.
func (v *view) lastOf(c *convention) int {
	last := -1
	for name := range c.hopNames() {
		for _, at := range v.at[name] {
			last = max(last, at)
		}
	}
	return last
}

// matchesAny tells whether a header's name is among the patterns.
func matchesAny(patterns []string, name string, anyCase bool) bool {
	if anyCase {
		name = strings.ToLower(name)
	}
	for _, p := range patterns {
		if anyCase {
			p = strings.ToLower(p)
		}
		if sources.Glob(p, name) {
			return true
		}
	}
	return false
}
