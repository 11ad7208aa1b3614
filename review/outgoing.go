package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unwedge/unwedge/sources"
)

// maxAttributes is how many attributes an SQS message may have (SQS developer
// guide, message metadata). The eleventh would have the send refused, so ours
// is left out and theirs are kept.
const maxAttributes = 10

// HeaderPlan says which headers of a letter go, which stay and which are new.
// Names stand in wire order, as often as they occur. A header whose value an
// edit changes is among those dropped and among those added.
type HeaderPlan struct {
	Kept, Dropped, Added []string
}

// PlanHeaders drops the error headers of the convention, what the configuration
// names, and our own of an earlier redrive, which is replaced.
func PlanHeaders(l sources.DeadLetter, drop []string) HeaderPlan {
	_, p, _ := depart(l, nil, byRules(l, drop), Lineage{}) // without an edit nothing can fail
	return p
}

// Outgoing is a letter as it would be sent, edited and with the headers that it
// goes back with, and what becomes of its headers. Drop are the names that the
// configuration drops. It is for a plan: the lineage in it is a stand-in of the
// size of a real one. The error says why the letter cannot be edited so.
func Outgoing(l sources.DeadLetter, e *Edit, drop []string) (sources.DeadLetter, HeaderPlan, error) {
	return depart(l, e, byRules(l, drop), standIn)
}

// standIn is a lineage of the size of a real one.
var standIn = Lineage{Item: "rd_00000000-0000-0000-0000-000000000000-1000000", Letter: "dl_" + strings.Repeat("a", 24)}

// AsPlanned is a letter as it is sent: by the edit and by what its plan says of
// its headers, whatever the rules have become meanwhile.
func AsPlanned(l sources.DeadLetter, e *Edit, p HeaderPlan, from Lineage) (sources.DeadLetter, error) {
	sent, _, _, err := pack(l, e, func(name string) bool {
		// Of a name that is kept too some were dropped by the edit, not by a rule.
		return slices.Contains(p.Dropped, name) && !slices.Contains(p.Kept, name)
	}, from)
	return sent, err
}

// byRules tells which headers are dropped by their name.
func byRules(l sources.DeadLetter, drop []string) func(string) bool {
	return func(name string) bool {
		return name == LineageHeader || name == OriginalTimeHeader && l.Place.MessageID == "" ||
			slices.Contains(l.ErrorHeaders, name) || slices.Contains(drop, name)
	}
}

// depart makes a letter ready, and tells what becomes of its headers.
func depart(l sources.DeadLetter, e *Edit, dropped func(name string) bool, from Lineage) (sources.DeadLetter, HeaderPlan, error) {
	sent, theirs, own, err := pack(l, e, dropped, from)
	if err != nil {
		return sent, HeaderPlan{}, err
	}
	p := plannedHeaders(l.Headers, theirs)
	for _, h := range own {
		p.Added = append(p.Added, h.Name)
	}
	return sent, p, nil
}

// pack makes a letter ready: what the edit wrote is sent, of the rest what is
// not dropped, byte for byte and in its order, and our own headers behind theirs.
func pack(l sources.DeadLetter, e *Edit, dropped func(name string) bool, from Lineage) (sent sources.DeadLetter, theirs []edited, own []sources.Header, err error) {
	if sent, err = e.Apply(l); err != nil {
		return sent, nil, nil, err
	}
	if theirs, err = e.headers(l); err != nil {
		return sent, nil, nil, err
	}
	theirs = slices.DeleteFunc(theirs, func(h edited) bool { return !h.fresh && dropped(h.Name) })
	if n := len(theirs); l.Place.MessageID != "" && n > maxAttributes {
		return sent, nil, nil, fmt.Errorf("a message of SQS has at most %d attributes, and this one would have %d", maxAttributes, n)
	}
	own = ownHeaders(l, len(theirs), from)
	sent.Headers = slices.Concat(plain(theirs), own)
	sent.Key, sent.OriginalKey = sent.RedriveKey(), nil
	return sent, theirs, own, nil
}

// plannedHeaders compares the headers of a letter with those that go.
func plannedHeaders(were []sources.Header, left []edited) HeaderPlan {
	var p HeaderPlan
	kept := headerCounts{}
	for _, h := range left {
		if h.fresh {
			p.Added = append(p.Added, h.Name)
			continue
		}
		p.Kept = append(p.Kept, h.Name)
		kept.add(h.Header)
	}
	for _, was := range were {
		if !kept.take(was) {
			p.Dropped = append(p.Dropped, was.Name)
		}
	}
	return p
}

// ownHeaders are those that we write behind the others, of which there are n.
func ownHeaders(l sources.DeadLetter, n int, from Lineage) []sources.Header {
	lineage := sources.Header{Name: LineageHeader, Value: []byte(from.String())}
	if l.Place.MessageID != "" {
		if n >= maxAttributes {
			return nil
		}
		lineage.Type = "String"
		return []sources.Header{lineage}
	}
	own := []sources.Header{lineage}
	if at := OriginalTime(l); !at.IsZero() {
		own = append(own, sources.Header{Name: OriginalTimeHeader, Value: strconv.AppendInt(nil, at.UnixMilli(), 10)})
	}
	return own
}
