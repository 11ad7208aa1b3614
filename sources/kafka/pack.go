package kafka

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

const (
	// pieceRecords is how many letters one batch has at most, pieceBytes how
	// large it grows: small enough to be scanned for, and far below what topics
	// take by default (1,048,588 bytes).
	pieceRecords = 100
	pieceBytes   = 512 << 10
	// remembers is for how long a broker recognises a batch that it has seen
	// (producer.id.expiration.ms, a day by default), with room to spare. It
	// counts by the timestamps of the records, so these are those of the packing.
	remembers = 12 * time.Hour
)

// cargo is the data of a shipment: the very bytes of a record batch, and what
// is needed to send them again and to find them on the target.
type cargo struct {
	TopicID    string `json:"topic_id"`
	Partition  int32  `json:"partition"`
	ProducerID int64  `json:"producer_id"`
	Epoch      int16  `json:"epoch"`
	Sequence   int32  `json:"sequence"`
	End        int64  `json:"end"` // of the target before the first send: a copy lies at or after it

	batch []byte
}

// piece is a batch in the making.
type piece struct {
	target  *topic
	c       *cluster
	part    int32
	parcels []sources.Parcel
	records [][]byte
	size    int
}

// Pack makes batches of at most pieceRecords letters, each for one partition,
// in the order of the parcels, with bytes exactly as they are in them. A batch
// belongs to a producer id that no batch in flight on its partition shares, so
// that any of them may be sent, sent again, or never be sent, whatever becomes
// of the others. A letter without a partition gets one here. What can never be
// sent is in the map, by its item.
func (s *Source) Pack(ctx context.Context, parcels []sources.Parcel) ([]sources.Shipment, map[string]error, error) {
	p := &packing{s: s, now: s.now(), open: map[sources.TopicPartition]*piece{}, refused: map[string]error{}, about: map[string]sources.Destination{}}
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

// packing is one call of Pack.
type packing struct {
	s       *Source
	now     time.Time
	pieces  []*piece
	open    map[sources.TopicPartition]*piece
	refused map[string]error
	about   map[string]sources.Destination
	loose   int32 // where the letters without a partition go
}

func (p *packing) add(ctx context.Context, parcel sources.Parcel) error {
	c, t, err := p.s.target(ctx, parcel.Target.Queue)
	if err != nil {
		return err
	}
	d, known := p.about[t.name]
	if !known {
		d = p.s.about(ctx, t)
		p.about[t.name] = d
	}
	if id := parcel.Target.TopicID; id != "" && id != d.TopicID {
		return fmt.Errorf("topic %s: %w", t.name, errMadeAgain)
	}
	if parcel.Key == nil && d.Compacted {
		return fmt.Errorf("topic %s: %w", t.name, errKeyNeeded)
	}
	record := encode(parcel, 0)
	if size := batchHead + len(record); d.MaxBytes > 0 && size > d.MaxBytes {
		return fmt.Errorf("%w: the letter needs %d bytes, topic %s takes %d (max.message.bytes)", sources.ErrTooLarge, size, t.name, d.MaxBytes)
	}
	part, err := p.partition(t, parcel)
	if err != nil {
		return err
	}
	p.put(parcel, len(record), &piece{target: t, c: c, part: part, size: batchHead}, d)
	return nil
}

// put adds a parcel to the open piece of its partition, or begins a new one.
func (p *packing) put(parcel sources.Parcel, size int, fresh *piece, d sources.Destination) {
	tp := sources.TopicPartition{Topic: fresh.target.name, Partition: fresh.part}
	most := pieceBytes
	if d.MaxBytes > 0 {
		most = min(most, d.MaxBytes)
	}
	const grows = 8 // a record's place in the batch may need more bytes than 0 does
	open := p.open[tp]
	if open == nil || len(open.parcels) >= pieceRecords || open.size+size+grows > most {
		open = fresh
		p.open[tp] = open
		p.pieces = append(p.pieces, open)
	}
	open.records = append(open.records, encode(parcel, len(open.parcels)))
	open.parcels = append(open.parcels, parcel)
	open.size += size + grows
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
	if tp := (sources.TopicPartition{Topic: t.name, Partition: p.loose}); p.open[tp] != nil && len(p.open[tp].parcels) < pieceRecords {
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

// encode makes a record of the batch's n-th parcel: a null key, value or
// header stays null, an empty one empty, headers keep their order.
func encode(p sources.Parcel, n int) []byte {
	r := kmsg.Record{OffsetDelta: int32(n), Key: p.Key, Value: p.Body} //nolint:gosec // at most pieceRecords
	for _, h := range p.Headers {
		r.Headers = append(r.Headers, kmsg.Header{Key: h.Name, Value: h.Value})
	}
	zero := r.AppendTo(nil)         // with a length of 0, which takes one byte
	r.Length = int32(len(zero) - 1) //nolint:gosec // far below 2 GiB
	return r.AppendTo(zero[:0])
}

// seal makes shipments of the pieces. One whose partition cannot be asked for
// its end is left out, and so is all after a producer id that is not given.
func (p *packing) seal(ctx context.Context) ([]sources.Shipment, error) {
	if len(p.pieces) == 0 {
		return nil, nil
	}
	which := map[sources.TopicPartition]bool{}
	for _, piece := range p.pieces {
		which[piece.tp()] = true
	}
	ends := p.s.newRound(p.pieces[0].c).list(ctx, which, endEdge)[0]
	var out []sources.Shipment
	var later error
	for _, piece := range p.pieces {
		end, err := ends.of(piece.tp())
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

func (p *piece) tp() sources.TopicPartition {
	return sources.TopicPartition{Topic: p.target.name, Partition: p.part}
}

// seal gives a piece its producer and its place in that one's sequence, and
// makes the shipment of it.
func (s *Source) seal(ctx context.Context, p *piece, end int64, now time.Time) (sources.Shipment, error) {
	tp := p.tp()
	by, err := s.producerFor(ctx, tp)
	if err != nil {
		return sources.Shipment{}, err
	}
	c := cargo{TopicID: p.target.id.String(), Partition: p.part, ProducerID: by.id, Epoch: by.epoch, Sequence: by.next[tp], End: end}
	c.batch = seal(p.records, c, now)
	out := sources.Shipment{
		Target: sources.Target{Queue: tp.Topic, Partition: &p.part, TopicID: c.TopicID},
		Data:   c.bytes(), RepeatUntil: now.Add(remembers), Stays: true,
	}
	for _, parcel := range p.parcels {
		out.Items = append(out.Items, parcel.Item)
	}
	return out, nil
}

// bytes are a line of JSON and the batch behind it.
func (c cargo) bytes() []byte {
	head, err := json.Marshal(c)
	if err != nil {
		panic(err) // numbers and a name
	}
	return slices.Concat(head, []byte{'\n'}, c.batch)
}

func parseCargo(data []byte) (c cargo, err error) {
	head, batch, found := bytes.Cut(data, []byte{'\n'})
	if err = json.Unmarshal(head, &c); err != nil || !found {
		return c, fmt.Errorf("the shipment's data cannot be read: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	c.batch = batch
	return c, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal makes a batch of format v2, not compressed. Its length and checksum are
// counted over what follows them (Kafka protocol guide, record batch).
func seal(records [][]byte, c cargo, now time.Time) []byte {
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(records) - 1), //nolint:gosec // at most pieceRecords
		FirstTimestamp: now.UnixMilli(), MaxTimestamp: now.UnixMilli(),
		ProducerID: c.ProducerID, ProducerEpoch: c.Epoch, FirstSequence: c.Sequence,
		NumRecords: int32(len(records)), //nolint:gosec // at most pieceRecords
	}
	for _, r := range records {
		b.Records = append(b.Records, r...)
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12)) //nolint:gosec // far below 4 GiB
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return raw
}
