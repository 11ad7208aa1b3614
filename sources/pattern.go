package sources

import "strings"

// Patterns select names: those that an include matches and no exclude does.
// A pattern is a glob over the whole name, with * for any run of characters
// and ? for one.
type Patterns struct {
	Include []string
	Exclude []string
}

// Match tells whether the patterns select a name. Without an include nothing
// is selected.
func (p Patterns) Match(name string) bool {
	return matchAny(p.Include, name) && !matchAny(p.Exclude, name)
}

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if Glob(p, name) {
			return true
		}
	}
	return false
}

// Glob tells whether a pattern matches the whole of a name. It runs in time
// linear in the name for each * of the pattern: a hostile one cannot hang it.
func Glob(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	star, mark, i := -1, 0, 0
	for j := 0; j < len(n); {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// LooksLikeRegexp tells whether somebody probably meant a regular expression,
// so that a remark can say that patterns are globs (danielqsj/kafka_exporter
// issues 103 and 104).
func LooksLikeRegexp(pattern string) bool {
	return strings.HasPrefix(pattern, "^") || strings.HasSuffix(pattern, "$") ||
		strings.Contains(pattern, "(?") || strings.Contains(pattern, ".*") || strings.Contains(pattern, ".+")
}

// Route is a configured way back: letters of the queues that From matches go
// to To.
type Route struct {
	From string // a pattern
	To   string
}
