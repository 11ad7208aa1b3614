package payload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Difference is one thing that sets a record apart from a sample. It is
// masked, so that it may leave for a pager: Value is the value only where the
// field had at least one and at most fewValues values in the sample; else it
// is its type and length. Field names that look like data are masked, too.
type Difference struct {
	Field string // "currency", "items[].sku", "header:name", "key", "body"
	Value string // `"INRR"`, "string of 14 characters", "absent"
	Usual string // what the sample had there: `"INR" in 500 of 500`
	score float64
	group string // what records must share for the difference to be the same
}

// Suspect is a record with what sets it apart, the oddest first.
type Suspect struct {
	Offset int64
	Apart  []Difference
}

// fewValues is how many values a field may have in a sample for one of them to
// be shown to a pager.
const fewValues = 50

// maxShown is the longest value that is shown, in bytes; longer ones are
// masked.
const maxShown = 64

// maxApart is how many differences of a record are named.
const maxApart = 5

// Compare ranks the candidates that differ from the sample, the oddest first.
// What many candidates share counts less: a new release of a producer makes
// every record odd, the one that blocks is odd alone. Without a sample nothing
// is odd.
func Compare(sample, candidates []Record) []Suspect {
	usual := NewSample(sample)
	found := make([][]Difference, len(candidates))
	shared := map[string]int{}
	for i, c := range candidates {
		found[i] = usual.differences(c)
		for _, d := range found[i] {
			shared[d.group]++
		}
	}
	out := make([]Suspect, 0, len(candidates))
	scores := map[int64]float64{}
	for i, c := range candidates {
		if len(found[i]) == 0 {
			continue
		}
		for j := range found[i] {
			d := &found[i][j]
			d.score /= 1 + math.Log(float64(shared[d.group]))
			scores[c.Offset] += d.score
		}
		out = append(out, Suspect{Offset: c.Offset, Apart: oddest(found[i])})
	}
	slices.SortStableFunc(out, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(scores[b.Offset], scores[a.Offset]), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}

// Apart says what sets one record apart from the sample, the oddest first.
func (s *Sample) Apart(r Record) []Difference { return oddest(s.differences(r)) }

func oddest(all []Difference) []Difference {
	slices.SortStableFunc(all, func(a, b Difference) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), maxApart)]
}

func (s *Sample) differences(r Record) []Difference {
	if s.records == 0 {
		return nil
	}
	var out []Difference
	has := map[string]bool{}
	told := map[string]bool{}
	for _, t := range traits(r, true) {
		has[t.Path] = true
		if d, odd := s.odd(t); odd && !told[t.Path] {
			told[t.Path] = true
			out = append(out, d)
		}
	}
	if s.facets[bodyTrait].kinds[Kind(formatOf(r.Body))] == 0 {
		has = nil // a body of another format has none of the fields; its format says so
	}
	out = append(out, s.missing(has)...)
	if d, odd := s.oddSize(len(r.Body)); odd {
		out = append(out, d)
	}
	return out
}

// odd judges one field of a record.
func (s *Sample) odd(t Field) (Difference, bool) {
	f := s.facets[t.Path]
	switch {
	case f == nil:
		return s.unknown(t)
	case f.count < 2:
		return Difference{}, false
	case f.kinds[t.Kind] == 0:
		return s.oddKind(f, t)
	case t.Kind == Object || t.Kind == Array || t.Path == bodyTrait || t.Path == keyTrait:
		return Difference{}, false
	case f.values.seen[short(t)] == 0 && f.values.settled():
		return difference(t, shown(f, t), f.usualValues(), f.values.surprise()+bonus), true
	}
	return f.oddLength(t)
}

// bonus lifts a new value of a field with few values above other differences
// that are as rare: it is what usually breaks a consumer.
const bonus = 1

func difference(t Field, value, usual string, score float64) Difference {
	return Difference{Field: label(t.Path), Value: value, Usual: usual, score: score, group: t.Path + "\x00" + value}
}

// unknown judges a field that the sample never had. A map's keys are data, and
// new ones are no news.
func (s *Sample) unknown(t Field) (Difference, bool) {
	siblings := s.names[parent(t.Path)]
	if siblings == nil || !siblings.settled() {
		return Difference{}, false
	}
	return difference(t, masked(t), fmt.Sprintf("absent in %s", plural(s.records, "record")), siblings.surprise()), true
}

func (s *Sample) oddKind(f *facet, t Field) (Difference, bool) {
	kinds := tally{}
	for k, n := range f.kinds {
		for range n {
			kinds.add(string(k))
		}
	}
	if !kinds.settled() {
		return Difference{}, false
	}
	value := shown(f, t)
	if t.Path == bodyTrait || t.Path == keyTrait {
		value = string(t.Kind)
	}
	return difference(t, value, often(f.kindCounts(), f.count), kinds.surprise()+bonus), true
}

// steady is from how many values on lengths and signs are judged.
const steady = 10

// oddLength judges a value by its length and sign only: of a field with many
// values, such as an id.
func (f *facet) oddLength(t Field) (Difference, bool) {
	if f.lengths.count < steady {
		return Difference{}, false
	}
	n := utf8.RuneCountInString(t.Value)
	long := n > 2*f.lengths.most+2
	brief := t.Kind == String && 2*n < f.lengths.least
	minus := t.Kind == Number && t.Value[0] == '-' && !f.minus
	if !long && !brief && !minus {
		return Difference{}, false
	}
	usual := "characters: " + between(f.lengths)
	value := masked(t)
	if minus {
		value, usual = "negative "+value, fmt.Sprintf("none negative in %d", f.count)
	}
	return difference(t, value, usual, math.Log(float64(f.lengths.count+1))), true
}

func between(s span) string {
	if s.least == s.most {
		return Count(s.least)
	}
	return Count(s.least) + " to " + Count(s.most)
}

// missing lists the fields that nearly every record of the sample has, and
// this one has not. Of an object that is missing only itself is named.
func (s *Sample) missing(has map[string]bool) []Difference {
	if has == nil {
		return nil
	}
	var out []Difference
	for path, f := range s.facets {
		if has[path] || f.records < 3 || f.records*20 < s.records*19 {
			continue
		}
		if up := parent(path); up != "" && up != aside && !has[up] {
			continue
		}
		usual := fmt.Sprintf("in %s of %s records", Count(f.records), Count(s.records))
		out = append(out, difference(Field{Path: path}, "absent", usual, math.Log(float64(s.records+1)/float64(s.records-f.records+1))+bonus))
	}
	slices.SortFunc(out, func(a, b Difference) int { return cmp.Compare(a.Field, b.Field) })
	return out
}

func (s *Sample) oddSize(size int) (Difference, bool) {
	if s.sizes.count < 5 || size <= 4*s.sizes.most {
		return Difference{}, false
	}
	return difference(Field{Path: bodyTrait}, plural(size, "byte"), between(s.sizes)+" bytes", math.Log(float64(s.sizes.count+1))), true
}

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
