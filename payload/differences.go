package payload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// differences are all that set a record apart, in no order.
func (s *Sample) differences(r Record) []Difference {
	if s.records == 0 {
		return nil
	}
	var out []Difference
	has, told := map[string]int{}, map[string]bool{}
	all := traits(r, true)
	for _, t := range all {
		has[t.Path]++
		if d, odd := s.odd(t, has[t.Path]); odd && !told[t.Path] {
			told[t.Path] = true
			out = append(out, d)
		}
	}
	// A body of another format has none of the fields, its format says so; and of
	// one that is beyond our bounds nobody has looked at all.
	if s.facets[bodyTrait].kinds[all[0].Kind] > 0 && len(r.Body) <= fieldsLimit && len(all) < maxFields {
		out = append(out, s.missing(has)...)
	}
	if d, odd := s.oddSize(len(r.Body)); odd {
		out = append(out, d)
	}
	if d, odd := s.oddTime(r.At); odd {
		out = append(out, d)
	}
	return out
}

// odd judges one field of a record, the nth of its name there.
func (s *Sample) odd(t Field, nth int) (Difference, bool) {
	f := s.facets[t.Path]
	switch {
	case f == nil:
		return s.unknown(t)
	case f.count < 2:
		return Difference{}, false
	case f.kinds[t.Kind] == 0:
		return s.oddKind(f, t)
	case nth > f.most && f.records >= steady && !strings.Contains(t.Path, "[]"):
		return f.again(t, nth), true
	case !t.scalar():
		return Difference{}, false
	case f.values.seen[short(t)] == 0 && f.values.settled():
		return difference(t, "value", shown(f, t), f.usualValues(), f.values.surprise()+bonus), true
	case t.Kind == Number:
		return f.oddNumber(t)
	}
	return f.oddText(t)
}

// bonus lifts a new value of a field with few values above other differences
// that are as rare: it is what usually breaks a consumer.
const bonus = 1

func difference(t Field, kind, value, usual string, score float64) Difference {
	return Difference{Field: label(t.Path), Value: value, Usual: usual, score: score, kind: t.Path + "\x00" + kind}
}

// unknown judges a field that the sample never had. A map's keys are data, and
// new ones are no news.
func (s *Sample) unknown(t Field) (Difference, bool) {
	siblings := s.names[parent(t.Path)]
	if siblings == nil || !siblings.settled() {
		return Difference{}, false
	}
	score := min(siblings.surprise(), rarity(s.records)) // one that is missing breaks more
	return difference(t, "new", masked(t), fmt.Sprintf("absent in %s", plural(s.records, "record")), score), true
}

// rarity is how unlikely is what none of so many had, on a logarithmic scale.
func rarity(of int) float64 { return math.Log(float64(of + 1)) }

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
	return difference(t, "kind", value, often(f.kindCounts(), f.count), kinds.surprise()+bonus), true
}

// again is a field that a record has more often than any before.
func (f *facet) again(t Field, nth int) Difference {
	return difference(t, "again", fmt.Sprintf("%d times in one record", nth), fmt.Sprintf("at most %s in %s", times(f.most), plural(f.records, "record")), rarity(f.records))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plural(n, "time")
}

// steady is from how many values on lengths, shapes and numbers are judged.
const steady = 10

// farBeyond is how many times the largest of its field a number must be to be
// odd.
const farBeyond = 10

// oddNumber judges a number of a field with many values, such as an amount.
func (f *facet) oddNumber(t Field) (Difference, bool) {
	usual := f.numbers
	if usual.count < steady {
		return Difference{}, false
	}
	n, whole := amount(t.Value)
	say := func(what, none string) (Difference, bool) {
		return difference(t, what, what+" "+masked(t), fmt.Sprintf("none %s in %s", none, Count(usual.count)), rarity(usual.count)), true
	}
	switch {
	case n < 0 && !usual.minus:
		return say("negative", "negative")
	case math.Abs(n) > farBeyond*usual.largest:
		return say("large", "a tenth of it")
	case !whole && !usual.fraction:
		return say("broken", "with a fraction")
	case n == 0 && !usual.zero:
		d, _ := say("zero", "zero")
		d.Value, d.score = "zero", d.score/2 // an amount may be zero once in a while
		return d, true
	}
	return Difference{}, false
}

// oddText judges a text of a field with many values, such as an id, by its
// length and its shape.
func (f *facet) oddText(t Field) (Difference, bool) {
	if f.lengths.count < steady {
		return Difference{}, false
	}
	n := utf8.RuneCountInString(t.Value)
	if n > 2*f.lengths.most+2 || 2*n < f.lengths.least {
		return difference(t, "length", masked(t), "characters: "+between(f.lengths), rarity(f.lengths.count)), true
	}
	if f.shapes.seen[shapeOf(t.Value)] == 0 && f.shapes.settled() {
		return difference(t, "shape", masked(t)+", of another shape", "none of its shape in "+Count(f.shapes.all), f.shapes.surprise()/2), true // people have odd names
	}
	return Difference{}, false
}

func between(s span) string {
	if s.least == s.most {
		return Count(s.least)
	}
	return Count(s.least) + " to " + Count(s.most)
}

// missing lists the fields that nearly every record of the sample has, and
// this one has not. Of an object that is missing only itself is named.
func (s *Sample) missing(has map[string]int) []Difference {
	var out []Difference
	for path, f := range s.facets {
		if has[path] > 0 || f.records < 3 || f.records*20 < s.records*19 {
			continue
		}
		if up := parent(path); up != "" && up != aside && has[up] == 0 {
			continue
		}
		usual := fmt.Sprintf("in %s of %s records", Count(f.records), Count(s.records))
		out = append(out, difference(Field{Path: path}, "missing", "absent", usual, math.Log(float64(s.records+1)/float64(s.records-f.records+1))+bonus))
	}
	slices.SortFunc(out, func(a, b Difference) int { return cmp.Compare(a.Field, b.Field) })
	return out
}

func (s *Sample) oddSize(size int) (Difference, bool) {
	if s.sizes.count < 5 || size <= 4*s.sizes.most {
		return Difference{}, false
	}
	return difference(Field{Path: bodyTrait}, "size", plural(size, "byte"), between(s.sizes)+" bytes", rarity(s.sizes.count)), true
}

// leastJump is how far a timestamp must lie from all before to be odd: clocks
// of producers differ, and a quiet topic has gaps.
const leastJump = 24 * time.Hour

// oddTime judges a record's timestamp: one from another year was set by hand, or
// in another unit.
func (s *Sample) oddTime(at time.Time) (Difference, bool) {
	if at.IsZero() || s.from.IsZero() || s.records < steady {
		return Difference{}, false
	}
	tolerance := max(leastJump, farBeyond*s.to.Sub(s.from))
	off, where := s.from.Sub(at), "before"
	if at.After(s.to) {
		off, where = at.Sub(s.to), "after"
	}
	if off <= tolerance {
		return Difference{}, false
	}
	value := plural(int(off/(24*time.Hour)), "day") + " " + where + " the others"
	return difference(Field{Path: timeTrait}, where, value, "all within "+within(s.to.Sub(s.from)), rarity(s.records)), true
}

// within is a length of time, rounded up.
func within(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "a minute"
	case d < time.Hour:
		return plural(int(d/time.Minute)+1, "minute")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour)+1, "hour")
	}
	return plural(int(d/(24*time.Hour))+1, "day")
}
