package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

// at is a place to read from.
type at struct {
	sources.TopicPartition
	offset int64
}

// got is what one fetch from one place brought.
type got struct {
	records []*kgo.Record
	next    int64 // where to go on; the place itself when nothing was learnt
	start   int64
	stable  int64
	end     int64
	damaged *damage // the batch that could not be unpacked; next is after it
	err     error
}

// damage is a batch that nobody can read.
type damage struct {
	from, to int64 // first and last offset
	at       time.Time
	err      error
}

// limits bound one fetch: what one partition and what the whole may bring, as
// it travels. A batch that is larger comes all the same when it is the first.
type limits struct{ partition, whole int32 }

// fetch asks each leader once for what stands at some places, and decodes it.
// A broker hands out one batch more than the limits allow, and only of the
// first partition that has any: places that got nothing are to be asked for
// again, first. No session is kept at the broker (KIP-227), and no group is
// involved. A place may stand in the list only once for each partition.
func (r *round) fetch(ctx context.Context, places []at, most limits, level kgo.IsolationLevel) map[sources.TopicPartition]got {
	out := map[sources.TopicPartition]got{}
	byBroker := map[int32][]at{}
	for _, p := range places {
		leader, err := r.c.leader(p.TopicPartition)
		if err != nil {
			out[p.TopicPartition] = got{next: p.offset, err: err}
			continue
		}
		byBroker[leader] = append(byBroker[leader], p)
	}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byBroker)), func(broker int32) {
		answers := r.fetchFrom(ctx, broker, byBroker[broker], most, level)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(out, answers)
	})
	return out
}

func (r *round) fetchFrom(ctx context.Context, broker int32, places []at, most limits, level kgo.IsolationLevel) map[sources.TopicPartition]got {
	out := make(map[sources.TopicPartition]got, len(places))
	resp, err := askIn[*kmsg.FetchResponse](ctx, r, broker, r.c.fetchRequest(places, most, level))
	if err == nil {
		err = code(resp.ErrorCode)
	}
	if err != nil {
		for _, p := range places {
			out[p.TopicPartition] = got{next: p.offset, err: err}
		}
		return out
	}
	asked := map[sources.TopicPartition]int64{}
	for _, p := range places {
		asked[p.TopicPartition] = p.offset
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := sources.TopicPartition{Topic: r.c.nameOf(t.Topic, t.TopicID), Partition: p.Partition}
			if offset, was := asked[tp]; was {
				out[tp] = r.s.decode(tp, offset, &p, level)
			}
		}
	}
	return out
}

func (c *cluster) fetchRequest(places []at, most limits, level kgo.IsolationLevel) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 0, 1, most.whole
	if level == kgo.ReadCommitted() {
		req.IsolationLevel = 1
	}
	index := map[string]int{}
	for _, place := range places {
		i, there := index[place.Topic]
		if !there {
			i = len(req.Topics)
			index[place.Topic] = i
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = place.Topic, c.topics[place.Topic].id
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = place.Partition, place.offset, most.partition
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}

// decode takes the records out of an answer. Markers and aborted records are
// left out when the level asks for that, and next is past them.
func (s *Source) decode(tp sources.TopicPartition, offset int64, p *kmsg.FetchResponseTopicPartition, level kgo.IsolationLevel) got {
	out := got{next: offset, start: p.LogStartOffset, stable: p.LastStableOffset, end: p.HighWatermark}
	if p.ErrorCode != 0 {
		out.err = fmt.Errorf("read partition %d of %s at %d: %w", tp.Partition, tp.Topic, offset, code(p.ErrorCode))
		return out
	}
	unpack, _ := s.client.OptValue(kgo.WithDecompressor).(kgo.Decompressor)
	fp, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: offset, IsolationLevel: level, Topic: tp.Topic, Partition: tp.Partition,
	}, p, unpack, nil)
	out.records, out.next = fp.Records, max(next, offset)
	if fp.Err != nil && len(fp.Records) == 0 {
		out.damaged = damagedBatch(p.RecordBatches, out.next, fp.Err)
		if out.damaged == nil {
			out.err = fmt.Errorf("read partition %d of %s at %d: %w", tp.Partition, tp.Topic, out.next, fp.Err)
		} else {
			out.next = out.damaged.to + 1
		}
	}
	return out
}

// batch is the head of a record batch: what can be told without unpacking it.
type batch struct {
	first, last int64
	producerID  int64
	epoch       int16
	sequence    int32
	latest      time.Time // largest timestamp
}

const batchHead = 61 // bytes, of the v2 format

// batches walks over the heads of whole v2 batches.
func batches(raw []byte) []batch {
	var out []batch
	for len(raw) >= batchHead {
		size := int64(binary.BigEndian.Uint32(raw[8:])) + 12
		if size < batchHead || raw[16] != 2 {
			break
		}
		first := int64(binary.BigEndian.Uint64(raw))
		out = append(out, batch{
			first: first, last: first + int64(binary.BigEndian.Uint32(raw[23:])),
			latest:     time.UnixMilli(int64(binary.BigEndian.Uint64(raw[35:]))),
			producerID: int64(binary.BigEndian.Uint64(raw[43:])),
			epoch:      int16(binary.BigEndian.Uint16(raw[51:])),
			sequence:   int32(binary.BigEndian.Uint32(raw[53:])),
		})
		if int64(len(raw)) < size {
			break
		}
		raw = raw[size:]
	}
	return out
}

// damagedBatch finds the batch at an offset that could not be read.
func damagedBatch(raw []byte, offset int64, err error) *damage {
	for _, b := range batches(raw) {
		if b.last >= offset {
			return &damage{from: max(b.first, offset), to: b.last, at: b.latest, err: err}
		}
	}
	return nil
}

// outOfRange tells that a place is not in the log: retention has passed it, or
// the log was cut.
func outOfRange(err error) bool { return errors.Is(err, kerr.OffsetOutOfRange) }

// recordOf is a record in the words of sources.
func recordOf(r *kgo.Record) sources.Record {
	return sources.Record{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Timestamp: timeOf(r),
		Key: r.Key, Body: r.Value, Headers: headersOf(r),
	}
}

// timeOf is the timestamp of a record; zero for none (-1, and 0 of a producer
// that sets nothing).
func timeOf(r *kgo.Record) time.Time {
	if r.Timestamp.UnixMilli() <= 0 {
		return time.Time{}
	}
	return r.Timestamp
}

func headersOf(r *kgo.Record) []sources.Header {
	var out []sources.Header
	for _, h := range r.Headers {
		out = append(out, sources.Header{Name: h.Key, Value: h.Value})
	}
	return out
}

var readUncommitted = kgo.ReadUncommitted()
