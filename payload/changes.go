package payload

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// Change is one place at which two JSON values differ, by its JSON pointer. Old
// and New are the bytes there; nil where nothing is.
type Change struct {
	Path     string
	Old, New []byte
}

// Changes are the places at which two JSON values differ, at most so many, and
// whether these are all. ok is false when one of them is not JSON, or when what
// stands before their JSON is not the same.
func Changes(old, now []byte, most int) (list []Change, all, ok bool) {
	head := HeadOfJSON(old)
	if head != HeadOfJSON(now) || !bytes.Equal(old[:head], now[:head]) {
		return nil, false, false
	}
	old, now = old[head:], now[head:]
	if !json.Valid(old) || !json.Valid(now) {
		return nil, false, false
	}
	c := comparing{most: most}
	c.value(nil, trimSpace(old), trimSpace(now))
	if len(c.list) == 0 && !bytes.Equal(old, now) {
		c.add(nil, old, now) // the spaces around it
	}
	return c.list[:min(most, len(c.list))], len(c.list) <= most, true
}

// comparing goes through two values side by side, until it has found one change
// more than are wanted.
type comparing struct {
	list []Change
	most int
}

func (c *comparing) full() bool { return len(c.list) > c.most }

func (c *comparing) add(at jsonPointer, old, now []byte) {
	c.list = append(c.list, Change{at.String(), old, now})
}

// value compares two values. Where only order or spaces differ they are one
// change as a whole.
func (c *comparing) value(at jsonPointer, old, now []byte) {
	if c.full() || bytes.Equal(old, now) {
		return
	}
	before := len(c.list)
	kind := kindOf(old)
	switch {
	case kind != kindOf(now):
	case kind == Object:
		c.objects(at, byName(old), byName(now), namesIn(old, now))
	case kind == Array:
		c.arrays(at, listOf(old), listOf(now))
	}
	if len(c.list) == before {
		c.add(at, old, now)
	}
}

// namesIn are the names of both objects, those of the first one before those
// that only the other has.
func namesIn(objects ...[]byte) (names []string) {
	seen := map[string]bool{}
	for _, o := range objects {
		members(o, func(name, _ []byte) bool {
			if n := unquote(name); !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
			return true
		})
	}
	return names
}

// objects compares members by name; of a name that occurs more than once, the
// first with the first, and so on.
func (c *comparing) objects(at jsonPointer, old, now map[string][][]byte, names []string) {
	for _, name := range names {
		c.pairs(old[name], now[name], func(int) jsonPointer { return inside(at, name) })
	}
}

// arrays compares elements by their number, but for those that are the same at
// the beginning and at the end: one that was taken out is one change.
func (c *comparing) arrays(at jsonPointer, old, now [][]byte) {
	same := 0
	for same < min(len(old), len(now)) && bytes.Equal(old[same], now[same]) {
		same++
	}
	old, now = old[same:], now[same:]
	for len(old) > 0 && len(now) > 0 && bytes.Equal(old[len(old)-1], now[len(now)-1]) {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	c.pairs(old, now, func(n int) jsonPointer { return inside(at, strconv.Itoa(same+n)) })
}

// pairs compares values one by one, and takes those that are left over as gone
// or new.
func (c *comparing) pairs(old, now [][]byte, path func(n int) jsonPointer) {
	for n := 0; n < max(len(old), len(now)) && !c.full(); n++ {
		switch {
		case n >= len(now):
			c.add(path(n), old[n], nil)
		case n >= len(old):
			c.add(path(n), nil, now[n])
		default:
			c.value(path(n), old[n], now[n])
		}
	}
}

func inside(at jsonPointer, token string) jsonPointer { return append(slices.Clone(at), token) }
