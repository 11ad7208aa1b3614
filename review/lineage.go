package review

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// LineageHeader is the header or attribute that a redriven letter carries:
	// by it the letter is known again when it comes back.
	LineageHeader = "unwedge-redrive"
	// OriginalTimeHeader has the timestamp of the record that was redriven, in
	// milliseconds since 1970: the copy has a timestamp of its own, by which
	// retention and the broker's own deduplication go.
	OriginalTimeHeader = "unwedge-original-timestamp"
)

// maxAttributes is how many attributes an SQS message may have (SQS developer
// guide, message metadata). The eleventh would have the send refused, so ours
// is left out and theirs are kept.
const maxAttributes = 10

// Lineage names the life before: the item of the ledger that sent a letter, and
// the letter that was sent.
type Lineage struct {
	Item   string
	Letter string
}

// String is the lineage as it stands in the header.
func (l Lineage) String() string { return l.Item + " " + l.Letter }

// LineageOf reads the lineage of a letter that we have sent before, as far as
// its headers still have it.
func LineageOf(headers []sources.Header) (Lineage, bool) {
	for _, h := range slices.Backward(headers) {
		if h.Name != LineageHeader {
			continue
		}
		item, letter, ok := strings.Cut(string(h.Value), " ")
		return Lineage{item, letter}, ok && item != "" && letter != ""
	}
	return Lineage{}, false
}

// HeaderPlan says which headers of a letter go, which stay and which are new.
// Names stand in wire order, as often as they occur.
type HeaderPlan struct {
	Kept, Dropped, Added []string
}

// PlanHeaders drops the error headers of the convention, what the configuration
// names, and our own of an earlier redrive, which is replaced.
func PlanHeaders(l sources.DeadLetter, drop []string) HeaderPlan {
	var p HeaderPlan
	for _, h := range l.Headers {
		switch {
		case h.Name == LineageHeader, h.Name == OriginalTimeHeader && l.Place.MessageID == "",
			slices.Contains(l.ErrorHeaders, h.Name), slices.Contains(drop, h.Name):
			p.Dropped = append(p.Dropped, h.Name)
		default:
			p.Kept = append(p.Kept, h.Name)
		}
	}
	if l.Place.MessageID == "" {
		p.Added = append(p.Added, LineageHeader)
		if !originalTime(l).IsZero() {
			p.Added = append(p.Added, OriginalTimeHeader)
		}
	} else if len(p.Kept) < maxAttributes {
		p.Added = append(p.Added, LineageHeader)
	}
	return p
}

// SentHeaders are the headers that a letter goes back with: those that the plan
// did not drop, byte for byte and in their order, and ours behind them.
func SentHeaders(l sources.DeadLetter, dropped []string, from Lineage) []sources.Header {
	kept := make([]sources.Header, 0, len(l.Headers)+2)
	for _, h := range l.Headers {
		if !slices.Contains(dropped, h.Name) {
			kept = append(kept, h)
		}
	}
	ours := sources.Header{Name: LineageHeader, Value: []byte(from.String())}
	if l.Place.MessageID != "" {
		if len(kept) < maxAttributes {
			ours.Type = "String"
			kept = append(kept, ours)
		}
		return kept
	}
	kept = append(kept, ours)
	if at := originalTime(l); !at.IsZero() {
		kept = append(kept, sources.Header{Name: OriginalTimeHeader, Value: strconv.AppendInt(nil, at.UnixMilli(), 10)})
	}
	return kept
}

// SentKey is the key that a letter goes back with: the one that the record had
// before a convention put its own data there.
func SentKey(l sources.DeadLetter) []byte {
	switch {
	case l.OriginalKey == nil:
		return l.Key
	case len(l.OriginalKey) == 0:
		return nil
	}
	return l.OriginalKey
}

// originalTime is the timestamp of the original record where a convention or an
// earlier redrive recorded it, else of the dead letter.
func originalTime(l sources.DeadLetter) time.Time {
	for _, h := range slices.Backward(l.Headers) {
		if h.Name != OriginalTimeHeader {
			continue
		}
		if ms, err := strconv.ParseInt(string(h.Value), 10, 64); err == nil {
			return time.UnixMilli(ms)
		}
	}
	if !l.Origin.Timestamp.IsZero() {
		return l.Origin.Timestamp
	}
	return l.Timestamp
}
