package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/unwedge/unwedge/alerts"
	"github.com/unwedge/unwedge/sources"
)

func TestReadingsAreKeptAndForgotten(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "unwedge.db"))
	var all []alerts.Chunk
	for i := range 10 {
		at := night.Add(time.Duration(i) * 5 * time.Minute)
		all = append(all, alerts.Chunk{Source: "payments", Group: "g", Protocol: sources.Consumer, Begins: at, Ends: at.Add(4 * time.Minute), Packed: []byte{byte(i), 0xff}})
	}
	for range 2 { // written again after a crash, they are the same
		if err := s.KeepChunks(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	count := func(from, to time.Time) (n int, first byte) {
		err := s.Chunks(t.Context(), "payments", "g", from, to, func(c alerts.Chunk) error {
			if n == 0 {
				first = c.Packed[0]
			}
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, first
	}
	if n, _ := count(time.Time{}, time.Time{}); n != 10 {
		t.Errorf("%d chunks", n)
	}
	if n, first := count(night.Add(11*time.Minute), night.Add(21*time.Minute)); n != 3 || first != 2 {
		t.Errorf("of ten minutes: %d from %d on", n, first)
	}
	for _, left := range []int{7, 6} { // at most so many at once
		if err := s.ForgetChunks(t.Context(), night.Add(20*time.Minute), 3); err != nil {
			t.Fatal(err)
		}
		if n, _ := count(time.Time{}, time.Time{}); n != left {
			t.Errorf("%d are left, want %d", n, left)
		}
	}
}
