package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/unwedge/unwedge/sources"
)

// errCut is a stored list that ends in the middle.
var errCut = errors.New("a stored list is damaged")

// bytesOrNull reads a column whose null is not the same as empty.
type bytesOrNull []byte

// Scan takes a BYTEA column.
func (b *bytesOrNull) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = append(make([]byte, 0, len(v)), v...)
	case string:
		*b = append(make([]byte, 0, len(v)), v...)
	default:
		return fmt.Errorf("bytes are stored as %T", column)
	}
	return nil
}

// appendBytes appends a value with its length; null has a length of its own.
func appendBytes(b, value []byte) []byte {
	if value == nil {
		return binary.AppendUvarint(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(value))+1), value...)
}

func cutBytes(b []byte) (value, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size)+1 {
		return nil, nil, errCut
	}
	if n == 0 {
		return nil, b[size:], nil
	}
	end := size + int(n) - 1
	return b[size:end:end], b[end:], nil
}

// encodeList writes values one after the other; the order and null are kept.
func encodeList(values ...[]byte) []byte {
	b := []byte{}
	for _, v := range values {
		b = appendBytes(b, v)
	}
	return b
}

func decodeList(b []byte) ([][]byte, error) {
	var all [][]byte
	for len(b) > 0 {
		value, rest, err := cutBytes(b)
		if err != nil {
			return nil, err
		}
		all, b = append(all, value), rest
	}
	return all, nil
}

func encodeNames(names []string) []byte {
	b := []byte{}
	for _, n := range names {
		b = appendBytes(b, []byte(n))
	}
	return b
}

func decodeNames(b []byte) ([]string, error) {
	list, err := decodeList(b)
	var names []string
	for _, n := range list {
		names = append(names, string(n))
	}
	return names, err
}

// encodeHeaders keeps order, repetition, type, and null apart from empty.
func encodeHeaders(headers []sources.Header) []byte {
	b := []byte{}
	for _, h := range headers {
		b = appendBytes(appendBytes(appendBytes(b, []byte(h.Name)), []byte(h.Type)), h.Value)
	}
	return b
}

func decodeHeaders(b []byte) ([]sources.Header, error) {
	if len(b) == 0 {
		return nil, nil
	}
	headers := make([]sources.Header, 0, 8)
	for len(b) > 0 {
		var part [3][]byte
		var err error
		for i := range part {
			if part[i], b, err = cutBytes(b); err != nil {
				return nil, errCut
			}
		}
		headers = append(headers, sources.Header{Name: string(part[0]), Type: string(part[1]), Value: part[2]})
	}
	return headers, nil
}

func encodeMap(m map[string]string) []byte {
	b := []byte{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = appendBytes(appendBytes(b, []byte(k)), []byte(m[k]))
	}
	return b
}

func decodeMap(b []byte) (map[string]string, error) {
	list, err := decodeList(b)
	if err != nil || len(list)%2 != 0 {
		return nil, errors.Join(errCut, err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for kv := range slices.Chunk(list, 2) {
		m[string(kv[0])] = string(kv[1])
	}
	return m, nil
}

// optional is a number that may not be known.
func optional[N ~int | ~int32 | ~int64](n *N) any {
	if n == nil {
		return nil
	}
	return int64(*n)
}
