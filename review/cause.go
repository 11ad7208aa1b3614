package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// fingerprintVersion is part of every fingerprint. Another way to group gets
// another one, so that old causes keep their letters.
const fingerprintVersion = "1"

// Fingerprint groups letters that failed the same way: the same root cause,
// the same message once numbers and ids are left out, the same place in the
// code, from the same queue. Where no reason was recorded it goes by the shape
// of the body and by the field that names its type.
//
// The id is the same for the same letter always and everywhere, and fits into
// a URL. The title is what a person would call the cause, and why a sentence
// that says what its letters share.
func Fingerprint(l sources.DeadLetter) (id, title, why string) {
	c := causeOf(l)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{fingerprintVersion, c.from}, c.parts...), "\x00")))
	return "c_" + hex.EncodeToString(sum[:8]), c.title, c.why()
}

// cause is a fingerprint before it is a number.
type cause struct {
	parts  []string // what is the same, besides the origin
	title  string
	shared []string // the same in words
	from   string
	silent bool // no reason was recorded
}

func (c *cause) same(part, words string) {
	c.parts = append(c.parts, part)
	if words != "" {
		c.shared = append(c.shared, words)
	}
}

func (c *cause) why() string {
	said := strings.Join(c.shared, ", ")
	if c.silent {
		said = "no reason was recorded: " + said
	}
	return upperFirst(said) + ", from " + onOneLine(c.from)
}

// maxTitle is how many characters of a title, a class or a name are shown.
const maxTitle = 140

// causeOrigin is the queue that a cause belongs to: where its letters would go back
// to, so that the hops of one retry chain are one.
func causeOrigin(l sources.DeadLetter) string {
	return cmp.Or(l.RedriveTo, l.Origin.Queue, l.Queue)
}

func causeOf(l sources.DeadLetter) *cause {
	c := &cause{from: causeOrigin(l)}
	r := readReason(l.Reason)
	switch {
	case r.class != "" || r.message != "" || len(r.frames) > 0:
		c.byReason(r)
	case l.Reason.Code != "":
		c.same("code:"+l.Reason.Code, "same reason "+onOneLine(l.Reason.Code))
		c.title = onOneLine(l.Reason.Code)
	default:
		c.byShape(l)
	}
	return c
}

func (c *cause) byReason(r failure) {
	c.title = r.title()
	if r.class != "" {
		kind := "same error "
		if r.root {
			kind = "same root cause "
		}
		c.same("class:"+r.class, kind+onOneLine(r.class))
	}
	switch {
	case r.message != "" && r.varied:
		c.same("message:"+r.message, "same message once numbers and ids are left out")
	case r.message != "":
		c.same("message:"+r.message, "same message")
	default:
		c.same("message:", "")
	}
	if len(r.frames) > 0 {
		c.same("frames:"+strings.Join(r.frames, "\n"), "same place in the code ("+onOneLine(lastParts(r.frames[0], 2))+")")
	}
}

// byShape groups letters that say nothing of why they died.
func (c *cause) byShape(l sources.DeadLetter) {
	c.silent = true
	body := payload.Decode(l.Body, shapeLimit)
	fields := payload.Fields(l.Body)
	shape, names := shapeOf(fields)
	switch {
	case l.NotTheOriginal && l.Body == nil:
		c.same("headers only", "same kind of letter, headers only")
		c.title = "No reason recorded: headers only"
	case len(names) > 0:
		c.same("shape:"+shape, "same shape of body ("+onOneLine(strings.Join(names, ", "))+")")
		c.title = "No reason recorded: " + onOneLine(strings.Join(names, ", "))
	default:
		c.same("format:"+body.Format, "same format of body ("+body.Format+")")
		c.title = "No reason recorded: " + body.Format + " body"
	}
	if field, value := typeOf(l, fields); value != "" {
		c.same("type:"+value, fmt.Sprintf("same %s %s", onOneLine(field), onOneLine(value)))
		c.title = onOneLine(value)
	}
}

// The bounds of what a shape looks at. A shape is of the outer fields: those
// deep inside come and go.
const (
	shapeLimit = 4 << 10
	shapeDepth = 2
	shapeNames = 5 // that are named in words
)

// shapeOf is the paths of a body with their kinds, and the outermost names in
// the order in which they were written.
func shapeOf(fields []payload.Field) (shape string, names []string) {
	var paths []string
	for _, f := range fields {
		path := asShape(f.Path)
		if strings.Count(path, ".") >= shapeDepth {
			continue
		}
		if !strings.ContainsAny(path, ".[") && len(names) < shapeNames && !slices.Contains(names, path) {
			names = append(names, path)
		}
		if part := path + " " + string(f.Kind); !slices.Contains(paths, part) {
			paths = append(paths, part)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, "\n"), names
}

// asShape leaves names that are data out of a path: the keys of maps.
func asShape(path string) string {
	if !strings.ContainsAny(path, "0123456789") {
		return path
	}
	parts := strings.Split(path, ".")
	for i, p := range parts {
		if digitsIn(p) >= 3 {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

func digitsIn(s string) int {
	n := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// typeFields are the fields that say what a message is, the most telling
// first: one that names an error says more than one that names an event.
var typeFields = []string{
	"errorType", "error_type", "errorCode", "error_code", "error.type", "error.code",
	"detail-type", "eventType", "event_type", "event", "eventName", "messageType", "message_type",
	"type", "@type", "$type", "__typename", "kind", "action", "command", "task", "job", "displayName", "name",
	"Records[].eventName", "data.type", "meta.type", "header.type",
}

// typeHeaders are the same as headers.
var typeHeaders = []string{
	"ce_type", "event-type", "eventType", "event_type", "message-type", "messageType", "type", "__TypeId__",
	"shoryuken_class", "JavaType", "contentType",
}

// typeOf finds what kind of message a letter is: the name of the field that
// says so, and its value.
func typeOf(l sources.DeadLetter, fields []payload.Field) (field, value string) {
	for _, want := range typeFields {
		for _, f := range fields {
			if f.Path == want && isTypeName(f.Value) {
				return f.Path, f.Value
			}
		}
	}
	for _, want := range typeHeaders {
		for _, h := range l.Headers {
			if h.Name == want && isTypeName(string(h.Value)) {
				return "header " + h.Name, string(h.Value)
			}
		}
	}
	return "", ""
}

// isTypeName tells a name from data: no long text, no id, no number.
func isTypeName(s string) bool {
	return s != "" && len(s) <= 100 && digitsIn(s) <= 3 && strings.ContainsFunc(s, isWordRune) && !strings.ContainsAny(s, "\n\t@")
}

func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-0x20) + s[1:]
	}
	return s
}

// onOneLine is text for a person: nothing hidden in it, on one line, and cut
// after maxTitle characters.
func onOneLine(s string) string {
	s = strings.Join(strings.Fields(payload.Visible([]byte(s[:min(len(s), 8*maxTitle)]))), " ")
	if runes := []rune(s); len(runes) > maxTitle {
		return strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	return s
}
