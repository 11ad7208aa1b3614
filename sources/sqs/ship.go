package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/unwedge/unwedge/sources"
)

// triesPerEntry is how often an entry is sent that SQS says failed by its own
// fault, inside an answer of 200.
const triesPerEntry = 4

// Ship sends a shipment. An answer that was lost is sources.ErrAmbiguous: on a
// standard queue nobody can tell what became of the send, on a FIFO queue the
// same shipment may be shipped again until RepeatUntil, and arrives once. An
// error in place of receipts means that nothing was sent.
//
// At the first message of a FIFO group that fails, those behind it are not
// sent.
func (s *Source) Ship(ctx context.Context, shipment sources.Shipment) ([]sources.Receipt, error) {
	cargo, err := unpack(shipment)
	if err != nil {
		return nil, err
	}
	if cargo.FIFO && s.now().After(shipment.RepeatUntil) && cargo.Run != s.run {
		return nil, fmt.Errorf("%w, and it is too long ago to send it again", sources.ErrAmbiguous)
	}
	to, err := s.sendTo(ctx, shipment.Target.Queue)
	if err != nil {
		return nil, err
	}
	away, err := s.stillHeld(ctx, cargo)
	if err != nil {
		return nil, err
	}
	d := &delivery{s: s, to: to, fifo: cargo.FIFO, ours: cargo.Run == s.run, receipts: map[string]sources.Receipt{}, doubtful: map[string]error{}}
	var entries []entry
	for _, e := range cargo.Entries {
		switch why := away[e.Message]; {
		case errors.Is(why, sources.ErrNotSent):
			d.putOff(e, why)
		case why != nil:
			d.failed(e, why)
		default:
			entries = append(entries, e)
		}
	}
	for _, round := range d.rounds(entries) {
		d.send(ctx, round)
	}
	d.letGo(ctx, cargo)
	if !d.touched && d.whole != nil {
		return nil, d.whole
	}
	return d.inOrder(shipment.Items), nil
}

// delivery is one run of Ship.
type delivery struct {
	s        *Source
	to       facts
	fifo     bool
	ours     bool                       // packed by this run: what it did not send was not sent
	receipts map[string]sources.Receipt // by item
	touched  bool                       // something was sent, or may have been
	whole    error                      // why a request was not sent at all
	doubtful map[string]error           // FIFO groups of which it is open whether a message arrived
}

func (d *delivery) failed(e entry, err error) {
	d.receipts[e.Item] = sources.Receipt{Item: e.Item, Err: err}
}

func (d *delivery) inOrder(items []string) []sources.Receipt {
	var out []sources.Receipt
	for _, item := range items {
		r, ok := d.receipts[item]
		if !ok {
			r = sources.Receipt{Item: item, Err: sources.ErrAmbiguous}
		}
		out = append(out, r)
	}
	return out
}

// rounds are what is sent one after the other: in each at most one message of a
// FIFO group, because one that fails does not fail those behind it in the same
// request.
func (d *delivery) rounds(entries []entry) [][]entry {
	if !d.fifo {
		return [][]entry{entries}
	}
	var rounds [][]entry
	depth := map[string]int{}
	for _, e := range entries {
		i := depth[e.Group]
		depth[e.Group]++
		if i == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[i] = append(rounds[i], e)
	}
	return rounds
}

// send sends entries in one request, or in more where one is too long.
func (d *delivery) send(ctx context.Context, entries []entry) {
	entries = d.unbroken(entries)
	for try := 0; len(entries) > 0; try++ {
		if try > 0 && !sleep(ctx, 100*time.Millisecond<<try) {
			return
		}
		entries = d.request(ctx, entries, try == triesPerEntry-1)
	}
}

// request sends one request and gives the entries that are worth another try.
func (d *delivery) request(ctx context.Context, entries []entry, last bool) (again []entry) {
	in := &sqs.SendMessageBatchInput{QueueUrl: &d.to.url}
	bytes := 0
	for i, e := range entries {
		in.Entries = append(in.Entries, e.message(strconv.Itoa(i)))
		bytes += e.size()
	}
	var out *sqs.SendMessageBatchOutput
	err := patiently(ctx, func() (err error) {
		out, err = d.s.client.SendMessageBatch(ctx, in, once)
		return err
	})
	var long *types.BatchRequestTooLong
	switch {
	case err == nil:
		return d.answered(entries, out, last)
	case (errors.As(err, &long) || code(err) == "BatchRequestTooLong") && len(entries) > 1:
		d.s.tooLong(d.to.name, bytes)
		half := len(entries) / 2
		d.send(ctx, entries[:half])
		d.send(ctx, entries[half:])
	default:
		d.notAnswered(entries, err)
	}
	return nil
}

// answered takes the result of each entry: a 200 says nothing of them.
func (d *delivery) answered(entries []entry, out *sqs.SendMessageBatchOutput, last bool) (again []entry) {
	left := map[string]entry{}
	for i, e := range entries {
		left[strconv.Itoa(i)] = e
	}
	for _, ok := range out.Successful {
		if e, asked := left[deref(ok.Id)]; asked {
			d.touched = true
			d.receipts[e.Item] = sources.Receipt{Item: e.Item, MessageID: deref(ok.MessageId)}
			d.s.decided(e.Item)
			delete(left, deref(ok.Id))
		}
	}
	for _, bad := range out.Failed {
		e, asked := left[deref(bad.Id)]
		if !asked {
			continue
		}
		delete(left, deref(bad.Id))
		why := fmt.Errorf("%s: %s", deref(bad.Code), deref(bad.Message))
		if !bad.SenderFault && !last {
			d.failed(e, why) // unless the next try gets on
			again = append(again, e)
			continue
		}
		if bad.SenderFault {
			d.refuse(e, why) // whatever became of an earlier request: it refused it too
		} else {
			d.turnAway(e, why)
		}
	}
	for _, e := range left { // SQS forgot to say
		d.doubt(e, sources.ErrAmbiguous)
	}
	return again
}

// notAnswered takes a request of which all entries share the fate.
func (d *delivery) notAnswered(entries []entry, err error) {
	why := readable("SendMessage", d.to.name, err)
	for _, e := range entries {
		var long *types.BatchRequestTooLong
		switch {
		case errors.As(err, &long) || code(err) == "BatchRequestTooLong":
			d.refuse(e, fmt.Errorf("%w: %w", sources.ErrTooLarge, why))
		case nothingSent(err):
			d.whole = why
			d.unsent(e, why)
		case isNoQueue(err), isDenied(err):
			d.whole = why
			d.turnAway(e, why)
		case refused(err):
			d.turnAway(e, why)
		default:
			d.doubt(e, fmt.Errorf("%w: %w", sources.ErrAmbiguous, why))
		}
	}
}

// refuse notes an entry that was not accepted, for good.
func (d *delivery) refuse(e entry, err error) {
	d.failed(e, err)
	d.s.decided(e.Item)
	if d.fifo {
		d.s.breakGroup(d.to.name, e.Group, fmt.Errorf("not sent: an earlier message of its group %s was refused: %w", e.Group, err))
	}
}

// turnAway notes an entry that this request did not get accepted, for a reason that
// says nothing of an earlier request with it.
func (d *delivery) turnAway(e entry, err error) {
	if d.mayBeOut(e) {
		d.doubt(e, fmt.Errorf("%w: %w", sources.ErrAmbiguous, err))
		return
	}
	d.refuse(e, err)
}

// mayBeOut tells whether an entry may have arrived by an earlier request: of a
// run that ended, or one of this run's that nobody answered.
func (d *delivery) mayBeOut(e entry) bool { return d.fifo && (!d.ours || d.s.inDoubt(e.Item)) }

// putOff notes an entry that is not held just now, and keeps those behind it in
// its group for later too.
func (d *delivery) putOff(e entry, why error) {
	d.failed(e, why)
	if d.fifo {
		d.s.breakGroup(d.to.name, e.Group, why)
	}
}

// unsent notes an entry that was not sent and might be later. On a FIFO queue
// the whole shipment can be shipped again.
func (d *delivery) unsent(e entry, err error) {
	if d.fifo {
		d.doubt(e, fmt.Errorf("%w: %w", sources.ErrAmbiguous, err))
		return
	}
	d.failed(e, err)
}

// doubt notes an entry of which nobody can tell.
func (d *delivery) doubt(e entry, err error) {
	if d.whole == nil || !d.fifo {
		d.touched = true
		d.s.doubt(e.Item)
	}
	d.failed(e, err)
	d.doubtful[e.Group] = err
}

// unbroken leaves out what stands behind a message that failed.
func (d *delivery) unbroken(entries []entry) []entry {
	if !d.fifo {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		why := d.s.broken(d.to.name, e.Group)
		if why == nil && d.doubtful[e.Group] != nil {
			why = fmt.Errorf("not sent: nobody can tell whether an earlier message of its group %s arrived", e.Group)
		}
		switch {
		case why == nil:
			return false
		case d.mayBeOut(e):
			d.doubt(e, fmt.Errorf("%w: this time %s", sources.ErrAmbiguous, why.Error())) // no other sentinel
		default:
			d.failed(e, why)
		}
		return true
	})
}

// message is an entry as SQS takes it.
func (e entry) message(id string) types.SendMessageBatchRequestEntry {
	m := types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &e.Body}
	if e.Group != "" {
		m.MessageGroupId = &e.Group
	}
	if e.Dedup != "" {
		m.MessageDeduplicationId = &e.Dedup
	}
	if e.Trace != "" {
		m.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {DataType: aws.String("String"), StringValue: &e.Trace},
		}
	}
	if len(e.Attributes) > 0 {
		m.MessageAttributes = map[string]types.MessageAttributeValue{}
	}
	for _, a := range e.Attributes {
		v := types.MessageAttributeValue{DataType: &a.Type}
		if strings.HasPrefix(a.Type, "Binary") {
			v.BinaryValue = a.Value
		} else {
			v.StringValue = aws.String(string(a.Value))
		}
		m.MessageAttributes[a.Name] = v
	}
	return m
}

// sleep waits, or until the context ends: then it is false.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
