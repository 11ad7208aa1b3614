package review

import (
	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// What an edit changes of a letter.
const (
	ChangedValue  = "value"
	ChangedKey    = "key"
	ChangedHeader = "header"
	ChangedOrder  = "order of the headers"
)

// Change is one thing that an edit changes of a letter. Of a value that is not
// JSON it has the bytes from shortly before the first that differs.
type Change struct {
	What     string   // ChangedValue, …
	Path     string   // JSON pointer in the value, name of a header; "" for the whole
	At       int      // where in a value that is not JSON Old and New begin, in bytes
	Old, New Replaced // not there: Is is false
}

// around is how much is shown of a value before the first byte that differs.
const around = 60

// Changes are what an edit made of a letter, at most so many, and whether these
// are all. Neither letter is changed.
func Changes(was, is sources.DeadLetter, most int) (list []Change, all bool) {
	list, all = valueChanges(was.Body, is.Body, most)
	if old, now := was.RedriveKey(), is.RedriveKey(); !sameBytes(old, now) {
		list = append(list, Change{What: ChangedKey, Old: Replaced{true, old}, New: Replaced{true, now}})
	}
	list = append(list, headerChanges(was.Headers, is.Headers)...)
	return list[:min(most, len(list))], all && len(list) <= most
}

func valueChanges(old, now []byte, most int) ([]Change, bool) {
	if sameBytes(old, now) {
		return nil, true
	}
	if places, all, ok := payload.Changes(old, now, most); ok {
		list := make([]Change, len(places))
		for i, p := range places {
			list[i] = Change{What: ChangedValue, Path: p.Path, Old: Replaced{p.Old != nil, p.Old}, New: Replaced{p.New != nil, p.New}}
		}
		return list, all
	}
	at := max(0, differsAt(old, now)-around)
	return []Change{{What: ChangedValue, At: at, Old: Replaced{true, from(old, at)}, New: Replaced{true, from(now, at)}}}, true
}

func from(b []byte, at int) []byte {
	if b == nil {
		return nil
	}
	return b[min(at, len(b)):]
}

func differsAt(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// headerChanges pairs what is gone of a name with what is new of it.
func headerChanges(old, now []sources.Header) []Change {
	gone, fresh := minus(old, now), minus(now, old)
	if len(gone) == 0 && len(fresh) == 0 {
		for i := range old {
			if textOfHeader(old[i]) != textOfHeader(now[i]) {
				return []Change{{What: ChangedOrder}}
			}
		}
		return nil
	}
	var list []Change
	waiting := map[string][]sources.Header{}
	for _, h := range fresh {
		waiting[h.Name] = append(waiting[h.Name], h)
	}
	for _, h := range gone {
		c := Change{What: ChangedHeader, Path: h.Name, Old: Replaced{true, h.Value}}
		if next := waiting[h.Name]; len(next) > 0 {
			c.New, waiting[h.Name] = Replaced{true, next[0].Value}, next[1:]
		}
		list = append(list, c)
	}
	for _, h := range fresh {
		if next := waiting[h.Name]; len(next) > 0 {
			list = append(list, Change{What: ChangedHeader, Path: h.Name, New: Replaced{true, next[0].Value}})
			waiting[h.Name] = next[1:]
		}
	}
	return list
}

// minus are the headers that are not among others, as often as they are more.
func minus(headers, others []sources.Header) []sources.Header {
	counts := headerCounts{}
	for _, h := range others {
		counts.add(h)
	}
	var left []sources.Header
	for _, h := range headers {
		if !counts.take(h) {
			left = append(left, h)
		}
	}
	return left
}
