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
// the first. When the broker has forgotten the producer, or may have, the batch
// is looked for on the target, and sent again only when it is not there and no
// earlier send of it can still land.
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
	w := &shipping{
		s: s, cargo: c, tp: sources.TopicPartition{Topic: shipment.Target.Queue, Partition: c.Partition}, items: shipment.Items,
		open: shipment.Repeated, forgotten: s.now().After(shipment.RepeatUntil),
	}
	if w.open && w.forgotten {
		if receipts, err := w.lookFirst(ctx); receipts != nil || err != nil {
			return receipts, err
		}
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
	// forgotten says that the broker may not recognise a second copy: it counts
	// the age of what it remembers by the timestamps of the records.
	forgotten bool
	wrong     []kmsg.ProduceResponseTopicPartitionErrorRecord // the records that the broker refused, where it says which
}

func (w *shipping) send(ctx context.Context) ([]sources.Receipt, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		offset, err := w.once(ctx)
		switch {
		case err == nil:
			return w.arrived(offset), nil
		case isAny(err, kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.DuplicateSequenceNumber):
			return w.find(ctx, err)
		case refused(err):
			return w.refuse(ctx, err)
		case w.open && w.forgotten:
			return nil, w.giveUp(err) // the next call looks for it first
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
	resp, err := askOnce[*kmsg.ProduceResponse](ctx, w.s, c, leader, w.request(t))
	if err != nil {
		if !isDial(err) {
			w.unanswered()
		}
		w.s.forgetTopics()
		return 0, err
	}
	return w.answer(resp)
}

// unanswered notes that nobody knows what became of an attempt.
func (w *shipping) unanswered() {
	w.open = true
	w.s.sends.unanswered(w.attempt(), w.s.now())
}

func (w *shipping) attempt() attempt {
	return attempt{w.cargo.ProducerID, w.cargo.Sequence, w.tp}
}

// Refresh makes the next question about a topic read the metadata anew.
func (s *Source) Refresh() { s.forgetTopics() }

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
		w.unanswered()
		return 0, errors.New("the broker answered the send without a result")
	}
	p := resp.Topics[0].Partitions[0]
	err := kerr.ErrorForCode(p.ErrorCode)
	if err == nil {
		return p.BaseOffset, nil
	}
	if isAny(err, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.UnknownServerError, kerr.KafkaStorageError) {
		w.unanswered()
	}
	w.wrong = p.ErrorRecords
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

// refuse is the broker's no. A copy that was sent before may have been accepted
// all the same, so then the target is looked at first. Of a batch that is
// refused for some of its records, the others go again without them.
func (w *shipping) refuse(ctx context.Context, err error) ([]sources.Receipt, error) {
	if w.open {
		offset, lookErr := w.look(ctx)
		switch {
		case lookErr == nil:
			return w.arrived(offset), nil
		case !errors.Is(lookErr, errNotThere):
			return w.cannotTell(err, lookErr)
		}
	}
	if len(w.items) > 1 && isAny(err, kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidTimestamp, kerr.InvalidRecord, kerr.CorruptMessage) {
		return w.split(err), nil
	}
	return w.all(w.advised(err)), nil
}

// split refuses the records that the broker named (KIP-467). When it named
// none, all go again in batches of half as many, until the one that it means is
// alone.
func (w *shipping) split(err error) []sources.Receipt {
	out := w.all(fmt.Errorf("%w (%w)", sources.ErrRepack, err))
	named := false
	for _, r := range w.wrong {
		if i := int(r.RelativeOffset); i >= 0 && i < len(out) {
			why := err
			if r.ErrorMessage != nil {
				why = fmt.Errorf("%w: %s", err, *r.ErrorMessage)
			}
			out[i].Err, named = w.advised(why), true
		}
	}
	if !named {
		w.s.sends.halve(w.items)
	}
	return out
}

// advised is a refusal with what to do about it.
func (w *shipping) advised(err error) error {
	switch {
	case isAny(err, kerr.MessageTooLarge, kerr.RecordListTooLarge):
		return fmt.Errorf("%w: raise max.message.bytes of topic %s, or send it edited (%w)", sources.ErrTooLarge, w.tp.Topic, err)
	case isAny(err, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("give our user the Write permission on topic %s: %w", w.tp.Topic, err)
	case isAny(err, kerr.InvalidTimestamp) && w.cargo.KeptTimes:
		return fmt.Errorf("topic %s refuses the original time of the record, see its message.timestamp settings: send with current time (%w)", w.tp.Topic, err)
	case isAny(err, kerr.InvalidTimestamp):
		return fmt.Errorf("topic %s refuses the time of the record, see its message.timestamp settings and the clocks: %w", w.tp.Topic, err)
	case isAny(err, kerr.InvalidRecord):
		return fmt.Errorf("topic %s refuses the record (a compacted topic needs a key): %w", w.tp.Topic, err)
	}
	return err
}

func (w *shipping) all(err error) []sources.Receipt {
	out := make([]sources.Receipt, len(w.items))
	for i, item := range w.items {
		out[i] = sources.Receipt{Item: item, Partition: w.tp.Partition, Err: err}
	}
	return out
}

func (w *shipping) arrived(first int64) []sources.Receipt {
	w.s.sends.accepted(w.cargo, w.tp, w.items)
	out := w.all(nil)
	for i := range out {
		out[i].Offset = first + int64(i)
	}
	return out
}
