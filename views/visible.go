package views

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible is foreign text for one line, with nothing in it that cannot be
// seen: control characters become their pictures (␀, ␛, ␊), characters that
// turn or hide text become ⟨U+202E⟩, and bytes that are no UTF-8 become \xC3.
// HTML is not escaped here: templ does that.
func Visible(s string) string { return visible(s, false) }

// VisibleLines is Visible for text of several lines: line feeds and tabs stay.
func VisibleLines(s string) string { return visible(s, true) }

func visible(s string, lines bool) string {
	if !needsSight(s) {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case joins(r) && joined(before, s[i+size:]):
			b.WriteRune(r)
		case unseen(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		before = r
		i += size
	}
	return b.String()
}

// needsSight is false for the plain text that nearly everything is.
func needsSight(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return true
		}
	}
	return false
}

// unseen tells of a character that shows nothing, or changes how its
// neighbours show: C1 controls, direction marks and overrides (CVE-2021-42574),
// zero-width ones, separators that browsers take for line ends, tags and
// variation selectors of the supplementary plane.
func unseen(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f,
		r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0,
		r == 0x180e, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	default:
		return false
	}
}

// joins tells of the two joiners, which many scripts and most emoji need.
func joins(r rune) bool { return r == 0x200c || r == 0x200d }

// joined tells whether a joiner stands between letters that it can join: it is
// shown as a mark only where it would hide, in and around ASCII.
func joined(before rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	return before > 0x2ff && next > 0x2ff && next != utf8.RuneError && !unseen(next)
}

// longClass is the length, in bytes, from which a name without a dot or dash
// may break between the words that it is made of.
const longClass = 28

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

// Holder is "client id (member id)" short enough for a line: a member id that
// begins with the client id keeps its last five characters, which tell members
// of one client id apart.
func Holder(owner string) string {
	client, member, ok := strings.Cut(strings.TrimSuffix(owner, ")"), " (")
	rest, begins := strings.CutPrefix(member, client)
	if !ok || !begins || len(rest) <= tailOfMember || !utf8.ValidString(rest[len(rest)-tailOfMember:]) {
		return owner
	}
	return client + " (…" + rest[len(rest)-tailOfMember:] + ")"
}

const tailOfMember = 5

// breakable splits a long name where it may break: after dots, dashes, slashes
// and colons, and in a long one within the names of classes.
func breakable(name string) []string {
	var parts []string
	last := 0
	for i := range len(name) - 1 {
		if strings.IndexByte(".-/:_", name[i]) >= 0 && i > last {
			parts = append(parts, humps(name[last:i+1])...)
			last = i + 1
		}
	}
	return append(parts, humps(name[last:])...)
}

// humps splits the name of a class into its words, if it is a long one.
func humps(class string) []string {
	if len(class) < longClass {
		return []string{class}
	}
	var parts []string
	last := 0
	for i := range len(class) - 1 {
		if isLower(class[i]) && isUpper(class[i+1]) {
			parts = append(parts, class[last:i+1])
			last = i + 1
		}
	}
	return append(parts, class[last:])
}
