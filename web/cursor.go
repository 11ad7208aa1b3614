package web

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

// place is where a page of a list that is held in memory ended: the key of
// its last row. Rows are ordered by key, so that a page goes on after the row
// that the last one ended with, whichever others came or went.
type place [3]string

func (p place) compare(o place) int { return slices.Compare(p[:], o[:]) }

// cursor is the place as a client carries it.
func (p place) cursor() string {
	text, _ := json.Marshal(p) // strings always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

// cursorOf reads the place from a cursor; none is the place before all rows.
func (q *query) place() place {
	given := q.one("cursor")
	var p place
	if given == "" {
		return p
	}
	text, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil || json.Unmarshal(text, &p) != nil || p.cursor() != given {
		q.complain("cursor: %s is not one that this list gave out", quoted(given))
	}
	return p
}

// after is the page of rows that follows a place, and the cursor of the next
// page; "" at the end. It orders the rows by their keys.
func after[T any](rows []T, key func(T) place, from place, limit int) (page []T, next string) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b T) int { return key(a).compare(key(b)) })
	if from != (place{}) {
		at, found := slices.BinarySearchFunc(rows, from, func(r T, p place) int { return key(r).compare(p) })
		for found && at < len(rows) && key(rows[at]) == from {
			at++
		}
		rows = rows[at:]
	}
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], key(rows[limit-1]).cursor()
}

func keysOf[K cmp.Ordered, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }
