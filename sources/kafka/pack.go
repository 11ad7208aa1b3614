package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unwedge/unwedge/sources"
)

const (
	// pieceRecords is how many letters one batch has at most, pieceBytes how
	// large it grows: below what topics take by default (1,048,588 bytes).
	pieceRecords = 1000
	pieceBytes   = 900 << 10
	// remembers is for how long a broker recognises a batch that it has seen
	// (producer.id.expiration.ms, a day by default), with room to spare. It
	// counts by the timestamps of the records.
	remembers = 12 * time.Hour
	// loadMost is how many letters are packed at a time: some batches for each of
	// a dozen partitions.
	loadMost = 5000
)

// LoadMost is how many letters are to be packed at a time at most.
func (s *Source) LoadMost() int { return loadMost }

// Pack makes batches of at most pieceRecords letters, each for one partition,
// in the order of the parcels, with bytes exactly as they are in them. A batch
// belongs to a producer id that no batch in flight on its partition shares, so
// that any of them may be sent, sent again, or never be sent, whatever becomes
// of the others. A letter without a partition gets one here. What can never be
// sent is in the map, by its item.
func (s *Source) Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	return s.pack(ctx, parcels, s.target)
}

// pack is Pack, for topics that find lets be written to.
func (s *Source) pack(ctx context.Context, parcels []sources.Parcel, find finder) ([]sources.Shipment, map[string]error, error) {
	p := &packing{s: s, find: find, now: s.now(), open: map[sources.TopicPartition]*piece{}, refused: map[string]error{}, to: map[string]*destination{}}
	var later error
	for _, parcel := range parcels {
		err := p.add(ctx, parcel)
		switch {
		case final(err):
			p.refused[parcel.Item] = err
		case err != nil:
			later = err
		}
	}
	out, err := p.seal(ctx)
	if err == nil {
		err = later
	}
	if len(out) > 0 || len(p.refused) > 0 {
		err = nil // the others are left for a later time
	}
	return out, p.refused, err
}

// final tells that another attempt would end the same way.
func final(err error) bool {
	return isAny(err, sources.ErrNoSuchQueue, sources.ErrNotAuthorised, sources.ErrTooLarge, errKeyNeeded, errMadeAgain)
}

var (
	errKeyNeeded = errors.New("target is compacted: a key is needed")
	errMadeAgain = errors.New("the target was deleted and made again since: plan the redrive anew")
)

// finder finds a topic that may be written to.
type finder func(ctx context.Context, queue string) (*cluster, *topic, error)

// packing is one call of Pack.
type packing struct {
	s       *Source
	find    finder
	now     time.Time
	pieces  []*piece
	open    map[sources.TopicPartition]*piece
	refused map[string]error
	to      map[string]*destination // by queue
	loose   int32                   // where the letters without a partition go
	scratch []byte
}

// destination is a topic that letters go to, as it is now.
type destination struct {
	cluster *cluster
	topic   *topic
	about   sources.Destination
	err     error
}

func (p *packing) destination(ctx context.Context, queue string) *destination {
	if d := p.to[queue]; d != nil {
		return d
	}
	d := &destination{}
	if d.cluster, d.topic, d.err = p.find(ctx, queue); d.err == nil {
		d.about = p.s.about(ctx, d.topic)
	}
	p.to[queue] = d
	return d
}

func (p *packing) add(ctx context.Context, parcel sources.Parcel) error {
	d := p.destination(ctx, parcel.Target.Queue)
	if d.err != nil {
		return d.err
	}
	if id := parcel.Target.TopicID; id != "" && id != d.about.TopicID {
		return fmt.Errorf("topic %s: %w", d.topic.name, errMadeAgain)
	}
	if parcel.Key == nil && d.about.Compacted {
		return fmt.Errorf("topic %s: %w", d.topic.name, errKeyNeeded)
	}
	part, err := p.partition(d.topic, parcel)
	if err != nil {
		return err
	}
	at := parcel.Timestamp
	if at.IsZero() {
		at = p.now
	}
	to := sources.TopicPartition{Topic: d.topic.name, Partition: part}
	limit := p.s.sends.limit(parcel.Item)
	if open := p.open[to]; open != nil && open.has(limit) {
		p.scratch = open.encode(p.scratch[:0], parcel, at)
		if len(open.records)+len(p.scratch) <= d.room() {
			open.put(parcel.Item, p.scratch, at, limit)
			open.kept = open.kept || !parcel.Timestamp.IsZero()
			return nil
		}
	}
	fresh := &piece{cluster: d.cluster, topic: d.topic, part: part, first: at, last: at, limit: pieceRecords, kept: !parcel.Timestamp.IsZero()}
	p.scratch = fresh.encode(p.scratch[:0], parcel, at)
	if size, most := batchHead+len(p.scratch), d.about.MaxBytes; most > 0 && size > most {
		return fmt.Errorf("%w: the letter needs %d bytes, topic %s takes %d (max.message.bytes)", sources.ErrTooLarge, size, d.topic.name, most)
	}
	fresh.put(parcel.Item, p.scratch, at, limit)
	p.open[to] = fresh
	p.pieces = append(p.pieces, fresh)
	return nil
}

// room is how many bytes of records a batch to a topic may have.
func (d *destination) room() int {
	most := pieceBytes
	if d.about.MaxBytes > 0 {
		most = min(most, d.about.MaxBytes)
	}
	return most - batchHead
}

// partition is that of the plan. Letters without one go together to the next
// partition that has a leader.
func (p *packing) partition(t *topic, parcel sources.Parcel) (int32, error) {
	if want := parcel.Target.Partition; want != nil {
		if _, there := t.part(*want); !there {
			return 0, fmt.Errorf("topic %s has no partition %d any more: %w", t.name, *want, sources.ErrNoSuchQueue)
		}
		return *want, nil
	}
	if open := p.open[sources.TopicPartition{Topic: t.name, Partition: p.loose}]; open != nil && open.has(pieceRecords) {
		return p.loose, nil
	}
	n := len(t.parts)
	for range n {
		p.s.sends.mu.Lock()
		p.s.sends.turn++
		next := t.parts[int(p.s.sends.turn%uint32(n))] //nolint:gosec // a number of partitions
		p.s.sends.mu.Unlock()
		if next.err == nil {
			p.loose = next.number
			return next.number, nil
		}
	}
	return 0, fmt.Errorf("topic %s: %w", t.name, ErrNoLeader)
}

// seal makes shipments of the pieces. One whose partition cannot be asked for
// its end is left out, and so is all after a producer id that is not given.
func (p *packing) seal(ctx context.Context) ([]sources.Shipment, error) {
	if len(p.pieces) == 0 {
		return nil, nil
	}
	which := map[sources.TopicPartition]bool{}
	for _, piece := range p.pieces {
		which[piece.to()] = true
	}
	ends := p.s.newRound(p.pieces[0].cluster).list(ctx, which, endEdge)[0]
	var out []sources.Shipment
	var later error
	for _, piece := range p.pieces {
		end, err := ends.of(piece.to())
		if err != nil {
			later = fmt.Errorf("find the end of the target: %w", err)
			continue
		}
		shipment, err := p.s.seal(ctx, piece, end, p.now)
		if err != nil {
			return out, err
		}
		out = append(out, shipment)
	}
	return out, later
}

// seal gives a piece its producer and its place in that one's sequence, and
// makes the shipment of it.
func (s *Source) seal(ctx context.Context, p *piece, end int64, now time.Time) (sources.Shipment, error) {
	to := p.to()
	by, err := s.producerFor(ctx, to)
	if err != nil {
		return sources.Shipment{}, err
	}
	c := cargo{TopicID: p.topic.id.String(), Partition: p.part, ProducerID: by.id, Epoch: by.epoch, Sequence: by.next[to], End: end, KeptTimes: p.kept}
	known := now
	if p.last.Before(known) {
		known = p.last
	}
	return sources.Shipment{
		Target: sources.Target{Queue: to.Topic, Partition: &p.part, TopicID: c.TopicID},
		Items:  p.items, Data: c.withBatch(p), RepeatUntil: known.Add(remembers), Traceable: true, Stays: true,
	}, nil
}
