package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
	"github.com/unwedge/unwedge/store"
)

// TestARecordWithoutADeadLetterTopicIsALetterOfOurs: at its own place, with its
// exact bytes, once, however often it is kept.
func TestARecordWithoutADeadLetterTopicIsALetterOfOurs(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "unwedge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	skip := skips.Skip{
		ID: "sk_1", TopicID: "id-1", Line: sources.Partition{Source: "payments", Group: "retry", Topic: "payment.retry", Number: 3},
		Parked: []skips.Parked{{Record: sources.Record{
			Topic: "payment.retry", Partition: 3, Offset: 118204, Timestamp: time.Now(), Key: nil, Body: []byte{0xff, 0},
			Headers: []sources.Header{{Name: "h", Value: nil}, {Name: "h", Value: []byte{}}},
		}}},
	}
	for range 2 {
		if err := (shelter{db}).Keep(t.Context(), skip, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	page, err := db.Letters(t.Context(), review.Filter{}, 10, "")
	if err != nil || len(page.Letters) != 1 {
		t.Fatalf("%d letters, %v", len(page.Letters), err)
	}
	l, err := db.Letter(t.Context(), page.Letters[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case l.Queue != "payment.retry" || l.Place.Offset != 118204 || *l.Origin.Offset != 118204 || l.Origin.Group != "retry":
		t.Errorf("it lies at %+v and came from %+v", l.Place, l.Origin)
	case l.Key != nil || string(l.Body) != "\xff\x00" || len(l.Headers) != 2 || l.Headers[0].Value != nil || l.Headers[1].Value == nil:
		t.Errorf("other bytes: %+v", l.DeadLetter)
	case l.Status != review.Open || !l.BodyKept:
		t.Errorf("it is %s", l.Status)
	}
}
