package payload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shown is a value as it may leave for a pager.
func shown(f *facet, t Field) string {
	few := f.values.settled() && len(f.values.seen) <= fewValues
	if !few || len(t.Value) > maxShown || t.Kind == Object || t.Kind == Array {
		return masked(t)
	}
	return literal(t.Kind, t.Value)
}

func literal(k Kind, value string) string {
	value = Visible([]byte(value))
	if k == String {
		return `"` + value + `"`
	}
	return value
}

// masked is a value's type and length.
func masked(t Field) string {
	switch t.Kind {
	case Object, Array, Null, Boolean:
		return string(t.Kind)
	}
	return string(t.Kind) + " of " + plural(utf8.RuneCountInString(t.Value), "character")
}

// usualValues says what the field had in the sample.
func (f *facet) usualValues() string {
	if len(f.values.seen) > fewValues {
		return fmt.Sprintf("%s different values in %s", Count(len(f.values.seen)), Count(f.count))
	}
	counts := map[string]int{}
	for value, n := range f.values.seen {
		counts[readable(value)] += n
	}
	return often(counts, f.count)
}

// readable is a counted value as it is shown.
func readable(counted string) string {
	for _, k := range []Kind{String, Number, Boolean, Null} {
		if value, ok := strings.CutPrefix(counted, string(k)); ok {
			return literal(k, string(cut([]byte(value), maxShown)))
		}
	}
	return counted
}

func (f *facet) kindCounts() map[string]int {
	out := map[string]int{}
	for k, n := range f.kinds {
		out[string(k)] = n
	}
	return out
}

// often names the three most frequent ones of what was counted.
func often(counts map[string]int, of int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []string
	for i, name := range names[:min(3, len(names))] {
		said := fmt.Sprintf("%s in %s", name, Count(counts[name]))
		if i == 0 {
			said += " of " + Count(of)
		}
		out = append(out, said)
	}
	return strings.Join(out, ", ")
}

// label is a path as it may leave for a pager. A name that looks like data, as
// the keys of a map do, is masked.
func label(path string) string {
	if name, header := strings.CutPrefix(path, headerTrait); header {
		return headerTrait[1:] + named(name)
	}
	if strings.HasPrefix(path, aside) {
		return path[1:]
	}
	parts := strings.Split(path, ".")
	for i, p := range parts {
		parts[i] = named(p)
	}
	return strings.Join(parts, ".")
}

// named is a name of a field, or how long it is when it looks like data.
func named(name string) string {
	if looksLikeData(name) {
		return fmt.Sprintf("<name of %s>", plural(utf8.RuneCountInString(name), "character"))
	}
	return Visible([]byte(name))
}

func looksLikeData(name string) bool {
	digits := 0
	for _, r := range name {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits >= 4 || len(name) > 40 || strings.ContainsAny(name, "@/ ")
}
