package payload

import (
	"cmp"
	"math"
	"slices"
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
	kind  string // the field, and the way in which it differs
}

// group is what records must share for a difference to be the same.
func (d Difference) group() string { return d.kind + "\x00" + d.Value }

// Suspect is a record with what sets it apart, the oddest first.
type Suspect struct {
	Offset int64
	Apart  []Difference
	score  float64
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
// every record odd, a day that begins makes every date new, the one that blocks
// is odd alone. Without a sample nothing
// is odd.
func Compare(sample, candidates []Record) []Suspect {
	usual := NewSample(sample)
	found := make([][]Difference, len(candidates))
	same, kinds := map[string]int{}, map[string]int{}
	for i, c := range candidates {
		found[i] = usual.differences(c)
		for _, d := range found[i] {
			if same[d.group()]++; same[d.group()] == 1 {
				kinds[d.kind]++
			}
		}
	}
	out := make([]Suspect, 0, len(candidates))
	for i, c := range candidates {
		if len(found[i]) == 0 {
			continue
		}
		for j := range found[i] {
			d := &found[i][j]
			d.score /= (1 + math.Log(float64(same[d.group()]))) * (1 + math.Log(float64(kinds[d.kind])))
		}
		out = append(out, Suspect{Offset: c.Offset, Apart: oddest(found[i]), score: scored(found[i])})
	}
	slices.SortStableFunc(out, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}

// scored is how odd a record is in all. What else is odd about it counts half as
// much each time, so that many small oddities are no large one.
func scored(found []Difference) float64 {
	sum, weight := 0.0, 1.0
	for _, d := range found {
		sum += d.score * weight
		weight /= 2
	}
	return sum
}

// Apart says what sets one record apart from the sample, the oddest first.
func (s *Sample) Apart(r Record) []Difference { return oddest(s.differences(r)) }

func oddest(all []Difference) []Difference {
	slices.SortStableFunc(all, func(a, b Difference) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), maxApart)]
}
