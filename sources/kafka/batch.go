package kafka

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// cargo is the data of a shipment: the very bytes of a record batch, and what
// is needed to send them again and to find them on the target.
type cargo struct {
	TopicID    string `json:"topic_id"`
	Partition  int32  `json:"partition"`
	ProducerID int64  `json:"producer_id"`
	Epoch      int16  `json:"epoch"`
	Sequence   int32  `json:"sequence"`
	End        int64  `json:"end"`                  // of the target before the first send: a copy lies at or after it
	KeptTimes  bool   `json:"kept_times,omitempty"` // records have timestamps of their own

	batch []byte
}

// piece is a batch in the making.
type piece struct {
	cluster     *cluster
	topic       *topic
	part        int32
	items       []string
	records     []byte // encoded, one after the other
	first, last time.Time
	kept        bool // a record has another timestamp than that of the packing
	limit       int  // of letters
}

func (p *piece) to() sources.TopicPartition {
	return sources.TopicPartition{Topic: p.topic.name, Partition: p.part}
}

// has tells whether another letter fits that may be with so many at most.
func (p *piece) has(limit int) bool { return len(p.items) < min(p.limit, limit) }

func (p *piece) put(item string, record []byte, at time.Time, limit int) {
	p.items = append(p.items, item)
	p.records = append(p.records, record...)
	p.limit = min(p.limit, limit)
	if at.After(p.last) {
		p.last = at
	}
}

// encode appends the next record of a batch, of format v2: a null key, value or
// header stays null, an empty one empty, headers keep their order.
func (p *piece) encode(b []byte, parcel sources.Parcel, at time.Time) []byte {
	start := len(b)
	b = append(b, make([]byte, binary.MaxVarintLen32)...) // its length comes here
	body := len(b)
	b = append(b, 0) // no attributes
	b = binary.AppendVarint(b, at.UnixMilli()-p.first.UnixMilli())
	b = binary.AppendVarint(b, int64(len(p.items)))
	b = appendBytes(b, parcel.Key)
	b = appendBytes(b, parcel.Body)
	b = binary.AppendVarint(b, int64(len(parcel.Headers)))
	for _, h := range parcel.Headers {
		b = binary.AppendVarint(b, int64(len(h.Name)))
		b = append(b, h.Name...)
		b = appendBytes(b, h.Value)
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutVarint(length[:], int64(len(b)-body))
	copy(b[start:], length[:n])
	return append(b[:start+n], b[body:]...)
}

// appendBytes appends a value behind its length, which is -1 for null.
func appendBytes(b, value []byte) []byte {
	if value == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(value))), value...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withBatch is the cargo's data: a line of JSON, and behind it the records of a
// piece as a batch of format v2, not compressed. The length and the checksum of
// a batch are counted over what follows them (Kafka protocol guide, record
// batch).
func (c cargo) withBatch(p *piece) []byte {
	head, err := json.Marshal(c)
	if err != nil {
		panic(err) // numbers and a name
	}
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(p.items) - 1), //nolint:gosec // at most pieceRecords
		FirstTimestamp: p.first.UnixMilli(), MaxTimestamp: p.last.UnixMilli(),
		ProducerID: c.ProducerID, ProducerEpoch: c.Epoch, FirstSequence: c.Sequence,
		NumRecords: int32(len(p.items)), //nolint:gosec // at most pieceRecords
		Records:    p.records,
	}
	data := make([]byte, 0, len(head)+1+batchHead+len(p.records))
	data = b.AppendTo(append(append(data, head...), '\n'))
	raw := data[len(head)+1:]
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12)) //nolint:gosec // far below 4 GiB
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return data
}

func parseCargo(data []byte) (c cargo, err error) {
	head, batch, found := bytes.Cut(data, []byte{'\n'})
	if err = json.Unmarshal(head, &c); err != nil || !found {
		return c, fmt.Errorf("the shipment's data cannot be read: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	c.batch = batch
	return c, nil
}
