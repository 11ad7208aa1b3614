package review

import (
	"encoding/json"

	"github.com/unwedge/unwedge/sources"
)

// storedEdit is an edit as it is written down. The names of headers are bytes:
// on Kafka they may be no text, and JSON would put other characters in.
type storedEdit struct {
	Value   Replaced
	Key     Replaced
	Headers *[]storedHeader
	Patch   []byte
	Set     []storedHeader
	Drop    [][]byte
}

type storedHeader struct {
	Name  []byte
	Value []byte
	Type  string
}

// MarshalJSON writes an edit such that it is read again as exactly the same.
func (e *Edit) MarshalJSON() ([]byte, error) {
	s := storedEdit{Value: e.Value, Key: e.Key, Patch: e.Patch, Set: stored(e.SetHeaders)}
	if e.Headers != nil {
		list := stored(*e.Headers)
		s.Headers = &list
	}
	for _, name := range e.DropHeaders {
		s.Drop = append(s.Drop, []byte(name))
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Edit) UnmarshalJSON(text []byte) error {
	var s storedEdit
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*e = Edit{Value: s.Value, Key: s.Key, Patch: s.Patch, SetHeaders: restored(s.Set)}
	if s.Headers != nil {
		list := restored(*s.Headers)
		e.Headers = &list
	}
	for _, name := range s.Drop {
		e.DropHeaders = append(e.DropHeaders, string(name))
	}
	return nil
}

// stored is not nil when the headers are not: a list of none is not no list.
func stored(headers []sources.Header) []storedHeader {
	if headers == nil {
		return nil
	}
	list := make([]storedHeader, len(headers))
	for i, h := range headers {
		list[i] = storedHeader{[]byte(h.Name), h.Value, h.Type}
	}
	return list
}

func restored(headers []storedHeader) []sources.Header {
	if headers == nil {
		return nil
	}
	list := make([]sources.Header, len(headers))
	for i, h := range headers {
		list[i] = sources.Header{Name: string(h.Name), Value: h.Value, Type: h.Type}
	}
	return list
}
