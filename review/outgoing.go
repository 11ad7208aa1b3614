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
	dropped := map[string]bool{}
	for _, name := range p.Dropped {
		dropped[name] = true
	}
	for _, name := range p.Kept { // some of this name were dropped by the edit, not by a rule
		delete(dropped, name)
	}
	sent, _, err := depart(l, e, func(name string) bool { return dropped[name] }, from)
	return sent, err
}

// byRules tells which headers are dropped by their name.
func byRules(l sources.DeadLetter, drop []string) func(string) bool {
	return func(name string) bool {
		return name == LineageHeader || name == OriginalTimeHeader && l.Place.MessageID == "" ||
			slices.Contains(l.ErrorHeaders, name) || slices.Contains(drop, name)
	}
}

// depart makes a letter ready: what the edit wrote is sent, of the rest what is
// not dropped, byte for byte and in its order, and ours behind it.
func depart(l sources.DeadLetter, e *Edit, dropped func(name string) bool, from Lineage) (sources.DeadLetter, HeaderPlan, error) {
	sent, err := e.Apply(l)
	if err != nil {
		return sent, HeaderPlan{}, err
	}
	headers, err := e.headers(l)
	if err != nil {
		return sent, HeaderPlan{}, err
	}
	headers = slices.DeleteFunc(headers, func(h edited) bool { return !h.fresh && dropped(h.Name) })
	if n := len(headers); l.Place.MessageID != "" && n > maxAttributes {
		return sent, HeaderPlan{}, fmt.Errorf("a message of SQS has at most %d attributes, and this one would have %d", maxAttributes, n)
	}
	own := ownHeaders(l, len(headers), from)
	p := plannedHeaders(l.Headers, headers)
	for _, h := range own {
		p.Added = append(p.Added, h.Name)
	}
	sent.Headers = slices.Concat(plain(headers), own)
	sent.Key, sent.OriginalKey = sent.RedriveKey(), nil
	return sent, p, nil
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
