package web

import (
	"strconv"
	"strings"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/views"
)

// Bounds of what a page shows of bytes. What is stored is whole.
const (
	shownBody   = 16 << 10 // bytes of a body on its own page
	shownFull   = 1 << 20  // of one that was asked for in full
	shownHex    = 4 << 10  // bytes as a hex dump
	shownRecord = 4 << 10  // bytes of a record shown as evidence
	shownKey    = 200      // bytes of a key or a header in a list
	shownHeader = 4 << 10  // bytes of a header on the letter's page
)

// bytesView is a key or a header as a person can read it.
func bytesView(b []byte, limit int) views.Bytes {
	if b == nil {
		return views.Bytes{Null: true}
	}
	d := payload.Decode(b, limit)
	return views.Bytes{Size: int64(len(b)), Text: d.Raw, NotUTF8: !validUTF8(b), Cut: d.Cut}
}

// bodyView is a body in the ways it can be looked at. size is that of the
// whole, of which b may be the beginning.
func bodyView(b []byte, size int64, limit int, apart map[string]string) views.Body {
	if b == nil {
		return views.Body{Null: true, Format: formatName(payload.FormatNull)}
	}
	size = max(size, int64(len(b)))
	d := payload.Decode(b, limit)
	body := views.Body{Size: size, Format: formatName(d.Format), Note: d.Note, Raw: d.Raw, Hex: payload.Hex(b, min(limit, shownHex)), Shown: size}
	if d.Cut || int64(len(b)) < size {
		body.Shown = int64(min(limit, len(b)))
	}
	if d.Text != d.Raw || d.Format == payload.FormatJSON {
		body.Lines = bodyLines(d.Text, apart)
	}
	return body
}

// formatName is a format as it stands in a heading.
func formatName(format string) string {
	switch format {
	case payload.FormatJSON, payload.FormatXML, payload.FormatUTF16, payload.FormatSNS:
		return strings.ToUpper(format)
	case payload.FormatBinary:
		return "bytes"
	}
	return format
}

// bodyLines takes a decoded text apart into lines with their indent and key,
// and marks those whose field sets the record apart.
func bodyLines(text string, apart map[string]string) []views.BodyLine {
	lines := strings.Split(text, "\n")
	out := make([]views.BodyLine, 0, len(lines))
	var at fieldPath
	for _, line := range lines {
		rest := strings.TrimLeft(line, " ")
		indent := (len(line) - len(rest)) / 2
		key, value := splitKey(rest)
		out = append(out, views.BodyLine{Indent: indent, Key: key, Text: value, Apart: apart[at.enter(indent, key, value)]})
	}
	return out
}

// splitKey takes the key off a line of indented JSON: `"currency": "INRR",`.
func splitKey(line string) (key, rest string) {
	if !strings.HasPrefix(line, `"`) {
		return "", line
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", line
	}
	if value, found := strings.CutPrefix(line[len(quoted):], ": "); found {
		return quoted, value
	}
	return "", line
}

// fieldPath follows the path of the fields through lines of indented JSON, as
// payload.Fields names them: "card.issuer", "items[].sku".
type fieldPath struct {
	names []string // by indent; "[]" for an element of an array
	array []bool   // by indent: what opened there is an array
}

func (p *fieldPath) enter(indent int, key, value string) string {
	p.names = grown(p.names, indent)
	p.array = grown(p.array, indent)
	name, err := strconv.Unquote(key)
	if err != nil {
		name = strings.Trim(key, `"`)
	}
	if key == "" && indent > 0 && p.array[indent-1] {
		name = "[]"
	}
	p.names[indent] = name
	p.array[indent] = strings.HasPrefix(value, "[")
	var path strings.Builder
	for _, n := range p.names[:indent+1] {
		if n != "" && n != "[]" && path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(n)
	}
	return path.String()
}

// grown is a list cut or filled up so that its last place is at.
func grown[T any](list []T, at int) []T {
	var zero T
	for len(list) <= at {
		list = append(list, zero)
	}
	return list[:at+1]
}

// recordView is a record as evidence, with what sets it apart.
func recordView(r *sources.Record, e alerts.Evidence) *views.Record {
	if r == nil {
		return nil
	}
	apart, marks := apartOf(*r, e)
	out := &views.Record{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, At: r.Timestamp,
		Key: bytesView(r.Key, shownKey), Headers: len(r.Headers), Size: sizeOf(r.Key, int64(len(r.Body)), r.Headers),
		Body: bodyView(r.Body, int64(len(r.Body)), shownRecord, marks), Apart: apart,
	}
	return out
}

// apartOf is what the evidence says of a record, and the same by field.
func apartOf(r sources.Record, e alerts.Evidence) ([]views.Apart, map[string]string) {
	var list []views.Apart
	marks := map[string]string{}
	for _, s := range e.Suspects {
		if s.Offset != r.Offset {
			continue
		}
		for _, a := range s.Apart {
			words := unlike(a, e.Sample)
			list = append(list, views.Apart{Field: a.Field, Value: a.Value, Usual: words})
			marks[a.Field] = words
		}
	}
	return list, marks
}

// unlike says how one thing sets a record apart from those before it.
func unlike(a alerts.Apart, sample int) string {
	if a.Usual == "" {
		return "not seen in the " + plural(sample, "record") + " before it"
	}
	return "unlike the " + plural(sample, "record") + " before it: " + a.Usual
}

// sizeOf is the size of a record: key, value, and the names and values of its
// headers.
func sizeOf(key []byte, body int64, headers []sources.Header) int64 {
	size := int64(len(key)) + max(body, 0)
	for _, h := range headers {
		size += int64(len(h.Name) + len(h.Value))
	}
	return size
}
