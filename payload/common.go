package payload

import (
	"cmp"
	"slices"
	"strings"
)

// Shared is a value that most of a number of records have, and how many others
// have it. It is not masked: it is for those who may read the bodies.
type Shared struct {
	Field   string // as in Difference, not masked
	Value   string // `"INRR"`; the format of a body or key
	Records int    // have it
	Of      int
	Others  int // have it, too
	OfOther int
}

// maxCommon is how many shared values are told.
const maxCommon = 20

// Common says what records have in common: the values that at least four in
// five of them share, those first that set them apart from the others. With
// others, what is as common among them is left out.
func Common(records, others []Record) []Shared {
	if len(records) == 0 {
		return nil
	}
	mine, theirs := holders(records), holders(others)
	var out []Shared
	for at, n := range mine {
		s := Shared{
			Field: strings.TrimPrefix(at.path, aside), Value: literal(at.kind, at.value),
			Records: n, Of: len(records), Others: theirs[at], OfOther: len(others),
		}
		if n*5 >= len(records)*4 && (len(others) == 0 || s.lift() > 1.25) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Shared) int {
		return cmp.Or(cmp.Compare(b.lift(), a.lift()), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Value, b.Value))
	})
	return out[:min(len(out), maxCommon)]
}

// lift is how much more common the value is here than among the others.
func (s Shared) lift() float64 {
	here := float64(s.Records) / float64(s.Of)
	if s.OfOther == 0 {
		return here
	}
	return here / ((float64(s.Others) + 0.5) / float64(s.OfOther+1))
}

// holding is one value of one field.
type holding struct {
	path  string
	kind  Kind
	value string
}

// holders counts the records that have each value.
func holders(records []Record) map[holding]int {
	out := map[holding]int{}
	read := 0
	for _, r := range records {
		read += len(r.Body)
		seen := map[holding]bool{}
		for _, t := range traits(r, read <= sampleLimit) {
			at := holding{t.Path, t.Kind, string(cut([]byte(t.Value), maxShown))}
			if t.Path == bodyTrait || t.Path == keyTrait {
				at = holding{t.Path, "", string(t.Kind)}
			}
			if t.Kind == Object || t.Kind == Array || seen[at] {
				continue
			}
			seen[at] = true
			out[at]++
		}
	}
	return out
}
