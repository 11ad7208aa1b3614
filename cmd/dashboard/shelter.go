package main

import (
	"context"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/review"
	"github.com/unwedge/unwedge/skips"
	"github.com/unwedge/unwedge/sources"
)

// shelter keeps records that are parked where there is no dead-letter topic: as
// letters of the topic itself, at the place where they lie.
type shelter struct{ review.Keeper }

// Keep keeps the records of a skip. A second time changes nothing: their ids go
// by their place.
func (s shelter) Keep(ctx context.Context, skip skips.Skip, at time.Time) error {
	var letters []sources.DeadLetter
	for _, p := range skip.Parked {
		letters = append(letters, letterOf(skip, p.Record, at))
	}
	if err := review.Shelter(ctx, s, letters, at); err != nil {
		return fmt.Errorf("keep the records of skip %s: %w", skip.ID, err)
	}
	return nil
}

func letterOf(skip skips.Skip, r sources.Record, at time.Time) sources.DeadLetter {
	return sources.DeadLetter{
		Source: skip.Line.Source, Queue: r.Topic, Place: sources.Place{TopicID: skip.TopicID, Partition: r.Partition, Offset: r.Offset},
		Key: r.Key, Body: r.Body, Headers: r.Headers, Timestamp: r.Timestamp, DeadAt: at,
		Origin:     sources.Origin{Queue: r.Topic, Partition: &r.Partition, Offset: &r.Offset, Group: skip.Line.Group, Timestamp: r.Timestamp},
		Reason:     sources.Reason{Message: "parked and skipped: group " + skip.Line.Group + " stood at it"},
		Convention: "unwedge-parked",
	}
}
