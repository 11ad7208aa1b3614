package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder recognises one format. It gets all bytes to judge by, and the part
// of them that is to be shown.
type decoder struct {
	reason string // why it stands where it stands
	try    func(b, shown []byte, level int) (Decoded, bool)
}

// decoders are tried in this order: the first that is sure wins. None looks
// for words such as "error" in what it reads (C15).
var decoders []decoder

func init() { // an init, because decoders of envelopes decode what is inside
	decoders = []decoder{
		{"null and empty are not the same, and neither is text", nothing},
		{"a prefix that nothing else begins with", magic},
		{"a pointer is JSON, too, but what matters is where it points", pointer},
		{"an SNS envelope is JSON, too, but what matters is the message", sns},
		{"a quoted base64 text is JSON, too, but somebody serialised bytes twice", wrapped},
		{"JSON that parses to its end is JSON", jsonText},
		{"base64 of a JSON document is hardly ever a coincidence", bareWrapped},
		{"a number of a Java client has its zero bytes, and text has none", integer},
		{"the registry's magic byte is zero, and text has none", registry},
		{"text in UTF-16 is full of zero bytes, after its mark", utf16Text},
		{"markup is text that begins and ends with brackets", xml},
		{"what is left is text when nearly all of it is printable", text},
	}
}

func nothing(b, _ []byte, _ int) (Decoded, bool) {
	switch {
	case b == nil:
		return Decoded{Format: FormatNull, Note: "null value"}, true
	case len(b) == 0:
		return Decoded{Format: FormatEmpty, Note: "empty (0 bytes)"}, true
	}
	return Decoded{}, false
}

// prefixes are what formats begin with that are shown and never decoded:
// objects of a language runtime run code when they are read back.
var prefixes = []struct{ format, prefix, note string }{
	{FormatJava, "\xac\xed\x00\x05", "Java-serialised object: shown as text, never read back"},
	{FormatGzip, "\x1f\x8b\x08", "gzip, not unpacked"},
	{FormatZstd, "\x28\xb5\x2f\xfd", "zstd, not unpacked"},
	{FormatAvroFile, "Obj\x01", "Avro container file, not decoded"},
}

func magic(b, _ []byte, _ int) (Decoded, bool) {
	for _, p := range prefixes {
		if bytes.HasPrefix(b, []byte(p.prefix)) {
			return Decoded{Format: p.format, Note: p.note}, true
		}
	}
	if len(b) > 3 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 && b[len(b)-1] == '.' {
		return Decoded{Format: FormatPickle, Note: "pickled Python object: shown as text, never read back"}, true
	}
	return Decoded{}, false
}

// pointer is the body of the SQS extended client: the payload lies in S3 (C64).
func pointer(b, shown []byte, _ int) (Decoded, bool) {
	bucket, key, ok := S3Pointer(b)
	if !ok {
		return Decoded{}, false
	}
	note := fmt.Sprintf("payload in s3://%s/%s; the object was not looked at", bucket, key)
	return Decoded{Format: FormatPointer, Text: Visible(indent(shown)), Note: Visible([]byte(note))}, true
}

// S3Pointer reads a body that only says where in S3 the payload lies: a pair
// of a class name and a place, as the SQS extended client writes it.
func S3Pointer(b []byte) (bucket, key string, ok bool) {
	if len(b) > 16<<10 || !bytes.Contains(b, []byte(`"s3BucketName"`)) {
		return "", "", false
	}
	if class, found := LookupText(b, "/0"); !found || !strings.Contains(class, "S3Pointer") {
		return "", "", false
	}
	bucket, hasBucket := LookupText(b, "/1/s3BucketName")
	key, hasKey := LookupText(b, "/1/s3Key")
	return bucket, key, hasBucket && hasKey
}

func sns(b, shown []byte, level int) (Decoded, bool) {
	message, topic, ok := snsMessage(b)
	if !ok || level >= nesting {
		return Decoded{}, false
	}
	inner := decode([]byte(message), len(shown), level+1)
	note := "the message inside an SNS envelope of " + topic
	return Decoded{Format: FormatSNS, Text: inner.Text, Note: join(Visible([]byte(note)), inner.Note), Inner: &inner}, true
}

// snsMessage is the message inside an SNS envelope, and the topic's ARN.
func snsMessage(b []byte) (message, topic string, ok bool) {
	if len(b) > parseLimit || !bytes.Contains(b, []byte(`"TopicArn"`)) {
		return "", "", false
	}
	if kind, _ := LookupText(b, "/Type"); kind != "Notification" {
		return "", "", false
	}
	topic, _ = LookupText(b, "/TopicArn")
	message, ok = LookupText(b, "/Message")
	return message, topic, ok && topic != ""
}

// wrapped is base64, or JSON, inside a JSON string: bytes that were serialised
// once too often. Each pass through a broken consumer adds a layer (C75).
func wrapped(b, shown []byte, level int) (Decoded, bool) {
	inner, ok := quotedBase64(b)
	if ok && level < nesting {
		return unwrapped(FormatJSON, "looks like base64 inside a JSON string", inner, shown, level), true
	}
	if kindOf(trimSpace(b)) != String || !isJSON(b) || level >= nesting {
		return Decoded{}, false
	}
	if text := unquote(trimSpace(b)); isJSON([]byte(text)) {
		return unwrapped(FormatJSON, "JSON inside a JSON string", []byte(text), shown, level), true
	}
	return Decoded{}, false
}

func bareWrapped(b, shown []byte, level int) (Decoded, bool) {
	inner, ok := bareBase64(b)
	if !ok || level >= nesting {
		return Decoded{}, false
	}
	return unwrapped(FormatBase64, "looks like base64", inner, shown, level), true
}

func unwrapped(format, note string, content, shown []byte, level int) Decoded {
	inner := decode(content, len(shown), level+1)
	d := Decoded{Format: format, Text: inner.Text, Inner: &inner, Depth: 1}
	if inner.Inner != nil && inner.Depth > 0 {
		d.Depth += inner.Depth
		note += fmt.Sprintf(", %d deep", d.Depth)
	}
	d.Note = note
	return d
}

// quotedBase64 is what a JSON string holds in base64.
func quotedBase64(b []byte) ([]byte, bool) {
	t := trimSpace(b)
	if len(t) < 10 || t[0] != '"' || len(t) > parseLimit || !json.Valid(t) {
		return nil, false
	}
	return sensibleBase64(unquote(t))
}

func bareBase64(b []byte) ([]byte, bool) {
	if len(b) < 8 || len(b) > parseLimit {
		return nil, false
	}
	inner, ok := sensibleBase64(string(trimSpace(b)))
	return inner, ok && isJSON(inner)
}

// sensibleBase64 decodes a text when what comes out is readable: nearly every
// word of a multiple of four letters would decode to something.
func sensibleBase64(s string) ([]byte, bool) {
	if len(s) < 8 || len(s)%4 != 0 {
		return nil, false
	}
	inner, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || !utf8.Valid(inner) {
		return nil, false
	}
	c := count(inner)
	return inner, isJSON(inner) || c.runes >= 12 && c.printable == c.runes && strings.ContainsAny(string(inner), " {<")
}

func jsonText(b, shown []byte, _ int) (Decoded, bool) {
	switch {
	case isJSON(b):
		d := Decoded{Format: FormatJSON, Text: Visible(indent(shown)), Note: notUTF8(b)}
		if isCloudEvent(b) {
			d.Format = FormatCloudEvent
		}
		return d, true
	case len(b) > parseLimit && looksLikeJSON(b):
		return Decoded{Format: FormatJSON, Text: Visible(indent(shown)), Note: "too large to check that it is JSON to its end"}, true
	case isJSONLines(b):
		return Decoded{Format: FormatJSONLines, Note: notUTF8(b)}, true
	}
	return Decoded{}, false
}

func isCloudEvent(b []byte) bool {
	if !bytes.Contains(b, []byte(`"specversion"`)) {
		return false
	}
	_, version := LookupText(b, "/specversion")
	_, kind := LookupText(b, "/type")
	return version && kind
}

// looksLikeJSON judges a document that is too large to be parsed.
func looksLikeJSON(b []byte) bool {
	t := trimSpace(b)
	return len(t) > 1 && (t[0] == '{' && t[len(t)-1] == '}' || t[0] == '[' && t[len(t)-1] == ']')
}

// isJSONLines tells whether there is a JSON object on each of several lines.
func isJSONLines(b []byte) bool {
	if len(b) == 0 || b[0] != '{' || len(b) > parseLimit {
		return false
	}
	lines := 0
	for line := range bytes.Lines(b) {
		if line = trimSpace(line); len(line) == 0 {
			continue
		}
		if kindOf(line) != Object || !isJSON(line) {
			return false
		}
		lines++
	}
	return lines > 1
}

// integer is a number as a Java client's serialiser writes it: big-endian, of
// four or eight bytes (C13). Text of that length is text.
func integer(b, _ []byte, _ int) (Decoded, bool) {
	if len(b) != 4 && len(b) != 8 {
		return Decoded{}, false
	}
	if c := count(b); c.bad == 0 && c.control == 0 {
		return Decoded{}, false
	}
	if len(b) == 4 {
		n := int32(binary4(b))
		return Decoded{Format: FormatInt32, Text: fmt.Sprintf("%d (int32)", n)}, small(int64(n), 1<<28)
	}
	n := int64(binary.BigEndian.Uint64(b))
	return Decoded{Format: FormatInt64, Text: fmt.Sprintf("%d (int64)", n), Note: instant(n)}, small(n, 1<<53)
}

func binary4(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// small tells whether a number is of a size that somebody may have meant.
func small(n, most int64) bool { return n > -most && n < most }

// instant says what time a number would be, when it would be one of today.
func instant(n int64) string {
	at := time.UnixMilli(n).UTC()
	if at.Year() < 2010 || at.Year() > 2060 {
		return ""
	}
	return "as a time " + at.Format("2006-01-02T15:04:05.000Z")
}

// registry is the framing of schema-registry serialisers: a zero, the schema's
// id in four bytes, the data. Ids begin at 1 (C13).
func registry(b, shown []byte, _ int) (Decoded, bool) {
	if len(b) < 6 || b[0] != 0 || binary4(b[1:]) == 0 || binary4(b[1:]) > 1<<24 {
		return Decoded{}, false
	}
	note := fmt.Sprintf("schema id %d, not decoded", binary4(b[1:]))
	return Decoded{Format: FormatRegistry, Text: Visible(shown[min(5, len(shown)):]), Note: note}, true
}

func utf16Text(b, shown []byte, _ int) (Decoded, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(b) < 4 || len(b)%2 != 0:
		return Decoded{}, false
	case b[0] == 0xfe && b[1] == 0xff:
		order = binary.BigEndian
	case b[0] != 0xff || b[1] != 0xfe:
		return Decoded{}, false
	}
	units := make([]uint16, 0, len(shown)/2)
	for i := 2; i+1 < len(shown); i += 2 {
		units = append(units, order.Uint16(shown[i:]))
	}
	return Decoded{Format: FormatUTF16, Text: Visible([]byte(string(utf16.Decode(units))))}, true
}

func xml(b, _ []byte, _ int) (Decoded, bool) {
	t := trimSpace(b)
	if len(t) < 4 || t[0] != '<' || t[len(t)-1] != '>' || !utf8.Valid(b) {
		return Decoded{}, false
	}
	letter := t[1]|0x20 >= 'a' && t[1]|0x20 <= 'z'
	return Decoded{Format: FormatXML}, letter || t[1] == '?' || t[1] == '!'
}

// text is text even when some of its bytes are not: six in ten readable
// characters are worth showing, with the others marked (C09).
func text(b, _ []byte, _ int) (Decoded, bool) {
	c := count(b)
	if c.bad > 0 {
		return Decoded{Format: FormatText, Note: notUTF8(b)}, c.printable*10 >= c.runes*6
	}
	d := Decoded{Format: FormatText}
	if c.control > 0 {
		d.Note = plural(c.control, "control character") + " made visible"
	}
	return d, c.control*10 <= c.runes
}

// Unquoted takes off the layers of base64 in a JSON string that broken consumers
// put around a value, one in each pass (C75), and says how many there were.
func Unquoted(b []byte) (inner []byte, layers int) {
	for inner = b; layers < nesting; layers++ {
		next, ok := quotedBase64(inner)
		if !ok {
			break
		}
		inner = next
	}
	return inner, layers
}
