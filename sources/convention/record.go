package convention

import (
	"slices"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

// record is what was read of one letter so far.
type record struct {
	v        *view
	lead     *convention // the one with the newest hop; nil when none was recognised
	id       string
	hops     []sources.Origin // newest first
	reason   sources.Reason
	attempts *int
	receives *int // as the adapter counted them
	failedAt time.Time
	deadAt   time.Time
	way      string
	key      []byte
	noWay    bool
	notIt    bool
	dropped  []string // in wire order
	isGone   map[string]bool
	inferred []string
}

// maxAttempts is the largest count that is believed.
const maxAttempts = 1 << 30

func newRecord(v *view) *record {
	return &record{v: v, isGone: map[string]bool{}, receives: v.l.Attempts, failedAt: v.l.FailedAt, deadAt: v.l.DeadAt}
}

// drop remembers the headers that a convention wrote.
func (r *record) drop(c *convention) {
	for _, h := range r.v.l.Headers {
		if !r.isGone[h.Name] && matchesAny(c.written, h.Name, c.anyCase) {
			r.isGone[h.Name] = true
			r.dropped = append(r.dropped, h.Name)
		}
	}
}

// read takes the reason from the convention with the newest hop, and the
// origins from all, one after the other.
func (r *record) read(matches []*convention) {
	for i, c := range matches {
		hops := r.v.hops(c)
		if i == 0 {
			r.lead, r.id = c, c.id
			r.because(c, hops[0])
		}
		if i > 0 && c.body == aContentShape {
			continue
		}
		for _, h := range hops {
			if o := r.v.where(c, h).origin(); o.Queue != "" || o.Partition != nil || o.Offset != nil || o.Group != "" {
				r.hops = append(r.hops, o)
			}
		}
		r.notIt = r.notIt || i == 0 && c.describes(r.v)
	}
}

// because reads the reason, the attempts and the times of the newest hop.
func (r *record) because(c *convention, newest hop) {
	v, h := r.v, c.reasonHop(newest)
	r.reason = sources.Reason{
		Class:     strings.TrimSpace(v.text(c, c.class, h, maxName)),
		RootClass: strings.TrimSpace(v.text(c, c.root, h, maxName)),
		Message:   v.text(c, c.message, h, maxMessage),
		Stack:     v.text(c, c.stack, h, maxStack),
		Code:      v.text(c, c.code, h, maxName),
	}
	if c.codeOf != nil {
		r.reason.Code = c.codeOf(r.reason.Code)
	}
	if !strings.ContainsFunc(r.reason.Message, isLetter) && c.anyCase {
		r.reason.Message = "" // a header "error" of 1 is no message (C15)
	}
	if n, ok := v.number(c, c.attempts, h, maxAttempts); ok {
		attempts := int(n)
		r.attempts = &attempts
	}
	if at := v.instant(c, c.failedAt, h); !at.IsZero() {
		r.failedAt = at
	}
	r.way, r.noWay = v.name(c, c.way, newest), c.noWay
	if key, _, ok := v.raw(c, c.key, newest); ok || c.key != nil {
		r.key = append([]byte{}, key...)
	}
	r.times(c)
}

func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r > 0x7f }

// times reads the record's own timestamp as the convention means it.
func (r *record) times(c *convention) {
	stamp := r.v.l.Timestamp
	if r.v.isSQS() {
		stamp = instant([]byte(r.v.l.System["SentTimestamp"]), epochMillis)
	}
	if r.deadAt.IsZero() && c.clock == ofDeath && c.body != aContentShape {
		r.deadAt = stamp
	}
	if c.failed && r.failedAt.IsZero() {
		r.failedAt = stamp
	}
}

// describes tells whether the body is not what went wrong but a report of it.
func (c *convention) describes(v *view) bool {
	return c.body == aDescription || c.body == headersOnly && v.l.Key == nil && v.l.Body == nil
}

// native adds what SQS itself says. Its move is the newest hop, whatever the
// application wrote before it.
func (r *record) native() {
	v := r.v
	if !nativeRedrive.fits(v) {
		r.asAdapter()
		return
	}
	own := v.where(nativeRedrive, nil).origin()
	content := r.lead != nil && r.lead.body == aContentShape
	if content {
		r.hops = nil // its queue is the same one, or a name inside the application
	}
	r.hops = append([]sources.Origin{own}, r.hops...)
	r.noWay, r.way = false, ""
	if r.lead == nil {
		r.lead, r.id = nativeRedrive, nativeRedrive.id
	}
	r.attempts = r.receives
	if n, ok := v.number(nativeRedrive, receives, nil, maxAttempts); ok && r.attempts == nil {
		count := int(n)
		r.attempts = &count
	}
}

// asAdapter keeps what the adapter knew without the message.
func (r *record) asAdapter() {
	l := r.v.l
	if r.v.isSQS() && r.receives != nil && (r.lead == nil && l.Origin.Queue != "" || r.lead != nil && r.lead.body == aContentShape) {
		r.attempts = r.receives
	}
	if len(r.hops) == 0 && l.Origin.Queue != "" {
		r.hops = []sources.Origin{l.Origin}
		if r.id == "" {
			r.id = l.Convention
		}
	}
}

// infer reads names of queues where the record says nothing.
func (r *record) infer(h *house) {
	if r.origin() == "" && !r.noWay {
		if q := h.origin(r.v.l.Queue); q != "" {
			r.inferOrigin(q)
		}
	}
	if r.attempts != nil {
		return
	}
	if n, ok := r.placeInChain(h); ok {
		r.attempts = &n
		r.inferred = append(r.inferred, inferredAttempts)
	}
}

func (r *record) inferOrigin(queue string) {
	if len(r.hops) == 0 {
		r.hops = []sources.Origin{{}}
	}
	r.hops[0].Queue = queue
	r.inferred = append(r.inferred, inferredOrigin)
	if r.id == "" || r.lead != nil && r.lead.id == "cloudevents-kafka" {
		r.id = NameRule
	}
}

func (r *record) origin() string {
	if len(r.hops) == 0 {
		return ""
	}
	return r.hops[0].Queue
}

// placeInChain counts the attempts by the place of the last hop in its retry
// chain: one in each queue from the first one on. A framework that tells the
// newest hop and names the first queue gave up there, after attempts that
// nobody counted.
func (r *record) placeInChain(h *house) (int, bool) {
	from := r.origin()
	if n, ok := h.attempts(from); ok && KindOf(from) == sources.RetryQueue {
		return n + 1, true
	}
	told := r.lead != nil && !r.lead.keepsFirst && !slices.Contains(r.inferred, inferredOrigin) && r.id != Mapped
	if told && from != "" {
		return 0, false
	}
	return h.attempts(r.v.l.Queue)
}

// wayBack is the newest origin that is no dead-letter or retry queue. Where
// there is none, the name of the oldest one may tell; else somebody must say.
func (r *record) wayBack(h *house) {
	if r.way != "" || r.noWay {
		return
	}
	oldest := ""
	for _, o := range r.hops {
		if o.Queue == "" || isTopicID(o.Queue) && !h.names[o.Queue] {
			continue
		}
		if !waits(o.Queue, h) {
			r.way = o.Queue
			return
		}
		oldest = o.Queue
	}
	if up := h.work(oldest); up != oldest {
		r.way = up
	}
}

// waits tells whether letters only pass through a queue. One that merely ends
// with "retries" may well be where work is done.
func waits(queue string, h *house) bool {
	switch KindOf(queue) {
	case sources.DeadLetterQueue:
		return true
	case sources.RetryQueue:
		_, order, _ := retryOf(queue)
		return order > 0 || strings.HasSuffix(queue, "0") || h.origin(queue) != ""
	}
	return false
}

// write puts what was read into the letter.
func (r *record) write() {
	l := r.v.l
	l.Origin, l.Earlier = sources.Origin{}, nil
	if len(r.hops) > 0 {
		l.Origin = r.hops[0]
		if len(r.hops) > 1 {
			l.Earlier = r.hops[1:]
		}
	}
	if r.lead != nil && r.lead.clock == ofOriginal && !r.v.isSQS() && l.Origin.Timestamp.IsZero() {
		l.Origin.Timestamp = l.Timestamp
	}
	if r.reason.RootClass == "" {
		r.reason.RootClass = rootOf(r.reason.Stack, r.reason.Class)
	}
	l.Reason, l.Attempts, l.Convention = r.reason, r.attempts, r.id
	l.FailedAt, l.DeadAt = r.failedAt, r.deadAt
	if l.DeadAt.IsZero() && r.lead == nil && !r.v.isSQS() {
		l.DeadAt = l.Timestamp // nearly all clients give a record the time at which they write it
	}
	l.ErrorHeaders, l.RedriveTo, l.OriginalKey = r.dropped, r.way, r.key
	l.NotTheOriginal, l.Inferred = r.notIt, r.inferred
}
