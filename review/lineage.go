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

// ours tells whether a header is one that we write ourselves.
func ours(name string) bool { return name == LineageHeader || name == OriginalTimeHeader }

// OriginalTime is the timestamp of the original record where a convention or an
// earlier redrive recorded it, else of the dead letter. Zero: not known.
func OriginalTime(l sources.DeadLetter) time.Time {
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
