package web

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/views"
)

// Bounds of the comparison of a cause's letters.
const (
	mostCompared   = 50
	mostCommon     = 12
	longestCommon  = 120 // bytes of a value that is shown
	comparedBody   = 64 << 10
	commonFraction = 0.8 // of the letters that must have a value for it to be common
)

// trait is a value that a letter has in some place.
type trait struct {
	field, where, value string
}

// common is the values that most letters share, those that the most share
// first. What the convention wrote about the failure is not among them: it is
// why the letters are together.
func common(letters []review.Letter) []views.CommonRow {
	counts, order := map[trait]int{}, []trait{}
	for _, l := range letters {
		for t := range traitsOf(l) {
			if counts[t] == 0 {
				order = append(order, t)
			}
			counts[t]++
		}
	}
	order = slices.DeleteFunc(order, func(t trait) bool { return float64(counts[t]) < commonFraction*float64(len(letters)) })
	slices.SortFunc(order, func(a, b trait) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.where, b.where), cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value))
	})
	var rows []views.CommonRow
	for _, t := range order[:min(len(order), mostCommon)] {
		rows = append(rows, views.CommonRow{
			Field: t.field, Where: t.where, Value: t.value, These: counts[t], OfThese: len(letters), Others: views.Unknown, OfOthers: views.Unknown,
		})
	}
	return rows
}

// traitsOf are the values of a letter that can be compared, each once.
func traitsOf(l review.Letter) map[trait]bool {
	out := map[trait]bool{}
	add := func(field, where, value string) {
		if len(value) <= longestCommon && utf8.ValidString(value) {
			out[trait{field, where, value}] = true
		}
	}
	if len(l.Body) <= comparedBody {
		for _, f := range payload.Fields(l.Body) {
			if f.Kind != payload.Object && f.Kind != payload.Array {
				add(f.Path, "body", f.Value)
			}
		}
	}
	for _, h := range l.Headers {
		if h.Value != nil && !slices.Contains(l.ErrorHeaders, h.Name) {
			add(h.Name, "header", string(h.Value))
		}
	}
	return out
}
