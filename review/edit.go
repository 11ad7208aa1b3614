package review

import (
	"fmt"
	"slices"

	"github.com/unwedge/unwedge/payload"
	"github.com/unwedge/unwedge/sources"
)

// MaxEdit is how many bytes a value, a key, or all headers together may have
// after an edit.
const MaxEdit = 16 << 20

// Edit is how letters are changed before they are sent. The letter itself stays
// as it was found. Value, Key and Headers replace those of a single letter;
// Patch, SetHeaders and DropHeaders change each of many.
type Edit struct {
	Value   Replaced
	Key     Replaced
	Headers *[]sources.Header // the whole list, in wire order; nil: as they are

	Patch []byte // JSON Patch (RFC 6902) of the value; nil: none
	// SetHeaders are headers of which there is exactly one after the edit: in the
	// place of the first of that name, else behind all others.
	SetHeaders  []sources.Header
	DropHeaders []string // names; all headers of such a name go
}

// Replaced are bytes that stand in place of others. Null bytes are nil.
type Replaced struct {
	Is    bool
	Bytes []byte
}

// IsEmpty tells whether the edit changes nothing. That of nil is true.
func (e *Edit) IsEmpty() bool {
	return e == nil || !e.single() && e.Patch == nil && len(e.SetHeaders) == 0 && len(e.DropHeaders) == 0
}

// single tells whether the edit is one of a single letter.
func (e *Edit) single() bool { return e.Value.Is || e.Key.Is || e.Headers != nil }

// Validate is an error, ErrInvalid, when the edit makes no sense for so many
// letters: it changes nothing, replaces the value of several by one, contradicts
// itself, or sets a header that is ours.
func (e *Edit) Validate(letters int) error {
	switch {
	case e == nil:
		return nil
	case e.IsEmpty():
		return fmt.Errorf("%w: the edit changes nothing", ErrInvalid)
	case e.single() && letters > 1:
		return fmt.Errorf("%w: value, key and the whole list of headers can be replaced of one letter only, and these are %d; "+
			"use a JSON patch, and headers to set and to drop", ErrInvalid, letters)
	case e.Value.Is && e.Patch != nil:
		return fmt.Errorf("%w: the value is to be replaced and patched at the same time", ErrInvalid)
	case e.Headers != nil && len(e.SetHeaders)+len(e.DropHeaders) > 0:
		return fmt.Errorf("%w: a whole list of headers leaves nothing to set or to drop", ErrInvalid)
	case len(e.Value.Bytes) > MaxEdit, len(e.Key.Bytes) > MaxEdit:
		return fmt.Errorf("%w: an edit may have %s bytes", ErrInvalid, payload.Count(MaxEdit))
	}
	if e.Patch != nil {
		if _, err := payload.ParsePatch(e.Patch); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return e.validHeaders()
}

func (e *Edit) validHeaders() error {
	set := map[string]bool{}
	for _, h := range e.SetHeaders {
		switch {
		case ours(h.Name):
			return fmt.Errorf("%w: header %s is set by Unwedge itself", ErrInvalid, h.Name)
		case set[h.Name]:
			return fmt.Errorf("%w: header %s is set twice", ErrInvalid, h.Name)
		case slices.Contains(e.DropHeaders, h.Name):
			return fmt.Errorf("%w: header %s is to be set and dropped at the same time", ErrInvalid, h.Name)
		}
		set[h.Name] = true
	}
	return nil
}

// Apply is a letter as it is after the edit; the letter itself is not changed.
// Its headers are those of the edit, before any is dropped for the redrive. It
// depends on nothing but the letter and the edit, so that a plan and the sending
// see the same. The error says why this letter cannot be edited so. The edit nil
// changes nothing.
func (e *Edit) Apply(l sources.DeadLetter) (sources.DeadLetter, error) {
	if e == nil {
		return l, nil
	}
	var err error
	if e.Value.Is {
		l.Body, l.NotTheOriginal = e.Value.Bytes, false
	}
	if e.Patch != nil {
		if l.Body, err = e.patched(l.Body); err != nil {
			return l, err
		}
	}
	if e.Key.Is {
		l = rekeyed(l, e.Key.Bytes)
	}
	headers, err := e.headers(l)
	if err != nil {
		return l, err
	}
	l.Headers = plain(headers)
	if l.Place.MessageID != "" {
		err = e.fitsSQS(l.Body, headers)
	}
	return l, err
}

func (e *Edit) patched(body []byte) ([]byte, error) {
	p, err := payload.ParsePatch(e.Patch)
	if err != nil {
		return nil, err
	}
	return p.Apply(body)
}

// rekeyed is a letter with another key. It belongs to the partition of that one
// then: the one that it came from was that of its old key.
func rekeyed(l sources.DeadLetter, key []byte) sources.DeadLetter {
	if !sameBytes(l.RedriveKey(), key) {
		l.Origin.Partition = nil
	}
	l.Key, l.OriginalKey = key, nil
	return l
}

// sameBytes tells null apart from empty.
func sameBytes(a, b []byte) bool {
	return (a == nil) == (b == nil) && string(a) == string(b)
}
