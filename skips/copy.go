package skips

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/unwedge/unwedge/sources"
)

// The headers that a parked record carries beside its own: by them the
// collector knows where it came from. They are dropped when it is redriven.
const (
	HeaderTopic     = "unwedge-parked-topic"
	HeaderPartition = "unwedge-parked-partition"
	HeaderOffset    = "unwedge-parked-offset"
	HeaderGroup     = "unwedge-parked-group"
	HeaderTimestamp = "unwedge-parked-timestamp" // milliseconds since 1970
	HeaderReason    = "unwedge-parked-reason"
)

// parcel is the copy of a record: its bytes, and where it came from behind
// them.
func (s Skip) parcel(p Parked) sources.Parcel {
	r := p.Record
	add := func(name, value string) sources.Header { return sources.Header{Name: name, Value: []byte(value)} }
	headers := slices.Concat(r.Headers, []sources.Header{
		add(HeaderTopic, r.Topic), add(HeaderPartition, strconv.Itoa(int(r.Partition))), add(HeaderOffset, strconv.FormatInt(r.Offset, 10)),
		add(HeaderGroup, s.Line.Group), add(HeaderReason, "parked and skipped: group "+s.Line.Group+" stood at it"),
	})
	if !r.Timestamp.IsZero() {
		headers = append(headers, add(HeaderTimestamp, strconv.FormatInt(r.Timestamp.UnixMilli(), 10)))
	}
	return sources.Parcel{Item: strconv.FormatInt(r.Offset, 10), Target: sources.Target{Queue: s.Queue}, Key: r.Key, Body: r.Body, Headers: headers}
}

// pack makes the exact bytes of the copies.
func (s *Skip) pack(ctx context.Context, source Parking) error {
	var parcels []sources.Parcel
	for _, p := range s.Parked {
		parcels = append(parcels, s.parcel(p))
	}
	shipments, refused, err := source.PackParked(ctx, parcels)
	if err != nil {
		return fmt.Errorf("pack the copies for %s: %w", s.Queue, err)
	}
	packed := 0
	for _, one := range shipments {
		packed += len(one.Items)
	}
	for item, why := range refused {
		return &final{fmt.Errorf("the record at %s cannot be copied to %s: %w", item, s.Queue, why)}
	}
	if packed != len(s.Parked) {
		return fmt.Errorf("pack the copies for %s: %d of %d", s.Queue, packed, len(s.Parked))
	}
	s.Shipments = shipments
	return nil
}

// final is a failure that would be the same next time.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// ship sends the copies, or sends them again: the broker recognises a second
// copy of the same shipment.
func (s *Skip) ship(ctx context.Context, source Parking) error {
	for i := range s.Shipments {
		receipts, err := source.Ship(ctx, s.Shipments[i])
		s.Shipments[i].Repeated = true
		if err != nil {
			return fmt.Errorf("copy to %s: %w", s.Queue, err)
		}
		for _, r := range receipts {
			if err := s.receive(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Skip) receive(r sources.Receipt) error {
	if r.Err != nil {
		return &final{fmt.Errorf("the record at %s was not taken by %s: %w", r.Item, s.Queue, r.Err)}
	}
	for i := range s.Parked {
		if p := &s.Parked[i]; strconv.FormatInt(p.Record.Offset, 10) == r.Item {
			p.Queue, p.Partition, p.AtOffset = s.Queue, r.Partition, r.Offset
			return nil
		}
	}
	return fmt.Errorf("%s answered for a record that was not sent: %s", s.Queue, r.Item)
}

// verify reads the copies back, and holds them against what was shown.
func (s *Skip) verify(ctx context.Context, source Cluster) error {
	for _, p := range s.Parked {
		if !p.Copied() {
			return fmt.Errorf("the record at %d has no copy yet", p.Record.Offset)
		}
		list, err := source.Records(ctx, p.Queue, p.Partition, p.AtOffset, p.AtOffset+1, 1)
		if err != nil {
			return fmt.Errorf("read the copy at %s/%d/%d back: %w", p.Queue, p.Partition, p.AtOffset, err)
		}
		if len(list) == 0 {
			return fmt.Errorf("the copy at %s/%d/%d cannot be read back yet", p.Queue, p.Partition, p.AtOffset)
		}
		want := s.parcel(p)
		if !same(list[0], want.Key, want.Body, want.Headers) {
			return &final{fmt.Errorf("what lies at %s/%d/%d is not the record at %d", p.Queue, p.Partition, p.AtOffset, p.Record.Offset)}
		}
	}
	return nil
}

// unchanged tells whether the records are those that were shown.
func (s *Skip) unchanged(ctx context.Context, source Cluster) error {
	list, err := source.Records(ctx, s.Line.Topic, s.Line.Number, s.From, s.To, len(s.Parked)+1)
	if err != nil {
		return fmt.Errorf("read the records again: %w", err)
	}
	equal := slices.EqualFunc(list, s.Parked, func(r sources.Record, p Parked) bool {
		return r.Offset == p.Record.Offset && same(r, p.Record.Key, p.Record.Body, p.Record.Headers)
	})
	if !equal {
		return &final{errors.New("the records there are not those that were shown")}
	}
	return nil
}

// same compares bytes, and null with empty.
func same(r sources.Record, key, body []byte, headers []sources.Header) bool {
	return sameBytes(r.Key, key) && sameBytes(r.Body, body) && slices.EqualFunc(r.Headers, headers, func(a, b sources.Header) bool {
		return a.Name == b.Name && sameBytes(a.Value, b.Value)
	})
}

func sameBytes(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }
