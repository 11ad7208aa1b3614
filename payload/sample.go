package payload

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is what is compared of a record.
type Record struct {
	Offset  int64
	At      time.Time // its timestamp; zero: not known
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
	from    time.Time         // the earliest timestamp; zero: none has one
	to      time.Time         // the latest
}

// facet is what one field was like in the sample.
type facet struct {
	records int // that have it
	count   int // of its values
	most    int // in one record
	values  tally
	shapes  tally // of texts
	kinds   map[Kind]int
	lengths span // of scalar values, in characters
	numbers amounts
}

// amounts is what the numbers of a field were like.
type amounts struct {
	count    int
	largest  float64 // by its absolute value
	minus    bool    // some was negative
	zero     bool    // some was 0
	fraction bool    // some was no whole number
}

func (a *amounts) add(text string) {
	n, whole := amount(text)
	a.count++
	a.largest = max(a.largest, math.Abs(n))
	a.minus = a.minus || n < 0
	a.zero = a.zero || n == 0
	a.fraction = a.fraction || !whole
}

// amount is a number of JSON, infinite when it is too large for a machine, and
// whether it is written as a whole number.
func amount(text string) (float64, bool) {
	n, _ := strconv.ParseFloat(text, 64)
	return n, !strings.ContainsAny(text, ".eE")
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
// (Good and Turing): of an id every value is new, of a currency hardly any. Of
// 500 suspects one in a hundred would be new without being odd.
func (t *tally) settled() bool {
	return t.all > 1 && t.once*10 <= t.all && t.once <= 1+t.all/100
}

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
	s.date(r.At)
	seen := map[string]int{}
	for _, f := range traits(r, whole) {
		known := s.facets[f.Path]
		if known == nil {
			known = &facet{kinds: map[Kind]int{}}
			s.facets[f.Path] = known
		}
		known.add(f)
		seen[f.Path]++
		known.most = max(known.most, seen[f.Path])
		if seen[f.Path] == 1 {
			known.records++
			s.name(f.Path)
		}
	}
}

func (s *Sample) date(at time.Time) {
	if at.IsZero() {
		return
	}
	if s.from.IsZero() || at.Before(s.from) {
		s.from = at
	}
	if at.After(s.to) {
		s.to = at
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
	if !t.scalar() {
		return
	}
	f.values.add(short(t))
	f.lengths.add(utf8.RuneCountInString(t.Value))
	switch t.Kind {
	case Number:
		f.numbers.add(t.Value)
	case String:
		f.shapes.add(shapeOf(t.Value))
	}
}

// short is a value as it is counted: long ones by their beginning and length.
func short(t Field) string {
	if len(t.Value) <= maxShown {
		return string(t.Kind) + t.Value
	}
	return string(t.Kind) + t.Value[:maxShown] + strconv.Itoa(len(t.Value))
}
