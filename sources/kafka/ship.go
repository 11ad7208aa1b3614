package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/unwedge/unwedge/sources"
)

const (
	// shipFor is how long one call of Ship goes on trying.
	shipFor = 30 * time.Second
	// replicateMillis is how long the broker may wait for its replicas.
	replicateMillis = 10_000
	firstPause      = 100 * time.Millisecond
	longestPause    = 2 * time.Second
)

// Ship appends a shipment to its partition, acknowledged by all in-sync
// replicas, and sends the same bytes again after every answer that leaves open
// whether they were. The broker recognises a batch by its producer and
// sequence: a second copy is not appended, and is answered with the offset of
// the first. When the broker has forgotten the producer, the batch is looked
// for on the target.
//
// Receipts are final. An error without receipts says that shipping was given
// up for now: it is sources.ErrAmbiguous when the shipment may have arrived,
// and may be called again with the same shipment in any case.
func (s *Source) Ship(ctx context.Context, shipment sources.Shipment) ([]sources.Receipt, error) {
	c, err := parseCargo(shipment.Data)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, shipFor)
	defer cancel()
	w := &shipping{s: s, cargo: c, tp: sources.TopicPartition{Topic: shipment.Target.Queue, Partition: c.Partition}, items: shipment.Items}
	if s.now().After(shipment.RepeatUntil) {
		return w.find(ctx, errors.New("it is too old to be sent again"))
	}
	return w.send(ctx)
}

// Settle has nothing to do: a letter stays on its topic until retention takes
// it.
func (s *Source) Settle(_ context.Context, _ sources.Shipment, sent []sources.Receipt) ([]sources.Receipt, error) {
	return sent, nil
}

// shipping is one call of Ship.
type shipping struct {
	s     *Source
	cargo cargo
	tp    sources.TopicPartition
	items []string
	open  bool // an attempt was made whose outcome nobody knows
}

func (w *shipping) send(ctx context.Context) ([]sources.Receipt, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		offset, err := w.once(ctx)
		switch {
		case err == nil:
			w.s.sends.accepted(w.cargo, w.tp, len(w.items))
			return w.arrived(offset), nil
		case isAny(err, kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.DuplicateSequenceNumber):
			return w.find(ctx, err)
		case refused(err):
			return w.refuse(err), nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, w.giveUp(err)
		}
	}
}

func (w *shipping) giveUp(err error) error {
	if w.open {
		err = fmt.Errorf("%w: %w", sources.ErrAmbiguous, err)
	}
	return fmt.Errorf("send to partition %d of %s: %w", w.tp.Partition, w.tp.Topic, err)
}

// once sends the bytes once and gives the offset of the first record.
func (w *shipping) once(ctx context.Context) (int64, error) {
	c, t, err := w.s.topic(ctx, w.tp.Topic)
	if err != nil {
		return 0, err
	}
	if id := t.id.String(); id != w.cargo.TopicID {
		return 0, errMadeAgain
	}
	leader, err := c.leader(w.tp)
	if err != nil {
		w.s.forgetTopics()
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	resp, err := ask[*kmsg.ProduceResponse](ctx, w.s, c, leader, w.request(t))
	if err != nil {
		w.open = w.open || !isDial(err)
		w.s.forgetTopics()
		return 0, err
	}
	return w.answer(resp)
}

// forgetTopics makes the next question read the metadata anew: a leader moved.
func (s *Source) forgetTopics() {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	s.seen.some = nil
	if s.seen.last != nil {
		old := *s.seen.last
		old.at = time.Time{}
		s.seen.last = &old
	}
}

func (w *shipping) request(t *topic) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, replicateMillis
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = t.name, t.id
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = w.cargo.Partition, w.cargo.batch
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

func (w *shipping) answer(resp *kmsg.ProduceResponse) (int64, error) {
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		w.open = true
		return 0, errors.New("the broker answered the send without a result")
	}
	p := resp.Topics[0].Partitions[0]
	err := kerr.ErrorForCode(p.ErrorCode)
	if err == nil {
		return p.BaseOffset, nil
	}
	if isAny(err, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.UnknownServerError, kerr.KafkaStorageError) {
		w.open = true
	}
	if isAny(err, kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID) {
		w.s.forgetTopics()
	}
	text := ""
	if p.ErrorMessage != nil {
		text = ": " + *p.ErrorMessage
	}
	return 0, fmt.Errorf("%w%s", readable(err), text)
}

// refused tells answers that will be the same next time.
func refused(err error) bool {
	return final(err) || isAny(err, kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTimestamp,
		kerr.InvalidRequiredAcks, kerr.CorruptMessage, kerr.InvalidTopicException, kerr.UnsupportedForMessageFormat, kerr.PolicyViolation)
}

// refuse is the broker's no, with what to do. An attempt before it may still
// have been accepted, so then the target is to be looked at first.
func (w *shipping) refuse(err error) []sources.Receipt {
	switch {
	case isAny(err, kerr.MessageTooLarge, kerr.RecordListTooLarge):
		err = fmt.Errorf("%w: raise max.message.bytes of topic %s, or send it edited (%w)", sources.ErrTooLarge, w.tp.Topic, err)
	case isAny(err, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed):
		err = fmt.Errorf("give our user the Write permission on topic %s: %w", w.tp.Topic, err)
	case isAny(err, kerr.InvalidRecord):
		err = fmt.Errorf("topic %s refuses the record (a compacted topic needs a key): %w", w.tp.Topic, err)
	case isAny(err, kerr.InvalidTimestamp):
		err = fmt.Errorf("topic %s refuses the time of the record, see its message.timestamp settings and the clocks: %w", w.tp.Topic, err)
	}
	if w.open {
		err = fmt.Errorf("%w: %w", sources.ErrAmbiguous, err)
	}
	return w.all(err)
}

func (w *shipping) all(err error) []sources.Receipt {
	out := make([]sources.Receipt, len(w.items))
	for i, item := range w.items {
		out[i] = sources.Receipt{Item: item, Partition: w.tp.Partition, Err: err}
	}
	return out
}

func (w *shipping) arrived(first int64) []sources.Receipt {
	out := w.all(nil)
	for i := range out {
		out[i].Offset = first + int64(i)
	}
	return out
}
