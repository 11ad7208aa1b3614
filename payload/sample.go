package payload

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Record is what is compared of a record.
type Record struct {
	Offset  int64
	Key     []byte
	Body    []byte
	Headers []Header
}

// Header is a record header or a message attribute; a nil value is null.
type Header struct {
	Name  string
	Value []byte
}

// Sample is what is usual: what a number of records had, field by field.
type Sample struct {
	records int
	facets  map[string]*facet
	names   map[string]*tally // per object: the names of its members
	sizes   span              // of the bodies
}

// facet is what one field was like in the sample.
type facet struct {
	records int // that have it
	count   int // of its values
	values  tally
	kinds   map[Kind]int
	lengths span // of scalar values, in characters
	minus   bool // some number was negative
}

// tally counts distinct texts.
type tally struct {
	seen map[string]int
	once int // of these, seen exactly once
	all  int
}

func (t *tally) add(text string) {
	if t.seen == nil {
		t.seen = map[string]int{}
	}
	t.all++
	t.seen[text]++
	switch t.seen[text] {
	case 1:
		t.once++
	case 2:
		t.once--
	}
}

// settled tells whether what was not seen so far is a surprise. The share of
// what was seen exactly once is about the chance that the next one is new
// (Good and Turing): of an id every value is new, of a currency hardly any.
func (t *tally) settled() bool { return t.all > 1 && t.once*10 <= t.all }

// surprise is how unlikely a new one is, on a logarithmic scale.
func (t *tally) surprise() float64 {
	return math.Log(float64(t.all+1) / (float64(t.once) + 0.5))
}

// span is the least and the most of a number of lengths.
type span struct{ least, most, count int }

func (s *span) add(n int) {
	if s.count == 0 || n < s.least {
		s.least = n
	}
	s.most = max(s.most, n)
	s.count++
}

// sampleLimit bounds the bytes of bodies that a sample takes apart; of those
// beyond it only format and size count.
const sampleLimit = 32 << 20

// NewSample learns from records what is usual.
func NewSample(records []Record) *Sample {
	s := &Sample{facets: map[string]*facet{}, names: map[string]*tally{}}
	read := 0
	for _, r := range records {
		read += len(r.Body)
		s.learn(r, read <= sampleLimit)
	}
	return s
}

// Records is how many records the sample has.
func (s *Sample) Records() int { return s.records }

func (s *Sample) learn(r Record, whole bool) {
	s.records++
	s.sizes.add(len(r.Body))
	seen := map[string]bool{}
	for _, f := range traits(r, whole) {
		known := s.facets[f.Path]
		if known == nil {
			known = &facet{kinds: map[Kind]int{}}
			s.facets[f.Path] = known
		}
		known.add(f)
		if !seen[f.Path] {
			seen[f.Path] = true
			known.records++
			s.name(f.Path)
		}
	}
}

// name remembers the path as a member of the object that holds it.
func (s *Sample) name(path string) {
	of := s.names[parent(path)]
	if of == nil {
		of = &tally{}
		s.names[parent(path)] = of
	}
	of.add(path)
}

func (f *facet) add(t Field) {
	f.count++
	f.kinds[t.Kind]++
	if t.Kind == Object || t.Kind == Array {
		return
	}
	f.values.add(short(t))
	f.lengths.add(utf8.RuneCountInString(t.Value))
	f.minus = f.minus || t.Kind == Number && t.Value[0] == '-'
}

// short is a value as it is counted: long ones by their beginning and length.
func short(t Field) string {
	if len(t.Value) <= maxShown {
		return string(t.Kind) + t.Value
	}
	return string(t.Kind) + t.Value[:maxShown] + strconv.Itoa(len(t.Value))
}

// The paths of what is not in the body. They begin with a space, which no path
// of a field does.
const (
	aside       = " "
	bodyTrait   = " body"
	keyTrait    = " key"
	headerTrait = " header:"
)

// traits are all that two records are compared by: the fields of the body, its
// format, the key's format, the headers.
func traits(r Record, whole bool) []Field {
	out := []Field{
		{Path: bodyTrait, Kind: Kind(formatOf(r.Body))},
		{Path: keyTrait, Kind: Kind(formatOf(r.Key))},
	}
	for _, h := range r.Headers {
		d := Decode(h.Value, maxShown+1)
		kind := String
		if h.Value == nil {
			kind = Null
		}
		out = append(out, Field{Path: headerTrait + h.Name, Kind: kind, Value: d.Raw})
		if len(out) > maxFields {
			break
		}
	}
	if whole {
		out = append(out, Fields(r.Body)...)
	}
	return out
}

// formatOf is the format of bytes by their first part.
func formatOf(b []byte) string {
	return Decode(b, 1024).Format
}
