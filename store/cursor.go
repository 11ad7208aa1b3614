package store

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/unwedge/unwedge/review"
)

// A cursor names the last row of the page before: what sorts the list, none of
// which ever changes. Rows that come or go meanwhile move nothing.

// makeCursor makes the cursor of a list; the list's name keeps those of other
// lists out.
func makeCursor(list string, keys ...int64) string {
	text := list
	for _, k := range keys {
		text += fmt.Sprintf(" %d", k)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// readCursor reads the n keys of a cursor; none of an empty one.
func readCursor(list, cursor string, n int) ([]int64, error) {
	if cursor == "" {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != n+1 || fields[0] != list {
		return nil, review.ErrBadCursor
	}
	keys := make([]int64, n)
	for i := range keys {
		if _, err := fmt.Sscan(fields[i+1], &keys[i]); err != nil {
			return nil, review.ErrBadCursor
		}
	}
	return keys, nil
}
