package payload

import (
	"fmt"
	"unicode/utf8"
)

// The formats that Decode names.
const (
	FormatNull       = "null"  // no bytes at all: a tombstone, or a header without a value
	FormatEmpty      = "empty" // zero bytes
	FormatJSON       = "json"
	FormatJSONLines  = "json lines"
	FormatXML        = "xml"
	FormatText       = "text"
	FormatUTF16      = "utf-16"
	FormatBinary     = "binary"
	FormatInt32      = "int32" // big-endian, as Kafka's Java clients write them
	FormatInt64      = "int64"
	FormatRegistry   = "schema registry" // magic byte and schema id before the data
	FormatAvroFile   = "avro file"
	FormatJava       = "java object"
	FormatPickle     = "python pickle"
	FormatGzip       = "gzip"
	FormatZstd       = "zstd"
	FormatBase64     = "base64"
	FormatSNS        = "sns"
	FormatPointer    = "s3 pointer"
	FormatCloudEvent = "cloudevent"
)

// Decoded is a payload as a person can read it.
type Decoded struct {
	Format string
	// Text is the decoded view: JSON over several lines, the message inside an
	// envelope, a number. It is valid UTF-8 without control characters but new
	// line and tab, and may be cut.
	Text string
	// Raw is the bytes as they came, as text: nothing re-indented or unwrapped.
	// As Text it is valid UTF-8, and may be cut.
	Raw string
	// Note says what a reader must know, in a few words: that bytes are not
	// UTF-8, that something was not decoded, that only the beginning is shown.
	// "" when there is nothing to say.
	Note string
	Size int  // bytes as they came
	Cut  bool // Text and Raw are only the beginning
	// Inner is what was inside: the message of an envelope, the bytes under
	// base64; nil when there is none.
	Inner *Decoded
	// Depth is how often the same wrapping was found inside itself: 2 when a
	// base64 text holds a base64 text (C75).
	Depth int
}

// nesting bounds how many envelopes are opened inside each other.
const nesting = 8

// Decode makes bytes readable. Text and Raw show at most about limit bytes of
// them; 0 or less is no limit. It never fails; nil is null, which is not the
// same as empty.
func Decode(b []byte, limit int) Decoded {
	return decode(b, limit, 0)
}

func decode(b []byte, limit, level int) Decoded {
	shown := b
	if limit > 0 {
		shown = cut(b, limit)
	}
	for _, d := range decoders {
		if found, ok := d.try(b, shown, level); ok {
			return finish(found, b, shown, limit)
		}
	}
	return finish(undecoded(b), b, shown, limit)
}

// finish fills in what is the same for all formats.
func finish(d Decoded, b, shown []byte, limit int) Decoded {
	d.Size = len(b)
	if d.Raw == "" {
		d.Raw = Visible(shown)
	}
	if d.Text == "" && d.Inner == nil {
		d.Text = d.Raw
	}
	if len(shown) < len(b) {
		d.Cut = true
		d.Note = join(cutNote(len(shown), len(b)), d.Note)
	}
	// Escapes and envelopes make text longer than its bytes.
	if most := 8 * limit; limit > 0 && len(d.Text) > most {
		d.Text, d.Cut = string(cut([]byte(d.Text), most)), true
	}
	return d
}

func join(notes ...string) string {
	out := ""
	for _, n := range notes {
		if out != "" && n != "" {
			out += "; "
		}
		out += n
	}
	return out
}

// notUTF8 is the remark on bytes that are no text; "" when they are.
func notUTF8(b []byte) string {
	if utf8.Valid(b) {
		return ""
	}
	return "not UTF-8, " + plural(len(b), "byte")
}

// undecoded is the last resort: bytes that nothing recognised.
func undecoded(b []byte) Decoded {
	d := Decoded{Format: FormatBinary, Note: "binary, " + plural(len(b), "byte")}
	if !utf8.Valid(b) {
		d.Note = join(notUTF8(b), "binary")
	}
	if fields, err := ProtobufFields(b); err == nil && len(fields) > 1 {
		d.Note += fmt.Sprintf("; would parse as protobuf with %s, not decoded without its schema", plural(len(fields), "field"))
	}
	return d
}

// Open returns the bytes that the sender meant: the message inside an SNS
// envelope or under base64, else the bytes themselves.
func Open(b []byte) []byte {
	for range nesting {
		inner, ok := unwrap(b)
		if !ok {
			break
		}
		b = inner
	}
	return b
}

// unwrap takes one wrapping off.
func unwrap(b []byte) ([]byte, bool) {
	if message, _, ok := snsMessage(b); ok {
		return []byte(message), true
	}
	if inner, ok := quotedBase64(b); ok {
		return inner, true
	}
	return bareBase64(b)
}
