package payload

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is bytes as text in which nothing hides: control characters as
// their pictures (U+2400 and on), bytes that are not UTF-8 as \xNN, and
// characters that turn or hide text as \uNNNN. New lines and tabs stay.
func Visible(b []byte) string {
	if plain(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02X`, b[0])
		case r == '\r' && size < len(b) && b[size] == '\n':
			// The new line that follows says it all.
		default:
			writeVisible(&out, r)
		}
		b = b[size:]
	}
	return out.String()
}

func writeVisible(out *strings.Builder, r rune) {
	switch {
	case r == '\n' || r == '\t':
		out.WriteRune(r)
	case r < 0x20:
		out.WriteRune(0x2400 + r)
	case r == 0x7f:
		out.WriteRune(0x2421)
	case hides(r):
		fmt.Fprintf(out, `\u%04x`, r)
	default:
		out.WriteRune(r)
	}
}

// plain tells whether all bytes are printable ASCII or line breaks: the usual
// case, and the fast one.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < 0x20 || c > 0x7e) && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// hides tells whether a character changes how the text around it reads, or
// cannot be seen at all: C1 controls, directions, zero widths, separators.
func hides(r rune) bool {
	return r >= 0x80 && r < 0xa0 || r == 0x00ad || r == 0x061c || r >= 0x200b && r <= 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff ||
		r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe007f
}

// census counts what a text is made of.
type census struct {
	runes, bad, control, printable int
}

func count(b []byte) census {
	var c census
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		c.runes++
		switch {
		case r == utf8.RuneError && size == 1:
			c.bad++
		case r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f:
			c.control++
		case unicode.IsPrint(r) || unicode.IsSpace(r):
			c.printable++
		}
		b = b[size:]
	}
	return c
}

// cut is the longest beginning of b of at most n bytes that does not end
// within a character.
func cut(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for back := 0; back < utf8.UTFMax && n-back > 0; back++ {
		if utf8.RuneStart(b[n-back]) {
			return b[:n-back]
		}
	}
	return b[:n]
}

// Count is a number with its thousands apart: 10,485,760.
func Count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var out strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return sign + out.String()
}

// plural is "1 byte" or "2 bytes".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
