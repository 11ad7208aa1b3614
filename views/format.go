package views

import (
	"strconv"
	"strings"
	"time"
)

// Number is a count with a comma between thousands; "unknown" for Unknown.
func Number(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return commas(n)
}

func commas(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func number(n int) string { return Number(int64(n)) }

// Plural is a count with its noun: "1 letter", "37 letters".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + plural(noun)
}

func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return stem + "ies"
	}
	return noun + "s"
}

// Size is a number of bytes: exact while it is short, rounded above.
func Size(n int64) string {
	switch {
	case n < 0:
		return "unknown size"
	case n == 1:
		return "1 byte"
	case n < 10_000:
		return commas(n) + " bytes"
	default:
		return roughSize(n)
	}
}

// roughSize is a number of bytes in decimal kilobytes and so on: "88 kB",
// "10.5 MB".
func roughSize(n int64) string {
	switch {
	case n < 1_000_000:
		return commas((n+500)/1000) + " kB"
	case n < 1_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	default:
		return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
	}
}

// Age is a span of time in its two largest units: "4 d 6 h", "13 min", "6 s".
// It is never negative: clocks of others may be ahead of ours.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 24*time.Hour:
		return units(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		hours := int(d.Hours())
		return units(hours/24, "d", hours%24, "h")
	}
}

func units(n int, unit string, rest int, restUnit string) string {
	s := commas(int64(n)) + " " + unit
	if rest > 0 {
		s += " " + strconv.Itoa(rest) + " " + restUnit
	}
	return s
}

// span is a duration that may not be known.
func span(d time.Duration) string {
	if d < 0 {
		return "unknown"
	}
	return Age(d)
}

// keeps is how long a queue keeps what is in it.
func keeps(d time.Duration) string {
	switch {
	case d == 0:
		return "unknown"
	case d < 0:
		return "for ever"
	default:
		return Age(d)
	}
}

// listed is a list in words: "a, b and c".
func listed(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
	}
}

// few is a list of names in words, with only the first ones named.
func few(words []string, most int) string {
	if len(words) <= most {
		return listed(words)
	}
	return strings.Join(words[:most], ", ") + " and " + number(len(words)-most) + " more"
}

// capital is a sentence's beginning.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sentence is words as a sentence, which they may be already.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return capital(s)
	}
	return capital(s) + "."
}

// noun is the noun that goes with a count.
func noun(n int, one string) string {
	if n == 1 {
		return one
	}
	return plural(one)
}

func oneOf(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// keyEnd is where the key ends in "x select".
func keyEnd(s string) int {
	if i := strings.IndexByte(s, ' '); i > 0 {
		return i
	}
	return len(s)
}
