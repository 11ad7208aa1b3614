package convention

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/unwedge/unwedge/sources"
)

// Mapping is a convention that only the owner of a queue knows. Each field but
// Queue is an expression:
//
//	header:NAME    a record header or message attribute
//	system:NAME    what SQS says of the message, such as system:MessageGroupId
//	json:/POINTER  a value of a JSON body
//	key            the record's key
//	text:WORDS     these words; so is any other text without a colon
//
// Numbers may be text or big-endian, times text, seconds or milliseconds.
// Attempts may end with a space and +1 or -1, where they count from 0 or 2. What a mapping
// finds wins over what the headers tell by another convention; the headers that
// it names are dropped by a redrive, as those of any convention.
type Mapping struct {
	Queue    string // a pattern of dead-letter queues; the first mapping that matches is used
	Origin   OriginMapping
	Reason   ReasonMapping
	Attempts string
	FailedAt string
}

// OriginMapping says where the origin stands.
type OriginMapping struct {
	Queue     string
	Partition string
	Offset    string
	Group     string
}

// ReasonMapping says where the reason stands.
type ReasonMapping struct {
	Class   string
	Message string
	Stack   string
}

// Mappings are the mappings of one source.
type Mappings []Mapping

// Validate returns every mistake, each with its path: "mappings[1].origin.queue: …".
func (m Mappings) Validate() []error {
	var out []error
	for i, one := range m {
		_, errs := one.compile()
		for _, err := range errs {
			out = append(out, fmt.Errorf("mappings[%d].%w", i, err))
		}
	}
	return out
}

// Validate returns every mistake, each with its path: "origin.queue: …".
func (m Mapping) Validate() []error {
	_, errs := m.compile()
	return errs
}

// mapping is a Mapping ready to be read by: a row as those of the table.
type mapping struct {
	queue string
	row   convention
}

// wanted is what an expression is to give.
type wanted int

const (
	words wanted = iota
	wholeNumber
	attempts
	aTime
)

func (m Mapping) compile() (mapping, []error) {
	out := mapping{queue: m.Queue}
	var errs []error
	if m.Queue == "" {
		errs = append(errs, errors.New("queue: names no queue; give a pattern such as legacy.*"))
	}
	if strings.HasPrefix(m.Queue, "^") || strings.HasSuffix(m.Queue, "$") { // legacy.* is a good glob
		errs = append(errs, fmt.Errorf("queue: %q looks like a regular expression; patterns are globs with * and ?", m.Queue))
	}
	says := false
	for _, part := range []struct {
		path, expression string
		into             *fields
		want             wanted
	}{
		{"origin.queue", m.Origin.Queue, &out.row.queue, words},
		{"origin.partition", m.Origin.Partition, &out.row.partition, wholeNumber},
		{"origin.offset", m.Origin.Offset, &out.row.offset, wholeNumber},
		{"origin.group", m.Origin.Group, &out.row.group, words},
		{"reason.class", m.Reason.Class, &out.row.class, words},
		{"reason.message", m.Reason.Message, &out.row.message, words},
		{"reason.stack", m.Reason.Stack, &out.row.stack, words},
		{"attempts", m.Attempts, &out.row.attempts, attempts},
		{"failed_at", m.FailedAt, &out.row.failedAt, aTime},
	} {
		if part.expression == "" {
			continue
		}
		says = true
		f, err := expression(part.expression, part.want)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", part.path, err))
			continue
		}
		*part.into = fields{f}
		if f.in == inHeader {
			out.row.written = append(out.row.written, f.name)
		}
	}
	if !says {
		errs = append(errs, errors.New("origin: the mapping says nothing; give at least one of origin, reason, attempts, failed_at"))
	}
	return out, errs
}

// expression reads one expression.
func expression(s string, want wanted) (field, error) {
	f := field{as: map[wanted]encoding{wholeNumber: anyInt, attempts: anyInt, aTime: anyTime}[want]}
	if want == attempts {
		s, f.plus = plusOf(s)
	}
	kind, rest, colon := strings.Cut(s, ":")
	switch {
	case colon && kind == "header":
		f.in, f.name = inHeader, rest
	case colon && kind == "system":
		f.in, f.name = inSystem, rest
	case colon && kind == "json":
		f.in, f.name = inBody, rest
		if rest != "" && rest[0] != '/' {
			return f, fmt.Errorf("%q: a JSON pointer begins with a slash: json:/%s", s, rest)
		}
	case s == "key":
		f.in, f.name = theKey, s
	case colon && kind != "text":
		return f, fmt.Errorf("%q begins with none of header:, system:, json: and text: (or leave the colon out)", s)
	default:
		f.in, f.name = aConstant, strings.TrimPrefix(s, "text:")
	}
	if f.name == "" {
		return f, fmt.Errorf("%q names nothing after the colon", s)
	}
	if f.in == aConstant && (want == wholeNumber || want == attempts) {
		if _, ok := digits([]byte(f.name)); !ok {
			return f, fmt.Errorf("%q is no number, and says not where one stands", s)
		}
	}
	return f, nil
}

// plusOf takes the number behind an expression for attempts off.
func plusOf(s string) (string, int) {
	at := strings.LastIndexByte(s, ' ')
	if at < 0 || at+2 > len(s) || s[at+1] != '+' && s[at+1] != '-' {
		return s, 0
	}
	n, err := strconv.Atoi(s[at+1:])
	if err != nil || n < -2 || n > 2 {
		return s, 0
	}
	return strings.TrimRight(s[:at], " "), n
}

// applyMappings lets the first mapping that matches the queue have its say.
func (r *Recogniser) applyMappings(rec *record) {
	for i := range r.mappings {
		if m := &r.mappings[i]; sources.Glob(m.queue, rec.v.l.Queue) {
			rec.overrule(&m.row)
			return
		}
	}
}

// overrule puts what a mapping finds in the place of what was found so far.
func (r *record) overrule(c *convention) {
	v := r.v
	f := found{queue: v.name(c, c.queue, nil), group: v.text(c, c.group, nil, maxName)}
	f.partition, f.hasPartition = v.number(c, c.partition, nil, math.MaxInt32)
	f.offset, f.hasOffset = v.number(c, c.offset, nil, math.MaxInt64)
	changed := r.overruleOrigin(f)
	for _, part := range []struct {
		where fields
		into  *string
		most  int
	}{{c.class, &r.reason.Class, maxName}, {c.message, &r.reason.Message, maxMessage}, {c.stack, &r.reason.Stack, maxStack}} {
		if s := v.text(c, part.where, nil, part.most); s != "" {
			*part.into, changed = s, true
		}
	}
	if n, ok := v.number(c, c.attempts, nil, maxAttempts); ok {
		count := int(n)
		r.attempts, changed = &count, true
	}
	if at := v.instant(c, c.failedAt, nil); !at.IsZero() {
		r.failedAt, changed = at, true
	}
	if changed {
		r.id = Mapped
		r.drop(c)
	}
}

func (r *record) overruleOrigin(f found) (changed bool) {
	o := f.origin()
	if o.Queue == "" && o.Partition == nil && o.Offset == nil && o.Group == "" {
		return false
	}
	if len(r.hops) == 0 {
		r.hops = []sources.Origin{{}}
	}
	newest := &r.hops[0]
	if o.Queue != "" && o.Queue != newest.Queue {
		r.hops = append([]sources.Origin{o}, r.hops...)
		if newest.Queue == "" {
			r.hops = r.hops[:1]
		}
		r.way, r.noWay = "", false
		return true
	}
	if o.Partition != nil {
		newest.Partition = o.Partition
	}
	if o.Offset != nil {
		newest.Offset = o.Offset
	}
	if o.Group != "" {
		newest.Group = o.Group
	}
	return true
}
