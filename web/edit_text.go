package web

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
)

// How a box of a form is to be read, and what else can be sent in its place.
const (
	asText    = "text"
	asBase64  = "base64"
	asEmpty   = "empty"
	asNull    = "null"
	asDecoded = "decoded" // what the value holds in base64 in a JSON string
	asKept    = "kept"    // untouched: it is not in the form
)

// boxOf is bytes as they stand in a box, and how it is to be read. A browser
// sends every line break of a box as CRLF, whatever it was, and some characters
// not at all: bytes that would not come through are base64.
func boxOf(b []byte) (box, as string) {
	switch {
	case b == nil:
		return "", asNull
	case len(b) == 0:
		return "", asEmpty
	case fitsBox(b):
		return oneLineBreak(string(b)), asText
	}
	return base64.StdEncoding.EncodeToString(b), asBase64
}

// fitsBox tells whether bytes are text that a box shows and sends as it is, but
// for its line breaks.
func fitsBox(b []byte) bool {
	return utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

func oneLineBreak(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// boxed is what a form says of something that was shown in a box.
type boxed struct {
	what    string // for messages: "the value"
	box, as string
}

// replaced is what is to be sent in place of the original: nothing else, when
// the box and how it is read are as they were shown.
func (b boxed) replaced(original []byte) (review.Replaced, error) {
	shown, was := boxOf(original)
	box := oneLineBreak(b.box)
	touched := box != shown
	switch {
	case b.as == "" || b.as == asKept || b.as == was && !touched:
		return review.Replaced{}, nil
	case b.as == asText || b.as == asBase64:
		return b.read(box, original)
	case touched && box != "":
		return review.Replaced{}, invalid("%s was changed in its box, and %s is chosen in its place: choose one of them", b.what, b.as)
	case b.as == asNull:
		return review.Replaced{Is: true}, nil
	case b.as == asEmpty:
		return review.Replaced{Is: true, Bytes: []byte{}}, nil
	case b.as == asDecoded:
		if inner, layers := payload.Unquoted(original); layers > 0 {
			return review.Replaced{Is: true, Bytes: inner}, nil
		}
	}
	return review.Replaced{}, invalid("%s cannot be sent as %s", b.what, quoted(b.as))
}

// read reads what stands in the box.
func (b boxed) read(box string, original []byte) (review.Replaced, error) {
	if box == "" {
		return review.Replaced{}, invalid("%s: its box is empty. Choose to send it empty, or null; nothing is sent by mistake", b.what)
	}
	now := []byte(withLineEnds(box, string(original)))
	if b.as == asBase64 {
		var err error
		if now, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(box), "")); err != nil {
			return review.Replaced{}, invalid("%s is not base64: %s", b.what, strings.TrimPrefix(err.Error(), "illegal base64 data "))
		}
	}
	return review.Replaced{Is: string(now) != string(original) || original == nil, Bytes: now}, nil
}

// line is a line of a text, and what ends it: "" for the last one.
type line struct{ text, end string }

func linesOf(s string) (lines []line) {
	for s != "" {
		at := strings.IndexAny(s, "\r\n")
		if at < 0 {
			break
		}
		end := s[at : at+1]
		if strings.HasPrefix(s[at:], "\r\n") {
			end = "\r\n"
		}
		lines, s = append(lines, line{s[:at], end}), s[at+len(end):]
	}
	return append(lines, line{text: s})
}

// withLineEnds gives a text that was edited in a box the line ends of the
// original: lines before and behind what was edited end as they did, new ones as
// most others do.
func withLineEnds(edited, original string) string {
	old := linesOf(original)
	now := linesOf(edited)
	usual := usualEnd(old)
	for i := range now[:len(now)-1] {
		now[i].end = usual
	}
	n := min(len(old), len(now)) - 1
	first := 0
	for ; first < n && old[first].text == now[first].text; first++ {
		now[first].end = old[first].end
	}
	for back := 1; back <= n-first; back++ {
		was, is := old[len(old)-1-back], &now[len(now)-1-back]
		if old[len(old)-back].text != now[len(now)-back].text {
			break
		}
		is.end = was.end
	}
	var out strings.Builder
	for _, l := range now {
		out.WriteString(l.text)
		out.WriteString(l.end)
	}
	return out.String()
}

// usualEnd is how most lines of a text end.
func usualEnd(lines []line) string {
	count := map[string]int{}
	usual := "\n"
	for _, l := range lines[:len(lines)-1] {
		count[l.end]++
	}
	for _, end := range []string{"\r\n", "\r"} {
		if count[end] > count[usual] {
			usual = end
		}
	}
	return usual
}
