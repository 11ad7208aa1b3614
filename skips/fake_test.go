package skips

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/unwedge/unwedge/sources"
)

var (
	night = time.Date(2026, 9, 9, 21, 22, 4, 0, time.UTC)
	line  = sources.Partition{Source: "payments", Group: "retry", Topic: "payment.retry", Number: 3}
)

// yard is a cluster with one line, a dead-letter queue, and a book of skips that
// outlives a crash.
type yard struct {
	position int64
	end      int64
	members  []sources.Member
	groupErr error
	log      []sources.Record
	parked   []sources.Record
	queue    string
	shipErr  error // of the next send, whose copy arrives all the same
	commits  []int64
	onShip   func()
	onCommit func() error

	skips map[string][]byte
	deeds []string
	full  int // saves until the disk is full; 0: never
	alone time.Time
}

var errFull = errors.New("disk full")

func newYard() *yard {
	y := &yard{position: 100, end: 110, queue: "payment.retry.dlq", skips: map[string][]byte{}, members: []sources.Member{{ID: "m-1", ClientID: "retry-0"}}}
	for i := range int64(10) {
		y.log = append(y.log, sources.Record{
			Topic: line.Topic, Partition: line.Number, Offset: 100 + i, Timestamp: night, Key: nil, Body: []byte{},
			Headers: []sources.Header{{Name: "h\xff", Value: nil}, {Name: "h\xff", Value: []byte{}}},
		})
	}
	return y
}

func (y *yard) Line(context.Context, sources.Partition) (sources.Group, sources.Lag, error) {
	g := sources.Group{Source: line.Source, Name: line.Group, State: "Stable", Members: y.members, MembersKnown: true, Err: y.groupErr}
	return g, sources.Lag{Partition: line, Position: y.position, End: y.end, StableEnd: y.end, TopicID: "id-1"}, nil
}

func (y *yard) Records(_ context.Context, topic string, _ int32, from, to int64, max int) ([]sources.Record, error) {
	list := y.log
	if topic == y.queue {
		list = y.parked
	}
	var out []sources.Record
	for _, r := range list {
		if r.Offset >= from && r.Offset < to && len(out) < max {
			out = append(out, r)
		}
	}
	return out, nil
}

func (y *yard) Commit(_ context.Context, _ sources.Partition, offset int64) error {
	if y.onCommit != nil {
		if err := y.onCommit(); err != nil {
			return err
		}
	}
	if len(y.members) > 0 {
		return sources.ErrHasMembers
	}
	y.commits = append(y.commits, offset)
	y.position = offset
	return nil
}

func (y *yard) ParkingQueue(context.Context, string) (string, error) { return y.queue, nil }

func (y *yard) PackParked(_ context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	var s sources.Shipment
	for _, p := range parcels {
		s.Items = append(s.Items, p.Item)
	}
	data, err := json.Marshal(Skip{Parked: kept(parcels)})
	s.Data = data
	return []sources.Shipment{s}, nil, err
}

// kept carries parcels through JSON with their exact bytes.
func kept(parcels []sources.Parcel) (out []Parked) {
	for _, p := range parcels {
		out = append(out, Parked{Record: sources.Record{Key: p.Key, Body: p.Body, Headers: p.Headers}})
	}
	return out
}

// Ship appends a shipment once, as a broker does that recognises a second copy.
func (y *yard) Ship(_ context.Context, s sources.Shipment) ([]sources.Receipt, error) {
	var c Skip
	if err := json.Unmarshal(s.Data, &c); err != nil {
		return nil, err
	}
	first := slices.IndexFunc(y.parked, func(r sources.Record) bool {
		return slices.EqualFunc(r.Headers, c.Parked[0].Record.Headers, equalHeader)
	})
	if first < 0 {
		first = len(y.parked)
		for _, p := range c.Parked {
			r := p.Record
			r.Topic, r.Offset = y.queue, int64(len(y.parked))
			y.parked = append(y.parked, r)
		}
	}
	if y.onShip != nil {
		y.onShip()
	}
	if err := y.shipErr; err != nil {
		y.shipErr = nil
		return nil, err
	}
	var out []sources.Receipt
	for i, item := range s.Items {
		out = append(out, sources.Receipt{Item: item, Offset: int64(first + i)})
	}
	return out, nil
}

func equalHeader(a, b sources.Header) bool { return a.Name == b.Name && sameBytes(a.Value, b.Value) }

func (y *yard) Arm(_ context.Context, s Skip, d Deed) error {
	for _, text := range y.skips {
		var other Skip
		if json.Unmarshal(text, &other) == nil && other.State == Armed {
			return conflict("skip %s is armed", other.ID)
		}
	}
	return y.write(s, d)
}

func (y *yard) write(s Skip, deeds ...Deed) error {
	if y.full > 0 {
		if y.full--; y.full == 0 {
			y.full = -1
		}
	}
	if y.full < 0 {
		return errFull
	}
	text, err := json.Marshal(s)
	y.skips[s.ID] = text
	for _, d := range deeds {
		y.deeds = append(y.deeds, d.Action)
	}
	return err
}

func (y *yard) Save(ctx context.Context, s Skip, before State, _ time.Time, deeds ...Deed) error {
	if now, err := y.Skip(ctx, s.ID); err != nil || now.State != before {
		return conflict("skip %s is %s", s.ID, now.State)
	}
	return y.write(s, deeds...)
}

func (y *yard) Skip(_ context.Context, id string) (Skip, error) {
	var s Skip
	text, there := y.skips[id]
	if !there {
		return s, ErrNotFound
	}
	return s, json.Unmarshal(text, &s)
}

func (y *yard) Unfinished(ctx context.Context) (out []Skip, err error) {
	for id := range y.skips {
		s, err := y.Skip(ctx, id)
		if err != nil {
			return nil, err
		}
		if s.State == Armed || s.State == Done && s.Outcome == "" || s.ToStart() {
			out = append(out, s)
		}
	}
	return out, nil
}

func (y *yard) AdvancedAlone(context.Context, sources.Partition) (time.Time, error) {
	return y.alone, nil
}

func (y *yard) desk() *Desk {
	return &Desk{Sources: map[string]Source{"payments": y}, Book: y, History: y, Now: func() time.Time { return night }, Changed: func(string) {}}
}

func (y *yard) watchman() *Watchman {
	return NewWatchman(map[string]Source{"payments": y}, y, 4*time.Minute, slog.New(slog.DiscardHandler))
}

// at looks once, as the watchman does, at a moment after the skip was armed.
func (y *yard) at(t *testing.T, id string, after time.Duration) (Skip, error) {
	t.Helper()
	s, err := y.Skip(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	err = y.watchman().one(t.Context(), s, night.Add(after))
	now, _ := y.Skip(t.Context(), id)
	return now, err
}

func (y *yard) arm(t *testing.T, r Request) Skip {
	t.Helper()
	s, err := y.desk().Arm(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// head asks to skip the record at the position.
func head() Request {
	return Request{Line: line, Offset: 100, ToOffset: sources.NotKnown, By: "ops-1"}
}
